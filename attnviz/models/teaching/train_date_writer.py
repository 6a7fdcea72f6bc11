"""Train both date writers and record how often each is right.

    .venv/bin/python -m attnviz.models.teaching.train_date_writer

Writes assets/models/date_writer_{attention,fixed}.safetensors and date_writer.json.
"""

from __future__ import annotations

import json
import time

import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from attnviz.models.teaching.date_writer import ASSETS, END, KINDS, PAD, DateWriter, encode
from attnviz.models.teaching.dates import WRITTEN, Writer

SEED, STEPS, BATCH = 0, 3000, 64
LONGEST = 5  # dates in a line of the training part
JUDGED = (1, 2, 3, 4, 5, 6, 7)


def batch(writer: Writer, size: int, n_dates: int) -> tuple[Tensor, Tensor]:
    pairs = [writer.example(n_dates) for _ in range(size)]
    read = [encode(line) for line, _ in pairs]
    written = [torch.tensor([WRITTEN.index(c) + 2 for c in text] + [END]) for _, text in pairs]
    return pad_sequence(read, True, PAD), pad_sequence(written, True, PAD)


def train(kind: str) -> DateWriter:
    torch.manual_seed(SEED)
    torch.set_num_threads(1)  # as quick on such small matrices, and the same sums each time
    model, writer = DateWriter(kind), Writer(SEED)
    optimiser = torch.optim.AdamW(model.parameters(), lr=5e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 5e-3, total_steps=STEPS)
    begin = time.time()
    for step in range(STEPS):
        # Short lines first: with long ones at once neither learns to begin.
        most = min(LONGEST, 1 + step * 2 * LONGEST // STEPS)
        letters, target = batch(writer, BATCH, writer.random.randint(1, most))
        logits = model(letters, target)
        loss = F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        if step % 250 == 0:
            print(f"{kind} {step:5} loss {loss.item():.4f} {time.time() - begin:.0f} s", flush=True)
    return model.eval()


def judge(
    model: DateWriter, n_lines: int = 100, lengths: tuple[int, ...] = JUDGED
) -> list[dict[str, float]]:
    """How many of the dates, never seen in training, come out right to the last digit."""
    rows = []
    for n_dates in lengths:
        writer = Writer(SEED + 1, test=True)
        pairs = [writer.example(n_dates) for _ in range(n_lines)]
        written = [model.write(line).text for line, _ in pairs]
        right = sum(
            ours == theirs
            for text, (_, wanted) in zip(written, pairs, strict=True)
            for ours, theirs in zip(
                (text.split(";") + [""] * n_dates)[:n_dates], wanted.split(";"), strict=True
            )
        )
        exact = sum(text == wanted for text, (_, wanted) in zip(written, pairs, strict=True))
        rows.append(
            {
                "dates": n_dates,
                "characters": sum(len(line) for line, _ in pairs) / n_lines,
                "right": right / (n_lines * n_dates),
                "exact": exact / n_lines,
            }
        )
    return rows


def main() -> None:
    ASSETS.mkdir(exist_ok=True)
    card = {
        "data": "Dates from 1900 to 2099 in nine ways of writing, 1 to 5 in a line; one date in "
        "ten is never trained on, and judged are those alone.",
        "script": "python -m attnviz.models.teaching.train_date_writer",
        "seed": SEED,
        "steps": STEPS,
        "batch": BATCH,
        "longest_trained": LONGEST,
        "lines_judged": 100,
        "accuracy": {},
    }
    for kind in KINDS:
        model = train(kind)
        save_file(model.state_dict(), ASSETS / f"date_writer_{kind}.safetensors")
        card["accuracy"][kind] = judge(model)
        print(kind, card["accuracy"][kind], flush=True)
    (ASSETS / "date_writer.json").write_text(json.dumps(card, indent=1) + "\n")


if __name__ == "__main__":
    main()
