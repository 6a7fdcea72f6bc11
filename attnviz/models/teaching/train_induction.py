"""Train induction-2l, two layers of attention alone, on repeated random sequences.

    .venv/bin/python -m attnviz.models.teaching.train_induction

Writes assets/models/induction-2l/ in transformers' format, with its card.
"""

from __future__ import annotations

import json
import time
from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from attnviz.models.catalog import ASSETS
from attnviz.models.teaching.characters import character_tokenizer
from attnviz.models.teaching.induction import (
    LENGTH,
    LETTERS,
    PERIODS,
    head_scores,
    knock_outs,
    repeated_loss,
    sequences,
)

FOLDER = ASSETS / "induction-2l"
SEED, STEPS, BATCH = 0, 1800, 32
SPARING = 0.008
"""By how much the output weights of all heads but a layer's first get shorter at each step. Without
it all heads of the second layer do induction, and none is missed when it is knocked out."""
WIDTH, LAYERS, HEADS = 64, 2, 4
UNKNOWN = "<unk>"


def untrained() -> LlamaForCausalLM:
    """Llama without feed-forward layers: those of width 0 add nothing."""
    torch.manual_seed(SEED)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(LETTERS) + 1,
            hidden_size=WIDTH,
            intermediate_size=0,
            num_hidden_layers=LAYERS,
            num_attention_heads=HEADS,
            num_key_value_heads=HEADS,
            max_position_embeddings=4 * LENGTH,
            initializer_range=WIDTH**-0.5,
            bos_token_id=None,
            eos_token_id=None,
        )
    )
    model.set_attn_implementation("eager")
    return model


@torch.no_grad()
def spare(model: Any) -> None:
    """Make each head's part of the output projection shorter, the first head's excepted."""
    for layer in model.model.layers:
        parts = layer.self_attn.o_proj.weight.unflatten(1, (HEADS, -1))[:, 1:]  # (d, H - 1, d_h)
        lengths = parts.norm(dim=(0, 2), keepdim=True)
        parts *= (1 - SPARING / lengths).clamp(min=0)


@torch.no_grad()
def rest(model: Any) -> None:
    """Let heads without output look at all tokens alike. What the model says stays the same."""
    for layer in model.model.layers:
        attention = layer.self_attn
        idle = attention.o_proj.weight.unflatten(1, (HEADS, -1)).norm(dim=(0, 2)) == 0
        attention.q_proj.weight.unflatten(0, (HEADS, -1))[idle] = 0.0


def train() -> LlamaForCausalLM:
    torch.set_num_threads(1)  # as quick on such small matrices, and the same sums each time
    model, generator = untrained(), torch.Generator().manual_seed(SEED)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 3e-3, total_steps=STEPS)
    begin = time.time()
    for step in range(STEPS):
        loss = repeated_loss(model, *sequences(BATCH, generator))
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        spare(model)
        schedule.step()
        if step % 100 == 0:
            print(f"{step:5} loss {loss.item():.4f} {time.time() - begin:.0f} s", flush=True)
    rest(model)
    return model.eval()


def judge(model: Any, n: int = 100) -> dict[str, Any]:
    """Loss, head scores and what each head's removal costs, on sequences not trained on."""
    ids, periods = sequences(n, torch.Generator().manual_seed(SEED + 1))
    induction, previous = head_scores(model, ids, periods)
    whole, rises = knock_outs(model, ids, periods)
    return {
        "loss": whole,
        "induction": induction.tolist(),
        "previous_token": previous.tolist(),
        "loss_rises_without": rises.tolist(),
    }


def main() -> None:
    model = train()
    model.save_pretrained(FOLDER)
    tokenizer = character_tokenizer([*LETTERS, UNKNOWN], unk_token=UNKNOWN, pad_token=UNKNOWN)
    tokenizer.save_pretrained(FOLDER)
    card = {
        "data": f"{PERIODS[0]} to {PERIODS[1]} different printable ASCII characters in random "
        f"order, said again and again up to {LENGTH} tokens; the loss is taken where the next "
        "token can be known.",
        "sparing": f"After each step the output weights of all heads but a layer's first were made "
        f"shorter by {SPARING} (each head's as one vector), so that one head does the work; the "
        "others end without output, and their queries were then set to 0.",
        "script": "python -m attnviz.models.teaching.train_induction",
        "seed": SEED,
        "steps": STEPS,
        "batch": BATCH,
        "judged": judge(model),
    }
    (FOLDER / "card.json").write_text(json.dumps(card, indent=1) + "\n")
    print(json.dumps(card["judged"], indent=1))


if __name__ == "__main__":
    main()
