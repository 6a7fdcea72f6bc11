"""Below the map of latent attention: the two ways to decode it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from attnviz.components.explorer import explorer
from attnviz.errors import AttnvizError
from attnviz.ui import controls, page

if TYPE_CHECKING:
    import attnviz as av

KEYS = tuple(2**power for power in range(7, 18))


def decoding(trace: av.Trace, head: int) -> None:
    """Naive and absorbed: the same weights, what each costs, and why RoPE stands apart."""
    from attnviz.figures import latent as figures

    explorer(figures.decoding_figure(trace, head), key="latent_decoding")
    st.markdown(figures.decoding_sentence(trace))
    try:
        st.markdown(figures.coupling_sentence(trace, head))
    except AttnvizError as problem:  # cross-attention, or an odd number of content channels
        st.text(str(problem))
    n_keys = controls.ladder(
        "Tokens in the cache", KEYS, key="cached", default=4096, show=lambda n: f"{n:,}"
    )
    dark = st.context.theme.type == "dark"
    page.chart(
        figures.cost_chart(n_keys, dark=dark),
        "Operations of naive and absorbed decoding against the number of new tokens.",
    )
    st.markdown(figures.cost_sentence(n_keys))
    page.caution("mla_not_gqa")
