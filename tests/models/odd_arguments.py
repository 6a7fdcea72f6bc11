"""What a practitioner may get wrong, each to be refused in a sentence; prints what was not.

A process of its own, for in the tests' own every annotation is checked before a sentence is said.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import attnviz as av
from attnviz.errors import AttnvizError
from attnviz.metrics.ranking import which_heads
from tests.models.tiny import TEXT, llama

MODEL: Any = llama()
CAPTURE: Any = av.capture(MODEL, TEXT)
capture: Any = av.capture
rank: Any = which_heads


def ids(*numbers: float, **more: Any) -> dict[str, Any]:
    return {"input_ids": torch.tensor([numbers])} | more


CALLS: dict[str, list[Callable[[], Any]]] = {
    "is a str": [lambda text=text: capture(MODEL, text) for text in (5, b"a", 3.5, [5], {"a": 1})],
    "av.load_model": [lambda one=one: capture(one, TEXT) for one in (None, "m", MODEL.model)],
    "whole number": [
        lambda: capture(MODEL, TEXT, example="0"),
        lambda: capture(MODEL, TEXT, max_tokens="5"),
        lambda: capture(MODEL, TEXT, max_tokens=0),
        lambda: capture(MODEL, TEXT, max_new_tokens=0),
        lambda: capture(MODEL, TEXT, overview_size=-1),
        lambda: capture(MODEL, TEXT, overview_size=2.5),
    ],
    "writes no target": [lambda: capture(MODEL, TEXT, target="the dog")],
    "dict of tensors": [lambda: capture(MODEL, inputs=[1, 2])],
    "holds no tensors": [lambda: capture(MODEL, inputs={"input_ids": [[1, 2]]})],
    "(batch, tokens)": [
        lambda: capture(MODEL, inputs={"input_ids": torch.tensor([1, 2])}),
        lambda: capture(MODEL, inputs=ids(1.0, 2.0)),
        lambda: capture(MODEL, inputs={"input_ids": torch.zeros(1, 0, dtype=torch.long)}),
    ],
    "ids from 0 to 63; received 64": [lambda: capture(MODEL, inputs=ids(1, 64))],
    "ids from 0 to 63; received -1": [lambda: capture(MODEL, inputs=ids(1, -1))],
    "shape of input_ids": [
        lambda: capture(MODEL, inputs=ids(1, 2, attention_mask=torch.tensor([[1]])))
    ],
}
READINGS: dict[str, list[Callable[[Any], Any]]] = {
    "must be a whole number": [
        lambda c: c.weights("0", 0),
        lambda c: c.weights(0.0, 0),
        lambda c: c.weights(0, None),
        lambda c: c.largest(0, 0, 0),
        lambda c: c.largest(0, 0, 2.5),
        lambda c: c.overview(-1),
        lambda c: c.overview(None),
    ],
    "is not there": [lambda c: rank(c, "a", 0), lambda c: rank(c, 0, None)],
    "slices of whole numbers": [
        lambda c: c.weights(0, 0, rows=5),
        lambda c: c.weights(0, 0, cols=(0, 3)),
        lambda c: c.weights(0, 0, rows=slice(0.5, 2)),
        lambda c: c.blocked(0, rows=slice("a", 2)),
        lambda c: c.largest(0, 0, 2, rows=range(3)),
    ],
    "run forwards": [lambda c: c.weights(0, 0, rows=slice(None, None, 0))],
    "one token at least": [lambda c: c.largest(0, 0, 2, rows=slice(5, 2))],
}


def main() -> None:
    calls = [(said, call) for said, some in CALLS.items() for call in some]
    for maps in (CAPTURE, CAPTURE.by_words()):
        calls += [
            (said, lambda ask=ask, maps=maps: ask(maps))
            for said, some in READINGS.items()
            for ask in some
        ]
    for number, (said, call) in enumerate(calls):
        try:
            print(f"{number}: no refusal, {said!r} was expected; got {call()!r:.80}")
        except AttnvizError as problem:
            if said not in str(problem):
                print(f"{number}: {said!r} was expected; said was {problem}")
        except Exception as problem:  # noqa: BLE001 - a traceback is what must not be
            print(f"{number}: {said!r} was expected; raised was {problem!r}")
    np.testing.assert_array_equal(CAPTURE.weights(np.int64(1), np.int32(2)), CAPTURE.weights(1, 2))
    assert rank(CAPTURE, np.int64(3), 0).equals(rank(CAPTURE, 3, 0))
    print(f"{len(calls)} calls")


if __name__ == "__main__":
    main()
