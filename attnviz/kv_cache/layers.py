"""What one layer of a model keeps between tokens, by kind.

A layer answers one question: which tensors does it hold for one sequence of a given length?
Sizes, formulas and drawings follow from that answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import ClassVar, Literal

from attnviz.errors import AttnvizError
from attnviz.kv_cache.checks import whole


@dataclass(frozen=True)
class Stored:
    """One tensor of one sequence: how many elements, and which of the two dtypes it has."""

    name: str
    elements: int
    width: Literal["cache", "state"] = "cache"


@dataclass(frozen=True)
class Layer:
    """The common part; use one of the kinds below."""

    kind: ClassVar[str]

    def _check(self, *names: str, least: int = 1) -> None:
        for name in names:
            whole(f"{name} of a {self.kind} layer", getattr(self, name), least)

    def stored(self, length: int, encoder_length: int) -> tuple[Stored, ...]:
        """The tensors held once `length` tokens are cached."""
        raise NotImplementedError

    def grows(self, length: int) -> bool:
        """Does one more token, after `length` of them, take more memory here?"""
        return False


@dataclass(frozen=True)
class Full(Layer):
    """Keys and values of every token: MHA, GQA and MQA, by the number of KV heads.

    v_head_dim is the width of a value where it differs from that of a key (None: the same).
    Shazeer 2019 (MQA); Ainslie et al. 2023 (GQA), whose groups are these KV heads.
    """

    n_kv_heads: int
    head_dim: int
    v_head_dim: int | None = None
    kind: ClassVar[str] = "full"

    def __post_init__(self) -> None:
        self._check("n_kv_heads", "head_dim")
        if self.v_head_dim is not None:
            self._check("v_head_dim")

    @property
    def value_dim(self) -> int:
        return self.head_dim if self.v_head_dim is None else self.v_head_dim

    def kept(self, length: int, encoder_length: int) -> int:
        """How many tokens are held."""
        return length

    def stored(self, length: int, encoder_length: int) -> tuple[Stored, ...]:
        tokens = self.n_kv_heads * self.kept(length, encoder_length)
        return (
            Stored("keys", tokens * self.head_dim),
            Stored("values", tokens * self.value_dim),
        )

    def grows(self, length: int) -> bool:
        return True


@dataclass(frozen=True)
class Sliding(Full):
    """Keys and values of the last `window` tokens (Beltagy et al. 2020, Jiang et al. 2023).

    Theory counts the window itself; an implementation may keep window - 1 between steps.
    """

    window: int = field(kw_only=True)
    kind: ClassVar[str] = "sliding"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("window")

    def kept(self, length: int, encoder_length: int) -> int:
        return min(length, self.window)

    def grows(self, length: int) -> bool:
        return length < self.window


@dataclass(frozen=True)
class Cross(Full):
    """Keys and values of the encoder's tokens, written once (Vaswani et al. 2017, 3.2.3)."""

    kind: ClassVar[str] = "cross"

    def kept(self, length: int, encoder_length: int) -> int:
        return encoder_length

    def grows(self, length: int) -> bool:
        return False


@dataclass(frozen=True)
class Latent(Layer):
    """One latent and one rotary key a token, whatever the number of heads.

    Multi-head latent attention, DeepSeek-V2 (2024), section 2.1: d_c = kv_lora_rank, d_h^R =
    qk_rope_head_dim. index_head_dim is the key of the indexer that DeepSeek sparse attention
    adds (DeepSeek-V3.2, 2025); 0 without it.
    """

    kv_lora_rank: int
    qk_rope_head_dim: int = 0
    index_head_dim: int = 0
    kind: ClassVar[str] = "latent"

    def __post_init__(self) -> None:
        self._check("kv_lora_rank")
        self._check("qk_rope_head_dim", "index_head_dim", least=0)

    def stored(self, length: int, encoder_length: int) -> tuple[Stored, ...]:
        parts = (
            Stored("latent", self.kv_lora_rank * length),
            Stored("rotary key", self.qk_rope_head_dim * length),
            Stored("index key", self.index_head_dim * length),
        )
        widths = (self.kv_lora_rank, self.qk_rope_head_dim, self.index_head_dim)
        return tuple(part for part, width in zip(parts, widths, strict=True) if width)

    def grows(self, length: int) -> bool:
        return True


@dataclass(frozen=True)
class Linear(Layer):
    """A recurrent state and the tail of a short convolution, independent of the length.

    state_shape: (value heads, key dim, value dim) for the delta rules (Gated DeltaNet, KDA) and
    lightning attention, (d_inner, d_state) for Mamba-1, (heads, head_dim, d_state) for Mamba-2.
    A convolution of conv_kernel taps keeps conv_kernel - 1 columns of conv_channels, in the
    cache's dtype; the state has a dtype of its own.
    """

    state_shape: tuple[int, ...]
    conv_channels: int = 0
    conv_kernel: int = 1
    mixer: str = "linear attention"
    kind: ClassVar[str] = "linear"

    def __post_init__(self) -> None:
        self._check("conv_kernel")
        self._check("conv_channels", least=0)
        shape = self.state_shape
        if not isinstance(shape, tuple) or not shape:
            raise AttnvizError(
                f"state_shape of a linear layer must be a tuple of sizes, not {shape!r}."
            )
        for size in shape:
            whole("each size in state_shape of a linear layer", size)

    def stored(self, length: int, encoder_length: int) -> tuple[Stored, ...]:
        state = Stored("state", prod(self.state_shape), "state")
        columns = self.conv_channels * (self.conv_kernel - 1)
        return (state, Stored("convolution", columns)) if columns else (state,)


@dataclass(frozen=True)
class NoCache(Layer):
    """Nothing is kept: every layer of an encoder."""

    kind: ClassVar[str] = "none"

    def stored(self, length: int, encoder_length: int) -> tuple[Stored, ...]:
        return ()


@dataclass(frozen=True)
class Shared(Layer):
    """Reads the keys and values of an earlier layer and keeps none of its own.

    source is that layer's index (Gemma 3n, "KV cache sharing"; Brandon et al. 2024, cross-layer
    attention). None where it is not told.
    """

    source: int | None = None
    kind: ClassVar[str] = "shared"

    def __post_init__(self) -> None:
        if self.source is not None:
            self._check("source", least=0)

    def stored(self, length: int, encoder_length: int) -> tuple[Stored, ...]:
        return ()


KINDS: dict[str, type[Layer]] = {
    layer.kind: layer for layer in (Full, Sliding, Latent, Linear, Cross, Shared, NoCache)
}
