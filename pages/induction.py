"""Induction: a worked example, from a score to the evidence of removing the head."""

import streamlit as st

from attnviz.components.explorer import explorer
from attnviz.errors import AttnvizError
from attnviz.figures import circuit as figures
from attnviz.figures.capture import capture_figure
from attnviz.interventions.jobs import CircuitJob
from attnviz.ui import controls, page, selection, work

SEEDS = range(1000)
STEPS = {
    "text": "1. Say it twice",
    "finder": "2. Who finds it?",
    "teller": "3. Who tells it where?",
    "removal": "4. Remove each",
}
WORDS = {
    "text": "Nobody can guess a text of random characters; said again, it is known from its second "
    "character on. What the model knows the second time, it has read the first time.",
    "finder": "An induction head looks, from each character of the second half, at the one that "
    "followed it in the first: a stripe below the diagonal, one half away. The induction score is "
    "the mean weight on that stripe.",
    "teller": "To find *what followed*, each character must know already which one stood before "
    "it. A head of the layer below carries that: a stripe right beside the diagonal.",
    "removal": "A stripe is where a head looked, not what the model needs. So each head's output "
    "is set to zero in turn, and the same text is read again.",
}

page.head(
    "How does a model repeat what it has read only once?",
    "A model of two layers and eight heads reads random characters twice. Scores single out two "
    "heads; removing them shows that the model depends on exactly these.",
)

step = controls.segment("Step", list(STEPS), key="step", show=STEPS.__getitem__, named=False)
seed = controls.kept(SEEDS, key="seed", default=0)
try:
    circuit = work.result_of(CircuitJob(seed=seed), st.empty())
except AttnvizError as problem:
    page.error(problem)
    st.stop()

st.markdown(WORDS[step])
dark = st.context.theme.type == "dark"
if step in ("finder", "teller"):
    head = circuit.finder if step == "finder" else circuit.teller
    sentence = figures.finder_sentence if step == "finder" else figures.teller_sentence
    key = f"induction-{step}"  # each step begins at its own head
    capture = circuit.capture
    chosen = selection.current(key, layers=(0, 1), n_heads=4, default=head, panel="weights")
    figure = capture_figure(capture, *head)
    selection.keep(explorer(figure, key=key, selection=chosen), default=head)
    st.text(sentence(circuit))
    page.caution("not_explanation", "head_role")
if step == "text":
    text = circuit.capture.text
    st.code(f"{text[: circuit.half]}\n{text[circuit.half :]}", language=None)
    page.chart(
        figures.loss_chart(circuit, ("whole",), dark=dark),
        "Line: how surprised the model is by each character; from where the text repeats, hardly.",
    )
    st.text(figures.read_twice(circuit))
    controls.number("Another random text", SEEDS[0], SEEDS[-1], key="seed", default=0)
if step == "removal":
    page.chart(
        figures.rises_chart(circuit, dark=dark),
        "Bars: by how much the loss on the second half rises without each of the eight heads.",
    )
    st.text(figures.removal_sentence(circuit))
    page.caution("removed")
    page.chart(
        figures.loss_chart(circuit, tuple(circuit.losses), dark=dark),
        "Lines: surprise at each character, as the model is and without either of the two heads.",
    )
    st.dataframe(circuit.heads, hide_index=True)
page.lesson("induction")
