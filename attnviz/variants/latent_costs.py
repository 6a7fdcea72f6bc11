"""What decoding with latent attention costs, naive and absorbed, for T_q new tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Cost:
    """Of one form, for one sequence and one layer, from the query heads on."""

    flops: int  # a multiplication and an addition are two
    bytes: int  # read and written at least; scores and weights stay on the chip


def decoding_costs(
    sizes: Mapping[str, int], n_keys: int, n_queries: int, bytes_per_number: int = 2
) -> tuple[Cost, Cost]:
    """(naive, absorbed) for n_queries tokens that ask n_keys cached ones; sizes of a `latent` run.

    Counted: rebuilding or carrying over, scores, mixing, and the output projection, which is the
    same in both. Left out: the down-projections and those of the queries, the same in both too.
    """
    H, d_h, d_rope, d_v, d_c = (
        sizes[word]
        for word in (
            "n_heads",
            "qk_nope_head_dim",
            "qk_rope_head_dim",
            "v_head_dim",
            "kv_lora_rank",
        )
    )
    pairs = H * n_queries * n_keys
    output = n_queries * H * d_v * sizes["d_model"]
    naive = n_keys * d_c * H * (d_h + d_v) + pairs * (d_h + d_rope + d_v) + output
    absorbed = n_queries * H * d_c * (d_h + d_v) + pairs * (d_c + d_rope + d_c) + output

    cache = n_keys * (d_c + d_rope)
    weights = d_c * H * (d_h + d_v) + H * d_v * sizes["d_model"]
    new = n_queries * H * (d_h + d_rope) + n_queries * sizes["d_model"]  # queries, outputs
    rebuilt = 2 * n_keys * H * (d_h + d_v)  # written, and read again
    carried = 2 * n_queries * H * (d_c + d_c)
    return (
        Cost(2 * naive, bytes_per_number * (cache + weights + new + rebuilt)),
        Cost(2 * absorbed, bytes_per_number * (cache + weights + new + carried)),
    )


def naive_is_cheaper_from(sizes: Mapping[str, int], n_keys: int) -> int | None:
    """The least T_q from which the naive form takes fewer FLOPs; None: it never does.

    Rebuilding is paid once, however many queries share it; a wide key is paid for by each. That is
    why prefill is naive and decoding absorbed.
    """
    d_h, d_v, d_c = (sizes[word] for word in ("qk_nope_head_dim", "v_head_dim", "kv_lora_rank"))
    once = n_keys * d_c * (d_h + d_v)
    each = d_c * (d_h + d_v) + n_keys * (2 * d_c - d_h - d_v)  # absorbed minus naive, a query
    return once // each + 1 if each > 0 else None
