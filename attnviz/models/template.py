"""A model's chat template, run where it can do no harm: in a process of its own, with an end.

A template is a program that comes with the weights. transformers runs it in a sandbox that
cannot reach files or modules, but two nested loops or one `9 ** 9 ** 9` there would hold the whole
server for ever, and `'a' * 10 ** 10` its memory. So the same code renders it in a child process
that the operating system stops: after so many seconds of computing, or beyond so much memory.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from attnviz.errors import AttnvizError

SECONDS = 5
"""Of computing, which is a thousand times what a long conversation takes."""
MEMORY = 1 << 30  # bytes of address space, the child's own 0.3 GiB included
CHARACTERS = 10_000_000  # of all the texts together
PATIENCE = 120
"""Seconds on the clock before a child that neither computes nor ends is given up."""


def rendered(
    tokenizer: Any, conversations: Sequence[tuple[Sequence[Mapping[str, str]], bool]]
) -> list[str | Exception]:
    """Each conversation (its messages, and whether an answer is asked for) as one text.

    Where the template refuses a conversation, its reason stands in the text's place. Raises
    AttnvizError for a template that does not come to an end within the limits above.
    """
    asked = {
        "seconds": SECONDS,
        "template": tokenizer.get_chat_template(),
        "names": {name: str(token) for name, token in tokenizer.special_tokens_map.items()},
        "conversations": [[[dict(turn) for turn in turns], asks] for turns, asks in conversations],
    }
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # threads reserve memory
    try:
        child = subprocess.run(
            [sys.executable, "-m", "attnviz.models.template"],
            input=json.dumps(asked).encode(),
            capture_output=True,
            timeout=PATIENCE,
            env=os.environ | one_thread | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        answers = json.loads(child.stdout)
    except (subprocess.TimeoutExpired, json.JSONDecodeError) as problem:
        raise AttnvizError(
            f"The chat template takes more than {SECONDS} seconds or {MEMORY >> 20:,} MiB for "
            "these messages; give the conversation as a text instead."
        ) from problem
    return [text if text is not None else ValueError(reason) for text, reason in answers]


def _limit(computing: int) -> None:
    """Hold this process to the limits; seconds of computing are counted from here on."""
    try:
        import resource
    except ImportError:  # not on this system: the parent's patience is what remains
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime) + computing
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _child() -> None:
    """What the child does: a question from standard input, an answer to standard output."""
    from transformers.utils.chat_template_utils import render_jinja_template

    asked = json.load(sys.stdin)
    _limit(asked["seconds"])
    answers: list[tuple[str | None, str]] = []
    length = 0
    for turns, asks in asked["conversations"]:
        try:
            (text,), _ = render_jinja_template(
                conversations=[turns],
                chat_template=asked["template"],
                add_generation_prompt=asks,
                **asked["names"],
            )
            length += len(text)
            if length > CHARACTERS:
                text, reason = None, f"it writes more than {CHARACTERS:,} characters"
            else:
                reason = ""
        except MemoryError:
            text, reason = None, f"it takes more than {MEMORY >> 20:,} MiB"
        except Exception as problem:  # noqa: BLE001 - a program of its own, refusing in its own way
            text, reason = None, str(problem)[:1000]
        answers.append((text, reason))
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    _child()
