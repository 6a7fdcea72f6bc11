"""Train the hybrid stacks on associative recall and record how often each is right.

    .venv/bin/python -m attnviz.models.teaching.train_recall_stacks [--seeds 3]

Writes assets/models/recall_stacks.json, and the weights of the first seed beside it.
"""

from __future__ import annotations

import argparse
import json
import time

import torch
from safetensors.torch import save_file
from torch.nn import functional as F

from attnviz.models.teaching.recall_stack import (
    RECORD,
    STACKS,
    RecallStack,
    kept_bytes,
    lines,
)

STEPS, BATCH, N_PAIRS, JUDGED = 2000, 32, 32, 200


def train(letters: str, seed: int, steps: int = STEPS) -> RecallStack:
    torch.set_num_threads(1)  # as quick on such small matrices, and the same sums each time
    model = RecallStack(letters, seed=seed)
    generator = torch.Generator().manual_seed(seed)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 3e-3, total_steps=steps)
    begin = time.time()
    for step in range(steps):
        # Few pairs first: the rule is found sooner, and then holds for more.
        n_pairs = min(N_PAIRS, 4 + step * 2 * N_PAIRS // steps)
        tokens, due = lines(BATCH, n_pairs, generator)
        logits = model(tokens)[:, -n_pairs:]
        loss = F.cross_entropy(logits.flatten(0, 1), due.flatten())
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        if step % 250 == 0 or step == steps - 1:
            taken = time.time() - begin
            print(f"{letters} {seed} {step:5} loss {loss.item():.4f} {taken:.0f} s", flush=True)
    return model.eval()


@torch.no_grad()
def judge(model: RecallStack, n_pairs: int = N_PAIRS) -> float:
    """The share of values named right, on lines drawn with a seed that no training used."""
    tokens, due = lines(JUDGED, n_pairs, torch.Generator().manual_seed(10**6))
    return (model(tokens)[:, -n_pairs:].argmax(-1) == due).float().mean().item()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    seeds = range(parser.parse_args().seeds)
    rows = []
    for name, letters in STACKS.items():
        accuracies = []
        for seed in seeds:
            model = train(letters, seed)
            accuracies.append(judge(model))
            if seed == 0:
                word = name.replace(" ", "_").replace(":", "_to_")
                save_file(model.state_dict(), RECORD.with_name(f"recall_stack_{word}.safetensors"))
        kept = kept_bytes(letters, 3 * N_PAIRS)
        rows.append({"stack": name, "letters": letters, "accuracy": accuracies, "bytes": kept})
        print(rows[-1], flush=True)
        card = {
            "task": f"{N_PAIRS} pairs of 64 keys and 64 values, each asked for once",
            "script": "python -m attnviz.models.teaching.train_recall_stacks",
            "seeds": list(seeds),
            "steps": STEPS,
            "batch": BATCH,
            "pairs": N_PAIRS,
            "lines_judged": JUDGED,
            "stacks": rows,
        }
        RECORD.write_text(json.dumps(card, indent=1) + "\n")


if __name__ == "__main__":
    main()
