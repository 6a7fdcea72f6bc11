"""How a serving engine lays a cache out on each GPU: pages, and what tensor parallelism copies.

From vLLM's source (v1 KV cache interface): a page holds block_size tokens of one layer. A full
layer takes ceil(T / block) pages; a sliding one ceil(min(W - 1 + max_batched_tokens, T) / block)
+ 1, far more than W for small windows; a layer with a state takes one page a sequence. KV heads
are shared out over the ranks and, with more ranks than heads, copied; the latent of MLA, which
has no heads, is on every rank.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from attnviz.errors import AttnvizError
from attnviz.kv_cache.checks import whole
from attnviz.kv_cache.dtypes import bits_of, whole_bytes
from attnviz.kv_cache.layers import Cross, Full, Latent, Layer, Linear, Sliding

DTYPES = ("float32", "bfloat16", "float16", "float8")
SCALED = 128
"""Elements of an fp8 latent that share one float32 scale (the fp8_ds_mla layout)."""

REASONS = (
    "The engine's own count of tokens is blocks times block size, or concurrency times the "
    "longest context: that number times bytes a token is not the memory.",
    "Hybrid models are padded to one page size for all kinds of layers and grouped, which wastes "
    "a few per cent more than is counted here.",
    "The pool is what is left of the memory after weights, activations and CUDA graphs, and it "
    "is reserved at the start whether used or not.",
    "Layers that predict further tokens (MTP) and draft models have caches of their own.",
    "Sequences with a common beginning may share their pages; beam search shares them too.",
)
"""Why the log of a server may show other numbers."""


@dataclass(frozen=True)
class Engine:
    """Pages of block_size tokens on tensor_parallel GPUs."""

    block_size: int = 16
    tensor_parallel: int = 1
    max_batched_tokens: int = 8192

    def __post_init__(self) -> None:
        whole("block_size", self.block_size, most=2**20)
        whole("tensor_parallel", self.tensor_parallel, most=2**16)
        whole("max_batched_tokens", self.max_batched_tokens)

    def pages(self, layer: Layer, length: int, encoder_length: int) -> int:
        """Pages that one sequence takes in this layer."""
        if isinstance(layer, Linear):
            return 1
        if isinstance(layer, Sliding):
            return self._blocks(min(self._reach(layer), length)) + 1
        if isinstance(layer, Cross):
            return self._blocks(encoder_length)
        return self._blocks(length) if layer.stored(1, 1) else 0

    def parts(self, layer: Layer, dtype: str, state_dtype: str) -> tuple[tuple[str, int], ...]:
        """Name and bytes of what one page holds on one GPU."""
        bits = bits_of(dtype)
        if isinstance(layer, Full):
            heads = self.heads(layer.n_kv_heads)
            tokens = self.block_size * heads
            return (
                ("keys", whole_bytes(tokens * layer.head_dim, bits)),
                ("values", whole_bytes(tokens * layer.value_dim, bits)),
            )
        if isinstance(layer, Latent):
            return tuple((name, self.block_size * n) for name, n in _latent(layer, dtype))
        if isinstance(layer, Linear):
            first, rest = layer.state_shape[0], layer.state_shape[1:]
            here = Linear((self._split("states", first), *rest), *self._convolution(layer))
            widths = {"state": bits_of(state_dtype), "cache": bits}
            return tuple(
                (s.name, whole_bytes(s.elements, widths[s.width])) for s in here.stored(0, 0)
            )
        return ()

    def heads(self, n_kv_heads: int) -> int:
        """KV heads on each GPU: at least one."""
        ranks = self.tensor_parallel
        larger, smaller = max(n_kv_heads, ranks), min(n_kv_heads, ranks)
        if larger % smaller:
            raise AttnvizError(
                f"{n_kv_heads} KV heads (groups) cannot be laid out on {ranks} GPUs; choose a "
                "tensor parallelism that divides them, or a multiple of them."
            )
        return max(1, n_kv_heads // ranks)

    def growth(self, layer: Layer, length: int, dtype: str) -> Fraction:
        """Bytes a token on each GPU, the mean over a page."""
        growing = layer.grows(length)
        if isinstance(layer, Sliding):
            growing = length < self._reach(layer)
        if not growing:
            return Fraction(0)
        return Fraction(sum(n for _name, n in self.parts(layer, dtype, "float32")), self.block_size)

    def _reach(self, layer: Sliding) -> int:
        return layer.window - 1 + self.max_batched_tokens

    def _blocks(self, tokens: int) -> int:
        return -(-tokens // self.block_size)

    def _convolution(self, layer: Linear) -> tuple[int, int]:
        if layer.mixer == "Mamba-2" and self.tensor_parallel > 1:
            raise AttnvizError(
                "How the convolution of Mamba-2 is laid out on several GPUs depends on groups "
                "that this spec does not hold; set tensor parallelism to 1."
            )
        return self._split("convolution channels", layer.conv_channels), layer.conv_kernel

    def _split(self, what: str, number: int) -> int:
        if number % self.tensor_parallel:
            raise AttnvizError(
                f"{number} {what} cannot be shared out over {self.tensor_parallel} GPUs; choose "
                "a tensor parallelism that divides them."
            )
        return number // self.tensor_parallel


def _latent(layer: Latent, dtype: str) -> tuple[tuple[str, int], ...]:
    """Bytes a token of each part. In fp8 the latent has float32 scales, the rotary key stays
    16 bits: 512 + 16 + 128 = 656 bytes for DeepSeek's widths."""
    rank, rope, index = layer.kv_lora_rank, layer.qk_rope_head_dim, layer.index_head_dim
    if dtype != "float8":
        widths = (("latent", rank), ("rotary key", rope), ("index key", index))
        return tuple((name, whole_bytes(n, bits_of(dtype))) for name, n in widths if n)
    scales = 4 * -(-rank // SCALED)
    index_bytes = index + 4 * -(-index // SCALED)
    parts = (("latent", rank), ("scales", scales), ("rotary key", 2 * rope))
    return tuple((name, n) for name, n in (*parts, ("index key", index_bytes)) if n)
