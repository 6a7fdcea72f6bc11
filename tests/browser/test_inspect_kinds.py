"""What a model reads besides one text, in a browser: another text, a picture, a conversation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
import torch
from PIL import Image
from playwright.sync_api import Page, expect

import attnviz as av
from attnviz.models import LoadedModel, load_model
from attnviz.pictures import read_picture
from tests.browser.chromium import wait_idle
from tests.browser.explorer_page import Explorer
from tests.browser.server import Server
from tests.models.shrink import build
from tests.models.tiny import tokenizer

pytestmark = pytest.mark.browser

Visit = Callable[..., Page]
MAPS = ".explorer[data-generation]"
SOURCE, TARGET = "the cat sat on the mat", "the dog ran off"


def _folder(folder: Path, task: str, name: str, **changes: int) -> None:
    torch.manual_seed(0)
    model = build(task, name, **changes)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.normal_(0.0, 0.25)
    model.save_pretrained(folder)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("kinds")
    _folder(base / "pair", "SEQ_TO_SEQ_CAUSAL_LM", "t5", decoder_start_token_id=0)
    tokenizer().save_pretrained(base / "pair")
    _folder(base / "eyes", "IMAGE_CLASSIFICATION", "vit")
    return base


@pytest.fixture(scope="module")
def served(models: Path) -> Iterator[Server]:
    with Server(ATTNVIZ_MODEL_DIRS=str(models)) as running:
        yield running


def _address(folder: Path, **more: str) -> str:
    rest = "".join(f"&{key}={quote(value)}" for key, value in more.items())
    return f"/inspect_model?model=other&id={quote(str(folder))}{rest}"


def _drawn(page: Page, expected: av.Capture) -> None:
    """The map that is drawn is this capture's, of the head that is chosen."""
    explorer = Explorer(page)
    layer, head = (explorer.ask(f"explorer.selection.{word}") for word in ("layer", "head"))
    weights = expected.weights(layer, head)
    values = explorer.ask("Array.from(explorer.figure.panels[0].values)")
    np.testing.assert_allclose(np.reshape(values, weights.shape), weights, atol=1e-6)


def test_cross_attention_is_a_stack_with_the_source_across(
    visit: Visit, served: Server, models: Path
) -> None:
    place = _address(models / "pair", text=SOURCE, target=TARGET)
    page = visit(place, timeout=120, base=served.url)
    page.locator(MAPS).wait_for()
    page.get_by_role("main").get_by_role("radio", name="cross").click()
    page.wait_for_url("**group=cross**")
    wait_idle(page)
    model = load_model(str(models / "pair"), device="cpu")
    capture = av.capture(model, source=SOURCE, target=TARGET)
    explorer = Explorer(page)
    explorer.until("explorer.figure.panels[0].cols.labels", list(capture.tokens))
    rows = explorer.ask("explorer.figure.panels[0].rows.labels")
    assert rows == list(capture.of("cross").tokens)
    assert (len(rows), len(capture.tokens)) == (4, 6)
    assert explorer.ask("[explorer.figure.grid.down, explorer.figure.grid.across]") == [4, 6]
    _drawn(page, capture.of("cross"))


def test_an_uploaded_picture_is_seen_as_patches(visit: Visit, served: Server, models: Path) -> None:
    page = visit(_address(models / "eyes", text="x"), timeout=120, base=served.url)
    main = page.get_by_role("main")
    main.get_by_text("sees pictures and reads no text; upload a picture").wait_for()
    main.get_by_role("button", name="A conversation, a target, a picture").click()
    pixels = np.random.default_rng(0).integers(0, 255, (40, 60, 3), dtype=np.uint8)
    file = BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    page.locator("input[type=file]").set_input_files(
        {"name": "a.png", "mimeType": "image/png", "buffer": file.getvalue()}
    )
    page.locator(MAPS).wait_for()
    wait_idle(page)
    explorer = Explorer(page)
    labels = "explorer.figure.panels[0].rows.labels"
    explorer.until(f"{labels}.length", 17)
    assert explorer.ask(labels)[:3] == ["[CLS]", "r0c0", "r0c1"]
    model = load_model(str(models / "eyes"), device="cpu")
    expected = av.capture(model, image=read_picture(file.getvalue()))
    _drawn(page, expected)
    layer, head = (explorer.ask(f"explorer.selection.{word}") for word in ("layer", "head"))
    row = expected.weights(layer, head)[6, 1:]
    page.keyboard.press("Escape")  # closes what the file was given in
    page.locator(".explorer canvas").last.scroll_into_view_if_needed()
    explorer.click("weights", 6, 2)  # its weights are then laid over the picture
    best = divmod(int(row.argmax()), 4)
    said = f"r1c1, head {head} of layer {layer}: the largest weight on a patch, {row.max():.4f}, "
    main.get_by_text(f"{said}is on r{best[0]}c{best[1]}").wait_for()
    expect(main.get_by_test_id("stVegaLiteChart")).to_have_count(2)


@pytest.mark.models
def test_a_conversation_says_who_says_what(visit: Visit, smollm2: LoadedModel) -> None:
    page = visit("/inspect_model?chat=true&text=Who%20are%20you%3F", timeout=120)
    page.locator(MAPS).wait_for()
    labels = Explorer(page).ask("explorer.figure.panels[0].rows.labels")
    turns = [label.split(" ▸ ")[0] for label in labels if " ▸ " in label]
    assert turns == ["template", "user", "assistant"]
    expected = av.capture(smollm2, messages=[{"role": "user", "content": "Who are you?"}])
    assert len(labels) == expected.n_tokens
    _drawn(page, expected)


@pytest.mark.models
def test_what_the_model_writes_is_stitched_to_the_text(visit: Visit, smollm2: LoadedModel) -> None:
    text = "The cat sat on the mat. The dog sat on the"
    page = visit(f"/inspect_model?text={quote(text)}", timeout=120)
    page.locator(MAPS).wait_for()
    page.get_by_role("main").get_by_role("button", name="A conversation, a target").click()
    count = page.get_by_label("Tokens that the model writes on", exact=True)
    count.fill("5")
    count.press("Enter")
    page.wait_for_url("**n=5**")
    page.get_by_role("main").get_by_text("The model wrote 5 tokens").wait_for()
    wait_idle(page)
    expected = av.capture(smollm2, text, generate=5)
    assert expected.written is not None
    panel = "explorer.figure.panels[0]"
    explorer = Explorer(page)
    explorer.until(f"{panel}.rows.labels.length", expected.n_prompt + 5 - 1)
    rows = explorer.ask(f"{panel}.rows.labels")
    assert rows[expected.n_prompt :] == list(expected.written.labels[:-1])
    assert explorer.ask(f"{panel}.rows.written") == expected.n_prompt
    detail = explorer.ask(f"{panel}.rows.details[{expected.n_prompt}]")
    assert detail.endswith(f", while predicting {expected.written.labels[1]}")
    _drawn(page, expected)
