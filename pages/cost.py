"""Cost: time and peak memory against length, measured here and now."""

import streamlit as st

from attnviz.cost.measure import LENGTHS, CostJob
from attnviz.errors import AttnvizError
from attnviz.figures import cost as figures
from attnviz.ui import computing, controls, cost_panels, page, work
from attnviz.ui.folded import Folded

page.head(
    "What does twice the length cost?",
    "The same mixers computed in different ways, timed on this machine: a slope of 2 is a square, "
    "a slope of 1 a line.",
)

with page.loading():
    known = cost_panels.known_forms()
with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
    longest = controls.ladder("Longest, tokens", LENGTHS[3:], key="longest", default=4096)
    heads = controls.segment("Heads of 64 channels", [1, 2, 4, 8], key="cost_heads", default=1)
    with Folded("Forms and seed"):
        chosen = cost_panels.form_controls(known)
        seed = controls.number("Seed", 0, 9999, key="seed", default=0)

place, kernel = computing.chosen().device, cost_panels.kernel_of(computing.chosen().kernel)
job = CostJob(chosen, cost_panels.lengths_to(longest), heads, seed, place, kernel)
try:
    table = work.result_of(job, st.empty())
except AttnvizError as problem:
    page.error(problem)
    st.stop()

exponents = cost_panels.fits(table)
dark = st.context.theme.type == "dark"
for column, what in zip(st.columns(2), figures.COLUMNS, strict=True):
    with column:
        page.chart(
            figures.cost_chart(table, exponents, what, dark=dark),
            f"Lines, log-log: {what} of each form against the number of tokens.",
        )
st.text(f"Measured on {table['device'].iloc[0]}; {cost_panels.in_words(heads)} of 64 channels.")
page.caution("measured_here", "no_ranking")

section = controls.section(
    {
        "lesson": "How it is measured",
        "numbers": "Numbers and files",
        "published": "Published numbers",
        "code": "Code",
    }
)
if section == "lesson":
    page.lesson("cost")
if section == "numbers":
    cost_panels.numbers(table, exponents)
if section == "published":
    page.lesson("cost_published")
if section == "code":
    cost_panels.code(job)
