"""The Recall page's part on trained stacks: computed when it is opened, from shipped weights."""

from __future__ import annotations

import streamlit as st

from attnviz.figures.spreadsheet import csv_of
from attnviz.ui import controls, page, work


def trained() -> None:
    """Accuracy against cache bytes, with its record, its caution and its numbers."""
    from attnviz.figures import trained_recall as figures
    from attnviz.recall.pairs import KEYS, PAIRS, VALUES
    from attnviz.recall.trained import TrainedRecall, record

    st.markdown(
        f"Five small stacks were trained to recall: {PAIRS} pairs of a key (of {KEYS}) and a "
        f"value (of {VALUES}), then every key once more. Each layer is full attention, which "
        "keeps all tokens, or linear attention, which keeps a state of fixed size. How much do "
        "a few full layers buy back?"
    )
    seed = controls.number("Seed of the fresh sequences", 0, 9999, key="fresh", default=0)
    table = work.result_of(TrainedRecall(seed=int(seed)), st.empty())
    summed = figures.summary(table)
    page.chart(
        figures.chart(table, summed, 1 / VALUES, dark=st.context.theme.type == "dark"),
        "A point for each stack: accuracy on fresh sequences against bytes kept.",
    )
    st.markdown(figures.reading(summed))
    made = record()
    page.notes(
        [
            f"Computed now, from weights that were recorded on {made['date']} by "
            f"`{made['script']}`: {made['steps']} steps of {made['batch']} sequences, "
            f"{summed['seeds'].iloc[0]} seeds, torch {made['versions']['torch']}. Rings are "
            "single seeds, the line joins their means, and the dashed line is guessing.",
            "Each stack has eight layers, but 6:1, which has seven and its full one in the middle. "
            "Every layer has one head of 4 channels, so that a state is too small for all pairs; "
            "larger states hold more.",
            "A small task, and small stacks: this shows the trade, not any model's quality.",
        ]
    )
    st.download_button(
        "Every seed (CSV)",
        csv_of(table),
        "attnviz-trained-recall.csv",
        "text/csv",
        key="trained_csv",
        on_click="ignore",
    )
