"""A recurrent encoder and decoder, with attention and without it (Bahdanau et al. 2015).

The encoder reads a line letter by letter in both directions. Without attention (Cho et al. 2014)
the decoder gets one vector of fixed size, whatever the length of the line. With it, it gets at
each step a mean of all the encoder's states, weighted by how well each fits what it is about to
write. Both have the same sizes and were trained on the same lines.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnviz.errors import AttnvizError
from attnviz.models.teaching.dates import READ, WRITTEN

ASSETS = Path(__file__).parents[3] / "assets" / "models"
PAD, END = 0, 1  # of both alphabets; END also begins what is written
MOST_READ, MOST_WRITTEN = 200, 90
KINDS = ("attention", "fixed")


@dataclass(frozen=True)
class Written:
    """What the decoder wrote, and how it looked at the line meanwhile."""

    text: str
    stopped: bool  # it wrote the end itself, rather than being cut off
    alignment: Float[Tensor, "written read"] | None  # rows: letters written, the end included
    probabilities: Float[Tensor, " written"]  # of each letter chosen


class DateWriter(nn.Module):
    """kind "attention" or "fixed" is the one difference."""

    def __init__(self, kind: str, width: int = 40, embedding: int = 16) -> None:
        super().__init__()
        self.kind, self.width = kind, width
        self.read = nn.Embedding(len(READ) + 2, embedding)
        self.written = nn.Embedding(len(WRITTEN) + 2, embedding)
        self.encoder = nn.GRU(embedding, width, batch_first=True, bidirectional=True)
        self.start = nn.Linear(width, width)  # s_0 = tanh(W_s h_1 backward), section A.2.2
        self.cell = nn.GRUCell(embedding + 2 * width, width)
        self.choose = nn.Linear(width + 2 * width + embedding, len(WRITTEN) + 2)
        if kind == "attention":
            self.W_a = nn.Linear(width, width, bias=False)  # of the decoder's state
            self.U_a = nn.Linear(2 * width, width, bias=False)  # of the annotations
            self.v_a = nn.Linear(width, 1, bias=False)

    def encode(
        self, letters: Int[Tensor, "batch read"]
    ) -> tuple[Float[Tensor, "batch read channels"], Float[Tensor, "batch width"], Tensor]:
        """Annotations of every letter, the decoder's first state, the fixed vector."""
        lengths = (letters != PAD).sum(1)
        packed = nn.utils.rnn.pack_padded_sequence(
            self.read(letters), lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        out, last = self.encoder(packed)
        h, _ = nn.utils.rnn.pad_packed_sequence(
            out, batch_first=True, total_length=letters.shape[1]
        )
        return h, self.start(last[1]).tanh(), torch.cat([last[0], last[1]], dim=-1)

    def align(
        self,
        state: Float[Tensor, "batch width"],
        keys: Float[Tensor, "batch read width"],
        letters: Int[Tensor, "batch read"],
    ) -> Float[Tensor, "batch read"]:
        """alpha_ij = softmax over j of v_a^T tanh(W_a s_{i-1} + U_a h_j) (section A.1.2)."""
        scores = self.v_a((self.W_a(state)[:, None] + keys).tanh())[..., 0]
        return scores.masked_fill(letters == PAD, -torch.inf).softmax(-1)

    def forward(
        self, letters: Int[Tensor, "batch read"], target: Int[Tensor, "batch written"]
    ) -> Float[Tensor, "batch written choices"]:
        """Logits of each letter given the right ones before it."""
        h, state, fixed = self.encode(letters)
        keys = self.U_a(h) if self.kind == "attention" else None
        before = torch.cat([torch.full_like(target[:, :1], END), target[:, :-1]], dim=1)
        logits = []
        for i in range(target.shape[1]):
            row, state, _ = self.step(before[:, i], state, h, keys, fixed, letters)
            logits.append(row)
        return torch.stack(logits, dim=1)

    def step(
        self,
        before: Int[Tensor, " batch"],
        state: Float[Tensor, "batch width"],
        h: Float[Tensor, "batch read channels"],
        keys: Tensor | None,
        fixed: Float[Tensor, "batch channels"],
        letters: Int[Tensor, "batch read"],
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """(logits of the next letter, new state, weights over what was read)."""
        weights = None if keys is None else self.align(state, keys, letters)
        context = fixed if weights is None else (weights[:, None] @ h)[:, 0]
        y = self.written(before)
        state = self.cell(torch.cat([y, context], dim=-1), state)
        return self.choose(torch.cat([state, context, y], dim=-1)), state, weights

    @torch.no_grad()
    def write(self, line: str) -> Written:
        """The most probable letter each time, until the model says that it is done.

        Raises AttnvizError for a line that holds something which it never learnt to read.
        """
        letters = encode(line)[None]
        h, state, fixed = self.encode(letters)
        keys = self.U_a(h) if self.kind == "attention" else None
        before = torch.tensor([END])
        text, rows, sure = "", [], []
        for _ in range(MOST_WRITTEN):
            logits, state, weights = self.step(before, state, h, keys, fixed, letters)
            before = logits.argmax(-1)
            sure.append(logits.softmax(-1)[0, before[0]])
            if weights is not None:
                rows.append(weights[0])
            if before[0] in (END, PAD):
                break
            text += WRITTEN[int(before[0]) - 2]
        alignment = torch.stack(rows) if rows else None
        return Written(text, bool(before[0] == END), alignment, torch.stack(sure))


def encode(line: str) -> Int[Tensor, " letters"]:
    """A line as numbers, after its letters are made small."""
    small = line.lower().strip()
    if not small:
        raise AttnvizError("The line is empty; type a date, such as 'March 3rd, 1998'.")
    if len(small) > MOST_READ:
        raise AttnvizError(
            f"The line has {len(small)} characters and at most {MOST_READ} are read; shorten it."
        )
    unknown = sorted(set(small) - set(READ))
    if unknown:
        raise AttnvizError(
            f"This small model reads letters a to z, digits and ' , . / ;' only; take out "
            f"{' '.join(map(repr, unknown))}."
        )
    return torch.tensor([READ.index(letter) + 2 for letter in small])


@lru_cache(maxsize=2)
def load(kind: str) -> DateWriter:
    """The trained weights that come with attnviz."""
    from safetensors.torch import load_file

    if kind not in KINDS:
        raise AttnvizError(f"kind must be one of {', '.join(KINDS)}; received {kind!r}.")
    model = DateWriter(kind)
    model.load_state_dict(load_file(ASSETS / f"date_writer_{kind}.safetensors"))
    return model.eval().requires_grad_(False)


def card() -> dict[str, Any]:
    """What the two learnt from, and how often each was right: as recorded after training."""
    return json.loads((ASSETS / "date_writer.json").read_text())
