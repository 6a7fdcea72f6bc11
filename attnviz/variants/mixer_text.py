"""The words and formulas of the steps that recurrent mixers have in common."""

from __future__ import annotations

from attnviz.trace import Origin, Role
from attnviz.variants.text import output_steps, projection_steps, turned
from attnviz.variants.variant import Setup, StepText

SIDES: tuple[tuple[Role, str, str], ...] = (
    ("query", "query", "channel"),
    ("key", "key", "channel"),
    ("value", "key", "value_channel"),
)


def mixer_projections(setup: Setup) -> dict[str, StepText]:
    """Q, K and V, dealt out to heads, and turned by position if the run is rotary."""
    H, G = setup.dimensions["n_heads"], setup.dimensions["n_key_heads"]
    steps = projection_steps(setup, heads=True)
    for role, side, channel in SIDES:
        letter, count = role[0].upper(), H if role == "value" else G
        parts = rf"{letter}_1, \dots, {letter}_{{{count}}}" if count > 1 else f"{letter}_1"
        note = f"Each head takes its own columns of {letter} and works on them alone."
        if count < H:
            note += f" {H // G} heads share each of these."
        steps[f"{role}_heads"] = StepText(
            ("batch", _head(role, setup), side, channel),
            role,
            f"{letter}_h",
            rf"{letter} = [\,{parts}\,]",
            note,
            Origin("split", (role,)),
        )
        if setup.rotary and role != "value":
            steps[f"{role}_rotated"] = StepText(
                ("batch", _head(role, setup), side, channel),
                role,
                turned(f"{letter}_h"),
                rf"{turned(f'{letter}_h')}[t] = {letter}_h[t]\, R_t^\top",
                "Pairs of channels turn by an angle that grows with the position t; lengths stay.",
                Origin("rotary", (f"{role}_heads",)),
            )
    return steps


def feature_steps(
    setup: Setup, function: str, note: str, roles: tuple[Role, ...] = ("query", "key")
) -> dict[str, StepText]:
    """Queries and keys (and values) after a function of each token alone; function is LaTeX."""
    steps = {}
    for role, side, channel in SIDES:
        if role not in roles:
            continue
        symbol, source = f"{role[0].upper()}_h", f"{role}_heads"
        if setup.rotary and role != "value":
            symbol, source = turned(symbol), f"{role}_rotated"
        steps[f"{role}_features"] = StepText(
            ("batch", _head(role, setup), side, channel),
            role,
            rf"\hat{{{role[0].upper()}}}_h",
            rf"\hat{{{role[0].upper()}}}_h = {function}({symbol})",
            note,
            Origin("formula", (source,)),
        )
    return steps


def decay_steps(
    formula: str, note: str, sources: tuple[str, ...], *, channels: bool = False
) -> dict[str, StepText]:
    """log alpha, and alpha: a number a head and token, or one for each key channel."""
    axes = ("batch", "head", "key", *(["channel"] if channels else []))
    return {
        "log_decay": StepText(axes, "other", "g_h", formula, note, Origin("formula", sources)),
        "decay": StepText(
            axes,
            "other",
            r"\alpha_h",
            r"\alpha_h = e^{g_h}",
            "The share of the state that each token lets live: 1 keeps all, 0 forgets all.",
            Origin("formula", ("log_decay",)),
        ),
    }


def strength_step(symbol: str, formula: str, note: str, sources: tuple[str, ...]) -> StepText:
    """How strongly each token writes: beta, or Mamba's step size."""
    axes = ("batch", "head", "key")
    return StepText(axes, "other", symbol, formula, note, Origin("formula", sources))


def state_steps(
    setup: Setup, *, write: str, state: str, map_: str, value: str = "value_heads"
) -> dict[str, StepText]:
    """What is written and erased, the state, the exact map, and the outputs; LaTeX formulas."""
    per_token, per_state = ("batch", "head", "key"), ("batch", "head", "channel", "value_channel")
    started = setup.initial_state is not None
    last = Origin("formula", ("written", "initial_state") if started else ("written",))
    v = r"\hat{V}_h" if value == "value_features" else "V_h"
    return {
        "initial_state": StepText(
            per_state, "other", "S_0", "S_0", "What the state holds before the first token.",
            Origin(),
        ),
        "written": StepText(
            (*per_token, "value_channel"), "value", "u", write,
            "What each token adds to the state under its key.",
            Origin("formula", (value,)),
        ),
        "erased": StepText(
            (*per_token, "value_channel"), "value", "e",
            r"e_t = \beta_t\, (\alpha_t S_{t-1})^\top k_t",
            "What the state already answered to this key, taken out as the new value goes in.",
            Origin("formula", ("written",)),
        ),
        "state_norm": StepText(
            per_token, "other", r"\lVert S_t \rVert", r"\lVert S_t \rVert_F",
            "How much the state holds after each token; its size in memory never changes.",
            Origin("formula", ("written",)),
        ),
        "state": StepText(
            per_state, "other", "S_T", state, "The state after the last token.", last
        ),
        "weights": StepText(
            ("batch", "head", "query", "key"), "weights", "A_h", map_,
            "The exact map from values to outputs. It is no probability: cells may be negative.",
            Origin("formula", ("written",)),
        ),
        "initial_map": StepText(
            ("batch", "head", "query", "channel"), "other", "B_h", r"O_h = A_h V_h + B_h S_0",
            "How much each token still reads of each row of the initial state.",
            Origin("formula", ("initial_state",)),
        ),
        "heads": StepText(
            ("batch", "head", "query", "value_channel"), "output", "O_h",
            f"O_h = A_h {v}" + (" + B_h S_0" if started else ""),
            "What each token reads from the state after its own write.",
            Origin("formula", ("weights", "initial_state"))
            if started
            else Origin("mix", ("weights", value)),
        ),
        **output_steps(),
    }  # fmt: skip


def _head(role: Role, setup: Setup) -> str:
    shared = setup.dimensions["n_key_heads"] < setup.dimensions["n_heads"]
    return "key_head" if shared and role != "value" else "head"
