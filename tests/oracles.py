"""Single files of packages that must not be importable as a whole (requirements-oracles.txt)."""

from __future__ import annotations

import sys
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

FOLDER = Path(sys.prefix) / "oracles"


@cache
def fla(op: str) -> ModuleType:
    """flash-linear-attention's readable torch form of an operation: fla/ops/<op>/naive.py.

    Loaded by its path, since importing fla needs Triton, and a GPU to run anything.
    """
    _load("einops", FOLDER / "einops" / "__init__.py")
    return _load(f"oracle_fla_{op}", FOLDER / "fla" / "ops" / op / "naive.py")


def _load(name: str, path: Path) -> ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    assert path.exists(), f"no {path.name} of {name}: run scripts/setup_dev.sh"
    spec = spec_from_file_location(name, path, submodule_search_locations=[str(path.parent)])
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
