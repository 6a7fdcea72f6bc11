"""Messages as one text, by the model's own template, and who says each of its tokens."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from attnviz.errors import AttnvizError
from attnviz.models.loaded import LoadedModel
from attnviz.models.prepared import Prepared
from attnviz.models.template import rendered
from attnviz.models.texts import tokenise

TEMPLATE = "template"
"""The role of what the template itself adds before the first message."""


def conversation(
    model: LoadedModel, messages: Sequence[Mapping[str, str]], limit: int | None
) -> Prepared:
    """The conversation as the model is meant to read it, up to where it would answer.

    The template writes every special token, the beginning one included, so the tokenizer adds
    none of its own. Raises AttnvizError for messages without role and content and for a model
    without a template.
    """
    turns = [_turn(message) for message in messages]
    if not turns:
        raise AttnvizError("A conversation needs one message at least; give a role and a content.")
    if not getattr(model.tokenizer, "chat_template", None):
        raise AttnvizError(
            f"{model.title} has no chat template, so it reads no messages; give a text instead."
        )
    asks = turns[-1]["role"] != "assistant"
    whole, *parts = _written(model, [(turns, asks), *_beginnings(turns)])
    if isinstance(whole, Exception):
        raise _refusal(model, whole) from whole
    text = whole
    tokens = tokenise(model, text, limit, add_special_tokens=False)
    ends = _ends(turns, parts, text)
    roles = ()
    if tokens.offsets is not None:
        roles = tuple(_role(start, ends) for start, _ in tokens.offsets)
    return Prepared(text, tokens.inputs, {"self": replace(tokens.axis, roles=roles)})


def _turn(message: Mapping[str, str]) -> dict[str, str]:
    role, content = message.get("role"), message.get("content")
    if not isinstance(role, str) or not isinstance(content, str) or not role:
        raise AttnvizError(
            "A message has a role (system, user or assistant) and a content, both text; received "
            f"{sorted(message)}."
        )
    return {"role": role, "content": content}


def _beginnings(
    turns: Sequence[Mapping[str, str]],
) -> list[tuple[Sequence[Mapping[str, str]], bool]]:
    """The conversation up to each of its messages, with no answer asked for."""
    return [(turns[: place + 1], False) for place in range(len(turns))]


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
    turns: Sequence[Mapping[str, str]], parts: Sequence[str | Exception], text: str
) -> list[tuple[int, str]]:
    """(where it ends in the text, whose it is) of each stretch of the text, in order.

    A message ends where the text of the conversation up to it (its part) ends, where the template
    builds one on the other and does not refuse half a conversation; else behind its content.
    """
    ends: list[tuple[int, str]] = []
    at = 0
    for place, (turn, part) in enumerate(zip(turns, parts, strict=True)):
        content = turn["content"].strip()
        found = text.find(content, at)
        if place == 0 and found > 0 and turn["role"] != "system":
            ends.append((_opening(text[:found], turn["role"]), TEMPLATE))
        if isinstance(part, str) and text.startswith(part):
            at = len(part)
        elif found >= 0:
            at = found + len(content)
        ends.append((at, turn["role"]))
    ends.append((len(text), "assistant" if turns[-1]["role"] != "assistant" else TEMPLATE))
    return ends


def _opening(before: str, role: str) -> int:
    """Where the first message's own opening mark begins in what stands before its content."""
    named = before.rfind(role)
    marks = [mark.start() for mark in re.finditer(r"<[^<>\s]+>|\[[A-Z/_]+\]", before)]
    own = [mark for mark in marks if named < 0 or mark <= named]
    return own[-1] if own else max(named, 0)


def _role(start: int, ends: Sequence[tuple[int, str]]) -> str:
    return next((role for end, role in ends if start < end), ends[-1][1])
