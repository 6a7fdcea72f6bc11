"""Every model type of transformers' mappings, tiny and random: maps equal its own to 1e-5.

What became of each has to be what docs/architectures.md says, which `python -m
tests.models.survey` writes. Those in use most have to have maps, whatever it says.
"""

from __future__ import annotations

import re

import pytest

from tests.models.shrink import TASKS, model_class, shrink
from tests.models.survey import DOCUMENT, MODELS, SHOWN, attempt

DECODERS = (
    "bloom codegen cohere2 deepseek_v3 falcon gemma gemma2 gemma3_text glm4 gpt2 gpt_bigcode "
    "gpt_neo gpt_neox gpt_oss gptj granite llama llama4_text minimax mistral mixtral mpt olmo2 "
    "opt phi phi3 qwen2 qwen2_moe qwen3 qwen3_moe smollm3 stablelm starcoder2 xglm deepseek_v32"
)
ENCODERS = (
    "albert bert camembert deberta deberta-v2 distilbert electra longformer modernbert mpnet "
    "roberta xlm-roberta big_bird squeezebert funnel"
)
PAIRS = "bart led longt5 m2m_100 marian mbart mt5 pegasus prophetnet t5 bigbird_pegasus pegasus_x"
EYES = "beit clip deit dinov2 siglip swin vit"
USED = [
    (task, name)
    for task, names in zip(TASKS, (DECODERS, ENCODERS, PAIRS, EYES), strict=True)
    for name in names.split()
    if name in MODELS[task]
] + [("OBJECT_DETECTION", "detr")]
NOT_RETURNED = {"longformer", "swin"}  # bands and windows: tests/models/test_own_code.py


ALL = [(task, name) for task, names in MODELS.items() for name in names]


@pytest.fixture(scope="module")
def rows() -> dict[tuple[str, str], list[str]]:
    """The table's rows, the cells after the model type, by task and model type."""
    parts = re.split(r"^## ", DOCUMENT.read_text(), flags=re.MULTILINE)[1:]
    cells = re.compile(r"^\| ([\w.-]+) \| (.*) \|$", re.MULTILINE)
    return {
        (task, name): rest.split(" | ")
        for task, part in zip(MODELS, parts, strict=True)
        for name, rest in cells.findall(part)
    }


@pytest.mark.parametrize(("task", "model_type"), ALL)
def test_each_is_as_the_table_says(
    rows: dict[tuple[str, str], list[str]], task: str, model_type: str
) -> None:
    """A capture compares its run with a plain one by itself, and is refused if they differ."""
    tried = attempt(task, model_type)
    said, *more = rows[task, model_type]
    assert tried.status == said, tried.reason
    assert tried.error <= 1e-5
    if tried.status in SHOWN:
        route, compared, groups = more
        assert (tried.route, tried.compared) == (route, int(compared))
        assert ", ".join(tried.groups) == groups
    if (task, model_type) in USED:
        assert tried.status in SHOWN, tried.reason
        assert tried.compared > 0 or model_type in NOT_RETURNED


def test_every_type_is_in_the_table() -> None:
    """The table says of each type of each task whether it has maps, and why not where not."""
    text = DOCUMENT.read_text()
    parts = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    listed = [set(re.findall(r"^\| ([\w.-]+) \|", part, flags=re.MULTILINE)) for part in parts]
    for own, names in zip(listed, MODELS.values(), strict=True):
        assert own - {"model"} == set(names)
    rows = re.findall(r"^\| ([\w.-]+) \| ([a-z ]+) \|", text, flags=re.MULTILINE)
    states = [state for _, state in rows]
    assert states.count("not built") <= 0.1 * len(states)
    built = [state for state in states if state not in ("not built", "no attention")]
    assert sum(state in SHOWN for state in built) >= 0.95 * len(built)
    assert "wrong" not in states


def test_a_new_architecture_is_one_line() -> None:
    config = shrink("llama", num_hidden_layers=5)
    assert config.num_hidden_layers == 5
    assert config.hidden_size == 32
    assert sum(p.numel() for p in model_class("CAUSAL_LM", "llama")(config).parameters()) < 1e5
