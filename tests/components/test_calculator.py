"""The browser's formulas against Python's, over random layers and settings: every byte."""

import json
import random
from pathlib import Path
from typing import Any

from attnviz import kv_cache as kv
from attnviz.components.calculator.payload import groups, settings
from attnviz.errors import AttnvizError
from tests.components.test_javascript import ROOT, run_node

WEB = ROOT / "attnviz" / "components" / "calculator" / "web"
SCRIPT = """
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { sizeOf } from "%(web)s/bytes.js";
import { crossing } from "%(web)s/curve.js";
import { ownDesign } from "%(web)s/design.js";

const { sizes, designs, crossings } = JSON.parse(readFileSync(process.argv[2], "utf8"));
for (const { groups, settings, expected } of sizes) {
  const { total, sequence, fixed, perToken, held } = sizeOf(groups, settings);
  const found = [total, sequence, fixed].map(String);
  found.push(perToken, held === null ? null : String(held));
  assert.deepEqual(found, expected, JSON.stringify({ groups, settings }));
}
for (const { shape, values, groups, order } of designs) {
  const made = ownDesign(shape, values);
  const layers = (own) => made.order.map(([place]) => ({ ...own.groups[place], count: 0 }));
  const wanted = order.map(([place]) => ({ ...groups[place], count: 0, mixer: undefined }));
  assert.deepEqual(JSON.parse(JSON.stringify(layers(made))), JSON.parse(JSON.stringify(wanted)));
  const counts = (all) => all.map(({ kind, count }) => `${kind} ${count}`).sort();
  assert.deepEqual(counts(made.groups), counts(groups));
}
for (const { one, other, settings, expected } of crossings) {
  assert.equal(crossing(one, other, settings, 2 ** 24), expected);
}
"""


def layer(rng: random.Random) -> kv.Layer:
    few = lambda: rng.choice((1, 2, 4, 8, 12, 64, 96, 128))  # noqa: E731
    makers: tuple[Any, ...] = (
        lambda: kv.Full(few(), few(), rng.choice((None, few()))),
        lambda: kv.Sliding(few(), few(), window=rng.randrange(2, 5000)),
        lambda: kv.Latent(few() * 4, few(), rng.choice((0, few()))),
        lambda: kv.Linear((few(), few(), few()), rng.choice((0, few())), rng.randrange(1, 5)),
        lambda: kv.Cross(few(), few()),
        lambda: kv.Shared(0),
        lambda: kv.NoCache(),
    )
    return rng.choice(makers)()


def case(rng: random.Random) -> dict[str, Any] | None:
    """A random size, as the page would send it, with what Python says; None: no such layout."""
    layers = [layer(rng) for _ in range(rng.randrange(1, 9))]
    spec = kv.CacheSpec.from_layers(layers, n_heads=rng.choice((64, 128)))
    spec = rng.choice((spec, rng.choice(kv.presets())))
    accounting = rng.choice(kv.ACCOUNTINGS)
    options = {
        "length": rng.choice((0, 1, rng.randrange(2**13), rng.randrange(2**21), 10**15)),
        "batch": rng.randrange(1, 70_000),
        "dtype": rng.choice(kv.DTYPES),
        "state_dtype": rng.choice(kv.DTYPES),
        "encoder_length": rng.randrange(2000),
        "decoded": rng.choice((0, 1)),
        "block_size": rng.choice((1, 16, 64, 100)),
        "tensor_parallel": rng.choice((1, 2, 4, 8, 16)),
        "max_batched_tokens": rng.choice((1, 256, 8192)),
    }
    try:
        z = kv.size(spec, accounting=accounting, **options)
    except AttnvizError:
        return None
    held = None if z.held_bytes is None else str(z.held_bytes)
    parts = [str(n) for n in (z.total_bytes, z.sequence_bytes, z.fixed_bytes)]
    expected = [*parts, z.bytes_per_token, held]
    return {"groups": groups(spec), "settings": settings(z), "expected": expected}


def design(rng: random.Random) -> dict[str, Any]:
    layers, heads, width = rng.randrange(1, 40), rng.choice((8, 12, 32)), rng.choice((64, 128))
    ratio, window = rng.choice((0, 1, 3, 5, 50)), rng.choice((128, 4096))
    latent, rank, rope = rng.random() < 0.5, rng.choice((64, 512)), rng.choice((0, 64))
    n_kv = rng.choice(kv.divisors(heads))
    if latent:
        spec = kv.latent_attention(layers, heads, width, rank, rope, ratio=ratio)
    else:
        spec = kv.grouped_query(layers, heads, n_kv, width, window=window, ratio=ratio)
    places = {each: place for place, (each, _count) in enumerate(spec.groups)}
    return {
        "shape": {"layers": layers, "heads": heads, "width": width, "latent": latent},
        "values": {"kv": n_kv, "latent": rank, "rope": rope, "ratio": ratio, "window": window},
        "groups": groups(spec),
        "order": [[places[each]] for each in spec.layers],
    }


def crossings() -> list[dict[str, Any]]:
    """Hybrids against the same shapes with other attention in every layer."""
    found = []
    for slug in ("kimi-k3", "qwen3-next-80b-a3b", "gemma-3-27b", "jamba-v0.1"):
        spec = kv.preset(slug)
        like = kv.size(spec, 1)
        for other in kv.alternatives(spec):
            expected = kv.crossing(spec, other, like)
            sides = {"one": groups(spec), "other": groups(other)}
            found.append({**sides, "settings": settings(like), "expected": expected})
    assert sum(each["expected"] is not None for each in found) >= 4
    return found


def test_the_browser_counts_like_python(tmp_path: Path) -> None:
    rng = random.Random(0)
    sizes = [found for _ in range(3000) if (found := case(rng)) is not None]
    kinds = {one["settings"]["accounting"] for one in sizes}
    assert kinds == set(kv.ACCOUNTINGS)
    assert len(sizes) > 800
    file, script = tmp_path / "cases.json", tmp_path / "equal.mjs"
    designs = [design(rng) for _ in range(200)]
    file.write_text(json.dumps({"sizes": sizes, "designs": designs, "crossings": crossings()}))
    script.write_text(SCRIPT % {"web": WEB.as_uri()})
    run_node(str(script), str(file))
