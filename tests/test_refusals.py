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
    'av.run(["a"], x)': "There is no variant ['a']",
    'av.run("multi_head", x.embeddings)': "inputs must be an av.Inputs; received Tensor: wrap",
    'av.run("multi_head", "a cat")': "inputs must be an av.Inputs; received str: make them from",
    'av.run("multi_head", None)': "received NoneType: make them with av.Inputs",
    'av.run("multi_head", x, context=x.embeddings)': "context must be an av.Inputs; received Ten",
    'av.run("multi_head", x, temperature="1")': "temperature must be a finite number above 0",
    'av.run("multi_head", x, temperature=10**400)': "temperature must be a finite number above 0",
    'av.run("multi_head", x, scale="x")': "scale must be True, False or a finite number",
    'av.run("multi_head", x, scale=None)': "scale must be True, False or a finite number",
    'av.run("multi_head", x, scale=10**400)': "scale must be True, False or a finite number",
    'av.run("multi_head", x, head_dim=10**9)': "GiB of memory and",
    'av.run("scaled_dot_product", x, head_dim=10**9)': "GiB of memory and",
    'av.run("scaled_dot_product", x, head_dim=10**9, kernel="sdpa")': "GiB of memory and",
    'av.run("multi_head", x, head_dim=10**19)': "head_dim must be at most 1,000,000,000,000;",
    'av.run("grouped_query", x, n_heads=10**12, n_kv_heads=7)': "n_heads must be at most 100,000;",
    'av.variants.parameters("multi_head", 8, head_dim=10**9)': "GiB of memory and",
    'av.variants.parameters("multi_head", "8")': "d_model must be a whole number",
    'av.run("multi_head", x, seed=1.5)': "seed must be a whole number; received 1.5",
    'av.run("multi_head", x, seed=None)': "seed must be a whole number; received None",
    'av.random_inputs(3, 4, seed="a")': "seed must be a whole number; received 'a'",
    "av.random_inputs(3, 4, seed=True)": "seed must be a whole number; received True",
    "av.random_inputs(10**12, 8)": "Drawing 1,000,000,000,000 vectors of 8 components, batch 1,",
    "av.random_inputs(3, 10**400)": "d_model must be at most",
    "av.Inputs(np.zeros((1, 3, 4)))": "must be a torch tensor, (batch, length, d_model); received",
    "av.Inputs([[1.0]])": "received list: convert it with torch.as_tensor",
    "av.Inputs(torch.zeros(1, 3, 4).to(torch.float8_e4m3fn))": "received torch.float8_e4m3fn",
    'av.Inputs(torch.zeros(1, 3, 4, device="meta"))': "received a tensor on meta",
    "av.Inputs(torch.zeros(1, 1, 4), [1])": "tokens must be a list of words; received [1]",
    "av.Inputs(torch.zeros(1, 1, 4), 1)": "tokens must be a list of words; received 1",
    "av.text_inputs(4)": "The text must be a str; received int",
    'av.text_inputs(b"a")': "The text must be a str; received bytes",
    'av.text_inputs(["a"])': "The text must be a str; received list",
    "masks.padding(3)": "Padding needs a list with one length for each example; received 3",
    'masks.padding("12")': "Padding needs a list with one length for each example",
    "masks.padding([2.5])": "Each padding length must be a whole number; received 2.5",
    "masks.sliding_window(2.5)": "The window must be a whole number; received 2.5",
    "masks.prefix(2.5)": "The prefix must be a whole number; received 2.5",
    "masks.prefix(None)": "The prefix must be a whole number; received None",
    "masks.causal() & 3": "joined with another mask or a boolean tensor; received int",
    "3 | masks.causal()": "joined with another mask or a boolean tensor; received int",
    "masks.causal() & torch.ones(3, 3)": "A mask must be boolean with True for allowed",
    "masks.from_tensor([[True]])": "A mask must be a boolean torch tensor; received list",
    'iv.intervene(m, "ab", ["0.1"])': "Edits are a list of Knockout, Scale, Patch, HideToken and",
    'iv.intervene(m, "ab", iv.Knockout(0, 0))': "Edits are a list of Knockout, Scale, Patch, Hide",
    'iv.intervene(m, "ab", None)': "Edits are a list of Knockout, Scale, Patch, HideToken and",
    'iv.intervene(m, ["ab", "abc"], [])': "One text is read at a time, a string; received",
    "iv.Knockout(0, 1.5)": "Layers, heads and tokens are whole numbers, not 1.5",
    'iv.Patch("1", 0, "ab")': "Layers, heads and tokens are whole numbers, not '1'",
    "iv.HideToken(1.5)": "Layers, heads and tokens are whole numbers, not 1.5",
    'iv.HideEdge(1, "b")': "Layers, heads and tokens are whole numbers, not 'b'",
    'iv.Scale(0, 0, "2")': "A head's factor must be a number below 1e6, not '2'",
    'iv.sweep(m, "ab", token_id="a")': "There are tokens 0 to 95; 'a' is not there",
    'iv.head_logits(m, "ab", 1.5)': "There are tokens 0 to 95; 1.5 is not there",
    "which_heads(c, 1.5, 0)": "There are queries 0 to 3; 1.5 is not there",
    "which_heads(c, 0, None)": "There are keys 0 to 3; None is not there",
    'iv.intervene("induction-2l", "ab", [])': "a loaded model, not str; give av.load_model(name)",
    'iv.sweep(m.model, "ab")': "a loaded model, not LlamaForCausalLM; give av.load_model(name)",
    'iv.head_logits(None, "ab")': "a loaded model, not NoneType; give av.load_model(name)",
    'metrics_over("induction-2l", ["ab"])': "a loaded model, not str; give av.load_model(name)",
    'removals_over("induction-2l", ["ab"])': "a loaded model, not str; give av.load_model(name)",
    "compare(c, None)": "Two captures are compared, not NoneType; make them with av.capture",
    "compare(c, c).changes(size=0)": "size must be a whole number, 1 or more; received 0",
    'metrics_over(m, "ab")': "Expected texts, a list of one or more strings; received 'ab'",
}
PROBE = """
import json, sys
import numpy as np
import torch
import attnviz as av
from attnviz import interventions as iv, kv_cache as kv, masks
from attnviz.comparing import compare
from attnviz.corpus.measuring import metrics_over, removals_over
from attnviz.metrics.ranking import which_heads

x = av.random_inputs(4, 8)
m = av.load_model("induction-2l")
c = av.capture(m, "abab")

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
