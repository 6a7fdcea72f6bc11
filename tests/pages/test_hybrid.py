"""The page of hybrid stacks, from preset to measured step."""

from __future__ import annotations

from pathlib import Path

from streamlit.testing.v1 import AppTest

PAGE = str(Path(__file__).parents[2] / "pages" / "hybrid.py")


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(PAGE, default_timeout=60)
    for word, value in query.items():
        app.query_params[word] = value
    return app.run()


def words(app: AppTest) -> str:
    return " ".join(block.value for block in [*app.markdown, *app.text])


def test_a_newcomer_sees_a_stack_of_eight() -> None:
    app = opened()
    assert not app.exception
    assert "LLLFLLLF  (3:1)" in words(app)
    assert "Layer 3 is an F layer (grouped_query)" in words(app)
    assert "random, not trained" in words(app)


def test_an_l_layers_map_is_told_apart() -> None:
    app = opened(layer="0", head="1")
    assert "Layer 0 is an L layer (gated_delta_rule): its exact effective map" in words(app)


def test_kimi_k3s_order() -> None:
    app = opened(stack="kimi-k3", tab="kept")
    assert not app.exception
    assert "(23:8)" in words(app)
    # 69 states of 4 heads x 16 x 16 float32, 24 layers of a latent of 24 and a position key of 4.
    assert "282,624 that never grow" in words(app)
    assert "2,688 more with each token" in words(app)


def test_what_is_no_stack_is_told_and_kept() -> None:
    app = opened(pattern="3L $x$ <b>")
    assert not app.exception
    assert "A stack is written with L" in words(app)
    assert app.text_input[0].value == "3L $x$ <b>"


def test_the_step_is_measured() -> None:
    app = opened(pattern="L F", tab="step")
    assert not app.exception
    assert "**gated_delta_rule**: " in words(app)
    assert "after 65,536" in words(app)


def test_the_code_runs() -> None:
    app = opened(tab="code", pattern="L F", n_layers="2")
    made: dict[str, object] = {}
    exec(app.code[0].value, made)
    assert tuple(made["stack"].maps.shape[:2]) == (2, 4)
