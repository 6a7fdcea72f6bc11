"""The formula on the page is arithmetic that gives the figure on the page."""

import ast
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz import kv_cache as kv
from tests.kv_cache.specs import DTYPES, SPECS

# beartype looks at a random item of each tuple, in strategies too.
pytestmark = pytest.mark.filterwarnings("ignore:Do not use the `random` module")

OPERATIONS = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
}


def evaluate(text: str) -> Fraction:
    """Exact value of an expression of + - * / min and ceil."""

    def value(node: ast.expr) -> Fraction:
        if isinstance(node, ast.Constant):
            return Fraction(node.value)
        if isinstance(node, ast.BinOp):
            return OPERATIONS[type(node.op)](value(node.left), value(node.right))
        assert isinstance(node, ast.Call)
        assert isinstance(node.func, ast.Name)
        known = {"min": min, "ceil": lambda x: Fraction(math.ceil(x))}
        return known[node.func.id](*map(value, node.args))

    return value(ast.parse(text, mode="eval").body)


@given(SPECS, st.integers(0, 700), st.integers(1, 9), DTYPES, DTYPES, st.integers(0, 50))
@settings(max_examples=200, deadline=None)
def test_evaluates_to_the_bytes(spec, length, batch, dtype, state_dtype, source):
    z = kv.size(spec, length, batch, dtype, state_dtype, source)
    assert evaluate(kv.formula(z).plain) == z.total_bytes


@pytest.mark.parametrize("spec", kv.presets(), ids=lambda spec: spec.slug)
@pytest.mark.parametrize("accounting", ["transformers", "engine"])
def test_the_other_accountings(spec: kv.CacheSpec, accounting: str):
    if spec.model_type is not None or accounting == "engine":
        z = kv.size(spec, 12_345, 3, encoder_length=77, accounting=accounting)
        assert evaluate(kv.formula(z).plain) == z.total_bytes


@pytest.mark.parametrize("spec", kv.presets(), ids=lambda spec: spec.slug)
def test_every_preset(spec: kv.CacheSpec):
    z = kv.size(spec, length=12_345, batch=3, encoder_length=77)
    formula = kv.formula(z)
    assert evaluate(formula.plain) == z.total_bytes
    assert formula.latex.count("{") == formula.latex.count("}")
    assert len(formula.terms) == len([k for k in spec.groups if k[0].kind != "none"])


def test_the_visitors_numbers_are_in_it():
    z = kv.size(kv.preset("gemma-3-1b"), length=32_768)
    plain = kv.formula(z).plain
    assert "22 * 1 * (256 + 256) * min(32768, 512) * 2" in plain
    assert "4 * 1 * (256 + 256) * 32768 * 2" in plain


def test_latent_has_no_factor_two_and_no_heads():
    z = kv.size(kv.preset("deepseek-v3"), length=10)
    assert kv.formula(z).plain == "1 * (61 * (512 + 64) * 10 * 2)"
    assert "n_{kv}" not in kv.formula(z).latex


def test_the_legend_names_only_what_is_used():
    symbols = dict(kv.formula(kv.size(kv.preset("llama-3-8b"), length=10)).legend)
    assert {"T", "n_{kv}", "b"} <= set(symbols)
    assert not {"W", "S", "d_c", "b_s"} & set(symbols)
