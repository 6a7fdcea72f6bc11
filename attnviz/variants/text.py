"""The words and formulas of the steps that softmax variants have in common.

Symbols are LaTeX in the papers' notation, rows being tokens: Q = X W^Q, S = Q K^T, A, O.
"""

from __future__ import annotations

from attnviz.trace import Origin, Role
from attnviz.variants.score_text import changed_steps, last_changed, sink_step
from attnviz.variants.variant import Setup, StepText

Symbols = tuple[str, str, str]  # of queries, keys and values


def input_steps(name: str, *, setup: Setup, summed: bool = False) -> dict[str, StepText]:
    """The sequence that asks ("inputs"), or the one that answers ("context").

    summed: position vectors were added to the embeddings, so the sum is shown too.
    """
    side, symbol = ("key", "C") if name == "context" else ("query", "X")
    axes = ("batch", side, "feature")
    if name == "context":
        note = "One row a token: the sequence that answers."
    elif setup.cross:
        note = "One row a token: the sequence that asks."
    else:
        note = "One row a token: the sequence asks, and answers itself."
    if not summed:
        return {name: StepText(axes, "input", symbol, symbol, note, Origin())}
    tokens, places = rf"{symbol}^{{\text{{token}}}}", rf"{symbol}^{{\text{{position}}}}"
    what, where = f"{name}_tokens", f"{name}_positions"
    return {
        what: StepText(
            axes, "input", tokens, tokens, "What each token is, wherever it stands.", Origin()
        ),
        where: StepText(
            axes, "input", places, places, "Where each token stands, whatever it is.", Origin()
        ),
        name: StepText(
            axes,
            "input",
            symbol,
            f"{symbol} = {tokens} + {places}",
            note,
            Origin("sum", (what, where)),
        ),
    }


def projection_steps(setup: Setup, heads: bool = False) -> dict[str, StepText]:
    """Q, K and V: of one head, or of all heads side by side."""
    source, c = ("context", "C") if setup.cross else ("inputs", "X")
    wide = "all_" if heads else ""
    steps = {
        "query": StepText(
            ("batch", "query", f"{wide}channel"),
            "query",
            "Q",
            "Q = X W^Q",
            "What each token asks for.",
            Origin("product", ("inputs", "W_q")),
        ),
        "key": StepText(
            ("batch", "key", f"{wide}kv_channel" if heads else "channel"),
            "key",
            "K",
            f"K = {c} W^K",
            "What each token offers to be found by.",
            Origin("product", (source, "W_k")),
        ),
        "value": StepText(
            ("batch", "key", f"{wide}value_channel"),
            "value",
            "V",
            f"V = {c} W^V",
            "What each token hands over when it is found.",
            Origin("product", (source, "W_v")),
        ),
    }
    if setup.rotary and not heads:
        steps |= _rotary_steps(("Q", "K"), ("query", "key"), heads=False)
    return steps


def split_steps(setup: Setup, symbols: Symbols) -> dict[str, StepText]:
    """Q, K and V dealt out to heads, and turned by position if the run is rotary."""
    H, G = setup.dimensions["n_heads"], setup.dimensions["n_kv_heads"]
    note = "Each head takes its own columns of {} and works on them alone."
    if G < H:
        note += f" {H // G} query heads share each key/value head."
    sides: tuple[tuple[Role, str, str, int], ...] = (
        ("query", "head", "channel", H),
        ("key", "kv_head", "channel", G),
        ("value", "kv_head", "value_channel", G),
    )
    steps = {}
    for (role, head, channel, count), symbol in zip(sides, symbols, strict=True):
        letter = symbol[0]
        parts = rf"{letter}_1, \dots, {letter}_{{{count}}}" if count > 1 else f"{letter}_1"
        steps[f"{role}_heads"] = StepText(
            ("batch", head, "query" if role == "query" else "key", channel),
            role,
            symbol,
            rf"{letter} = [\,{parts}\,]",
            note.format(letter),
            Origin("split", (role,)),
        )
    if setup.rotary:
        steps |= _rotary_steps(symbols[:2], ("query_heads", "key_heads"), heads=True)
    return steps


def _rotary_steps(
    symbols: tuple[str, str], sources: tuple[str, str], *, heads: bool
) -> dict[str, StepText]:
    steps = {}
    sides: tuple[tuple[Role, str], ...] = (("query", "head"), ("key", "kv_head"))
    for (role, head), symbol, source in zip(sides, symbols, sources, strict=True):
        steps[f"{role}_rotated"] = StepText(
            ("batch", *([head] if heads else []), role, "channel"),
            role,
            turned(symbol),
            rf"{turned(symbol)}[t] = {symbol}[t]\, R_t^\top",
            "Pairs of channels turn by an angle that grows with the position t; lengths stay.",
            Origin("rotary", (source,)),
        )
    return steps


def turned(symbol: str) -> str:
    """The symbol of a matrix after rotary embedding."""
    return rf"\tilde{{{symbol[0]}}}{symbol[1:]}"


def joined_symbol(symbol: str) -> str:
    """The symbol of queries or keys with position channels joined on."""
    return rf"\acute{{{symbol[0]}}}{symbol[1:]}"


def core_steps(
    setup: Setup, symbols: Symbols, heads: bool = False, joined: bool = False
) -> dict[str, StepText]:
    """Scores, scaling, mask, softmax and weighted sum: of one head, or of each head h.

    joined: queries and keys have had position channels joined on, and those were rotated.
    """
    index, lead = ("_h", ("batch", "head")) if heads else ("", ("batch",))
    sources = ("query_heads", "key_heads", "value_heads") if heads else ("query", "key", "value")
    q, k, v = symbols
    if joined:
        sources = ("query_joined", "key_joined", sources[2])
        q, k = joined_symbol(q), joined_symbol(k)
    elif setup.rotary:
        sources = ("query_rotated", "key_rotated", sources[2])
        q, k = turned(q), turned(k)
    s, scaled, hidden = f"S{index}", f"S'{index}", rf"\hat{{S}}{index}"
    a, o = f"A{index}", f"O{index}"
    pairs = (*lead, "query", "key")
    shown, before = last_changed(setup, scaled, index)
    sink = setup.options.get("sink", "none") != "none"
    return {
        "scores": StepText(
            pairs,
            "scores",
            s,
            rf"{s} = {q}\, {k}^\top",
            "How well each query fits each key: one dot product a cell.",
            Origin("dot", sources[:2]),
        ),
        "scaled": StepText(
            pairs,
            "scores",
            scaled,
            f"{scaled} = {setup.scaling.replace('S', s)}",
            r"Divided by the square root of d_k, scores spread equally far for any d_k."
            if "sqrt" in setup.scaling
            else "In this run the scores are not divided by the square root of d_k.",
            Origin("scale", ("scores",)),
        ),
        **changed_steps(setup, scaled, index, pairs),
        "masked": StepText(
            pairs,
            "scores",
            hidden,
            rf"{hidden}[i,j] = {shown}[i,j] \text{{ if allowed, else }} {{-\infty}}"
            if setup.mask
            else f"{hidden} = {shown}",
            f"Mask: {setup.mask}. A hidden key gets minus infinity, so its weight will be 0."
            if setup.mask
            else "No mask in this run: every query may look at every key.",
            Origin("mask", (before,)),
        ),
        **(sink_step(hidden, index, pairs) if sink else {}),
        "weights": StepText(
            pairs,
            "weights",
            a,
            rf"{a}[i,j] = e^{{{hidden}[i,j]}} / (e^{{b{index}}} + \textstyle\sum_l "
            rf"e^{{{hidden}[i,l]}})"
            if sink
            else rf"{a} = \mathrm{{softmax}}({hidden})",
            "Each row becomes shares; with the sink's they add up to 1."
            if sink
            else "Each row becomes shares that add up to 1.",
            Origin("formula", ("masked", "sinks")) if sink else Origin("softmax", ("masked",)),
        ),
        "heads" if heads else "output": StepText(
            (*lead, "query", "value_channel"),
            "output",
            o,
            rf"{o} = {a}\, {v}",
            "For each query, the values mixed in those shares.",
            Origin("mix", ("weights", sources[2])),
        ),
    }


def output_steps() -> dict[str, StepText]:
    """Heads put side by side and mixed by the output projection."""
    return {
        "transposed": StepText(
            ("batch", "query", "head", "value_channel"),
            "output",
            r"O^\top",
            r"O^\top[t, h] = O_h[t]",
            "Token by token again: merged without this, tokens and heads would get mixed.",
            Origin("formula", ("heads",)),
        ),
        "concatenated": StepText(
            ("batch", "query", "all_output_channel"),
            "output",
            r"\bar{O}",
            r"\bar{O} = [\,O_1, \dots, O_H\,]",
            "The heads' outputs, side by side.",
            Origin("concatenate", ("heads",)),
        ),
        "output": StepText(
            ("batch", "query", "feature"),
            "output",
            "Y",
            r"Y = \bar{O}\, W^O",
            "The output projection mixes what the heads brought.",
            Origin("product", ("concatenated", "W_o")),
        ),
    }
