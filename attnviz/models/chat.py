"""Messages as one text, by the model's own template, and who says each of its tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from attnviz.errors import AttnvizError
from attnviz.models.loaded import LoadedModel
from attnviz.models.prepared import Prepared
from attnviz.models.template import rendered
from attnviz.models.texts import tokenise

TEMPLATE = "template"
"""The role of what the template itself adds, and of what may be its or a message's."""
MARK = "\ue000\ue001\ue002"
"""Stands for a content: characters for private use, that no case or stripping changes."""


def conversation(
    model: LoadedModel, messages: Sequence[Mapping[str, str]], limit: int | None
) -> Prepared:
    """The conversation as the model is meant to read it, up to where it would answer.

    The template writes every special token, the beginning one included, so the tokenizer adds
    none of its own. Raises AttnvizError for messages without role and content and for a model
    without a template.
    """
    turns = turns_of(messages)
    if not turns:
        raise AttnvizError("A conversation needs one message at least; give a role and a content.")
    if not getattr(model.tokenizer, "chat_template", None):
        raise AttnvizError(
            f"{model.title} has no chat template, so it reads no messages; give a text instead."
        )
    asks = turns[-1]["role"] != "assistant"
    asked = [(turns, asks), *_beginnings(turns), *_marked(turns, asks)]
    whole, *others = _written(model, asked)
    if isinstance(whole, Exception):
        raise _refusal(model, whole) from whole
    text, parts, marked = whole, others[: len(turns)], others[len(turns) :]
    tokens = tokenise(model, text, limit, add_special_tokens=False)
    ends = _ends(turns, parts, [_span(text, other) for other in marked], text)
    roles = ()
    if tokens.offsets is not None:
        roles = tuple(_role(start, ends) for start, _ in tokens.offsets)
    return Prepared(text, tokens.inputs, {"self": replace(tokens.axis, roles=roles)})


def turns_of(messages: Any) -> list[dict[str, str]]:
    """The messages, each a role and a content; AttnvizError for what is none."""
    if isinstance(messages, (str, Mapping)) or not isinstance(messages, Iterable):
        raise AttnvizError(
            "messages is a list of messages, each with a role and a content; received "
            f'{type(messages).__name__}. Give [{{"role": "user", "content": "..."}}].'
        )
    return [_turn(message) for message in messages]


def _turn(message: Any) -> dict[str, str]:
    if not isinstance(message, Mapping):
        raise AttnvizError(
            "A message has a role (system, user or assistant) and a content, both text; received "
            f'{type(message).__name__}. Give {{"role": "user", "content": "..."}}.'
        )
    role, content = message.get("role"), message.get("content")
    if not isinstance(role, str) or not isinstance(content, str) or not role:
        raise AttnvizError(
            "A message has a role (system, user or assistant) and a content, both text; received "
            f"{sorted(map(str, message))}."
        )
    return {"role": role, "content": content}


def _beginnings(
    turns: Sequence[Mapping[str, str]],
) -> list[tuple[Sequence[Mapping[str, str]], bool]]:
    """The conversation up to each of its messages, with no answer asked for."""
    return [(turns[: place + 1], False) for place in range(len(turns))]


def _marked(
    turns: Sequence[Mapping[str, str]], asks: bool
) -> list[tuple[Sequence[Mapping[str, str]], bool]]:
    """The conversation as often as it has messages, a mark in the place of one's content each."""
    return [
        ([*turns[:place], {**turns[place], "content": MARK}, *turns[place + 1 :]], asks)
        for place in range(len(turns))
    ]


def _span(text: str, marked: str | Exception) -> tuple[int, int] | None:
    """Where a content stands in the text: where the mark does in the marked one.

    What the template writes may hold the same words, so they are not looked for. None where
    the two texts differ in more than this content: the template asks what it says.
    """
    if isinstance(marked, Exception) or marked.count(MARK) != 1:
        return None
    before, after = marked.split(MARK)
    start, end = len(before), len(text) - len(after)
    same = text.startswith(before) and text.endswith(after)
    return (start, end) if same and start <= end else None


def _written(
    model: LoadedModel, conversations: Sequence[tuple[Sequence[Mapping[str, str]], bool]]
) -> list[str | Exception]:
    try:
        return rendered(model.tokenizer, conversations)
    except AttnvizError:
        raise
    except Exception as problem:  # a template that is no text, or several without a default
        raise _refusal(model, problem) from problem


def _refusal(model: LoadedModel, problem: Exception) -> AttnvizError:
    reason = " ".join(str(problem).split())[:200].rstrip(".")
    return AttnvizError(
        f"The chat template of {model.title} refuses these messages ({reason}); change their "
        "roles or their order."
    )


def _ends(
    turns: Sequence[Mapping[str, str]],
    parts: Sequence[str | Exception],
    spans: Sequence[tuple[int, int] | None],
    text: str,
) -> list[tuple[int, str]]:
    """(where it ends in the text, whose it is) of each stretch of the text, in order.

    A message ends where the text of the conversation up to it (its part) ends, where the template
    builds one on the other and does not refuse half a conversation; else behind its content
    (spans: from and to). What cannot be told to be a message's is the template's.
    """
    ends: list[tuple[int, str]] = []
    at = 0
    known = turns[0]["role"] == "system"  # another's opening may follow a prompt of the template's
    for turn, part, span in zip(turns, parts, spans, strict=True):
        found = span is not None and span[0] >= at
        if span is not None and found:
            if not known:
                ends.append((at + _opening(text[at : span[0]], turn["role"]), TEMPLATE))
            at = span[1]
        if isinstance(part, str) and len(part) > at and text.startswith(part):
            at = len(part)
        ends.append((at, turn["role"] if found else TEMPLATE))
        known = found
    answers = known and turns[-1]["role"] != "assistant"
    ends.append((len(text), "assistant" if answers else TEMPLATE))
    return ends


def _opening(before: str, role: str) -> int:
    """Where the first message's own opening mark begins in what stands before its content."""
    named = before.rfind(role)
    marks = [mark.start() for mark in re.finditer(r"<[^<>\s]+>|\[[A-Z/_]+\]", before)]
    own = [mark for mark in marks if named < 0 or mark <= named]
    return own[-1] if own else max(named, 0)


def _role(start: int, ends: Sequence[tuple[int, str]]) -> str:
    return next((role for end, role in ends if start < end), ends[-1][1])
