"""Train date-translator, a small encoder-decoder, on dates as people write them.

    .venv/bin/python -m attnviz.models.teaching.train_date_translator

Writes assets/models/date-translator/ in transformers' format, with its card.
"""

from __future__ import annotations

import json
import time

import torch
from transformers import BartConfig, BartForConditionalGeneration

from attnviz.models.catalog import ASSETS
from attnviz.models.teaching.date_translator import (
    CHARACTERS,
    END,
    PAD,
    batch,
    judge,
    masses,
    tokenizer,
)
from attnviz.models.teaching.dates import Writer

FOLDER = ASSETS / "date-translator"
SEED, STEPS, BATCH, RATE = 0, 1500, 48, 4e-3
WIDTH, HEADS = 64, 4
LOOKING = 0.1
"""Weight of the loss that keeps the cross-attention inside the field that is being written. Without
it about 96 % of unseen dates are aligned: now and then a row looks at the separator beside it."""


def untrained() -> BartForConditionalGeneration:
    torch.manual_seed(SEED)
    model = BartForConditionalGeneration(
        BartConfig(
            vocab_size=len(CHARACTERS),
            d_model=WIDTH,
            encoder_layers=2,
            decoder_layers=1,
            encoder_attention_heads=HEADS,
            decoder_attention_heads=HEADS,
            encoder_ffn_dim=2 * WIDTH,
            decoder_ffn_dim=2 * WIDTH,
            max_position_embeddings=64,
            init_std=WIDTH**-0.5 / 2,
            dropout=0.0,
            attention_dropout=0.0,
            activation_dropout=0.0,
            bos_token_id=END,
            eos_token_id=END,
            pad_token_id=PAD,
            decoder_start_token_id=END,
            forced_eos_token_id=None,
        )
    )
    model.set_attn_implementation("eager")
    return model


def train() -> BartForConditionalGeneration:
    torch.set_num_threads(1)  # as quick on such small matrices, and the same sums each time
    model, writer = untrained().train(), Writer(SEED)
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=STEPS)
    begin = time.time()
    for step in range(STEPS):
        read, written, fields = batch(writer, BATCH)
        out = model(
            input_ids=read,
            attention_mask=(read != PAD).long(),
            labels=written,
            output_attentions=True,
        )
        loss = out.loss
        inner = masses(out.cross_attentions[-1].mean(dim=1), fields)
        optimiser.zero_grad()
        (loss - LOOKING * (inner + 1e-6).log().mean()).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        if step % 50 == 0:
            print(f"{step:5} loss {loss.item():.4f} {time.time() - begin:.0f} s", flush=True)
    return model.eval()


def main() -> None:
    model = train()
    model.save_pretrained(FOLDER)
    tokenizer().save_pretrained(FOLDER)
    card = {
        "data": "Dates from 1900 to 2099 in nine ways of writing; one date in ten is never "
        "trained on, and judged are those alone.",
        "attention": "The loss has a small term that keeps the cross-attention, the mean over the "
        f"heads, inside the field that is being written: -{LOOKING} log(weight inside).",
        "script": "python -m attnviz.models.teaching.train_date_translator",
        "seed": SEED,
        "steps": STEPS,
        "batch": BATCH,
        "judged": judge(model, Writer(SEED + 1, test=True)),
    }
    (FOLDER / "card.json").write_text(json.dumps(card, indent=1) + "\n")
    print(json.dumps(card["judged"], indent=1))


if __name__ == "__main__":
    main()
