"""Alignment: a recurrent translator of dates with attention, and the same without."""

import streamlit as st

from attnviz.components.explorer import explorer
from attnviz.errors import AttnvizError
from attnviz.ui import controls, page, selection

LINE = "tuesday, march 3rd, 1998; the 24th of december, 2001"

page.head(
    "What can a sentence squeezed into one vector no longer say?",
    "Two small networks read the same line of dates and write each as year-month-day. One may "
    "look back at every letter, the other keeps a single vector. Add dates and see who loses.",
)
with page.loading():
    from attnviz.figures.alignment import accuracy_chart, accuracy_sentence, alignment_figure
    from attnviz.models.teaching import date_writer

line = controls.line(
    "Dates, separated by ;",
    key="line",
    default=LINE,
    help="English dates from 1900 to 2099, written as you like; letters a to z and digits.",
)
try:
    written = {kind: date_writer.load(kind).write(line) for kind in date_writer.KINDS}
except AttnvizError as problem:
    page.error(problem)
    st.stop()

for column, kind, title in zip(
    st.columns(2), date_writer.KINDS, ("With attention", "From one fixed vector"), strict=True
):
    with column:
        st.markdown(f"**{title}**")
        st.text(written[kind].text.replace(";", "\n") or "nothing")
        stopped = "It wrote the end sign itself" if written[kind].stopped else "It was cut off"
        st.markdown(f"{stopped} after {len(written[kind].text)} letters.")

chosen = selection.current("alignment", layers=(0,), n_heads=1, default=(0, 0), panel="alignment")
figure = alignment_figure(line, written["attention"])
selection.keep(explorer(figure, key="alignment", selection=chosen), default=(0, 0))
page.caution("not_explanation")

card = date_writer.card()
dark = st.context.theme.type == "dark"
page.chart(
    accuracy_chart(card, dark=dark), "Accuracy of both writers against the length of the line."
)
st.markdown(accuracy_sentence(card))
page.lesson("alignment")
