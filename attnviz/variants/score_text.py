"""The words and formulas of a bias on the scores, a cap on them, and a sink."""

from __future__ import annotations

from attnviz.trace import Origin
from attnviz.variants.variant import Setup, StepText


def changed_steps(
    setup: Setup, scaled: str, index: str, axes: tuple[str, ...]
) -> dict[str, StepText]:
    """The steps between scaled and masked, in order; scaled and index are LaTeX, S'_h and _h."""
    steps, now, source = {}, scaled, "scaled"
    if setup.options.get("bias") == "alibi":
        symbol = f"S^{{b}}{index}"
        steps["biased"] = StepText(
            axes,
            "scores",
            symbol,
            rf"{symbol}[i,j] = {now}[i,j] - m{index}\, |i - j|",
            "ALiBi: the further the key, the lower its score, more so in heads of large slope m.",
            Origin("formula", (source,)),
        )
        now, source = symbol, "biased"
    cap = setup.options.get("softcap", "none")
    if cap != "none":
        symbol = f"S^{{c}}{index}"
        steps["capped"] = StepText(
            axes,
            "scores",
            symbol,
            rf"{symbol} = {cap} \tanh({now} / {cap})",
            f"Soft cap: small scores hardly change, and none leaves -{cap} to {cap}.",
            Origin("formula", (source,)),
        )
    return steps


def last_changed(setup: Setup, scaled: str, index: str) -> tuple[str, str]:
    """(symbol, step) of the scores that the mask gets."""
    steps = changed_steps(setup, scaled, index, ())
    return next(((text.symbol, name) for name, text in reversed(steps.items())), (scaled, "scaled"))


def sink_step(hidden: str, index: str, axes: tuple[str, ...]) -> dict[str, StepText]:
    """What goes to no key."""
    return {
        "sink_weights": StepText(
            axes[:-1],
            "other",
            f"a^{{sink}}{index}",
            rf"a^{{sink}}{index}[i] = e^{{b{index}}} / (e^{{b{index}}} + \textstyle\sum_j "
            rf"e^{{{hidden}[i,j]}})",
            "The share that goes to the sink, b being its logit: to no key at all.",
            Origin("formula", ("masked", "sinks")),
        )
    }
