"""What a capture costs beside a plain run and beside the model's own returned attentions.

    .venv/bin/python -m tests.benchmarks.capture_cost [TOKENS ...]

Each way runs in a process of its own: a warm-up, then one run, timed, with the peak of its
resident memory over what the loaded model held (Linux: VmHWM, reset before the run). Ratios are
printed of wall time and of the processor's own time, which other work on the machine moves less;
set OMP_NUM_THREADS=1 for a processor time without waiting in it. The comparison with a plain run
is off, being a plain run; sampled rows are checked. BertViz' page is written beside them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.benchmarks.peers import bertviz

WAYS = {
    "plain": "plain run, no map",
    "capture": "capture: any map on demand",
    "eager": "returned attentions: every map at once",
}
EAGER_UP_TO = 4096  # tokens: at 8,192 the returned attentions take 72 GiB
BERTVIZ_TOKENS = 128  # at 512 its page is a gigabyte
GOALS = {  # of time, of memory added, in words
    "plain": "at most 2.0x the time and 1 GiB",
    "eager": "at most 0.55x the time and 0.1x the memory",
}
TEXT = "The quick brown fox jumps over the lazy dog while the cat watches from the mat. "


def resident_peak() -> int:
    """Peak resident memory of this process in bytes since the last reset."""
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def resident() -> int:
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


def runner(way: str, model: Any, text: str) -> Callable[[], Any]:
    import torch

    import attnviz as av

    if way == "capture":
        return lambda: av.capture(model, text, check=False)
    if way == "eager":
        model.model.set_attn_implementation("eager")
    ids = model.tokenizer(text, return_tensors="pt")

    def run() -> Any:
        with torch.inference_mode():
            return model.model(**ids, output_attentions=way == "eager", logits_to_keep=1)

    return run


def measure(way: str, n_tokens: int) -> dict[str, float]:
    """Seconds and bytes above the loaded model of one run of exactly that many tokens."""
    import attnviz as av

    model = av.load_model("smollm2-135m", device="cpu")
    ids = model.tokenizer(TEXT * (n_tokens // 10 + 1))["input_ids"][:n_tokens]
    text = model.tokenizer.decode(ids)
    runner(way, model, TEXT)()
    before = resident()
    Path("/proc/self/clear_refs").write_text("5")
    run = runner(way, model, text)
    begin, cpu = time.perf_counter(), time.process_time()
    kept = run()
    result = {
        "seconds": time.perf_counter() - begin,
        "cpu": time.process_time() - cpu,
        "peak": resident_peak() - before,
        "kept": resident() - before,
    }
    if way == "capture":
        result["tile"] = tile_seconds(kept)
    return result


def tile_seconds(capture: Any) -> float:
    """A 512 x 512 tile below the diagonal (smaller of a shorter text): the median of nine."""
    side = min(512, capture.n_tokens)
    rows, cols = slice(capture.n_tokens - side, capture.n_tokens), slice(0, side)
    taken = []
    for head in range(9):
        begin = time.perf_counter()
        capture.weights(17, head, rows, cols)
        taken.append(time.perf_counter() - begin)
    return sorted(taken)[4]


def compare(costs: dict[str, dict[str, float]]) -> None:
    """The capture against the other ways."""
    ours = costs["capture"]
    for way, goal in GOALS.items():
        if way in costs:
            theirs = costs[way]
            print(
                f"         capture / {way}: {ours['seconds'] / theirs['seconds']:.2f}x wall, "
                f"{ours['cpu'] / theirs['cpu']:.2f}x processor, "
                f"{ours['peak'] / theirs['peak']:.2f}x memory, "
                f"{(ours['peak'] - theirs['peak']) / 2**30:+.2f} GiB (goal: {goal})"
            )
    print(f"         a tile of up to 512 x 512 afterwards: {ours['tile'] * 1e3:.1f} ms (goal: 10)")


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(sys.argv[2], int(sys.argv[3]))))
        return
    lengths = [int(argument) for argument in sys.argv[1:]] or [512, 2048]
    print("SmolLM2-135M, float32, CPU; memory above the loaded model")
    print(f"{'tokens':>7}  {'way':<40} {'time':>8} {'processor':>9} {'peak':>10} {'kept':>10}")
    for n_tokens in lengths:
        costs = {}
        for way, title in WAYS.items():
            if way == "eager" and n_tokens > EAGER_UP_TO:
                continue
            command = [sys.executable, "-m", __spec__.name, "--one", way, str(n_tokens)]
            result = subprocess.run(command, capture_output=True, text=True, check=True)
            cost = costs[way] = json.loads(result.stdout.splitlines()[-1])
            peak, kept = cost["peak"] / 2**30, cost["kept"] / 2**30
            print(
                f"{n_tokens:>7,}  {title:<40} {cost['seconds']:>6.2f} s {cost['cpu']:>7.2f} s "
                f"{peak:>6.2f} GiB {kept:>6.2f} GiB"
            )
        compare(costs)
    try:
        print(bertviz(BERTVIZ_TOKENS))
    except SystemExit as missing:
        print(missing)


if __name__ == "__main__":
    main()
