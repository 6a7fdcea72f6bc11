"""Waiting on a page: the result, the job's own sentence, and a way back after a stop."""

import pytest
from streamlit.testing.v1 import AppTest


def _page() -> None:
    import time
    from dataclasses import dataclass

    import streamlit as st

    from attnviz.errors import AttnvizError
    from attnviz.ui import page, work

    @dataclass(frozen=True)
    class Slow:
        text: str

        def run(self, progress):
            for step in range(4):
                progress(step / 4, f"step {step}")
                time.sleep(0.15)
            if not self.text:
                raise AttnvizError("The text is empty: type something.")
            return self.text.upper()

    # The class is made anew on each run, so equality has to be by value.
    Slow.__eq__ = lambda self, other: self.text == getattr(other, "text", None)
    try:
        st.text(work.result_of(Slow(st.text_input("Text", "cat", key="text"))))
    except AttnvizError as problem:
        page.error(problem)


@pytest.fixture
def app() -> AppTest:
    return AppTest.from_function(_page, default_timeout=20)


def test_the_result_arrives_and_the_bar_is_gone(app: AppTest) -> None:
    app.run()
    assert not app.exception
    assert [text.value for text in app.text] == ["CAT"]
    assert not app.button


def test_a_bad_job_shows_its_sentence_and_keeps_what_was_typed(app: AppTest) -> None:
    app.run()
    app.text_input(key="text").set_value("").run()
    assert not app.exception
    assert [text.value for text in app.text] == ["The text is empty: type something."]
    app.text_input(key="text").set_value("dog").run()
    assert [text.value for text in app.text] == ["DOG"]


def test_the_words_of_progress_are_plain_text() -> None:
    """They may hold what a visitor typed: a Hub id such as www.example.com/x is no link."""
    typed = "Asking the Hub for www.example.com/__x__ :red[y]"

    def page(typed: str) -> None:
        from threading import Thread
        from time import sleep

        import streamlit as st

        from attnviz.jobs import CaptureJob, Ticket
        from attnviz.models.choice import ModelChoice
        from attnviz.ui.work import _watch

        ticket = Ticket()
        ticket.text = typed
        Thread(target=lambda: (sleep(0.3), ticket.future.set_result("done")), daemon=True).start()
        holder = st.container()
        holder.empty = lambda: None  # keep what was shown
        holder.container = lambda: holder
        _watch(holder, CaptureJob(ModelChoice("any"), "text"), ticket)

    app = AppTest.from_function(page, args=(typed,), default_timeout=10).run()
    assert not app.exception
    assert [text.value for text in app.text] == [typed]
    assert all(typed not in block.value for block in app.markdown)
    assert not app.get("progress")[0].proto.text


def test_after_a_stop_the_page_offers_to_run_it_again(app: AppTest) -> None:
    app.run()
    job = app.session_state["text"]
    assert job == "cat"

    class SameText:
        text = "cat"

        def __eq__(self, other: object) -> bool:
            return getattr(other, "text", None) == "cat"

        def __hash__(self) -> int:
            return 0

    app.session_state["_stopped"] = SameText()
    app.run()
    assert not app.text
    assert "Stopped" in app.markdown[0].value
    app.button[0].click().run()
    assert [text.value for text in app.text] == ["CAT"]
