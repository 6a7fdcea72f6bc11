"""The ways to a model's maps, the best first: the registry, its own torch calls, its returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from attnviz.errors import ModelError
from attnviz.models import memory
from attnviz.models.assembling import Stack, kept_stacks, recorded_stacks
from attnviz.models.interface import fused, listening, reachable, running
from attnviz.models.loaded import LoadedModel
from attnviz.models.mixers.recorder import MixerRecorder
from attnviz.models.numbering import complete
from attnviz.models.own_code import FAMILIES, found_maps, require_maps
from attnviz.models.own_code.hashed import hearing
from attnviz.models.own_code.watching import watching
from attnviz.models.passes import Pass, forward
from attnviz.models.prepared import Prepared
from attnviz.models.progress import Progress
from attnviz.models.recorder import Recorder, Unreachable
from attnviz.models.stacks import TOWERS


@dataclass(frozen=True)
class Reached:
    """What one run gave."""

    stacks: dict[str, Stack]  # the maps by group
    mixers: MixerRecorder  # its linear and state-space layers
    run: Pass
    plain: str | None  # the attention implementation to compare the run with; None: its own


def reach(model: LoadedModel, prepared: Prepared, size: int, progress: Progress) -> Reached:
    """Run a model and keep its maps. Hold its lock.

    Through the attention interface where all layers use it; else from the softmax and the fused
    calls that the model's own code makes; else as that code returns them. Raises ModelError for
    a model whose attention none of these reaches.
    """
    require_maps(model)
    own = model.model.config.model_type in FAMILIES

    def recorders() -> tuple[Recorder, MixerRecorder]:
        heard = Recorder(
            model.model,
            overview_size=size,
            expected=model.n_layers,
            progress=progress,
            raw_only=own,
        )
        return heard, MixerRecorder(model.model, heard.advance, heard.spill.keep)

    heard, mixers = recorders()
    if not own and (mixers or reachable(model.model)):
        try:
            with listening(model.model, heard), mixers.listening():
                run = forward(model, prepared)
            if complete(model, heard.calls) or (mixers.calls and not heard.calls):
                stacks = recorded_stacks(model, heard.calls)
                return Reached(stacks, mixers, run, _plain_implementation(model, stacks))
        except Unreachable:
            pass  # windows of a picture, for one: below they are put together
    memory.require(
        memory.whole_maps(model, prepared.length),
        f"Keeping every map of {model.title} over {prepared.length:,} tokens",
        "shorten the text: this model's own code gives whole maps only",
    )
    eager, plain = ("eager", "sdpa") if reachable(model.model) else (None, None)
    plain = plain if fused(model.model) else None
    heard, mixers = recorders()
    with (
        running(model.model, eager),
        watching(model.model, heard),
        hearing(model.model, heard.keep),
        mixers.listening(),
    ):
        run = forward(model, prepared, attentions=own)
    if heard.calls and not own:
        if "input_ids" in prepared.inputs and {call.group for call in heard.calls} <= set(TOWERS):
            raise ModelError(
                f"Only the maps of what sees or hears in {model.title} can be reached, not those "
                "of what reads its text, so none are shown; choose another model."
            )
        # What else made a softmax is no map of its own: a convolution's kernel, an n-gram stream.
        return Reached(recorded_stacks(model, heard.calls), mixers, run, plain)
    if not own:
        with running(model.model, eager):
            run = forward(model, prepared, attentions=True)
    found = found_maps(model, prepared, run.outputs, heard)
    return Reached(kept_stacks(model, found, size), mixers, run, plain)


def _plain_implementation(model: LoadedModel, stacks: Mapping[str, Stack]) -> str:
    """What to compare with: SDPA, or eager code where it cannot do what the layers do."""
    records = [each.record for stack in stacks.values() for each in stack.streamed.values()]
    beyond = any(record.softcap is not None or record.sinks is not None for record in records)
    return "eager" if beyond or not fused(model.model) else "sdpa"
