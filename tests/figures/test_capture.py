"""The figure of a capture holds the capture's own numbers, and counts bytes before sending."""

import csv
import io

import numpy as np
import pytest

import attnviz as av
from attnviz.components.explorer.payload import pack
from attnviz.figures import capture as figures
from attnviz.figures import numbers
from attnviz.figures.capture_words import METRICS, capture_code
from attnviz.models import recorded
from attnviz.models.choice import ModelChoice
from tests.models.test_groups import pair
from tests.models.tiny import TEXT, llama


@pytest.fixture(scope="module")
def recording() -> recorded.Recording:
    return recorded.load("smollm2-135m")


def test_a_short_text_sends_every_map_exactly(recording: recorded.Recording) -> None:
    figure = figures.capture_figure(recording, 7, 4)
    assert figure.grid is not None
    assert figure.grid.stack is not None
    np.testing.assert_array_equal(figure.grid.stack, recording.maps)
    (panel,) = figure.panels
    np.testing.assert_array_equal(panel.values, recording.maps[7, 4])
    np.testing.assert_array_equal(panel.blocked, np.triu(np.ones(panel.values.shape, bool), 1))
    assert panel.rows.labels == panel.cols.labels == recording.tokens
    assert figure.grid.kv_heads == 3
    assert len(pack(figure)) < 2_500_000


def test_grid_metrics_are_the_captures(recording: recorded.Recording) -> None:
    figure = figures.capture_figure(recording, 0, 0)
    assert figure.grid is not None
    frame = recording.metrics().set_index(["layer", "head"])
    absent = {"duplicate", "induction"}  # the sentence repeats no token
    assert frame[list(absent)].isna().all(axis=None)
    for column, title in METRICS.items():
        assert (title in figure.grid.metrics) == (column not in absent)
        if column in absent:
            continue
        values = figure.grid.metrics[title]
        for layer, head in ((0, 0), (3, 8), (29, 5)):
            assert values[layer, head] == np.float32(frame.loc[(layer, head), column])


def test_the_first_head_shown_is_focused_and_looks_elsewhere(
    recording: recorded.Recording,
) -> None:
    frame = recording.metrics().set_index(["layer", "head"])
    obvious = frame["first"] + frame["previous"] + frame["self"]
    chosen = figures.default_head(recording)
    assert obvious[chosen] < obvious.median()
    assert frame["entropy"][chosen] < frame["entropy"].median()
    # No head is both more focused and less obvious.
    better = (obvious < obvious[chosen]) & (frame["entropy"] < frame["entropy"][chosen])
    assert not better.any()


def test_npz_and_csv_give_the_exact_map_back(recording: recorded.Recording) -> None:
    with np.load(io.BytesIO(numbers.to_npz(recording, 5, 2)), allow_pickle=False) as file:
        np.testing.assert_array_equal(file["weights"], recording.maps[5, 2])
        assert tuple(file["tokens"]) == recording.tokens
        assert tuple(file["token_ids"]) == recording.token_ids
        assert (int(file["layer"]), int(file["head"]), str(file["model"])) == (5, 2, "smollm2-135m")

    header, *rows = csv.reader(io.StringIO(numbers.to_csv(recording, 5, 2)))
    assert header[1:] == [f"{place}: {token}" for place, token in enumerate(recording.tokens)]
    values = np.array([[np.float32(cell) for cell in row[1:]] for row in rows])
    np.testing.assert_array_equal(values, recording.maps[5, 2])


def test_cross_attention_says_who_asks_whom() -> None:
    """The decoder's tokens down, the encoder's across: not the encoder's own map by mistake."""
    capture = av.capture(pair("t5"), source="the cat sat on the mat", target="the dog ran")
    figure = figures.capture_figure(capture.of("cross"), 1, 2)
    assert figure.grid is not None
    small, whole = figure.grid.thumbnails[1, 2], capture.weights(1, 2, group="cross")
    np.testing.assert_allclose(small, whole, atol=1e-6)
    (panel,) = figure.panels
    assert (panel.rows.title, panel.cols.title) == (
        "decoder (query): attends from",
        "encoder (key): attends to",
    )
    assert panel.rows.labels == capture.of("cross").tokens
    assert panel.cols.labels == capture.tokens
    assert panel.values.shape == (3, 6)
    assert panel.blocked is None
    own = figures.capture_figure(capture, 1, 2).panels[0]
    assert own.rows.title == "query: attends from"
    assert own.values.shape == (6, 6)
    assert own.blocked is None, "an encoder's triangle is no mask"


def test_what_the_model_wrote_is_marked_and_says_what_it_predicted() -> None:
    made = av.capture(llama(), TEXT, generate=4)
    assert made.written is not None
    (panel,) = figures.capture_figure(made, 1, 2).panels
    assert panel.values.shape == (16, 16)
    assert panel.rows.labels == panel.cols.labels == made.tokens
    assert (panel.rows.written, panel.cols.written, panel.grows_from) == (13, 13, 13)
    assert panel.rows.details is not None
    assert panel.cols.details == made.token_details
    said = [detail.partition(", while predicting ")[2] for detail in panel.rows.details]
    assert said == [""] * 12 + list(made.written.labels)
    said = "softmax weights, 16 × 16, rows sum to 1"
    assert panel.subtitle == f"{said}; marked in orange: written by the model"
    (plain,) = figures.capture_figure(av.capture(llama(), TEXT), 1, 2).panels
    assert plain.subtitle == "softmax weights, 13 × 13, rows sum to 1"
    assert (plain.rows.written, plain.grows_from) == (None, None)


def test_the_code_of_a_figure_asks_for_what_was_asked() -> None:
    code = capture_code(ModelChoice("m"), 'say "hi"', chat=True, write=3)
    message = ', messages=[{"role": "user", "content": \'say "hi"\'}], generate=3)'
    assert message in code
    compile(code, "code", "exec")


def test_the_code_reads_what_the_model_reads() -> None:
    pair = capture_code(ModelChoice("m"), "x", write=3, target="y")
    assert "av.capture(model, source='x', target='y')" in pair
    assert "av.capture(model, source='x', max_new_tokens=3)" in capture_code(
        ModelChoice("m"), "x", write=3, target="", chat=True
    )
    seen = capture_code(ModelChoice("m"), "x", picture=True)
    assert "from PIL import Image\n" in seen
    assert 'av.capture(model, image=Image.open("picture.png"))' in seen
