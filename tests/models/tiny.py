"""Small random models of many families, with a tokenizer of a few words."""

from __future__ import annotations

from typing import Any

import torch
import transformers
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

import attnviz as av
from attnviz.models import LoadedModel

WORDS = ["[UNK]", "the", "cat", "sat", "on", "mat", "and", "dog", "ran", "off", "with", "it"]
TEXT = "the cat sat on the mat and the dog ran off with it"  # 13 tokens
COMMON = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
}


def tokenizer() -> Any:
    model = WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]")
    raw = Tokenizer(model)
    raw.pre_tokenizer = Whitespace()  # type: ignore[assignment]
    return transformers.PreTrainedTokenizerFast(tokenizer_object=raw, unk_token="[UNK]")


def build(config: Any, kind: str = "decoder", seed: int = 0) -> LoadedModel:
    """A random float32 model of this config; weights large enough that heads differ."""
    torch.manual_seed(seed)
    auto: Any = transformers.AutoModelForCausalLM if kind == "decoder" else transformers.AutoModel
    model = auto.from_config(config).float().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.normal_(0.0, 0.25)
    return av.from_transformers(model, tokenizer())


def llama(**changes: Any) -> LoadedModel:
    return build(transformers.LlamaConfig(**COMMON | {"num_key_value_heads": 2} | changes))


def eager(model: LoadedModel, ids: tuple[int, ...]) -> Any:
    """The model's own outputs with attentions, by transformers' eager code."""
    before = model.model.config._attn_implementation
    model.model.set_attn_implementation("eager")
    try:
        with torch.no_grad():
            inputs = torch.tensor([ids], device=model.device)
            return model.model(inputs, output_attentions=True, use_cache=False)
    finally:
        model.model.set_attn_implementation(before)
