"""The words and formulas of latent attention's steps, in DeepSeek-V2's notation."""

from __future__ import annotations

from attnviz.trace import Origin, Role
from attnviz.variants.text import joined_symbol, turned
from attnviz.variants.variant import Setup, StepText

NORMED = "Brought to unit mean square, so that what is rebuilt from it keeps its size."

SPLIT: tuple[tuple[str, str, Role], ...] = (
    ("query", "Q", "query"),
    ("key", "K", "key"),
    ("value", "V", "value"),
    ("query_position", "Q^R", "query"),
)
TURNED: tuple[tuple[str, str, Role, tuple[str, ...], str], ...] = (
    ("query_position", "Q^R_h", "query", ("batch", "head"), "query_position_heads"),
    ("key_position", "K^R", "key", ("batch",), "key_position"),
)


def latent_steps(setup: Setup) -> dict[str, StepText]:
    """Everything before the scores."""
    source, c = ("context", "C") if setup.cross else ("inputs", "X")
    H = setup.dimensions["n_heads"]
    q, latent = r"\bar{C}^Q", r"\bar{C}^{KV}"
    steps = {
        "query_latent": _product(
            "query", "latent_channel", "C^Q", "X", "inputs", "W_dq",
            "Queries, pressed into few channels.",
        ),
        "query_latent_normed": _normed("query", q, "C^Q", "query_latent"),
        "latent": _product(
            "key", "latent_channel", "C^{KV}", c, source, "W_dkv",
            "Keys and values of all heads in one small vector a token: what is cached.",
        ),
        "latent_normed": _normed("key", latent, "C^{KV}", "latent"),
        "query": _product(
            "query", "all_channel", "Q", q, "query_latent_normed", "W_uq",
            "What each token asks for.",
        ),
        "key": _product(
            "key", "all_channel", "K", latent, "latent_normed", "W_uk",
            "What each token offers to be found by, rebuilt from its latent.",
        ),
        "value": _product(
            "key", "all_value_channel", "V", latent, "latent_normed", "W_uv",
            "What each token hands over when it is found, rebuilt from its latent.", role="value",
        ),
        "query_position": _product(
            "query", "all_position_channel", "Q^R", q, "query_latent_normed", "W_qr",
            "The channels of each query that compare positions.",
        ),
        "key_position": _product(
            "key", "position_channel", "K^R", c, source, "W_kr",
            "One key for all heads that compares positions: cached beside the latent.",
        ),
    }  # fmt: skip
    for word, letter, role in SPLIT:
        steps[f"{word}_heads"] = _split(word, letter, role, H)
    ends = ("Q^R_h", "K^R")
    if setup.rotary:
        origin = "rotary" if setup.options["yarn"] == "none" else "formula"
        for word, symbol, role, lead, from_ in TURNED:
            steps[f"{word}_rotated"] = StepText(
                (*lead, role, "position_channel"),
                role,
                turned(symbol),
                rf"{turned(symbol)}[t] = {symbol}[t]\, R_t^\top",
                "Pairs of channels turn by an angle that grows with the position t; lengths stay.",
                Origin(origin, (from_,)),
            )
        ends = (turned("Q^R_h"), turned("K^R"))
    words = ("rotated", "rotated") if setup.rotary else ("heads", "")
    for role, symbol, end, word in zip(("query", "key"), ("Q_h", "K_h"), ends, words, strict=True):
        steps[f"{role}_joined"] = StepText(
            ("batch", "head", role, "channel"),
            role,
            joined_symbol(symbol),
            rf"{joined_symbol(symbol)} = [\,{symbol},\ {end}\,]",
            "The channels rebuilt from the latent, and those of the positions beside them.",
            Origin("formula", (f"{role}_heads", f"{role}_position{'_' + word if word else ''}")),
        )
    return steps


def scaled_step(setup: Setup, factor: float) -> StepText:
    """Scores scaled with YaRN's factor."""
    return StepText(
        ("batch", "head", "query", "key"),
        "scores",
        "S'_h",
        rf"S'_h = m^2 \cdot {setup.scaling.replace('S', 'S_h')},\quad m = 0.1 \ln "
        rf"{setup.options['yarn']} + 1",
        f"YaRN multiplies the scores by m squared = {factor:.4g}, for softmax over more keys.",
        Origin("formula", ("scores",)),
    )


def _product(
    side: str, channel: str, symbol: str, left: str, source: str, weight: str, note: str,
    role: Role | None = None,
) -> StepText:  # fmt: skip
    name = rf"W^{{{weight.removeprefix('W_').upper()}}}"
    return StepText(
        ("batch", side, channel),
        role or ("query" if side == "query" else "key"),
        symbol,
        rf"{symbol} = {left}\, {name}",
        note,
        Origin("product", (source, weight)),
    )


def _normed(side: Role, symbol: str, plain: str, source: str) -> StepText:
    return StepText(
        ("batch", side, "latent_channel"),
        side,
        symbol,
        rf"{symbol} = \mathrm{{RMSNorm}}({plain})",
        NORMED,
        Origin("formula", (source,)),
    )


def _split(word: str, letter: str, role: Role, n_heads: int) -> StepText:
    parts = rf"{letter}_1, \dots, {letter}_{{{n_heads}}}" if n_heads > 1 else f"{letter}_1"
    channel = {"value": "value_channel", "query_position": "position_channel"}.get(word, "channel")
    return StepText(
        ("batch", "head", "query" if role == "query" else "key", channel),
        role,
        f"{letter}_h",
        rf"{letter} = [\,{parts}\,]",
        f"Each head takes its own columns of {letter}.",
        Origin("split", (word,)),
    )
