"""Whatever stands in a model's files, the answer is a model or a sentence: never a traceback."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import attnviz as av
from attnviz.errors import AttnvizError
from attnviz.models import load_model
from attnviz.models.checkpoint import inspect
from tests.models.tiny import TEXT, llama

ODD: tuple[Any, ...] = (None, -1, 0, 2**70, 1e308, "", "x", [], {}, True, "\ud800", [[[]]])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("model")
    model = llama(num_hidden_layers=1)
    model.model.save_pretrained(made)
    model.tokenizer.save_pretrained(made)
    return made


def attempt(folder: Path) -> str:
    """What became of it: "model", or the sentence."""
    try:
        av.capture(load_model(str(folder), device="cpu"), TEXT)
    except AttnvizError as problem:
        sentence = str(problem)
        assert sentence.endswith("."), sentence
        assert "\n" not in sentence
        assert len(sentence) < 600
        return sentence
    return "model"


def test_bytes_of_a_header(folder: Path) -> None:
    """Any byte of it changed, lengths and brackets among them."""
    path = folder / "model.safetensors"
    whole = path.read_bytes()
    length = 8 + int.from_bytes(whole[:8], "little")
    chance = random.Random(0)
    told, passed = set(), []
    try:
        for turn in range(400):
            changed = bytearray(whole)
            for _ in range(1 + turn % 3):
                at = chance.randrange(8) if turn % 8 == 0 else chance.randrange(length)
                changed[at] = chance.randrange(256)
            path.write_bytes(changed)
            try:
                inspect(folder)
            except AttnvizError as problem:
                told.add(str(problem).replace(str(folder), ""))
            else:
                passed.append(bytes(changed))
        # What a look at the header lets through is for the loader to refuse, or to load.
        for changed in passed[:25]:
            path.write_bytes(changed)
            told.add(attempt(folder)[:20])
    finally:
        path.write_bytes(whole)
    assert len(told) >= 2
    assert attempt(folder) == "model"


@pytest.mark.parametrize("name", ["config.json", "tokenizer_config.json", "tokenizer.json"])
def test_values_of_a_file_of_settings(folder: Path, name: str) -> None:
    """Each value replaced by something odd, and left out."""
    path = folder / name
    whole = path.read_text()
    settings = json.loads(whole)
    chance = random.Random(1)
    keys = sorted(settings)
    try:
        for turn in range(40):
            changed = dict(settings)
            key = keys[turn % len(keys)]
            if turn % 5 == 4:
                del changed[key]
            else:
                changed[key] = chance.choice(ODD)
            path.write_text(json.dumps(changed))
            assert attempt(folder), (key, changed.get(key))
    finally:
        path.write_text(whole)
