"""Equal memory in the plane of KV heads and latents: which GQA costs what an MLA costs."""

from __future__ import annotations

from attnviz.figures import palette
from attnviz.figures.vega import Spec, legible, name, number, tip
from attnviz.kv_cache import Latent, equal_groups, presets

LATENTS = tuple(range(64, 1025, 64))
ROPES = (0, 64, 128)


def equal_memory(head_dim: int, *, dark: bool = False) -> Spec:
    """Lines g = (d_c + d_h^R) / (2 d_h) for three rotary widths, and the presets with latents."""
    lines = [
        {
            "latent": latent,
            "groups": equal_groups(latent, rope, head_dim),
            "rope": f"d_h^R = {rope}",
        }
        for rope in ROPES
        for latent in LATENTS
    ]
    models: dict[tuple[int, int], list[str]] = {}
    for spec in presets():
        for layer in dict.fromkeys(spec.layers):
            if isinstance(layer, Latent):
                widths = (layer.kv_lora_rank, layer.qk_rope_head_dim)
                models.setdefault(widths, []).append(spec.name)
    points = [
        {
            "latent": latent,
            "groups": equal_groups(latent, rope, head_dim),
            "who": f"{len(names)} presets: {', '.join(names)}",
        }
        for (latent, rope), names in models.items()
    ]
    x = number("latent", "d_c, the latent (kv_lora_rank)")
    y = number("groups", "KV heads (groups) of equal memory")
    words = [f"d_h^R = {rope}" for rope in ROPES]
    colours = list(palette.LINES[dark][: len(ROPES)])
    chart = {
        "title": f"As many bytes as GQA with g groups of width {head_dim}",
        "height": 340,
        "layer": [
            {
                "data": {"name": "lines"},
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {
                    "x": x,
                    "y": y,
                    "color": name(
                        "rope",
                        scale={"domain": words, "range": colours},
                        legend={"orient": "bottom"},
                    ),
                },
            },
            {
                "data": {"name": "models"},
                "mark": {"type": "point", "filled": True, "size": 110, "opacity": 1},
                "encoding": {
                    "x": x,
                    "y": y,
                    "color": {"value": palette.ACCENTS["highlight"][dark]},
                    "tooltip": [tip("who", "Who"), tip("groups", "Groups", ".4g")],
                },
            },
        ],
        "datasets": {"lines": lines, "models": points},
    }
    return legible(chart, dark=dark)
