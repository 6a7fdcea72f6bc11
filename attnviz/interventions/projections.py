"""Where the heads of a layer stand side by side for the last time: before its output projection.

Vaswani et al. 2017, section 3.2.2: MultiHead = Concat(head_1, .., head_h) W^O. Whatever made the
heads (softmax, a state, a gate after either), the input of W^O holds head h in the features from
h * width to (h + 1) * width, so that one place serves every architecture.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from torch import Tensor, nn

from attnviz.errors import AttnvizError, ModelError
from attnviz.models.loaded import LoadedModel
from attnviz.models.stacks import TOWERS, group_of, layer_number

MIXER = re.compile(r"att(ention|n)|linear_attn|mamba|mixer|temporal_block", re.IGNORECASE)
PROJECTIONS = frozenset({
    "o_proj", "out_proj", "c_proj", "out_lin", "wo", "Wo", "o", "dense", "to_out", "linear_out",
    "output_proj", "proj",
})  # fmt: skip
HEAD_COUNTS = (
    "num_v_heads",  # a state layer's values are what its output is made of
    "num_attention_heads",
    "num_heads",
    "n_heads",
    "n_head",
)


UNSTEADY = {
    "reformer": "it sorts tokens into buckets by hashes drawn anew in every pass",
}
"""Model types of which two passes differ without any change, and why."""


@dataclass(frozen=True, eq=False)
class Outlet:
    """The output projection of one attention layer, whose input is the heads."""

    layer: int  # the model's own number
    group: str  # self, encoder, decoder or cross
    name: str
    n_heads: int
    width: int  # features of a head
    module: Any = field(repr=False)  # nn.Linear or Conv1D

    def features(self, head: int) -> slice:
        """Where this head stands in the projection's input."""
        if not 0 <= head < self.n_heads:
            raise AttnvizError(
                f"Layer {self.layer} has heads 0 to {self.n_heads - 1}; head {head} is not there."
            )
        return slice(head * self.width, (head + 1) * self.width)

    def weight_of(self, head: int) -> Tensor:
        """W^O's rows for this head, (width, d_model), as in head @ W^O."""
        weight = self.module.weight.detach()
        rows = weight.T if isinstance(self.module, nn.Linear) else weight  # Conv1D: (in, out)
        return rows[self.features(head)]


def outlets(model: LoadedModel) -> tuple[Outlet, ...]:
    """Every layer's output projection, by group and layer.

    Raises ModelError for a model in which none is found, or whose layers share one module
    (ALBERT): there a head of one layer cannot be told from that of another; and for one of which
    two passes are not alike.
    """
    reason = UNSTEADY.get(model.config.model_type)
    if reason is not None:
        raise ModelError(
            f"What a removed head does to {model.title} cannot be told: {reason}; choose another "
            "model."
        )
    return _outlets(model.model, model.kind == "encoder_decoder")


def text_outlets(model: LoadedModel) -> tuple[Outlet, ...]:
    """Those of the stacks that a text passes through, without towers for pictures or sound."""
    return tuple(one for one in outlets(model) if one.group not in TOWERS)


@lru_cache(maxsize=8)
def _outlets(model: Any, two_stacks: bool) -> tuple[Outlet, ...]:
    found = tuple(sorted(_found(model, two_stacks), key=lambda o: (o.group, o.layer)))
    places = [(outlet.group, outlet.layer) for outlet in found]
    if not found or len(set(places)) != len(places):
        raise ModelError(
            f"The output projections of {type(model).__name__}'s attention could not be told "
            "apart, so its heads cannot be removed one at a time; choose another model."
        )
    return found


def outlet(model: LoadedModel, layer: int, group: str | None = None) -> Outlet:
    """One layer's; of several groups one must be named. AttnvizError for one not there."""
    every = text_outlets(model)
    groups = list(dict.fromkeys(one.group for one in every))
    if group is None and len(groups) > 1:
        raise AttnvizError(
            f"{model.title} has heads in the groups {', '.join(groups)}; say in which of them "
            f"layer {layer} is meant."
        )
    wanted = group or groups[0]
    for one in every:
        if (one.group, one.layer) == (wanted, layer):
            return one
    there = sorted(one.layer for one in every if one.group == wanted)
    raise AttnvizError(
        f"{model.title} has no attention layer {layer} in {wanted!r}; its groups are "
        f"{', '.join(groups)}" + (f", with layers {_spans(there)}." if there else ".")
    )


def _found(model: nn.Module, two_stacks: bool) -> Iterator[Outlet]:
    modules = dict(model.named_modules())
    for name, module in modules.items():
        inputs = _inputs(module)
        number = layer_number(name)
        inside = re.split(r"(?:^|\.)\d+\.", name)[-1]
        parent, _, last = inside.rpartition(".")
        if inputs is None or number is None or last not in PROJECTIONS:
            continue
        if not MIXER.search(parent):
            continue
        heads = _heads(modules, name, inputs, model)
        if heads is not None:
            group = group_of(name, two_stacks)
            yield Outlet(number, group, name, heads, inputs // heads, module)


def _inputs(module: Any) -> int | None:
    """Features that a projection reads; None for what is no projection."""
    if isinstance(module, nn.Linear):
        return module.in_features
    if type(module).__name__ == "Conv1D":  # GPT-2's, with its weight the other way round
        return module.weight.shape[0]
    return None


def _heads(modules: dict[str, nn.Module], name: str, inputs: int, model: Any) -> int | None:
    """How many heads stand in these features, as the layer says it or the config."""
    holder = name.rpartition(".")[0]
    while holder:
        # BERT's projection stands beside the module that knows of heads, in BertSelfOutput.
        near = [modules[holder], *modules[holder].children()]
        for module in near:
            for word in HEAD_COUNTS:
                count = getattr(module, word, None)
                if isinstance(count, int) and count > 0 and inputs % count == 0:
                    return count
        if re.search(r"\.\d+$", holder):
            break
        holder = holder.rpartition(".")[0]
    count = getattr(model.config.get_text_config(), "num_attention_heads", None)
    return count if isinstance(count, int) and inputs % count == 0 else None


def _spans(numbers: list[int]) -> str:
    """ "0 to 5" for consecutive numbers, else all of them."""
    if numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]} to {numbers[-1]}"
    return ", ".join(map(str, numbers))
