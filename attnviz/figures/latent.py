"""A run of latent attention -> two ways to decode it, what each costs, why RoPE stands apart."""

from __future__ import annotations

import attnviz as av
from attnviz.figures import palette
from attnviz.figures.axes import key_axis, numbered_axis, query_axis
from attnviz.figures.figure import Figure, Panel
from attnviz.figures.maps import blocked
from attnviz.figures.vega import Spec, legible, name, number, tip
from attnviz.variants.latent_costs import decoding_costs, naive_is_cheaper_from
from attnviz.variants.latent_coupling import coupling
from attnviz.variants.latent_decoding import Decoding, absorb, decode

DEEPSEEK_V2 = {
    "n_heads": 128,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "kv_lora_rank": 512,
    "d_model": 5120,
}
"""DeepSeek-AI 2024, DeepSeek-V2, section 3.1.2."""
QUERIES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


def decoding_figure(trace: av.Trace, head: int) -> Figure:
    """One head: its weights by both forms, and the two matrices that absorb the up-projections."""
    naive, absorbed = decode(trace, len(trace.query_tokens))
    product = absorb(trace.parameters, trace.dimensions["n_heads"])
    ranks = trace.dimensions["q_lora_rank"], trace.dimensions["kv_lora_rank"]
    latent = numbered_axis("latent_channel", "latent channel", ranks[1])

    def weights(word: str, form: Decoding) -> Panel:
        return Panel(
            f"weights_{word}",
            f"Weights, {word}",
            form.weights[0, head].float().cpu().numpy(),
            query_axis(trace),
            key_axis(trace),
            blocked=blocked(trace),
            limit=1.0,
            subtitle="keys rebuilt for every head" if form.rebuilt else "latents compared directly",
        )

    return Figure(
        title="Latent attention decoded in two ways",
        alt="The same softmax weights from rebuilt keys and from the latents alone, and the two "
        "matrices that take the up-projections in.",
        panels=(
            weights("naive", naive),
            weights("absorbed", absorbed),
            Panel(
                "absorbed_query",
                "Into the query: W_UQ·W_UKᵀ",
                product.query[head].float().cpu().numpy(),
                numbered_axis("query_channel", "query latent channel", ranks[0]),
                latent,
                scale="signed",
                subtitle=f"{ranks[0]} × {ranks[1]}: from a query's latent to a key's",
                accent="query",
            ),
            Panel(
                "absorbed_output",
                "Into the output: W_UV·W_O",
                product.output[head].float().cpu().numpy(),
                latent,
                numbered_axis("feature", "feature", trace.dimensions["d_model"]),
                scale="signed",
                subtitle=f"{ranks[1]} × {trace.dimensions['d_model']}: from mixed latents outwards",
                accent="output",
            ),
        ),
        settings="latent attention, naive and absorbed",
        file_stem="attnviz_latent_decoding",
    )


def decoding_sentence(trace: av.Trace) -> str:
    """How far the two outputs are apart, and what each token leaves in the cache."""
    naive, absorbed = decode(trace, len(trace.query_tokens))
    apart = float((naive.output - absorbed.output).abs().max())
    heads, sizes = trace.dimensions["n_heads"], trace.dimensions
    rebuilt = sum(tensor[0, :, 0].numel() for tensor in naive.rebuilt.values())
    return (
        f"The two outputs differ by {apart:.1g} at most. Both cache {naive.cached_per_token} "
        f"numbers a token (a latent of {sizes['kv_lora_rank']} and one position key of "
        f"{sizes['qk_rope_head_dim']}); the naive form rebuilds {rebuilt} more for every cached "
        f"token at every step, keys and values of {heads} heads, the absorbed form none."
    )


def cost_chart(n_keys: int, *, dark: bool = False) -> Spec:
    """Operations of both forms against the number of new tokens, in DeepSeek-V2's size."""
    rows = [
        {"queries": n_queries, "form": form, "operations": float(cost.flops)}
        for n_queries in QUERIES
        for form, cost in zip(
            ("naive", "absorbed"), decoding_costs(DEEPSEEK_V2, n_keys, n_queries), strict=True
        )
    ]
    chart = {
        "title": "Operations of one layer",
        "height": 380,
        "data": {"name": "costs"},
        "mark": {"type": "line", "point": {"size": 40}, "strokeWidth": 2},
        "encoding": {
            "x": number(
                "queries",
                "new tokens T_q (log scale)",
                scale={"type": "log", "base": 2},
                axis={"values": list(QUERIES), "format": "d", "grid": False},
            ),
            "y": number("operations", "operations (log scale)", scale={"type": "log"})
            | {"axis": {"format": "~s", "tickCount": 4}},
            "color": name(
                "form",
                scale={"domain": ["naive", "absorbed"], "range": list(palette.LINES[dark][:2])},
                legend={"orient": "bottom"},
            ),
            "tooltip": [
                tip("form", "form"),
                tip("queries", "new tokens", "d"),
                tip("operations", "operations", ",.3s"),
            ],
        },
        "datasets": {"costs": rows},
    }
    return legible(chart, dark=dark)


def cost_sentence(n_keys: int) -> str:
    """From how many new tokens rebuilding pays."""
    naive, absorbed = decoding_costs(DEEPSEEK_V2, n_keys, 1)
    least = naive_is_cheaper_from(DEEPSEEK_V2, n_keys)
    turn = (
        "the absorbed form always takes fewer operations"
        if least is None
        else f"from {least:,} new tokens on the naive form takes fewer operations"
    )
    return (
        f"With {n_keys:,} tokens in the cache and DeepSeek-V2's sizes, one new token costs "
        f"{naive.flops / absorbed.flops:.1f} times the operations and "
        f"{naive.bytes / absorbed.bytes:.1f} times the bytes in the naive form; {turn}: rebuilding "
        f"is paid once however many queries share it, a wide key is paid by each. So prefill is "
        f"naive and decoding absorbed."
    )


def coupling_sentence(trace: av.Trace, head: int) -> str:
    """What would go wrong if the content channels were rotated too, measured on this run."""
    measured = coupling(trace)
    change = measured.matrix_change[head]
    moved = measured.moved[head]
    return (
        f"If the content channels were rotated, the matrix to absorb would depend on the distance "
        f"of the two tokens: in head {head} it changes by {float(change[1:].min()):.0%} to "
        f"{float(change[1:].max()):.0%} (relative norm) from distance 1 to {len(change) - 1}. "
        f"Absorbed as it is at distance 0 it would move {float(moved.mean()):.0%} of the weights "
        f"to wrong keys, and up to {float(moved.max()):.0%} of one row. That is why positions "
        f"travel in channels of their own."
        if len(change) > 1
        else "With one token there is no distance yet."
    )
