"""A tokenizer for small models: one token a character."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def character_tokenizer(
    vocabulary: Sequence[str], *, lowercase: bool = False, **special: str
) -> Any:
    """A PreTrainedTokenizerFast in which token i is vocabulary[i].

    special: unk_token and others by their transformers names, all in the vocabulary. Where there
    is an eos_token, it is put at the end of each text.
    """
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    numbers = {word: number for number, word in enumerate(vocabulary)}
    made = Tokenizer(models.WordLevel(numbers, unk_token=special["unk_token"]))
    if lowercase:
        made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    if end := special.get("eos_token"):
        ends = [(end, numbers[end])]
        made.post_processor = TemplateProcessing(f"$A {end}", special_tokens=ends)
    made.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(tokenizer_object=made, **special)
