"""Which stack of a model a module belongs to, and which layer of it, read from its name."""

from __future__ import annotations

import re

CROSS = re.compile(r"cross|encoder_attn|enc_?dec", re.IGNORECASE)
TOWERS = {
    "vision": re.compile(
        r"(?:^|[._])(?:vision_tower|vision_model|visual|(?:image|vision)_encoder)\b"
    ),
    "audio": re.compile(r"(?:^|[._])audio_tower\b"),
}
"""Stacks beside the one that reads the text, by group: each numbers its layers from 0."""
STACK = re.compile(r"(?:^|[._])(encoder|decoder)(?=[._]|$)")


def layer_number(name: str) -> int | None:
    """The layer's number in a module's name: 3 for model.layers.3.self_attn."""
    found = re.search(r"\.(\d+)\.", f".{name}.")
    return int(found[1]) if found else None


def role_of(name: str) -> str:
    """What a module is in its layer: self_attn of model.layers.3.self_attn."""
    parts = name.split(".")
    last = max((place for place, part in enumerate(parts) if part.isdigit()), default=-1)
    return ".".join(parts[last + 1 :])


def group_of(name: str, two_stacks: bool) -> str:
    """self, encoder, decoder, cross or a tower: model.decoder.layers.3.encoder_attn is cross.

    two_stacks: the model reads one thing and writes another, so that the words encoder and
    decoder in its names mean its stacks (BERT's own layers are bert.encoder.layer.3).
    """
    found = STACK.search(name) if two_stacks else None
    for group, pattern in TOWERS.items():
        tower = pattern.search(name)
        if tower and (found is None or tower.start() < found.start()):
            return group
    inside = name[found.end() :] if found else name
    if CROSS.search(inside) and (found is None or found[1] == "decoder"):
        return "cross"
    return found[1] if found else "decoder" if two_stacks else "self"
