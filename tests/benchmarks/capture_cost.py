"""What a capture costs beside a plain run and beside the model's own returned attentions.

    .venv/bin/python -m tests.benchmarks.capture_cost [TOKENS ...]

Each way runs in a process of its own: a warm-up, then one run, timed, with the peak of its
resident memory over what the loaded model held (Linux: VmHWM, reset before the run).
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

WAYS = {
    "plain": "plain run, no map",
    "capture": "capture: any map on demand",
    "eager": "returned attentions: every map at once",
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
    begin = time.perf_counter()
    kept = run()
    seconds = time.perf_counter() - begin
    result = {"seconds": seconds, "peak": resident_peak() - before, "kept": resident() - before}
    del kept
    return result


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(sys.argv[2], int(sys.argv[3]))))
        return
    lengths = [int(argument) for argument in sys.argv[1:]] or [512, 2048]
    print("SmolLM2-135M, float32, CPU; memory above the loaded model")
    print(f"{'tokens':>7}  {'way':<40} {'time':>8} {'peak':>10} {'kept':>10}")
    for n_tokens in lengths:
        for way, title in WAYS.items():
            command = [sys.executable, "-m", __spec__.name, "--one", way, str(n_tokens)]
            result = subprocess.run(command, capture_output=True, text=True, check=True)
            cost = json.loads(result.stdout.splitlines()[-1])
            peak, kept = cost["peak"] / 2**30, cost["kept"] / 2**30
            print(
                f"{n_tokens:>7,}  {title:<40} {cost['seconds']:>6.2f} s "
                f"{peak:>6.2f} GiB {kept:>6.2f} GiB"
            )


if __name__ == "__main__":
    main()
