"""Reading a model's config, whether a transformers object or the mapping in a config.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attnviz.errors import AttnvizError
from attnviz.kv_cache.checks import LARGEST, MOST_HEADS, MOST_LAYERS, whole


class Fields:
    """The fields of one config. A missing one is an error that names it, never a guess."""

    def __init__(self, config: Any) -> None:
        if not isinstance(config, Mapping) and not hasattr(config, "model_type"):
            raise AttnvizError(
                "Expected a transformers config or the mapping in a config.json, not "
                f"{type(config).__name__}."
            )
        self._config = config
        model_type = self.get("model_type")
        if not isinstance(model_type, str) or not model_type:
            raise AttnvizError(
                "This config has no model_type, so its architecture is not known; add the one "
                "from the model's config.json."
            )
        self.model_type: str = model_type

    def get(self, *names: str) -> Any:
        """The first of these fields that is there and not null, else None."""
        for name in names:
            if isinstance(self._config, Mapping):
                value = self._config.get(name)
            else:
                value = getattr(self._config, name, None)
            if value is not None:
                return value
        return None

    def need(self, *names: str) -> Any:
        """As get, but one of them must be there."""
        value = self.get(*names)
        if value is None:
            raise AttnvizError(
                f"A {self.model_type} config needs {' or '.join(names)}, and this one has none."
            )
        return value

    def count(self, *names: str, most: int = LARGEST) -> int:
        """A needed field that must be a whole number above 0."""
        return whole(f"{names[0]} of this {self.model_type} config", self.need(*names), most=most)

    def stated(self, *names: str) -> int | None:
        """A field that may be missing; a number below 1, as some configs hold, says nothing."""
        value = self.get(*names)
        if value is None:
            return None
        number = whole(f"{names[0]} of this {self.model_type} config", value, -LARGEST)
        return number if number > 0 else None

    def text(self, *names: str) -> str | None:
        """A field of words that may be missing; anything else under that name says nothing."""
        value = self.get(*names)
        return value if isinstance(value, str) and value else None

    def part(self, name: str) -> Mapping[str, Any]:
        """A config inside this one; empty where there is none."""
        value = self.get(name)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            raise AttnvizError(
                f"{name} of this {self.model_type} config must hold named fields, not {value!r}."
            )
        return value

    def places(self, name: str, value: Any, first: int = 0) -> set[int]:
        """A list of layer numbers, counted from `first`."""
        if not isinstance(value, (list, tuple)):
            raise AttnvizError(
                f"{name} of this {self.model_type} config must be a list of layer numbers, not "
                f"{value!r}."
            )
        last = first + self.n_layers - 1
        return {whole(f"A layer in {name}", number, first, last) - first for number in value}

    @property
    def n_layers(self) -> int:
        return self.count(
            "num_hidden_layers", "n_layer", "n_layers", "num_layers", most=MOST_LAYERS
        )

    @property
    def n_heads(self) -> int:
        return self.count("num_attention_heads", "n_head", "n_heads", "num_heads", most=MOST_HEADS)

    @property
    def hidden(self) -> int:
        return self.count("hidden_size", "n_embd", "d_model", "dim")

    @property
    def n_kv_heads(self) -> int:
        """Heads that keys and values have of their own; as many as queries where not said."""
        stated = self.get("num_key_value_heads", "num_kv_heads")
        n_kv = self.n_heads if stated is None else whole("num_key_value_heads", stated)
        return grouped(self.n_heads, n_kv)

    @property
    def head_dim(self) -> int:
        """The stated head_dim; where there is none, hidden size over heads."""
        stated = self.get("head_dim")
        if stated is not None:
            return whole("head_dim", stated)
        if self.hidden % self.n_heads:
            raise AttnvizError(
                f"This {self.model_type} config has no head_dim, and its hidden size "
                f"{self.hidden} is not a multiple of its {self.n_heads} heads."
            )
        return self.hidden // self.n_heads

    def pattern(self, n_layers: int) -> tuple[str, ...] | None:
        """layer_types, one word a layer, where the config states them."""
        kinds = self.get("layer_types", "layers_block_type")
        if kinds is None:
            return None
        if not isinstance(kinds, (list, tuple)) or len(kinds) != n_layers:
            found = len(kinds) if isinstance(kinds, (list, tuple)) else repr(kinds)
            raise AttnvizError(f"layer_types must name {n_layers} layers, not {found}.")
        return tuple(str(kind) for kind in kinds)


def grouped(n_heads: int, n_kv_heads: int) -> int:
    """n_kv_heads, if that many groups share out the query heads evenly."""
    whole("The number of heads", n_heads, most=MOST_HEADS)
    whole("The number of KV heads (groups)", n_kv_heads)
    if n_heads % n_kv_heads:
        near = [n for n in range(1, n_heads + 1) if n_heads % n == 0]
        shown = ", ".join(map(str, near))
        raise AttnvizError(
            f"{n_kv_heads} KV heads (groups) do not share {n_heads} query heads evenly; "
            f"choose one of {shown}."
        )
    return n_kv_heads
