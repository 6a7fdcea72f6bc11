"""The calculator works where torch is not even installed."""

import subprocess
import sys

SCRIPT = """
import sys
import attnviz as av
spec = av.kv_cache.preset("kimi-k3")
av.kv_cache.formula(av.kv_cache.size(spec, length=4096))
av.kv_cache.CacheSpec.from_config({"model_type": "gpt2", "n_layer": 2, "n_head": 2, "n_embd": 8})
assert not {"torch", "transformers", "streamlit", "pandas"} & set(sys.modules)
"""


def test_nothing_heavy_is_imported():
    subprocess.run([sys.executable, "-c", SCRIPT], check=True)
