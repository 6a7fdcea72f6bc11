"""Make the recorded generation that Home plays, again: python scripts/record_generation.py

SmolLM2 continues a prompt greedily, as a server would run it: the prompt in one step, then one
token a step, reading its keys and values from the cache. Each step's attention row is the one
that this run computed.
"""

from __future__ import annotations

import numpy as np
import torch
import transformers

import attnviz as av
from attnviz.models import written
from attnviz.models.tokens import screen_tokens

MODEL = "smollm2-135m"
PROMPT = "Here is a short poem about the moon.\n\nThe moon"
N_WRITTEN = 24


def main() -> None:
    """Generate, record and say where it is kept."""
    model = av.load_model(MODEL, device="cpu")
    ids, maps = generate(model, PROMPT, N_WRITTEN)
    layer, head = most_inductive(ids, maps)
    labels, details = screen_tokens(model.tokenizer, ids)
    path = written.save(
        MODEL,
        written.Written(
            model_name=MODEL,
            title=model.title,
            tokens=labels,
            token_details=details,
            token_ids=tuple(ids),
            n_prompt=len(ids) - N_WRITTEN,
            layer=layer,
            head=head,
            versions={
                "torch": torch.__version__.partition("+")[0],
                "transformers": transformers.__version__,
            },
            weights=maps[layer, head],
        ),
    )
    print(f"{path}: {path.stat().st_size:,} bytes, layer {layer}, head {head}")
    print(model.tokenizer.decode(ids))


@torch.no_grad()
def generate(model: av.LoadedModel, prompt: str, n: int) -> tuple[list[int], np.ndarray]:
    """Token ids of the prompt and n written tokens, and (layers, heads, T, T) weights."""
    net = model.model
    before = net.config._attn_implementation
    net.set_attn_implementation("eager")  # the one that returns its weights
    try:
        fed = model.tokenizer(prompt, return_tensors="pt").input_ids
        ids: list[int] = fed[0].tolist()
        rows, cache = [], None
        for _ in range(n + 1):  # the last step feeds the last token, and writes nothing
            out = net(fed, past_key_values=cache, use_cache=True, output_attentions=True)
            rows.append(torch.stack([layer[0] for layer in out.attentions]))
            cache, following = out.past_key_values, int(out.logits[0, -1].argmax())
            ids.append(following)
            fed = torch.tensor([[following]])
    finally:
        net.set_attn_implementation(before)
    ids.pop()  # what the last step would have written
    padded = [torch.nn.functional.pad(row, (0, len(ids) - row.shape[-1])) for row in rows]
    return ids, torch.cat(padded, dim=2).numpy().astype(np.float32)


def most_inductive(ids: list[int], maps: np.ndarray) -> tuple[int, int]:
    """The (layer, head) that most reads what followed the same token before: one with a pattern
    that a reader can follow (Olsson et al. 2022, "In-context Learning and Induction Heads")."""
    pairs = [
        (query, earlier + 1)
        for query in range(len(ids))
        for earlier in range(query)
        if ids[earlier] == ids[query]
    ]
    rows, cols = zip(*pairs, strict=True)
    found = maps[:, :, rows, cols].mean(-1)
    layer, head = np.unravel_index(int(found.argmax()), found.shape)
    return int(layer), int(head)


if __name__ == "__main__":
    main()
