"""What the page says of the two ways to decode latent attention."""

from __future__ import annotations

import numpy as np
import pytest

import attnviz as av
from attnviz.figures import latent

TRACE = av.run("latent", av.random_inputs(6, 64, seed=2), mask=av.masks.causal())


def test_both_forms_draw_the_runs_own_weights() -> None:
    panels = {panel.id: panel for panel in latent.decoding_figure(TRACE, 1).panels}
    wanted = TRACE.weights[0, 1].numpy()
    for form in ("naive", "absorbed"):
        assert np.abs(panels[f"weights_{form}"].values - wanted).max() < 1e-6
    # The literal matrices, multiplied out here.
    W = TRACE.parameters
    d_h, d_v = TRACE.dimensions["qk_nope_head_dim"], TRACE.dimensions["v_head_dim"]
    own, out = slice(d_h, 2 * d_h), slice(d_v, 2 * d_v)
    query = (W["W_uq"][:, own] @ W["W_uk"][:, own].T).numpy()
    assert np.abs(panels["absorbed_query"].values - query).max() < 1e-6
    output = (W["W_uv"][:, out] @ W["W_o"][out]).numpy()
    assert np.abs(panels["absorbed_output"].values - output).max() < 1e-6


def test_what_is_cached_is_counted() -> None:
    said = latent.decoding_sentence(TRACE)
    assert "Both cache 28 numbers a token (a latent of 24 and one position key of 4)" in said
    assert "rebuilds 96 more" in said  # keys and values of 4 heads of 12 channels


def test_one_new_token_in_deepseek_v2s_size() -> None:
    """By hand, for one cached token more: H d_c (d_h + d_v) to rebuild, H (d_h + d_R + d_v) to
    attend, against H (2 d_c + d_R)."""
    H, d_h, d_r, d_v, d_c = 128, 128, 64, 128, 512
    amount, more = (
        {
            (row["form"], row["queries"]): row["operations"]
            for row in latent.cost_chart(n_keys)["datasets"]["costs"]
        }
        for n_keys in (4096, 8192)
    )
    naive = more["naive", 1] - amount["naive", 1]
    absorbed = more["absorbed", 1] - amount["absorbed", 1]
    assert naive == 2 * 4096 * H * (d_c * (d_h + d_v) + d_h + d_r + d_v)
    assert absorbed == 2 * 4096 * H * (2 * d_c + d_r)
    # 4096 d_c (d_h + d_v) once, against d_c (d_h + d_v) + 4096 (2 d_c - d_h - d_v) a query: 163.84.
    assert "from 164 new tokens on" in latent.cost_sentence(4096)


def test_rotating_the_content_is_told_by_numbers() -> None:
    said = latent.coupling_sentence(TRACE, 0)
    assert "from distance 1 to 5" in said
    with pytest.raises(av.AttnvizError, match="measured on a run of 'latent'"):
        latent.coupling_sentence(av.run("multi_head", av.random_inputs(3, 16)), 0)
