"""From a model's config to its list of layers, for the architectures whose cache is known.

An architecture that is not listed here is refused by name: a wrong rule would be wrong silently.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from typing import Any

from attnviz.errors import AttnvizError
from attnviz.kv_cache.checks import MOST_LAYERS, whole
from attnviz.kv_cache.fields import Fields
from attnviz.kv_cache.hybrids import HYBRIDS
from attnviz.kv_cache.layers import Cross, Full, Latent, Layer, NoCache, Shared, Sliding
from attnviz.kv_cache.spec import CacheSpec

Rule = Callable[[Fields], list[Any]]

_HEAD_DIM_STATED = (
    *("gemma", "gemma2", "gemma3_text", "gemma3n_text", "gpt_oss", "qwen3", "qwen3_moe"),
    *("afmoe", "glm", "glm4", "glm4_moe", "helium", "minimax_m2", "seed_oss", "vaultgemma"),
)
"""Where hidden size over heads is not the head's width, so a config without head_dim won't do."""


_PATTERN_STATED = ("afmoe", "exaone4", "gemma3n_text", "ministral", "olmo3", "vaultgemma")
"""Windows among full layers by a rule that changed between versions: layer_types must say."""


def attention(fields: Fields) -> list[Layer]:
    """Keys and values in every layer, in full or within a window."""
    n_layers = fields.n_layers
    if fields.model_type in _HEAD_DIM_STATED:
        fields.need("head_dim")
    if fields.model_type in _PATTERN_STATED:
        fields.need("layer_types")
    full = Full(_kv_heads(fields), fields.head_dim)
    kinds = fields.pattern(n_layers) or _default_pattern(fields, n_layers)
    layers: list[Layer] = []
    for kind in kinds:
        if kind == "full_attention":
            layers.append(full)
        elif kind == "sliding_attention":
            window = fields.count("sliding_window")
            layers.append(Sliding(full.n_kv_heads, full.head_dim, window=window))
        else:
            raise AttnvizError(
                f"This {fields.model_type} config has a layer of type {kind!r}; known here are "
                "full_attention and sliding_attention."
            )
    return layers


def _kv_heads(fields: Fields) -> int:
    """Falcon and GPTBigCode say multi-query by a flag of its own."""
    if fields.model_type in ("falcon", "gpt_bigcode") and not fields.get(
        "new_decoder_architecture"
    ):
        return 1 if fields.need("multi_query") else fields.n_heads
    return fields.n_kv_heads


def _default_pattern(fields: Fields, n_layers: int) -> list[str]:
    """The architecture's own rule, for configs that do not spell their layers out."""
    full, sliding = "full_attention", "sliding_attention"
    kind, window = fields.model_type, fields.get("sliding_window")
    if kind in ("mistral", "mixtral", "phi3", "starcoder2"):
        return [full if window is None else sliding] * n_layers
    if kind in ("qwen2", "qwen2_moe", "qwen3", "qwen3_moe"):
        if not fields.get("use_sliding_window") or window is None:
            return [full] * n_layers
        first = fields.need("max_window_layers")
        return [sliding if layer >= first else full for layer in range(n_layers)]
    if kind in ("gemma2", "gpt_oss"):
        return [full if layer % 2 else sliding for layer in range(n_layers)]
    if kind in ("gemma3_text", "cohere2"):
        every = fields.get("sliding_window_pattern") or (6 if kind == "gemma3_text" else 4)
        return [sliding if (layer + 1) % every else full for layer in range(n_layers)]
    return [full] * n_layers


def sharing(fields: Fields) -> list[Layer]:
    """Gemma 3n: the last layers read the last keys and values of their kind before them."""
    layers = attention(fields)
    first = len(layers) - whole("num_kv_shared_layers", fields.need("num_kv_shared_layers"), 0)
    own = {layer.kind: index for index, layer in enumerate(layers[: max(first, 0)])}
    if {layer.kind for layer in layers} - set(own):
        raise AttnvizError(
            f"num_kv_shared_layers leaves {max(first, 0)} of {len(layers)} layers with keys of "
            "their own, and a layer that shares finds none of its kind among them."
        )
    return [
        layer if index < first else Shared(own[layer.kind]) for index, layer in enumerate(layers)
    ]


def latent(fields: Fields) -> list[Layer]:
    """Multi-head latent attention; V3.2 adds the key of its indexer."""
    index = fields.count("index_head_dim") if fields.model_type == "deepseek_v32" else 0
    rank, rope = fields.count("kv_lora_rank"), fields.count("qk_rope_head_dim")
    return [Latent(rank, rope, index)] * fields.n_layers


def encoder(fields: Fields) -> list[Layer]:
    """No cache; BERT-like models turned into decoders keep ordinary keys and values."""
    if not fields.get("is_decoder"):
        return [NoCache()] * fields.n_layers
    if fields.get("add_cross_attention"):
        raise AttnvizError(
            f"A {fields.model_type} decoder with cross-attention is not known here; describe its "
            "layers with CacheSpec.from_layers."
        )
    return [Full(fields.n_heads, fields.head_dim)] * fields.n_layers


def encoder_decoder(fields: Fields) -> list[tuple[Layer, Layer]]:
    """Each decoder layer keeps its own tokens and, once, the encoder's."""
    if fields.model_type in ("t5", "mt5"):
        n_layers = fields.count("num_decoder_layers", "num_layers", most=MOST_LAYERS)
        heads, width = fields.n_heads, fields.count("d_kv")
    else:
        n_layers = fields.count("decoder_layers", most=MOST_LAYERS)
        heads = fields.count("decoder_attention_heads")
        width = fields.count("d_model") // heads
    return [(Full(heads, width), Cross(heads, width))] * n_layers


_ATTENTION = (
    ("bloom", "codegen", "cohere", "cohere2", "falcon", "gemma", "gemma2", "gemma3_text", "gpt2"),
    ("gpt_bigcode", "gpt_neox", "gpt_oss", "gptj", "granite", "llama", "mistral", "mixtral"),
    ("olmo", "olmo2", "opt", "phi", "phi3", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "smollm3"),
    ("stablelm", "starcoder2", "apertus", "arcee", "bitnet", "ernie4_5", "ernie4_5_moe", "exaone"),
    ("flex_olmo", "glm", "glm4", "glm4_moe", "granitemoe", "helium", "hunyuan_v1_dense"),
    ("hunyuan_v1_moe", "internlm3", "minimax_m2", "nanochat", "nemotron", "olmoe", "phimoe"),
    ("seed_oss", "afmoe", "exaone4", "ministral", "olmo3", "vaultgemma"),
)
_LATENT = ("deepseek_v2", "deepseek_v3", "deepseek_v32", "kimi_k2")
_ENCODERS = (
    ("albert", "bert", "big_bird", "camembert", "deberta-v2", "distilbert", "electra"),
    ("longformer", "modernbert", "mpnet", "nystromformer", "roberta", "vit", "xlm-roberta"),
)
_ENCODER_DECODERS = ("t5", "mt5", "bart", "mbart", "pegasus", "marian", "led", "whisper")

FAMILIES: dict[str, Rule] = {
    **dict.fromkeys(chain(*_ATTENTION), attention),
    **dict.fromkeys(_LATENT, latent),
    **dict.fromkeys(chain(*_ENCODERS), encoder),
    **dict.fromkeys(_ENCODER_DECODERS, encoder_decoder),
    "gemma3n_text": sharing,
    **HYBRIDS,
}
"""model_type -> the rule that lists its layers."""


def spec_from_config(config: Any) -> CacheSpec:
    """See CacheSpec.from_config."""
    fields = Fields(config)
    inner = fields.get("text_config")
    if fields.model_type not in FAMILIES and inner is not None:
        fields = Fields(inner)
    if fields.model_type not in FAMILIES:
        raise AttnvizError(
            f"The architecture {fields.model_type!r} is not known here, and its cache is not "
            "guessed; describe its layers with CacheSpec.from_layers."
        )
    spec = CacheSpec.from_layers(
        FAMILIES[fields.model_type](fields),
        name=fields.text("_name_or_path", "name_or_path") or fields.model_type,
        n_heads=fields.stated("num_attention_heads", "n_head", "n_heads", "num_heads"),
        max_context=fields.stated("max_position_embeddings", "n_positions", "n_ctx"),
    )
    widths = [layer.head_dim for layer in spec.layers if isinstance(layer, Full)]
    return replace(
        spec,
        head_dim=widths[0] if widths else fields.stated("v_head_dim"),
        model_type=fields.model_type,
        config=config,
    )
