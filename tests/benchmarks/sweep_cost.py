"""What a sweep over all heads costs, against one forward pass a head.

    .venv/bin/python -m tests.benchmarks.sweep_cost [--tokens 64]

Both in one process, a layer of each in turn, so that both meet the same neighbours on the machine:
the sweep's share of that layer (its heads in one batch, the layers below it not computed again),
and as many separate passes of the whole model, each with one head at zero by a hook of its own.
The numbers of both are compared. Goal: at most 0.5 of the time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import attnviz as av
from attnviz.interventions import sweep
from tests.benchmarks.texts import text_of

GOAL = 0.5


def seconds(call: Callable[[], Any]) -> tuple[np.ndarray, Any]:
    """(wall seconds, this process's own seconds), and what the call gave."""
    begin = time.perf_counter(), time.process_time()
    result = call()
    return np.subtract((time.perf_counter(), time.process_time()), begin), result


@torch.no_grad()
def without(model: Any, ids: torch.Tensor, layer: int, head: int) -> torch.Tensor:
    """Logits of a whole pass with this head's slice at zero before the output projection."""
    attention = model.model.layers[layer].self_attn
    own = slice(head * attention.head_dim, (head + 1) * attention.head_dim)

    def zero(_: Any, inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        heads = inputs[0].clone()
        heads[..., own] = 0
        return (heads,)

    handle = attention.o_proj.register_forward_pre_hook(zero)
    try:
        return model(input_ids=ids, use_cache=False).logits[0]
    finally:
        handle.remove()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--tokens", type=int, default=64)
    options = parser.parse_args()
    loaded = av.load_model("smollm2-135m", device="cpu")
    model = loaded.model
    ids = loaded.tokenizer(text_of(2 * options.tokens), return_tensors="pt")["input_ids"]
    text = loaded.tokenizer.decode(ids[0, : options.tokens])
    ids = loaded.tokenizer(text, return_tensors="pt")["input_ids"]
    layers, heads = model.config.num_hidden_layers, model.config.num_attention_heads
    followed = int(without(model, ids, 0, 0)[-1].argmax())  # warms up too
    done: list[float] = []  # probabilities, in the order of layers and heads
    taken = np.zeros(2)

    def one_layer_apart(_: float, words: str) -> None:
        """Called by the sweep before each layer's batch: the same layer's heads, pass by pass."""
        nonlocal taken
        if not words.startswith("Removing"):
            return
        layer = len(done) // heads
        for head in range(heads):
            spent, logits = seconds(lambda head=head: without(model, ids, layer, head))
            taken = taken + spent
            done.append(float(logits[-1].softmax(-1)[followed]))

    both, found = seconds(lambda: sweep(loaded, text, token_id=followed, progress=one_layer_apart))
    ours = both - taken
    off = float(np.abs(np.reshape(done, (layers, heads)) - found.probabilities).max())
    (ratio, own_ratio), (wall, own) = ours / taken, ours
    print(
        f"SmolLM2, {ids.shape[1]} tokens, {len(done)} heads, {torch.get_num_threads()} threads\n"
        f"sweep            {wall:7.2f} s   {own:7.2f} s of the processors\n"
        f"separate passes  {taken[0]:7.2f} s   {taken[1]:7.2f} s\n"
        f"ratio            {ratio:7.2f}     {own_ratio:7.2f}     (goal: {GOAL} of the time)\n"
        f"the {len(done)} probabilities differ by {off:.1e} at most"
    )
    if ratio > GOAL:
        raise SystemExit("over the goal")


if __name__ == "__main__":
    main()
