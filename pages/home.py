import streamlit as st

from attnviz.ui import controls, page

page.head("Q?", "Sentence.")
t = controls.text("Text", key="text", default="hello")
k = controls.segment("Kind", ["a", "b"], key="kind")
n = controls.ladder("N", [1, 2, 4, 8], key="n", default=4)
page.plain(t + k + str(n))
page.error("bad <b>$x$ :smile: *y* text")
page.caution("not_explanation")
