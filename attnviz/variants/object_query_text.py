"""The words and formulas of object queries' steps."""

from __future__ import annotations

from dataclasses import replace

from attnviz.trace import Origin
from attnviz.variants.text import (
    core_steps,
    input_steps,
    output_steps,
    projection_steps,
    split_steps,
)
from attnviz.variants.variant import Setup, StepText

SYMBOLS = ("Q_h", "K_h", "V_h")
PLACES = ("batch", "query", "feature")


def describe(setup: Setup) -> dict[str, StepText]:
    """What each step is called, and how it came about."""
    return (
        _memory(setup)
        | _among_queries(setup)
        | _placed(setup)
        | split_steps(setup, SYMBOLS)
        | core_steps(setup, SYMBOLS, heads=True)
        | output_steps()
    )


def _memory(setup: Setup) -> dict[str, StepText]:
    """The inputs are what is asked, not what asks."""
    steps = input_steps("inputs", setup=setup, summed=True)
    for word, text in steps.items():
        steps[word] = replace(text, axes=("batch", "key", "feature"))
    note = "One row a patch: the memory, which the queries ask."
    steps["inputs"] = replace(steps["inputs"], symbol="M", note=note)
    return steps


def _among_queries(setup: Setup) -> dict[str, StepText]:
    later = setup.options["decoder_layer"] == "later"
    scaled = setup.scaling.replace("S", "(X+P) W^Q_s ((X+P) W^K_s)^\\top")
    return {
        "object_queries": StepText(
            PLACES, "query", "P", "P", "The learned vectors, the same for every image.",
            Origin("formula", ("P",)),
        ),
        "target": StepText(
            PLACES, "other", "X", "X" if later else "X = 0",
            "Stands for what the layers before have gathered." if later
            else "The first layer has gathered nothing yet: its self-attention hands over zeros.",
            Origin("formula", ("X",)) if later else Origin(),
        ),
        "self_input": StepText(
            PLACES, "query", "X + P", "X + P",
            "What the queries compare among themselves.",
            Origin("sum", ("target", "object_queries")),
        ),
        "self_weights": StepText(
            ("batch", "head", "query", "other_query"), "weights", "A^s_h",
            rf"A^s_h = \mathrm{{softmax}}({scaled})_h",
            "Where each query looks among the queries.",
            Origin("formula", ("self_input", "W_self_q", "W_self_k")),
        ),
        "self_output": StepText(
            PLACES, "output", "Z", r"Z = [\,A^s_h X W^V_{s,h}\,]\, W^O_s",
            "Values of X alone: positions are compared, not handed over.",
            Origin("formula", ("self_weights", "target", "W_self_v", "W_self_o")),
        ),
        "asking": StepText(
            PLACES, "query", "X'", r"X' = \mathrm{LayerNorm}(X + Z)",
            "What the queries hold when they turn to the image.",
            Origin("formula", ("target", "self_output")),
        ),
        "query_input": StepText(
            PLACES, "query", "X' + P", "X' + P", "What asks the image.",
            Origin("sum", ("asking", "object_queries")),
        ),
    }  # fmt: skip


def _placed(setup: Setup) -> dict[str, StepText]:
    keys = ("batch", "key", "feature")
    steps = projection_steps(setup, heads=True)
    changed = {
        "query": ("Q = (X' + P) W^Q", "What each object query asks for.", "query_input"),
        "key": ("K = (M + E) W^K", "What each patch offers to be found by.", "key_input"),
        "value": ("V = M W^V", "What each patch hands over: without its position.", "inputs"),
    }
    for word, (formula, note, source) in changed.items():
        origin = Origin("product", (source, f"W_{word[0]}"))
        steps[word] = replace(steps[word], formula=formula, note=note, origin=origin)
    return {
        "memory_positions": StepText(
            keys, "input", "E", "E",
            "Sines and cosines of a patch's row, then of its column.", Origin(),
        ),
        "key_input": StepText(
            keys, "key", "M + E", "M + E", "What is found: a patch and where it lies.",
            Origin("sum", ("inputs", "memory_positions")),
        ),
    } | steps  # fmt: skip
