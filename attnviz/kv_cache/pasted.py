"""A config.json that somebody pasted or uploaded."""

from __future__ import annotations

import json

from attnviz.errors import AttnvizError
from attnviz.kv_cache.spec import CacheSpec

LONGEST = 200_000
"""Characters. The longest config.json in use has a tenth of it."""


def from_json(text: str) -> CacheSpec:
    """The cache of the model whose config.json this is.

    >>> from attnviz import kv_cache
    >>> gpt2 = '{"model_type": "gpt2", "n_layer": 12, "n_head": 12, "n_embd": 768}'
    >>> kv_cache.from_json(gpt2).counts
    {'full': 12}

    Raises AttnvizError for text that is not JSON, and for a config that from_config refuses.
    """
    if not isinstance(text, str):
        raise AttnvizError(f"Expected the text of a config.json, not {type(text).__name__}.")
    if len(text) > LONGEST:
        raise AttnvizError(
            f"A config.json has at most {LONGEST:,} characters here, and this text has "
            f"{len(text):,}; paste the config alone."
        )
    try:
        read = json.loads(text)
    except (ValueError, RecursionError) as problem:
        where = f" (line {problem.lineno})" if isinstance(problem, json.JSONDecodeError) else ""
        raise AttnvizError(
            f"This is not JSON{where}: expected the text of a config.json, which begins with "
            "a brace."
        ) from None
    if not isinstance(read, dict):
        raise AttnvizError(
            f"Expected a config.json, which holds named fields, not a {type(read).__name__}."
        )
    return CacheSpec.from_config(read)
