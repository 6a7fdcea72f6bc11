"""Arguments of the wrong type or size are refused in a sentence, never with a raw exception.

They are passed in a process of their own, as a user's would be: here every annotation is checked,
so that no such argument would get as far as attnviz's own words.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

REFUSALS = {
    "kv.preset([])": "There is no preset []",
    'kv.size(kv.preset("kimi-k3"), 8, dtype=["a"])': "Expected a dtype among float32",
    'kv.size(kv.preset("kimi-k3"), 8, state_dtype=["a"])': "Expected a dtype among float32",
    'kv.CacheSpec.from_layers([{"kind": []}])': "kind must be one of full",
}
PROBE = """
import json, sys
import numpy as np
import torch
import attnviz as av
from attnviz import kv_cache as kv, masks

x = av.random_inputs(4, 8)

def told(call):
    try:
        return "not refused: " + repr(eval(call))[:200]
    except av.AttnvizError as refusal:
        return str(refusal)
    except Exception as raw:
        return "raw " + repr(raw)

print(json.dumps({call: told(call) for call in json.load(sys.stdin)}))
"""


@pytest.fixture(scope="module")
def told() -> dict[str, str]:
    """What each call said."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE],
        input=json.dumps(list(REFUSALS)),
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"ATTNVIZ_MEMORY_GIB": "1"},
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("call", REFUSALS)
def test_it_is_refused_in_a_sentence(told: dict[str, str], call: str) -> None:
    assert REFUSALS[call] in told[call]
    assert told[call].endswith((".", ")"))
