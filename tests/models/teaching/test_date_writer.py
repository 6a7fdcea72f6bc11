"""The two date writers: their data, their shipped weights, and what is said of them."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pytest
import torch
from torch.nn import functional as F

import attnviz as av
from attnviz.models.teaching import date_writer
from attnviz.models.teaching.date_writer import KINDS, DateWriter, encode, load
from attnviz.models.teaching.dates import FIRST, READ, WRITTEN, Writer, ordinal, unseen
from attnviz.models.teaching.train_date_writer import SEED, batch, judge

PLAIN = ("%B %d, %Y", "%d %B %Y", "%b %d %Y", "%d. %m. %Y", "%d/%m/%Y", "%a %d %b %Y")


def test_what_is_to_be_written_is_what_the_line_says() -> None:
    """Python's own parser reads those of the nine ways that it knows."""
    writer, parsed = Writer(3), 0
    for _ in range(300):
        line, due = writer.example(1)
        assert set(line) <= set(READ)
        assert set(due) <= set(WRITTEN)
        for form in PLAIN:
            try:
                read = datetime.strptime(line, form).date()
            except ValueError:
                continue
            assert read.isoformat() == due, line
            parsed += 1
            break
    assert parsed > 100


def test_ordinals() -> None:
    numbers = {1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th"}
    assert all(ordinal(n) == text for n, text in (numbers | {21: "21st", 31: "31st"}).items())


def test_one_date_in_ten_is_kept_out_of_training() -> None:
    days = [FIRST.fromordinal(FIRST.toordinal() + i) for i in range(20_000)]
    assert 0.08 < np.mean([unseen(day) for day in days]) < 0.12
    assert not any(unseen(Writer(s).day()) for s in range(50))
    assert all(unseen(Writer(s, test=True).day()) for s in range(50))


@pytest.mark.parametrize("kind", KINDS)
def test_the_card_says_what_the_shipped_weights_do(kind: str) -> None:
    """Judged again on the very lines of the record, three lengths of it."""
    card = date_writer.card()
    recorded = {row["dates"]: row["right"] for row in card["accuracy"][kind]}
    again = judge(load(kind), card["lines_judged"], lengths=(1, 5))
    for row in again:
        assert row["right"] == pytest.approx(recorded[row["dates"]], abs=0.01)


def test_attention_holds_where_one_vector_does_not() -> None:
    card = date_writer.card()
    right = {
        kind: {row["dates"]: row["right"] for row in rows}
        for kind, rows in card["accuracy"].items()
    }
    longest = card["longest_trained"]
    assert right["attention"][1] >= 0.99
    assert right["attention"][longest] >= 0.99
    assert right["fixed"][longest] < right["fixed"][1] - 0.1


def test_the_year_is_read_from_the_year() -> None:
    """The four rows of a year put most of their weight on that year's letters, or beside them."""
    line = "tuesday, march 3rd, 1998; the 24th of december, 2001"
    written = load("attention").write(line)
    assert written.text == "1998-03-03;2001-12-24"
    assert written.stopped
    assert written.alignment is not None
    weights = written.alignment
    assert torch.allclose(weights.sum(-1), torch.ones(len(weights)), atol=1e-5)
    for year, rows in (("1998", slice(0, 4)), ("2001", slice(11, 15))):
        begin = line.index(year)
        assert float(weights[rows, begin - 1 : begin + 5].sum(-1).min()) > 0.5


def test_alignment_is_bahdanaus_closed_form() -> None:
    model = load("attention")
    letters = encode("may 5 1999")[None]
    h, state, _ = model.encode(letters)
    ours = model.align(state, model.U_a(h), letters)[0]
    W, U, v = model.W_a.weight, model.U_a.weight, model.v_a.weight[0]
    scores = torch.stack([v @ torch.tanh(W @ state[0] + U @ h[0, j]) for j in range(h.shape[1])])
    assert torch.allclose(ours, scores.softmax(0), atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_one_at_a_time_is_all_at_once(kind: str) -> None:
    """What it writes alone has the probabilities that training's parallel pass gives it."""
    model = load(kind)
    line, _ = Writer(5).example(2)
    written = model.write(line)
    letters = encode(line)[None]
    target = torch.tensor([[WRITTEN.index(c) + 2 for c in written.text] + [date_writer.END]])
    sure = model(letters, target).softmax(-1).gather(-1, target[..., None])[0, :, 0]
    assert torch.allclose(sure[: len(written.probabilities)], written.probabilities, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_padding_changes_nothing(kind: str) -> None:
    torch.manual_seed(0)
    model = DateWriter(kind).eval()
    letters, target = batch(Writer(SEED), 4, 2)
    longer = F.pad(letters, (0, 7), value=date_writer.PAD)
    with torch.no_grad():
        assert torch.allclose(model(letters, target), model(longer, target), atol=1e-5)


BAD = {
    "": "line is empty; type a date",
    "x" * 201: "has 201 characters and at most 200",
    "März <3": r"take out '<' 'ä'",
}


@pytest.mark.parametrize(("line", "sentence"), BAD.items())
def test_what_cannot_be_read_is_told(line: str, sentence: str) -> None:
    with pytest.raises(av.AttnvizError, match=sentence):
        load("fixed").write(line)
