"""What stands below the maps of a hybrid stack."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from attnviz.errors import AttnvizError
from attnviz.ui import controls, page, work
from attnviz.ui.hybrid_controls import N_HEADS, WIDTH, Choices

LENGTHS = tuple(2**power for power in range(7, 21))


def code_of(choices: Choices) -> str:
    """The Python that makes `stack`."""
    from attnviz.figures.hybrid import hybrid_code

    source = choices.source
    return hybrid_code(source.code(WIDTH), choices.pattern, N_HEADS, source.seed)


def kept(choices: Choices) -> None:
    """Bytes of every layer at one length, and of the whole stack against the length."""
    from attnviz.figures.kv_cache import growth
    from attnviz.figures.kv_stack import stack
    from attnviz.hybrid import cache_of
    from attnviz.kv_cache import size

    length = controls.ladder(
        "Tokens so far", LENGTHS, key="length", default=4096, show=lambda n: f"{n:,}"
    )
    pattern = choices.pattern
    sizes = {
        "d_model": WIDTH,
        "n_heads": N_HEADS,
        "n_kv_heads": N_HEADS // 2,
        "head_dim": WIDTH // N_HEADS,
    }
    spec = cache_of(pattern, sizes)
    full = cache_of(replace(pattern, letters="F" * len(pattern.letters)), sizes)
    at, other = size(spec, length, dtype="float32"), size(full, length, dtype="float32")
    dark = st.context.theme.type == "dark"
    page.chart(stack(at, dark=dark), "Bytes that each layer of the stack holds.")
    st.markdown(
        f"Together {at.total_bytes:,} bytes at {length:,} tokens: {at.fixed_bytes:,} that never "
        f"grow, and {at.bytes_per_token:,} more with each token. With a cache in every layer it "
        f"would be {other.total_bytes:,}, {other.total_bytes / at.total_bytes:.1f} times as much. "
        f"In float32, for {N_HEADS} heads of {WIDTH // N_HEADS} channels; short convolutions not "
        f"counted, since these mixers have none."
    )
    page.chart(growth(at, [full], dark=dark), "Bytes of the stack against the context.")
    page.caution("equal_cache")


def step(choices: Choices) -> None:
    """Measured time of one step after ever longer prefixes."""
    from attnviz.figures.hybrid import step_chart, step_sentence
    from attnviz.hybrid.jobs import StepTimes

    pattern = choices.pattern
    job = StepTimes(pattern.linear, pattern.full)
    try:
        rows = work.result_of(job, st.empty())
    except AttnvizError as problem:
        page.error(problem)
        return
    page.chart(
        step_chart(rows, dark=st.context.theme.type == "dark"),
        "Milliseconds of a decoding step in one layer against the length of the prefix.",
    )
    st.markdown(step_sentence(rows))
    st.markdown(
        f"Measured on this machine, as it is now: d_model {job.d_model}, {job.n_heads} heads on "
        f"{job.n_kv_heads} key/value heads, float32, batch 1, the middle one of nine steps. The "
        f"cache is read whole at every step, the state has one size."
    )
    page.caution("no_ranking")
