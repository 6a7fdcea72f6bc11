"""A class that opens the app together: many threads first use transformers at once."""

import subprocess
import sys

TOGETHER = """
import threading, time
import torch
failures = []

def run(job):
    try:
        job()
    except Exception as problem:
        failures.append(f"{type(problem).__name__}: {problem}")

def tokenizer():
    from attnviz.models.loading import load_tokenizer
    load_tokenizer("minilm-l6")

def capture():
    import attnviz as av
    av.capture(av.load_model("minilm-l6", device="cpu"), "the cat")

threads = [threading.Thread(target=run, args=(job,)) for job in (tokenizer, capture) * 3]
for thread in threads:
    thread.start()
    time.sleep(0.15)
for thread in threads:
    thread.join()
assert not failures, failures
"""


def test_threads_that_first_ask_for_transformers_together_all_get_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", TOGETHER], capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
