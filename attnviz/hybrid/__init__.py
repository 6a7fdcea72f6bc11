"""Hybrid stacks: a few layers with a cache among many with a state.

>>> import attnviz as av
>>> pattern = av.hybrid.Pattern.of("3L F", n_layers=8, linear="gated_delta_rule")
>>> pattern.letters, pattern.ratio
('LLLFLLLF', '3:1')
>>> stack = av.hybrid.run(pattern, av.random_inputs(length=5, d_model=16, seed=0), n_heads=2)
>>> tuple(stack.maps.shape)  # layers, heads, queries, keys
(8, 2, 5, 5)
"""

from attnviz.hybrid.decoding import Decoder, step_seconds
from attnviz.hybrid.patterns import PRESETS, Pattern, cache_of, preset
from attnviz.hybrid.stack import Stack, StackLayer, run

__all__ = [
    "PRESETS",
    "Decoder",
    "Pattern",
    "Stack",
    "StackLayer",
    "cache_of",
    "preset",
    "run",
    "step_seconds",
]
