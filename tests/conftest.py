"""What every test shares: checked annotations, no network, the two bundled models."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING

import pytest

# Before anything imports these libraries: no Hub, and no more threads than this worker's share.
WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // WORKERS)))

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the hook warns when pytest has imported a module already
    from jaxtyping import install_import_hook

    # Every annotated shape in attnviz is checked against the tensors the tests pass through.
    # As for static type checkers, an int will do where a float is asked for.
    install_import_hook(
        "attnviz", "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))"
    )

if TYPE_CHECKING:
    from attnviz.models import LoadedModel


@pytest.fixture(scope="session")
def smollm2() -> LoadedModel:
    """The bundled decoder: 30 layers, 9 query heads on 3 key-value heads, float32 on the CPU."""
    import attnviz as av

    return av.load_model("smollm2-135m", device="cpu")


@pytest.fixture(scope="session")
def minilm() -> LoadedModel:
    """The bundled encoder: 6 layers of 12 heads, float32 on the CPU."""
    import attnviz as av

    return av.load_model("minilm-l6", device="cpu")
