"""What the decoding page shows below its map: each part is one job and its picture."""

from __future__ import annotations

import streamlit as st

from attnviz.components.explorer import explorer
from attnviz.decoding import jobs
from attnviz.decoding.eviction import Policy
from attnviz.decoding.generation import Generation
from attnviz.figures import decoding as figures
from attnviz.kv_cache.words import readable
from attnviz.ui import controls, page, work

POLICIES = {
    "window": "Window: the last tokens",
    "sinks": "Sinks + window: the first and the last",
    "heavy": "Heavy hitters + window: the most attended and the last",
    "all": "Everything (unlimited)",
}
SINKS = 4


def dark() -> bool:
    return st.context.theme.type == "dark"


def live(so_far: Generation) -> None:
    """The times as they come in, while it writes."""
    page.chart(figures.times(so_far, dark=dark()), "Time of each token so far.")


def written(made: Generation) -> None:
    """Times and bytes of the finished text, and whether both ways agree."""
    first, rest = made.steps[0], made.steps[1:]
    same = all(step.same_token for step in made.steps)
    st.markdown(
        f"{'The same tokens' if same else '**Not the same tokens**'} with the cache and without; "
        f"logits differ by at most {made.error:.1e}. Prefill of {len(made.prompt)} tokens: "
        f"**{1e3 * first.seconds:.0f} ms**."
        + (
            f" Then a token: **{1e3 * _mean([s.seconds for s in rest]):.0f} ms** with the cache, "
            f"**{1e3 * _mean([s.seconds_without for s in rest]):.0f} ms** without."
            if rest
            else ""
        )
    )
    left, right = st.columns(2)
    with left:
        page.chart(figures.times(made, dark=dark()), "Time of each token, both ways.")
    with right:
        page.chart(figures.sizes(made, dark=dark()), "Bytes in the cache after each token.")
    last = made.steps[-1]
    each = last.cache_bytes // len(made.labels)
    st.markdown(
        f"{last.cache_bytes:,} bytes after the last step, counted from the cache's own tensors: "
        f"{len(made.labels)} tokens of {each:,} bytes."
    )
    page.caution("measured_here")


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def passes(model: str, text: str) -> None:
    """Training reads a text in one pass; decoding reads it a token at a time."""
    found = work.result_of(jobs.BothPasses(model, text), st.empty())
    page.chart(figures.passes_chart(found, dark=dark()), "Difference of logits at each position.")
    steps = sum(found.step_seconds)
    st.markdown(
        f"One parallel pass over all {len(found.labels)} tokens, as in training: "
        f"**{1e3 * found.parallel_seconds:.0f} ms**. Token by token with the cache, as in "
        f"decoding: **{1e3 * steps:.0f} ms** together. The likeliest next token is "
        f"{'the same' if found.same else '**not the same**'} at every position; logits differ by "
        f"at most {max(found.errors):.1e}."
    )
    page.caution("measured_here")


def reuse(model: str, text: str, labels: tuple[str, ...]) -> None:
    """Edit a token behind the cache."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    with row:
        place = controls.number(
            f"Edit token (0 to {len(labels) - 1})", 0, 255, key="edit", default=min(3, len(labels))
        )
        word = controls.line("Replace it by", key="word", default=" red")
        causal = controls.toggle("Causal mask", key="causal", default=True)
    found = work.result_of(jobs.Edit(model, text, place, word, causal), st.empty())
    explorer(figures.stale_figure(found), key="stale")
    wrong = found.first_wrong
    if wrong is None:
        st.markdown("No cached key has changed: the new token is the old one.")
    elif causal:
        st.markdown(
            f"The first key that is wrong stands at position **{wrong}**: nothing before the edit "
            "has moved, so all of that may be reused. The first layer's keys come from the "
            "embeddings alone, so there only the edited one is wrong."
        )
    else:
        st.markdown(
            "Without the causal mask each layer mixes all tokens: from the second layer on "
            "**every** cached key is wrong, and nothing may be reused."
        )
    st.markdown(
        f"Had the old cache been used for the last token, the next one's distribution would be "
        f"off by KL = **{found.kl:.3g}** nats."
    )


def eviction(model: str, text: str, layers: int, kv_heads: int) -> None:
    """Forget by a policy."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    with row:
        word = controls.pick(
            "Keep", list(POLICIES), key="policy", default="sinks", show=POLICIES.__getitem__
        )
        budget = controls.number("Tokens kept", 2, 256, key="budget", default=8)
        layer = controls.number("Layer", 0, layers - 1, key="el", default=0)
        head = controls.number("KV head", 0, kv_heads - 1, key="eh", default=0)
    found = work.result_of(jobs.Evict(model, text, policy_of(word, budget)), st.empty())
    explorer(figures.kept_figure(found, layer, head), key="kept")
    page.chart(figures.kl_chart(found, dark=dark()), "KL after each token.")
    dropped = found.dropped(layer, head)
    st.markdown(
        f"Kept: {readable(found.bytes[-1])} of {readable(found.full_bytes[-1])}. Mean KL "
        f"**{_mean(list(found.kl)):.3g}** nats; the likeliest token stayed the same at "
        f"{sum(found.same)} of {len(found.same)} positions. In this layer and head the last token "
        f"missed {len(dropped)} of {len(found.labels)} keys."
    )
    page.caution("equal_cache")


def policy_of(word: str, budget: int) -> Policy:
    """The policy of that name with this many tokens in all."""
    if word == "all":
        return Policy(recent=4096)
    first = min(SINKS, budget - 1)
    if word == "sinks":
        return Policy(recent=budget - first, sinks=first)
    if word == "heavy":
        return Policy(recent=budget - budget // 2, heavy=budget // 2)
    return Policy(recent=budget)


def sharing(model: str, text: str) -> None:
    """Average the KV heads into one."""
    found = work.result_of(jobs.Share(model, text, 1), st.empty())
    before, after = found.loss
    page.chart(figures.loss_chart(found, dark=dark()), "Loss of each token, before and after.")
    st.markdown(
        f"{found.kv_heads[0]} KV heads averaged into 1 (multi-query attention): the cache of this "
        f"text shrinks from **{found.cache_bytes[0]:,}** to **{found.cache_bytes[1]:,}** bytes, "
        f"and the mean loss rises from **{before:.2f}** to **{after:.2f}** nats a token. "
        "Not trained again: real models with fewer KV heads were trained with them, and lose "
        "little."
    )
    page.caution("equal_cache")
