"""Models of one's own in a browser: loaded, shown, heads knocked out, bad folders refused."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
import torch
from playwright.sync_api import Page, expect

import attnviz as av
from attnviz.corpus.measuring import metrics_over
from attnviz.figures import corpus as figures
from attnviz.models import load_model
from attnviz.models.catalog import ASSETS
from tests.browser.chromium import until, wait_idle
from tests.browser.explorer_page import Explorer
from tests.browser.server import Server
from tests.browser.waiting import says
from tests.models.mixers.families import FAMILIES
from tests.models.shrink import shrink
from tests.models.test_choice import HEAD, LAYER, knocked_out_by_hand
from tests.models.tiny import TEXT, build

pytestmark = pytest.mark.browser

Visit = Callable[..., Page]
SECOND = """() => [...document.querySelectorAll('*')]
  .map((element) => element.shadowRoot?.querySelector('.explorer')).filter(Boolean)[1]"""
"""The explorer below the picture."""
MAPS = ".explorer[data-generation]"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders inside the one that visitors may load from: three models, and bad ones."""
    base = tmp_path_factory.mktemp("models")
    made = {"hybrid": build(FAMILIES["qwen3_next"]()), "falcon": build(shrink("falcon"))}
    for name, model in made.items():
        model.model.save_pretrained(base / name)
        model.tokenizer.save_pretrained(base / name)
    shutil.copytree(ASSETS / "shapes-detr", base / "seeing")
    for name in ("pickled", "remote", "truncated", "huge"):
        shutil.copytree(base / "hybrid", base / name)
    (base / "pickled" / "model.safetensors").unlink()
    torch.save({}, base / "pickled" / "pytorch_model.bin")
    config = json.loads((base / "remote" / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoModel": "evil.Model"}}
    (base / "remote" / "config.json").write_text(json.dumps(config))
    (base / "remote" / "evil.py").write_text("raise SystemExit('this code was run')")
    weights = base / "truncated" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    claim = {"a": {"dtype": "F32", "shape": [2**31], "data_offsets": [0, 2**33]}}
    header = json.dumps(claim).encode()
    with (base / "huge" / "model.safetensors").open("wb") as file:  # 8 GiB that are not there
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + 2**33)
    return base


@pytest.fixture(scope="module")
def served(models: Path) -> Iterator[Server]:
    allowed = {"ATTNVIZ_MODEL_DIRS": str(models), "ATTNVIZ_MEMORY_GIB": "4", "ATTNVIZ_HUB": "1"}
    with Server(**allowed) as running:
        yield running


def address(folder: Path, page: str = "inspect_model", text: str = "text") -> str:
    return f"/{page}?model=other&id={quote(str(folder))}&{text}={quote(TEXT)}"


def test_a_folder_is_loaded_and_its_linear_layers_are_signed_maps(
    visit: Visit, served: Server, models: Path
) -> None:
    page = visit(address(models / "hybrid"), timeout=120, base=served.url)
    page.locator(MAPS).wait_for(timeout=90_000)
    expected = av.capture(load_model(str(models / "hybrid"), device="cpu"), TEXT)
    explorer = Explorer(page)
    explorer.until("explorer.figure.panels[0].scale", "weight")
    assert explorer.ask("explorer.figure.grid.layers") == [2]
    main = page.get_by_role("main")
    expect(main.get_by_text("Computed in float32 on cpu.")).to_have_count(1)
    assert main.get_by_text("no cell is a probability").count() == 0

    main.get_by_role("radio", name="Linear and state-space layers").click()
    page.wait_for_url("**maps=effective**", timeout=60_000)
    wait_idle(page)
    main.get_by_text("rows need not add up to 1 and no cell is a probability").wait_for()
    explorer = Explorer(page)
    explorer.until("explorer.figure.grid.layers", [0, 1])
    assert explorer.ask("explorer.figure.grid.signed") is True
    assert explorer.ask("explorer.figure.panels[0].scale") == "signed"
    head = explorer.ask("explorer.selection.head")
    layer = explorer.ask("explorer.selection.layer")
    values = np.reshape(explorer.ask("Array.from(explorer.figure.panels[0].values)"), (13, 13))
    np.testing.assert_allclose(values, expected.weights(layer, head), atol=1e-6)
    assert values.min() < 0

    main.get_by_role("radio", name="Gates and state").click()
    page.locator(MAPS).nth(1).wait_for(timeout=90_000)
    panel = f"({SECOND})()?.__explorer?.figure.panels[2]"
    until(page, lambda: page.evaluate(f"() => {panel}?.title"), "Norm of the state")
    drawn = page.evaluate(f"() => Array.from({panel}.values)")
    heads = [expected.strips(layer, head).state_norm for head in range(4)]
    np.testing.assert_allclose(np.reshape(drawn, (4, 13)), np.stack(heads), rtol=1e-4)


def test_bad_folders_and_an_unreachable_hub_are_a_sentence_each_and_the_server_goes_on(
    visit: Visit, served: Server, models: Path
) -> None:
    outside = models.parent / "outside"
    page = visit(address(models / "pickled"), timeout=120, base=served.url)
    main = page.get_by_role("main")
    line = page.get_by_role("textbox", name="Hub id or local folder")
    for name, words in (
        (models / "pickled", "pickle files, which can run code"),
        (models / "remote", "code of its own that is never run"),
        (models / "truncated", "damaged or incomplete"),
        (models / "huge", "GiB may be used; choose a smaller model"),
        (outside, "ATTNVIZ_MODEL_DIRS"),
        ("someone/some-model", "the Hub could not be reached"),
    ):
        line.fill(str(name))
        line.press("Enter")
        main.get_by_text(words).wait_for(timeout=90_000)
        expect(page.locator(MAPS)).to_have_count(0)
        assert page.get_by_test_id("stException").count() == 0
    line.fill(str(models / "hybrid"))
    line.press("Enter")
    page.locator(MAPS).wait_for(timeout=90_000)
    assert len(Explorer(page).ask("explorer.figure.panels[0].rows.labels")) == 13


def test_heads_of_a_folder_are_knocked_out_and_measured_over_texts(
    visit: Visit, served: Server, models: Path
) -> None:
    """Falcon computes its attention in code of its own; the numbers are those of a hook."""
    page = visit(address(models / "falcon", "interventions"), timeout=120, base=served.url)
    main = page.get_by_role("main")
    heads = main.get_by_role("textbox", name="Heads to remove, as layer.head")
    heads.fill(f"{LAYER}.{HEAD}")
    heads.press("Enter")
    main.get_by_text(f"1. layer {LAYER}, head {HEAD} removed").wait_for(timeout=90_000)
    falcon = build(shrink("falcon"))
    ids = torch.tensor(falcon.tokenizer(TEXT)["input_ids"])
    with torch.no_grad():
        plain = falcon.model(ids[None], use_cache=False).logits[0]
    before, after = (
        float(torch.nn.functional.cross_entropy(rows[:-1], ids[1:]))
        for rows in (plain, knocked_out_by_hand(falcon))
    )
    assert abs(after - before) > 0.005
    told = main.get_by_text(re.compile("nats a token as it is"))
    numbers = [float(number) for number in re.findall(r"\d\.\d{4}", told.inner_text())[:2]]
    assert numbers == pytest.approx([before, after], abs=2e-4)
    hidden = main.get_by_role("textbox", name="Tokens hidden from all others")
    hidden.fill("3")
    hidden.press("Enter")
    main.get_by_text("single pairs cannot be hidden; remove heads instead").wait_for()
    says(page, id=str(models / "falcon"))

    line = main.get_by_role("textbox", name="Hub id or local folder")
    for name, said in (("seeing", "reads no text here"), ("pickled", "which can run code")):
        line.fill(str(models / name))
        line.press("Enter")
        main.get_by_text(said).wait_for(timeout=90_000)
        assert page.get_by_test_id("stException").count() == 0

    visit(address(models / "hybrid", "many_texts", "texts"), timeout=120, base=served.url)
    table = metrics_over(load_model(str(models / "hybrid"), device="cpu"), [TEXT])
    expect(main.get_by_text(figures.sentence(table, "induction", 1))).to_be_visible()
