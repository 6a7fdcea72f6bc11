"""A file of texts measured, and maps read by words, in a browser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import attnviz as av
from attnviz.corpus.measuring import metrics_over
from attnviz.figures import corpus as figures
from attnviz.models import LoadedModel
from tests.browser.chromium import wait_idle
from tests.browser.explorer_page import Explorer
from tests.browser.waiting import says

pytestmark = [pytest.mark.browser, pytest.mark.models]


def test_an_uploaded_file_is_measured_text_by_text(visit: Callable[..., Page]) -> None:
    page = visit("/many_texts?model=induction-2l&texts=abc%20abc&heads=1.0", timeout=120)
    own = ["ab ab ab", "xyz <b>xyz</b> xyz", "q w q w q w"]
    lines = "\n".join(json.dumps({"text": text}) for text in own).encode()
    page.get_by_role("button", name=re.compile("A file of texts")).click()
    field = page.locator('input[type="file"]')
    field.set_input_files({"name": "own.jsonl", "mimeType": "text/plain", "buffer": lines})
    told = figures.sentence(metrics_over(av.load_model("induction-2l"), own), "induction", 3)
    expect(page.get_by_text(told)).to_be_visible()
    page.keyboard.press("Escape")  # closed earlier, the file would not have been sent yet
    wait_idle(page)
    expect(page.get_by_text("Measured: the file own.jsonl, 3 texts")).to_be_visible()
    page.get_by_role("button", name=re.compile("A file of texts")).click()  # opened again: empty
    expect(field).to_be_attached()
    wait_idle(page)
    bad = {"name": "bad.jsonl", "mimeType": "text/plain", "buffer": b"["}
    field.set_input_files(bad)
    expect(page.get_by_text("Line 1 is not JSON")).to_be_visible()
    expect(page.get_by_text(told)).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Use the typed lines instead").click()
    expect(page.get_by_text("over 1 of 1 text.")).to_be_visible()
    expect(page.get_by_text("Measured: the file")).to_have_count(0)
    wait_idle(page)

    # After a mistake, what stood below it comes back as it was.
    typed = page.get_by_label("Texts, one a line")
    typed.fill("")
    typed.press("Control+Enter")
    expect(page.get_by_text("There is no text here")).to_be_visible()
    wait_idle(page)
    typed.fill("xyz")
    typed.press("Control+Enter")
    expect(page.get_by_text("The one text has not this number")).to_be_visible(timeout=60_000)
    wait_idle(page)
    expect(page.locator("input[aria-label^='Heads to remove']")).to_have_value("1.0")
    expect(page.get_by_role("radio", name="Without the head")).to_be_checked()
    expect(page.get_by_test_id("stVegaLiteChart")).to_have_count(0)  # nothing to draw


def test_words_are_rows_and_columns_and_their_weights_the_models(
    visit: Callable[..., Page], minilm: LoadedModel
) -> None:
    text = "Unbelievably tokenized hugs."
    page = visit(f"/inspect_model?model=minilm-l6&text={quote(text)}&layer=2&head=3", timeout=120)
    page.get_by_role("button", name=re.compile("Words, special tokens")).click()
    page.get_by_role("radio", name="Words", exact=True).click()
    wait_idle(page)
    page.get_by_text("Leave out special tokens").click()
    wait_idle(page)
    page.keyboard.press("Escape")
    explorer = Explorer(page)
    words = ["unbelievably", "tokenized", "hugs", "."]
    explorer.until("explorer.figure.panels[0].rows.labels", words)
    maps = av.capture(minilm, text).by_words()
    drawn = np.reshape(explorer.ask("Array.from(explorer.figure.panels[0].values)"), (4, 4))
    np.testing.assert_allclose(drawn, maps.weights(2, 3)[1:-1, 1:-1], atol=1e-6)
    hidden = maps.without_special().metrics()["hidden"].mean()
    expect(page.get_by_text(f"they hold {hidden:.1%} of a row's weight")).to_be_visible()
    says(page, unit="word", bare="true")
