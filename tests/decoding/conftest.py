"""Two small random models: every layer full, and every layer within a window."""

import pytest
import transformers

from attnviz.models import LoadedModel
from tests.models.tiny import COMMON, build, llama


@pytest.fixture(scope="session")
def full() -> LoadedModel:
    return llama()


@pytest.fixture(scope="session")
def windowed() -> LoadedModel:
    options = {**COMMON, "num_key_value_heads": 2, "sliding_window": 6}
    return build(transformers.MistralConfig(**options))
