"""What the numbers of a head mean, with where they come from, to unfold beside them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import streamlit as st

DEFINITIONS = {
    "entropy": r"mean over rows of $-\sum_j p_j \ln p_j$, in nats: 0 where a row reads one key, "
    r"$\ln T$ where it reads $T$ keys evenly (Clark et al. 2019, section 3.3).",
    "span": r"mean over rows of $\exp(-\sum_j p_j \ln p_j)$: how many keys a row reads, counted as "
    "the even row of the same entropy would (Hill 1973, order 1; the perplexity of the row).",
    "distance": r"mean over rows of $\sum_j p_j\,|i - j|$, in tokens (Vig and Belinkov 2019).",
    "first": "mean weight on key 0, which many heads use as an attention sink (Xiao et al. 2023).",
    "previous": r"mean weight on key $i - 1$ (Clark et al. 2019, section 3.1).",
    "self": r"mean weight on key $i$ (Clark et al. 2019, section 3.1).",
    "duplicate": "mean weight on the latest earlier place of the same token, over the tokens that "
    "have one (Wang et al. 2022, section 3).",
    "induction": "mean weight on the token after that place (Olsson et al. 2022, prefix matching).",
    "decay": "how much of the state survives a token, mean over tokens; 1 keeps all.",
    "strength": "how strongly a token writes to the state, mean over tokens.",
    "state": "Frobenius norm of the state, mean over tokens.",
}
TITLES = {
    "entropy": "Entropy",
    "span": "Effective span",
    "distance": "Distance",
    "first": "First",
    "previous": "Previous",
    "self": "Self",
    "duplicate": "Duplicate",
    "induction": "Induction",
    "decay": "Kept",
    "strength": "Write strength",
    "state": "Norm",
}
SIGNED = (
    "Entropy, effective span and shares of weight are not given: a row of an effective map is "
    "signed and shares nothing out, so that they would have no meaning."
)
ACROSS = (
    "Distance, the weights on the previous token and on the token itself, duplicate-token and "
    "induction scores are not given: here the keys are not the queries' own (another text's, say), "
    "so that their places do not correspond."
)
ABSENT = (
    "The duplicate-token score needs a text in which a token comes again, the induction score one "
    "in which it does so with another between: this one has no such token."
)


def definitions(maps: Any, columns: Collection[str]) -> None:
    """The definitions of these columns, and which are not there and why."""
    with st.expander("What these numbers are, with sources"):
        lines = [
            f"- **{TITLES[name]}**: {text}" for name, text in DEFINITIONS.items() if name in columns
        ]
        st.markdown("\n".join(lines))
        if maps.signed and maps.nature != "shares":
            st.markdown(SIGNED)
        elif "self" not in columns:
            st.markdown(ACROSS)
        elif "induction" not in columns:
            st.markdown(ABSENT)
