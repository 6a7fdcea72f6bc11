"""How long *Which heads do this?* takes on SmolLM2 after the capture: a cell, and blocks.

    .venv/bin/python -m tests.benchmarks.ranking_cost [TOKENS]

The median of several runs, of wall time and of the processor's own time, which other work on the
machine moves less; set OMP_NUM_THREADS=1 for a processor time without waiting in it.
"""

from __future__ import annotations

import statistics
import sys
import time

GOAL = "at most 100 ms at 2,048 tokens"
RUNS = 9
TEXT = "The quick brown fox jumps over the lazy dog while the cat watches from the mat. "


def main(n_tokens: int = 2048) -> None:
    import attnviz as av
    from attnviz.metrics.ranking import which_heads

    model = av.load_model("smollm2-135m", device="cpu")
    ids = model.tokenizer(TEXT * (n_tokens // 10 + 1))["input_ids"][:n_tokens]
    capture = av.capture(model, model.tokenizer.decode(ids), check=False)
    last, middle = capture.n_tokens - 1, capture.n_tokens // 2
    asked = {"a cell": (last, middle)} | {
        f"a block of {side} x {side}": (slice(last - side, last), slice(middle - side, middle))
        for side in (16, 64, 256)
    }
    heads = sum(layer.n_heads for layer in capture.captured)
    print(f"{heads} heads ranked at {capture.n_tokens:,} tokens (goal: {GOAL})")
    for name, (queries, keys) in asked.items():
        wall, processor = [], []
        for _ in range(RUNS + 1):  # the first warms up
            begin, cpu = time.perf_counter(), time.process_time()
            which_heads(capture, queries, keys)
            wall.append(time.perf_counter() - begin)
            processor.append(time.process_time() - cpu)
        milliseconds = [1000 * statistics.median(times[1:]) for times in (wall, processor)]
        print(f"{name:22} {milliseconds[0]:6.1f} ms, processor {milliseconds[1]:6.1f} ms")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
