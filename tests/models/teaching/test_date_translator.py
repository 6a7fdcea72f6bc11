"""date-translator as shipped: exact on unseen dates, and looking where it reads from."""

from __future__ import annotations

import json

import pytest
from transformers import AutoTokenizer

import attnviz as av
from attnviz.models import catalog
from attnviz.models.teaching.date_translator import CHARACTERS, WROTE, batch, inside, judge
from attnviz.models.teaching.dates import FIELDS, Writer, unseen

FOLDER = catalog.ASSETS / "date-translator"


@pytest.fixture(scope="module")
def model():
    loaded = av.load_model("date-translator")
    loaded.model.set_attn_implementation("eager")
    return loaded.model


def test_it_is_exact_and_aligned_on_dates_never_trained_on(model) -> None:
    told = judge(model, Writer(77, test=True), 300)
    assert told["exact"] >= 0.99
    assert told["aligned"] >= 0.95
    card = json.loads((FOLDER / "card.json").read_text())
    assert abs(card["judged"]["aligned"] - told["aligned"]) < 0.03


def test_alignment_is_that_of_the_maps_read_one_by_one(model) -> None:
    read, written, fields = batch(Writer(5, test=True), 20)
    right = 0
    for n in range(20):
        length = int((read[n] != 0).sum())
        out = model(
            input_ids=read[n : n + 1, :length], labels=written[n : n + 1], output_attentions=True
        )
        maps = out.cross_attentions[-1][0].mean(0)
        keys = [int(sum(maps[row] for row in WROTE[field]).argmax()) for field in FIELDS]
        right += all(key in fields[n][field] for key, field in zip(keys, FIELDS, strict=True))
    assert judge(model, Writer(5, test=True), 20)["aligned"] == pytest.approx(right / 20)


def test_its_tokenizer_reads_what_a_person_types(model) -> None:
    tokenizer = AutoTokenizer.from_pretrained(FOLDER)
    line = "Tuesday, March 3rd, 1998"
    ids = tokenizer(line, return_tensors="pt")
    assert "".join(CHARACTERS[i] for i in ids["input_ids"][0, :-1]) == line.lower()
    said = model.generate(**ids, max_new_tokens=12)
    assert tokenizer.decode(said[0], skip_special_tokens=True) == "1998-03-03"


def test_fields_are_where_the_text_says_them() -> None:
    writer = Writer(4, test=True)
    for _ in range(100):
        day = writer.day()
        text, fields = writer.with_fields(day)
        assert unseen(day)
        assert text[fields["year"].start : fields["year"].stop] == str(day.year)
        said = text[fields["day"].start : fields["day"].stop]
        assert int(said.rstrip("stndrh")) == day.day
        marks = inside([fields], len(text))[0]
        assert marks.sum(1).tolist() == [len(fields[field]) for field in FIELDS]


def test_the_size() -> None:
    assert (FOLDER / "model.safetensors").stat().st_size < 3_000_000


def test_its_cross_maps_can_be_captured_while_it_writes() -> None:
    capture = av.capture(av.load_model("date-translator"), "the 5th of december, 2050")
    cross = capture.of("cross")
    assert "".join(cross.tokens[1:]).startswith("2050-12-05")
    best = sum(cross.weights(0, head) for head in range(4)).argmax(-1)
    read = "".join(cross.key_tokens[:-1]).replace("·", " ")
    assert read[min(best[:4]) : max(best[:4]) + 1] in "2050"
    assert cross.key_tokens[best[8]] in "5th"
