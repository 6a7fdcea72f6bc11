"""Train the stacks on associative recall and record how often each is right.

    .venv/bin/python -m attnviz.recall.train

Writes assets/recall/stacks.safetensors (all weights) and stacks.json (settings and record).
"""

from __future__ import annotations

import json
import platform
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime

import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.nn import functional as F

from attnviz.recall.pairs import PAIRS, draw
from attnviz.recall.stacks import STACKS, Stack
from attnviz.recall.trained import ASSETS, RECORD, WEIGHTS, accuracy, held_out

SEEDS = (0, 1, 2)
STEPS, BATCH, RATE = 500, 32, 1e-2
WORKERS = 6


def train(letters: str, seed: int) -> Stack:
    """One stack from its first weights, on new sequences at each step; loss at the queries."""
    stack, generator = Stack(letters, seed), torch.Generator().manual_seed(seed)
    optimiser = torch.optim.AdamW(stack.parameters(), lr=RATE, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=STEPS)
    begin = time.time()
    for step in range(STEPS):
        tokens, wanted = draw(BATCH, generator)
        loss = F.cross_entropy(stack(tokens, PAIRS).flatten(0, 1), wanted.flatten())
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(stack.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        if step % 100 == 99:
            told = f"{letters} seed {seed} step {step + 1} loss {loss.item():.4f}"
            print(f"{told} {time.time() - begin:.0f} s", flush=True)
    return stack.requires_grad_(False)


def trained(word: str, seed: int) -> tuple[dict[str, Tensor], float]:
    """(weights, accuracy on held-out sequences) of one run, in a process of its own."""
    torch.set_num_threads(1)  # as quick on such small matrices, and the same sums each time
    stack = train(STACKS[word], seed)
    return stack.state_dict(), accuracy(stack, *held_out())


def main() -> None:
    runs = [(word, seed) for word in reversed(STACKS) for seed in SEEDS]  # the slow ones first
    weights, rows = {}, []
    with ProcessPoolExecutor(WORKERS) as pool:
        for (word, seed), (own, right) in zip(
            runs, pool.map(trained, *zip(*runs, strict=True)), strict=True
        ):
            weights |= {f"{word}/{seed}/{name}": tensor for name, tensor in own.items()}
            rows.append({"stack": word, "seed": seed, "accuracy": right})
            print(rows[-1], flush=True)
    record = {
        "script": "python -m attnviz.recall.train",
        "date": datetime.now(UTC).date().isoformat(),
        "versions": {"python": platform.python_version(), "torch": torch.__version__},
        "steps": STEPS,
        "batch": BATCH,
        "rate": RATE,
        "accuracy": rows,
    }
    ASSETS.mkdir(exist_ok=True)
    save_file(weights, WEIGHTS)
    RECORD.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
