"""What a model file claims is checked entry by entry before anything trusts it."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from attnviz.errors import ModelError
from attnviz.models.checkpoint import INDEX, inspect


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    save_file({"a": torch.zeros(2, 3), "b": torch.zeros(5)}, tmp_path / "model.safetensors")
    return tmp_path


def test_a_whole_file_is_counted(folder: Path) -> None:
    found = inspect(folder)
    assert (found.parameters, found.stored_dtype) == (11, "F32")


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F32", "shape": [1], "data_offsets": [0]},
        {"dtype": "F32", "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": ["x"], "data_offsets": [0, 4]},
        {"dtype": ["F"], "shape": [1], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [1], "data_offsets": ["a", "b"]},
        {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [True], "data_offsets": [0, 4]},
        [],
        None,
    ],
)
def test_a_header_that_lies_is_damage(folder: Path, entry: Any) -> None:
    header = json.dumps({"a": entry}).encode()
    content = len(header).to_bytes(8, "little") + header + bytes(4)
    (folder / "model.safetensors").write_bytes(content)
    with pytest.raises(ModelError, match="damaged or incomplete"):
        inspect(folder)


@pytest.mark.parametrize("weight_map", [{"a": 5}, {"a": None}, [], "x", {"a": ["b"]}])
def test_an_index_that_names_no_files_is_told(folder: Path, weight_map: Any) -> None:
    (folder / INDEX).write_text(json.dumps({"weight_map": weight_map}))
    with pytest.raises(ModelError, match="cannot be read"):
        inspect(folder)
