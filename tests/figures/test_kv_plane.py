"""Lines of equal memory are the formula's, and the presets lie where they must."""

import altair as alt
import pytest

from attnviz.figures.kv_plane import equal_memory


def test_lines_and_presets():
    spec = equal_memory(128)
    alt.LayerChart.from_dict(spec).to_dict()
    lines, (model,) = spec["datasets"]["lines"], spec["datasets"]["models"]
    for line in lines:
        rope = int(line["rope"].split(" = ")[1])
        assert line["groups"] == (line["latent"] + rope) / 256
    assert (model["latent"], model["groups"]) == (512, 2.25)
    assert "DeepSeek-V3" in model["who"]


@pytest.mark.parametrize("dark", [False, True])
def test_in_both_themes(dark: bool):
    alt.LayerChart.from_dict(equal_memory(64, dark=dark)).to_dict()
