"""What a variant takes, as its registration tells it: its main choice, options, dimensions."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attnviz.variants import Variant

WIDTH = 64
"""d_model of every run on these pages."""
MAIN = ("n_kv_heads", "n_heads", "head_dim", "n_channels")
"""Which dimension is the main choice of a variant without options of its own."""
COMMON = ("bias", "softcap", "sink", "yarn")
"""Options that many variants take: never the main choice of one."""
_TAKEN = ("layer", "head", "row", "col", "panel", "tab", "mask", "seed", "text", "input", "window")
"""Query keys that say something else."""


@dataclass(frozen=True)
class Setting:
    """One thing that a variant takes: an option by its words, or a dimension by its number."""

    word: str
    default: Any  # of a dimension: None where it follows from the others
    values: tuple[Any, ...] = ()  # of an option

    @property
    def key(self) -> str:
        return f"{self.word}_" if self.word in _TAKEN else self.word


def settings_of(variant: Variant) -> list[Setting]:
    """All that a variant takes, its main choice first."""
    options = [Setting(word, values[0], values) for word, values in variant.options.items()]
    given = {word: one.default for word, one in signature(variant.dimensions).parameters.items()}
    sizes = [Setting(word, default) for word, default in given.items() if word != "d_model"]
    if "n_heads" not in given:  # what follows from d_model alone is as wide as the model
        sizes = [Setting(size.word, size.default or WIDTH) for size in sizes]
    own = [option.word for option in options if option.word not in COMMON]
    order = [*([] if "n_kv_heads" in given else own), *MAIN]
    known = [*options, *sizes]
    first = [setting for word in order for setting in known if setting.word == word][:1]
    return [*first, *(setting for setting in known if setting not in first)]
