"""Hyena of order 2: gate, long convolution, gate (Poli et al. 2023, section 3, arXiv:2302.10866).

y = x1 * (h conv (x2 * v)), channel by channel, with three projections x1, x2 and v that a short
causal convolution has smoothed. Written as one matrix a channel (section 3.2, definition 3.1),
A = D_x1 T_h D_x2 with T_h the Toeplitz matrix of the filter: an exact map from values to outputs,
signed, and causal by itself. The filter is implicit: a small network of the distance, under a
window that fades (section 3.3).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from attnviz import seeded
from attnviz.errors import AttnvizError
from attnviz.trace import Origin, Role
from attnviz.variants.dimensions import positive
from attnviz.variants.parameters import head_columns, head_rows
from attnviz.variants.variant import Setup, StepText, Tensors, Variant

SHORT = 3
"""Tokens under the short convolution."""
BANDS, HIDDEN = 4, 16
"""Sines and cosines of the distance that the filter's network gets, and its width."""
GATES = (("gate_out", "x_1"), ("gate_in", "x_2"), ("value", "v"))


def prepare(x: Float[Tensor, "batch length d_model"], W: Mapping[str, Tensor]) -> Tensors:
    """Three smoothed projections, (B, T, C) each, and the long filter, (C, T)."""
    steps = {}
    for word, _ in GATES:
        projected = x @ W[f"W_{word}"]
        steps[word] = short_convolution(projected, W[f"short_{word}"])
    steps["filter"] = long_filter(x.shape[1], W).to(x)
    return steps


def short_convolution(
    x: Float[Tensor, "batch length channels"], taps: Float[Tensor, "channels taps"]
) -> Float[Tensor, "batch length channels"]:
    """Each channel's last tokens, weighted: the own one by the last tap, nothing after it."""
    padded = F.pad(x.mT, (taps.shape[1] - 1, 0))  # (B, C, T + 2)
    return F.conv1d(padded, taps[:, None], groups=x.shape[2]).mT


def long_filter(length: int, W: Mapping[str, Tensor]) -> Float[Tensor, "channels {length}"]:
    """h[c, d] of each distance d: the network's answer, fading at a rate of the channel's own.

    At distance 0 the skip connection of the channel comes on top. In float64.
    """
    distance = torch.arange(length, dtype=torch.float64, device=W["fading"].device)[:, None]
    angles = distance / 2.0 ** torch.arange(1, BANDS + 1, device=distance.device) * math.pi
    features = torch.cat([angles.cos(), angles.sin()], dim=1)  # (T, 2 BANDS)
    hidden = (features @ W["filter_in"].double()).sin()  # (T, HIDDEN)
    raw = (hidden @ W["filter_out"].double()).T  # (C, T)
    h = raw * (-W["fading"].double()[:, None] * distance.T).exp()
    h[:, 0] += W["skip"].double()
    return h


def compute(
    x: Float[Tensor, "batch length d_model"],
    context: Tensor,
    W: Mapping[str, Tensor],
    allowed: Tensor | None,
    setup: Setup,
) -> Tensors:
    """Through the matrix of each channel, which is a step."""
    _refuse_rotary(setup)
    steps = prepare(x, W)
    steps["weights"] = operator_map(steps["gate_out"], steps["filter"], steps["gate_in"])
    mixed = torch.einsum("bcij,bjc->bic", steps["weights"], steps["value"])
    return steps | {"mixed": mixed, "output": mixed @ W["W_o"]}


def operator_map(
    gate_out: Float[Tensor, "batch length channels"],
    h: Float[Tensor, "channels length"],
    gate_in: Float[Tensor, "batch length channels"],
) -> Float[Tensor, "batch channels length length"]:
    """D_x1 T_h D_x2 of each channel: A[i, j] = x1[i] h[i - j] x2[j], and 0 above the diagonal."""
    place = torch.arange(h.shape[1], device=h.device)
    distance = place[:, None] - place
    toeplitz = h[:, distance.clamp(min=0)].tril()  # (C, T, T)
    return gate_out.mT[..., None] * toeplitz * gate_in.mT[..., None, :]


def fused(
    x: Float[Tensor, "batch length d_model"],
    context: Tensor,
    W: Mapping[str, Tensor],
    allowed: Tensor | None,
    setup: Setup,
) -> Tensors:
    """The same output by fast Fourier transforms, in T log T steps and without any map."""
    _refuse_rotary(setup)
    steps = prepare(x, W)
    length, wide = x.shape[1], torch.promote_types(x.dtype, torch.float32)
    gated = (steps["gate_in"] * steps["value"]).mT.to(wide)  # (B, C, T)
    n = 2 * length  # with fewer points the end would wrap around to the start
    spectrum = torch.fft.rfft(gated, n) * torch.fft.rfft(steps["filter"].to(wide), n)
    convolved = torch.fft.irfft(spectrum, n)[..., :length].mT.to(x)
    mixed = steps["gate_out"] * convolved
    return steps | {"mixed": mixed, "output": mixed @ W["W_o"]}


def _refuse_rotary(setup: Setup) -> None:
    if setup.rotary:
        raise AttnvizError(
            "Rotary positions act on dot products of queries and keys, and Hyena has none; choose "
            "positions 'sinusoidal' or 'none'."
        )


def dimensions(d_model: int, n_channels: int | None = None) -> dict[str, int]:
    """n_channels defaults to d_model; there is one map for each."""
    C = positive("n_channels", d_model if n_channels is None else n_channels)
    return {"n_channels": C, "head_dim": C, "v_head_dim": C}


def parameters(d_model: int, seed: int, sizes: Mapping[str, int]) -> Tensors:
    """Projections (d_model, C), short taps (C, 3), the filter's network, fading, skip, and W_o."""
    C = sizes["n_channels"]
    W = {}
    for word, _ in GATES:
        W[f"W_{word}"] = head_columns(f"W_{word}", seed, 1, d_model, C)
        W[f"short_{word}"] = seeded.normal((C, SHORT), seed, "short", word) * SHORT**-0.5
    return W | {
        "filter_in": seeded.normal((2 * BANDS, HIDDEN), seed, "filter_in"),
        "filter_out": seeded.normal((HIDDEN, C), seed, "filter_out") * HIDDEN**-0.5,
        "fading": torch.logspace(-1.5, 0, C, dtype=torch.float64),  # slow channels to fast ones
        "skip": seeded.normal((C,), seed, "skip"),
        "W_o": head_rows("W_o", seed, 1, C, d_model),
    }


def always(options: Mapping[str, str]) -> bool:
    """The operator's matrix is no softmax."""
    return True


def describe(setup: Setup) -> dict[str, StepText]:
    """What each step is called, and how it came about."""
    told: tuple[tuple[str, Role, str, str], ...] = (
        ("gate_out", "query", "query", "What each token lets through of what reaches it."),
        ("gate_in", "key", "key", "What each token lets out of what it has to give."),
        ("value", "value", "key", "What each token has to give."),
    )
    steps = {}
    for (word, role, side, note), (_, symbol) in zip(told, GATES, strict=True):
        steps[word] = StepText(
            ("batch", side, "map_channel"),
            role,
            symbol,
            rf"{symbol} = \mathr{{conv}}_3(X W^{{{symbol}}})",
            f"{note} Smoothed over the last {SHORT} tokens.",
            Origin("formula", ("inputs", f"W_{word}", f"short_{word}")),
        )
    return steps | {
        "filter": StepText(
            ("map_channel", "distance"), "other", "h",
            r"h[c, d] = e^{-\alpha_c d}\, \mathrm{FFN}(d)_c + \delta_c \,[d = 0]",
            "One long filter a channel: how much counts what lies d tokens back.",
            Origin("formula", ("filter_in", "filter_out", "fading", "skip")),
        ),
        "weights": StepText(
            ("batch", "map_channel", "query", "key"), "weights", "A_c",
            r"A_c[i,j] = x_1[i,c]\, h[c, i-j]\, x_2[j,c] \text{ for } j \le i",
            "The exact map of each channel. It is no probability: cells may be negative.",
            Origin("formula", ("gate_out", "filter", "gate_in")),
        ),
        "mixed": StepText(
            ("batch", "query", "map_channel"), "output", "Z", r"Z[\cdot, c] = A_c\, v[\cdot, c]",
            "Each channel of the values, mixed by its own map.",
            Origin("formula", ("weights", "value")),
        ),
        "output": StepText(
            ("batch", "query", "feature"), "output", "Y", r"Y = Z\, W^{O}",
            "The output projection mixes what the channels brought.",
            Origin("product", ("mixed", "W_o")),
        ),
    }  # fmt: skip


def working(cells: int, sizes: Mapping[str, int], options: Mapping[str, str]) -> int:
    """The filter laid out by distance, and the map before its second gate."""
    return 4 * cells


VARIANT = Variant(
    working=working,
    name="hyena",
    title="Hyena",
    source="Poli et al. 2023, Hyena Hierarchy, section 3 (arXiv:2302.10866)",
    compute=compute,
    fused=fused,
    dimensions=dimensions,
    parameters=parameters,
    describe=describe,
    parts=(prepare, short_convolution, long_filter, operator_map, fused),
    fast="fft",
    scaled=False,
    effective=always,
    causal="always",
)
