"""What the encoder-decoder date-translator reads and writes, and how it is judged.

It is a Bart of 80,000 weights (transformers' BartForConditionalGeneration) whose tokens are
single characters: the same task as date_writer.py's, for a transformer.
"""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attnviz.models.teaching.characters import character_tokenizer
from attnviz.models.teaching.dates import FIELDS, READ, Writer

SPECIAL = ("<pad>", "</s>", "<unk>")
CHARACTERS = [*SPECIAL, *READ, "-"]
"""The vocabulary of both sides; "</s>" ends a text, and begins what is written."""
PAD, END = 0, 1
WROTE = {"year": range(0, 4), "month": range(5, 7), "day": range(8, 10)}
"""The characters of YYYY-MM-DD that say each field, which are also the decoder's rows."""


def tokenizer() -> Any:
    """Small letters, one token a character, "</s>" at the end."""
    special = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    return character_tokenizer(CHARACTERS, lowercase=True, **special)


def batch(
    writer: Writer, n: int
) -> tuple[Int[Tensor, "n read"], Int[Tensor, "n written"], list[dict[str, range]]]:
    """(dates as people write them, as ISO, where each field stands in the former)."""
    read, written, fields = [], [], []
    for _ in range(n):
        day = writer.day()
        text, where = writer.with_fields(day)
        read.append(torch.tensor([*map(CHARACTERS.index, text), END]))
        written.append(torch.tensor([*map(CHARACTERS.index, day.isoformat()), END]))
        fields.append(where)
    return torch.nn.utils.rnn.pad_sequence(read, True, PAD), torch.stack(written), fields


def inside(fields: list[dict[str, range]], n_read: int) -> Float[Tensor, "n fields {n_read}"]:
    """1 for the characters of what is read that say each of FIELDS, else 0."""
    marks = torch.zeros(len(fields), len(FIELDS), n_read)
    for row, where in enumerate(fields):
        for place, field in enumerate(FIELDS):
            marks[row, place, where[field].start : where[field].stop] = 1
    return marks


def masses(
    maps: Float[Tensor, "n written read"], fields: list[dict[str, range]]
) -> Float[Tensor, "n digits"]:
    """The weight inside the right field, of each row that writes a digit of it."""
    marks = inside(fields, maps.shape[-1])
    shares = maps @ marks.mT  # (n, written, fields)
    return torch.cat(
        [shares[:, list(WROTE[field]), place] for place, field in enumerate(FIELDS)], dim=1
    )


@torch.no_grad()
def judge(model: Any, writer: Writer, n: int = 500) -> dict[str, float]:
    """How many dates come out right to the last digit, and where the decoder looked meanwhile.

    aligned: in how many dates the key with the most weight lies in the right field of what is
    read, for all three fields; the weights are the mean over the heads of the last layer's
    cross-attention and over the rows that write the field. characters_aligned: the same for each
    digit by itself, of all digits.
    """
    read, written, fields = batch(writer, n)
    mask = (read != PAD).long()
    said = model.generate(input_ids=read, attention_mask=mask, max_new_tokens=12, num_beams=1)
    said = torch.nn.functional.pad(said[:, 1:], (0, written.shape[1]))[:, : written.shape[1]]
    maps = (
        model(input_ids=read, attention_mask=mask, labels=written, output_attentions=True)
        .cross_attentions[-1]
        .mean(dim=1)
    )  # (n, written, read)
    marks = inside(fields, read.shape[1])
    right, digits = [], []
    for place, field in enumerate(FIELDS):
        rows = maps[:, list(WROTE[field])]
        right.append(marks[:, place].gather(1, rows.mean(1).argmax(-1, keepdim=True))[:, 0])
        digits.append(marks[:, place].gather(1, rows.argmax(-1)).flatten())
    return {
        "exact": float((said == written).all(1).double().mean()),
        "aligned": float(torch.stack(right).amin(0).double().mean()),
        "characters_aligned": float(torch.cat(digits).double().mean()),
    }
