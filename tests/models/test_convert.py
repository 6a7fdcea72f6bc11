"""The bundled GGUF model is converted once, whole, and again when it is damaged."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from attnviz.errors import Cancelled, ModelError
from attnviz.models import catalog, convert
from attnviz.models.progress import Progress
from attnviz.settings import settings

ENTRY = catalog.bundled()[0]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("ATTNVIZ_CACHE", str(tmp_path))
    settings.cache_clear()
    yield tmp_path
    monkeypatch.undo()
    settings.cache_clear()


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Each conversion's folder, with three small files standing in for the real ones."""
    folders: list[Path] = []

    def write(entry: catalog.Entry, source: Path, fresh: Path, report: Progress) -> None:
        report(0.5, "Writing")
        for name in ("config.json", "model.safetensors", "tokenizer.json"):
            (fresh / name).write_text(f"{name} of conversion {len(folders)}" * 20)
        folders.append(fresh)

    monkeypatch.setattr(convert, "_write", write)
    return folders


def test_once_is_enough(cache: Path, written: list[Path]) -> None:
    folder = convert.converted(ENTRY)
    assert folder.is_relative_to(cache)
    assert convert.converted(ENTRY) == folder
    assert len(written) == 1
    assert convert.damage(ENTRY) is None
    leftovers = {path.name for path in folder.parent.iterdir()}
    assert leftovers <= {ENTRY.name, f"{ENTRY.name}.lock"}


@pytest.mark.parametrize(
    "harm",
    [
        lambda folder: (folder / "model.safetensors").write_bytes(
            (folder / "model.safetensors").read_bytes()[:-1]
        ),
        lambda folder: (folder / "tokenizer.json").unlink(),
        lambda folder: (folder / "manifest.json").unlink(),
        lambda folder: (folder / "manifest.json").write_text("{"),
        lambda folder: (folder / "manifest.json").write_text("[]"),
        lambda folder: (folder / "manifest.json").write_text('{"files": 3}'),
        lambda folder: (folder / "config.json").write_text(
            (folder / "config.json").read_text().replace("conversion", "Conversion")
        ),
        lambda folder: [path.unlink() for path in folder.iterdir()],
    ],
    ids=["cut", "lost", "no manifest", "bad json", "a list", "bad manifest", "changed", "emptied"],
)
def test_damage_is_seen_and_mended(cache: Path, written: list[Path], harm) -> None:
    folder = convert.converted(ENTRY)
    harm(folder)
    assert convert.damage(ENTRY) is not None
    assert convert.converted(ENTRY) == folder
    assert len(written) == 2
    assert convert.damage(ENTRY) is None
    assert "conversion 1" in (folder / "config.json").read_text()


def test_another_source_or_format_is_converted_again(
    cache: Path, written: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = convert.converted(ENTRY)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["source"]["bytes"] += 1
    (folder / "manifest.json").write_text(json.dumps(manifest))
    convert.converted(ENTRY)
    assert len(written) == 2
    monkeypatch.setattr(convert, "FORMAT", convert.FORMAT + 1)
    convert.converted(ENTRY)
    assert len(written) == 3


def test_a_stopped_conversion_leaves_nothing_behind(cache: Path, written: list[Path]) -> None:
    def stop(fraction: float, text: str) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        convert.converted(ENTRY, stop)
    assert [p.name for p in (cache / "models").iterdir()] == [f"{ENTRY.name}.lock"]
    assert convert.converted(ENTRY).is_dir()


def test_a_cache_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: list[Path]
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("ATTNVIZ_CACHE", str(tmp_path / "file"))
    settings.cache_clear()
    try:
        with pytest.raises(ModelError, match="ATTNVIZ_CACHE"):
            convert.converted(ENTRY)
    finally:
        monkeypatch.undo()
        settings.cache_clear()


def test_two_processes_convert_once(cache: Path) -> None:
    """Both start together; each conversion leaves a line in one file."""
    code = f"""
import time
from pathlib import Path
from attnviz.models import catalog, convert
def write(entry, source, fresh, report):
    with open({str(cache / "log")!r}, "a") as log:
        log.write("converted\\n")
    time.sleep(1.5)
    (fresh / "model.safetensors").write_text("weights")
convert._write = write
told = []
folder = convert.converted(catalog.bundled()[0], lambda done, text: told.append(text))
assert (folder / "model.safetensors").read_text() == "weights"
print(any("another process" in text for text in told))
"""
    running = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    told = [process.communicate(timeout=120)[0].strip() for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert (cache / "log").read_text() == "converted\n"
    assert sorted(told) == ["False", "True"]


@pytest.mark.models
def test_the_real_conversion_keeps_every_weight(cache: Path) -> None:
    """The folder against gguf's own dequantisation, and its tokenizer against the file's."""
    from gguf import GGUFReader, dequantize
    from safetensors.numpy import load_file
    from transformers import AutoConfig, AutoTokenizer

    told: list[float] = []
    folder = convert.converted(ENTRY, lambda done, text: told.append(done))
    assert told == sorted(told)
    assert told[-1] == 1
    config = AutoConfig.from_pretrained(folder, local_files_only=True)
    assert getattr(config, "quantization_config", None) is None
    assert (config.num_hidden_layers, config.num_key_value_heads) == (30, 3)
    got = load_file(folder / "model.safetensors")
    assert {str(array.dtype) for array in got.values()} == {"float32"}
    tensors = {t.name: t for t in GGUFReader(ENTRY.source()).tensors}
    assert len(got) == len(tensors)
    plain = {
        "token_embd.weight": "model.embed_tokens.weight",
        "output_norm.weight": "model.norm.weight",
        "blk.7.attn_v.weight": "model.layers.7.self_attn.v_proj.weight",
        "blk.29.ffn_down.weight": "model.layers.29.mlp.down_proj.weight",
    }
    for theirs, ours in plain.items():
        tensor = tensors[theirs]
        expected = dequantize(tensor.data, tensor.tensor_type)
        np.testing.assert_array_equal(got[ours], expected, err_msg=ours)
    # llama.cpp stores queries and keys with each head's rows in pairs instead of halves.
    tensor = tensors["blk.3.attn_q.weight"]
    pairs = dequantize(tensor.data, tensor.tensor_type).reshape(9, 32, 2, 576)
    expected = pairs.transpose(0, 2, 1, 3).reshape(576, 576)
    np.testing.assert_array_equal(got["model.layers.3.self_attn.q_proj.weight"], expected)
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    text = "The cat's 2024 naïve 🤗\n\tdef f(x):  return x <|im_start|>"
    assert tokenizer.decode(tokenizer(text)["input_ids"]) == text
