"""Conversations: the model's own template, one beginning, and who says each token."""

from __future__ import annotations

from typing import Any

import pytest

import attnviz as av
from attnviz.errors import AttnvizError
from attnviz.models import LoadedModel, chat
from attnviz.models.template import rendered
from tests.models.tiny import llama

TEMPLATE = (
    "{{ '<s> ' }}{% if messages[0].role != 'system' %}{{ '<system> off </end> ' }}{% endif %}"
    "{% for m in messages %}{{ '<' + m.role + '> ' + m.content + ' </end> ' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<assistant> ' }}{% endif %}"
)
MARKS = ["<s>", "<system>", "<user>", "<assistant>", "</end>"]
ASKED = [{"role": "user", "content": "the cat sat"}]


def model() -> Any:
    loaded = llama()
    loaded.tokenizer.add_special_tokens({"additional_special_tokens": MARKS, "bos_token": "<s>"})
    loaded.tokenizer.chat_template = TEMPLATE
    loaded.model.resize_token_embeddings(len(loaded.tokenizer))
    return loaded


def said(capture: Any) -> list[tuple[str, str]]:
    return list(zip(capture.roles, (t.strip("·") for t in capture.tokens), strict=True))


def test_who_says_each_token() -> None:
    capture = av.capture(model(), messages=ASKED)
    assert said(capture) == [
        ("template", "<s>"),
        ("template", "<system>"),
        ("template", "off"),
        ("template", "</end>"),
        ("user", "<user>"),
        ("user", "the"),
        ("user", "cat"),
        ("user", "sat"),
        ("user", "</end>"),
        ("assistant", "<assistant>"),
    ]
    assert capture.tokens.count("<s>") == 1


def test_an_answer_that_is_there_is_not_asked_for() -> None:
    turns = [
        {"role": "system", "content": "off"},
        *ASKED,
        {"role": "assistant", "content": "it ran"},
    ]
    capture = av.capture(model(), messages=turns)
    roles = list(dict.fromkeys(capture.roles))
    assert roles == ["system", "user", "assistant"]
    assert said(capture)[-3:] == [
        ("assistant", "it"),
        ("assistant", "ran"),
        ("assistant", "</end>"),
    ]


@pytest.mark.parametrize("content", ["off", "s", "", "  the cat "])
def test_words_that_the_template_writes_too_are_whose_they_are(content: str) -> None:
    """The prompt of the template says "off" and is not the visitor's, whatever that one says."""
    capture = av.capture(model(), messages=[{"role": "user", "content": content}])
    roles = list(capture.roles)
    assert said(capture)[:5] == [*(("template", t) for t in MARKS[:2]), *said(capture)[2:5]]
    assert said(capture)[2:5] == [("template", "off"), ("template", "</end>"), ("user", "<user>")]
    assert roles == sorted(roles, key=["template", "user", "assistant"].index)


def spans(template: str, turns: list[dict[str, str]]) -> list[tuple[str, str]]:
    """(role, what is given to it), by what the template of these turns writes."""
    loaded = model()
    loaded.tokenizer.chat_template = template
    found = chat.conversation(loaded, turns, None).axes["self"]
    told: list[tuple[str, str]] = []
    for role, label in zip(found.roles, found.labels, strict=True):
        if told and told[-1][0] == role:
            told[-1] = (role, f"{told[-1][1]} {label.strip('·')}")
        else:
            told.append((role, label.strip("·")))
    return told


SYSTEM = [{"role": "system", "content": "the mat"}, {"role": "user", "content": " the cat "}]


@pytest.mark.parametrize(
    ("template", "told"),
    [
        (  # the system's words in the user's turn, which half a conversation does not have
            "{% set ns = messages | length %}{% if ns < 2 %}{{ raise_exception('no') }}{% endif %}"
            "<s> on {{ messages[0].content | trim }} on {{ messages[1].content | trim }}"
            "{% if add_generation_prompt %} sat{% endif %}",
            [("system", "<s> on the mat"), ("user", "on the cat"), ("assistant", "sat")],
        ),
        (  # who asks what a message says is told nothing of it
            "<s> {% if messages[1].content == ' the cat ' %}on{% else %}sat{% endif %}"
            " {{ messages[1].content | trim }} </end> sat",
            [("template", "<s> on the cat </end> sat")],
        ),
    ],
    ids=["joined", "asking"],
)
def test_templates_that_change_what_is_said(template: str, told: list[tuple[str, str]]) -> None:
    assert spans(template, SYSTEM) == told


@pytest.mark.models
@pytest.mark.parametrize("content", ["AI", "a", ""])
def test_a_default_system_prompt_is_the_templates(smollm2: LoadedModel, content: str) -> None:
    axis = chat.conversation(smollm2, [{"role": "user", "content": content}], None).axes["self"]
    first = axis.roles.index("user")
    assert axis.labels[first : first + 2] == ("<|im_start|>", "user")
    assert set(axis.roles[:first]) == {"template"}
    assert "".join(axis.labels[:first]).count("AI") == 1


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([], "one message at least"),
        ([{"role": "user"}], "has a role"),
        ([{"role": "user", "content": 3}], "has a role"),
    ],
)
def test_messages_that_are_none(messages: Any, words: str) -> None:
    with pytest.raises(AttnvizError, match=words):
        av.capture(model(), messages=messages)


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ("hi", "list of messages.*received str"),
        ({"role": "user", "content": "hi"}, "list of messages.*received dict"),
        (3, "list of messages.*received int"),
        (["x"], "has a role.*received str"),
    ],
)
def test_what_is_no_list_of_messages(messages: Any, words: str) -> None:
    with pytest.raises(AttnvizError, match=words):
        chat.turns_of(messages)


def test_a_template_that_refuses_is_quoted() -> None:
    loaded = model()
    loaded.tokenizer.chat_template = "{{ raise_exception('roles must alternate') }}"
    with pytest.raises(AttnvizError, match="roles must alternate"):
        av.capture(loaded, messages=ASKED)


@pytest.mark.parametrize(
    ("template", "words"),
    [
        (
            "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
            "more than 1 seconds",
        ),
        ("{{ 9 ** (9 ** 9) }}", "more than 1 seconds"),
        ("{{ 'a' * 10 ** 10 }}", "more than 1,024 MiB"),
        ("{{ 'a' * 10 ** 7 }}b", "more than (10,000,000 characters|1 seconds)"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "recursion"),
        ("{% for", "unexpected"),
        ({"one": "{{ 1 }}", "two": "{{ 2 }}"}, "multiple chat templates"),
    ],
    ids=["loops", "power", "memory", "long", "recursion", "syntax", "several"],
)
def test_a_hostile_template_ends_in_a_sentence(
    template: Any, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library's sandbox has no clock: two loops within its range limit run for a minute."""
    monkeypatch.setattr("attnviz.models.template.SECONDS", 1)
    loaded = model()
    loaded.tokenizer.chat_template = template
    with pytest.raises(AttnvizError, match=words):
        av.capture(loaded, messages=ASKED)


def test_the_text_is_the_librarys_own() -> None:
    """Rendered in a process of its own, character by character what the tokenizer renders."""
    loaded = model()
    asked = [([{"role": "user", "content": "<é> \n🤗"}], asks) for asks in (True, False)]
    own = [
        loaded.tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=asks)
        for turns, asks in asked
    ]
    assert rendered(loaded.tokenizer, asked) == own


def test_a_model_without_a_template_reads_no_messages() -> None:
    with pytest.raises(AttnvizError, match="no chat template"):
        av.capture(llama(), messages=ASKED)
