"""Any part of an effective map, from what drives the state; never more than that part in memory.

The whole map has a closed form (attnviz.variants.effective). Of an additive mixer a cell depends
on its own query and key and the decay between them, so a tile is computed alone. Of a delta rule
it depends on all writes between them: some columns of the identity are handed to the mixer as
values, from the first of these tokens to the last row that is wanted.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attnviz.models.mixers.drive import averaging
from attnviz.variants.chunked import CHUNK, walk
from attnviz.variants.decays import running
from attnviz.variants.recurrence import Recurrence, between

COLUMNS = 256  # values handed to a delta rule at once
CELLS = 2**21  # of one intermediate table


def tile(
    r: Recurrence, rows: Int[Tensor, " rows"], cols: Int[Tensor, " cols"]
) -> Float[Tensor, "heads rows cols"]:
    """A[rows, cols] of every head of a recurrence of one text; positions ascend."""
    out = torch.zeros(r.key.shape[1], len(rows), len(cols), dtype=r.key.dtype, device=r.key.device)
    if not len(rows) or not len(cols):
        return out
    (_probe if r.erases else _closed)(r, rows, cols, out)
    if r.skip is not None:
        out += (rows[:, None] == cols) * r.skip[:, None, None]
    return out


def _closed(r: Recurrence, rows: Tensor, cols: Tensor, out: Tensor) -> None:
    """s (q_i . k_j, each channel faded by exp(G_i - G_j)) beta_j, block by block of rows."""
    G = running(r.log_decay)[0]  # (H, T, 1 or d_k)
    q, k = r.query[0], r.key[0][:, cols] * (r.scale * r.strength[0][:, cols, None])
    step = max(1, CELLS // (len(cols) * G.shape[0] * G.shape[-1]))
    for first in range(0, len(rows), step):
        own = rows[first : first + step]
        gone = G[:, own, None] - G[:, None, cols]  # (H, rows, cols, 1 or d_k)
        ahead = cols > own[:, None]
        fading = gone.masked_fill_(ahead[..., None], -torch.inf).exp_().to(q.dtype)
        if G.shape[-1] == 1:
            part = (q[:, own] @ k.mT) * fading[..., 0]
        else:
            part = torch.einsum("hic,hjc,hijc->hij", q[:, own], k, fading)
        out[:, first : first + step] = part


def _probe(r: Recurrence, rows: Tensor, cols: Tensor, out: Tensor) -> None:
    last = int(rows[-1]) + 1
    heads = r.key.shape[1]
    done = 0
    while done < len(cols) and int(cols[done]) < last:
        start = int(cols[done])
        stop = min(start + COLUMNS, last)
        upto = int(torch.searchsorted(cols, stop))
        wanted = cols[done:upto] - start
        width = stop - start
        eye = torch.eye(width, dtype=r.key.dtype, device=r.key.device)
        S = r.key.new_zeros(1, heads, r.key.shape[-1], len(wanted))
        nothing = r.key.new_zeros(1, 1, 1, 1).expand(1, heads, last - stop, len(wanted))
        spans = (
            (slice(start, stop), eye[:, wanted].expand(1, heads, width, -1)),
            (slice(stop, last), nothing),
        )
        for tokens, values in spans:
            asked = replace(between(r, tokens), value=values)
            for own, read, after in walk(asked, S):
                S = after
                begin, end = tokens.start + own.start, tokens.start + own.stop
                low, high = torch.searchsorted(rows, torch.tensor([begin, end])).tolist()
                out[:, low:high, done:upto] = read[0][:, rows[low:high] - begin]
        done = upto


def pooled(
    r: Recurrence, bins: Int[Tensor, " length"], size: int
) -> Float[Tensor, "heads size size"]:
    """The mean of each block of A, cells above the diagonal counting as 0: P^T A P.

    The mixer is run on the columns of P as its values, which costs what a run of it costs.
    """
    length = len(bins)
    P = averaging(bins, size, r.key)
    asked = replace(r, value=P.expand(1, r.key.shape[1], length, size))
    out = torch.zeros(r.key.shape[1], size, size, dtype=r.key.dtype, device=r.key.device)
    for own, read, _ in walk(asked, asked.start(None)):
        out += P[own].mT @ read[0]
    return out if r.skip is None else out + r.skip[:, None, None] * (P.mT @ P)


def state_norms(
    r: Recurrence, chunk: int = CHUNK
) -> tuple[Int[Tensor, " points"], Float[Tensor, "heads points"]]:
    """(the tokens after which the state is measured, its Frobenius norm there)."""
    places, norms = [], []
    for own, _, after in walk(r, r.start(None), chunk):
        places.append(own.stop - 1)
        norms.append(after[0].norm(dim=(-2, -1)))
    return torch.tensor(places), torch.stack(norms, dim=-1)
