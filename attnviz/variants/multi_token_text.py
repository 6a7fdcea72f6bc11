"""The words and formulas of multi-token attention's steps."""

from __future__ import annotations

from dataclasses import replace

from attnviz.trace import Origin
from attnviz.variants.text import core_steps, output_steps, projection_steps, split_steps
from attnviz.variants.variant import Setup, StepText

PAIRS = ("batch", "head", "query", "key")
WHERE = {"before": ("S", r"S'_h"), "after": ("A", r"P_h")}
"""The letter of the steps at each place, and the symbol of what they start from."""


def multi_token_steps(setup: Setup) -> dict[str, StepText]:
    """What each step is called, and how it came about."""
    core = core_steps(setup, ("Q_h", "K_h", "V_h"), heads=True)
    before, now, source = _blended(setup, "before", "scaled")
    after, final, last = _blended(setup, "after", "shares")
    core["masked"] = StepText(
        PAIRS,
        "scores",
        r"\hat{S}_h",
        rf"\hat{{S}}_h[i,j] = {now}[i,j] \text{{ if allowed, else }} {{-\infty}}"
        if setup.mask
        else rf"\hat{{S}}_h = {now}",
        "Masked once more: what was blended into hidden places gets minus infinity."
        if setup.mask
        else core["masked"].note,
        Origin("mask", (source,)),
    )
    core["shares"] = StepText(
        PAIRS,
        "other",
        "P_h",
        r"P_h = \mathrm{softmax}(\hat{S}_h)",
        "Each row becomes shares that add up to 1.",
        Origin("softmax", ("masked",)),
    )
    core["weights"] = StepText(
        PAIRS,
        "weights",
        "A_h",
        rf"A_h[i,j] = {final}[i,j] \text{{ if allowed, else }} 0"
        if setup.mask
        else f"A_h = {final}",
        "What mixes the values. After a blend it is no probability: cells may be negative."
        if after
        else "What mixes the values.",
        Origin("formula", (last,)),
    )
    return (
        projection_steps(setup, heads=True)
        | split_steps(setup, ("Q_h", "K_h", "V_h"))
        | core
        | before
        | after
        | _outputs(setup)
    )


def _outputs(setup: Setup) -> dict[str, StepText]:
    steps = output_steps()
    if setup.options["head_norm"] == "none":
        return steps
    normed = StepText(
        ("batch", "head", "query", "value_channel"),
        "output",
        r"	ilde{O}_h",
        r"	ilde{O}_h[t] = (1 - \lambda)\, O_h[t] / \mathrm{rms}(O_h[t]), "
        r"\; \lambda = 0.8 - 0.6\, e^{-0.3 (l - 1)}",
        "Each head's output at one length, which falls with the layer l.",
        Origin("formula", ("heads",)),
    )
    transposed = replace(
        steps["transposed"],
        formula=r"O^\top[t, h] = \tilde{O}_h[t]",
        origin=Origin("formula", ("heads_normed",)),
    )
    joined = replace(steps["concatenated"], origin=Origin("concatenate", ("heads_normed",)))
    return {"heads_normed": normed} | steps | {"transposed": transposed, "concatenated": joined}


def _blended(setup: Setup, place: str, source: str) -> tuple[dict[str, StepText], str, str]:
    """(steps, symbol of the last, name of the last) of one place."""
    letter, now = WHERE[place]
    role = "scores" if place == "before" else "other"
    steps = {}

    def add(name: str, mark: str, formula: str, note: str, more: tuple[str, ...] = ()) -> None:
        nonlocal now, source
        symbol = f"{letter}^{{{mark}}}_h"
        origin = Origin("formula", (source, *more))
        steps[f"{name}_{place}"] = StepText(
            PAIRS, role, symbol, f"{symbol} = {formula.format(now)}", note, origin
        )
        now, source = symbol, f"{name}_{place}"

    if setup.options["convolution"] in (place, "both"):
        add(
            "zeroed",
            "0",
            r"{}[i,j] \text{{ if allowed, else }} 0" if setup.mask else "{}",
            "Masked with 0 before the convolution, so that no hidden score is blended in.",
        )
        add(
            "convolved",
            "*",
            r"\theta_h * {}",
            "A small kernel slides over the map: earlier queries and keys to both sides count in.",
            (f"kernel_{place}",),
        )
    if setup.options["head_mixing"] in (place, "both"):
        add(
            "mixed",
            "m",
            r"\textstyle\sum_{{g}} w_{{hg}}\, {}",
            "Heads of one group are mixed.",
            (f"mixing_{place}",),
        )
    return steps, now, source  # fmt: skip
