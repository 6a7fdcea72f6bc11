"""Charts of interventions hold the numbers of the sweep or change, and are valid Vega-Lite."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import pytest

import attnviz as av
from attnviz.figures import circuit as circuits
from attnviz.figures import interventions as figures
from attnviz.interventions import Knockout, induction_circuit, intervene, sweep
from tests.interventions.test_heads import t5
from tests.models.shrink import shrink
from tests.models.tiny import TEXT, build, llama

MODELS = {
    "decoder": llama,
    "encoder": lambda: build(shrink("bert"), kind="encoder"),
    "encoder-decoder": t5,
}


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("dark", [False, True])
def test_a_sweeps_grid_and_bars(kind: str, dark: bool) -> None:
    swept = sweep(MODELS[kind](), TEXT)
    assert figures.measures(swept) == (
        ["moved"] if kind == "encoder" else ["log_ratio", "loss_change"]
    )
    table = swept.table()
    for measure in figures.measures(swept):
        grid: Any = figures.grid_chart(swept, measure, dark=dark)
        bars: Any = figures.needed_chart(swept, measure, dark=dark)
        for spec in (grid, bars):
            alt.Chart.from_dict(spec)
        drawn = sorted(row[measure] for row in grid["datasets"]["heads"])
        assert drawn == pytest.approx(sorted(table[measure]))
        top = [row["value"] for row in bars["datasets"]["bars"]]
        most = table[measure].min() if measure == "log_ratio" else table[measure].max()
        assert top[0] == most
    words = figures.head_words(table.iloc[0])
    assert (":" in words) == (kind == "encoder-decoder")
    assert f"head {table.iloc[0]['head']}" in figures.sweep_sentence(swept)


def test_an_encoders_tokens_stand_in_the_order_of_the_text() -> None:
    found = intervene(MODELS["encoder"](), TEXT, [Knockout(1, 2)])
    spec: Any = figures.moved_chart(found)
    alt.Chart.from_dict(spec)
    rows = spec["datasets"]["bars"]
    places = [int(row["token"].split()[0]) for row in rows]
    assert places == sorted(places)
    moved = found.moved().numpy()
    assert [row["moved"] for row in rows] == pytest.approx(moved[places])
    left_out = np.delete(moved, places)
    assert left_out.size == 0 or left_out.max() <= moved[places].min()
    assert f"{float(moved.max()):.1%}" in figures.change_sentence(found)


def test_the_circuits_charts_hold_its_numbers() -> None:
    circuit = induction_circuit(av.load_model("induction-2l", device="cpu"), half=8)
    rises: Any = circuits.rises_chart(circuit)
    lines: Any = circuits.loss_chart(circuit, tuple(circuit.losses))
    for spec in (rises, lines):
        alt.Chart.from_dict(spec)
    assert [row["rise"] for row in rises["datasets"]["bars"]] == list(circuit.heads["rise"])
    chosen = {row["name"] for row in rises["datasets"]["bars"] if row["kind"] == "of the circuit"}
    assert chosen == {"1.0", "0.0"}
    assert len(lines["datasets"]["losses"]) == 3 * 15
    assert {row["run"] for row in lines["datasets"]["losses"]} == set(circuits.RUNS.values())


def test_small_numbers_keep_their_digits() -> None:
    values = {0.98765: "0.9877", 0.0: "0.0000", 5e-5: "0.0001", 1.93e-6: "1.9e-06"}
    assert {value: figures.digits(value) for value in values} == values
    assert figures.digits(-2e-7, "+") == "-2.0e-07"
