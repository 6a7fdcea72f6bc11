"""Random but valid specs, for tests that must hold for all of them."""

from hypothesis import strategies as st

from attnviz import kv_cache as kv

few = st.integers(1, 9)
LAYERS = st.one_of(
    st.builds(kv.Full, few, few, st.none() | few),
    st.builds(lambda n, d, w: kv.Sliding(n, d, window=w), few, few, st.integers(1, 300)),
    st.builds(kv.Latent, few, st.integers(0, 5), st.integers(0, 5)),
    st.builds(kv.Linear, st.tuples(few, few, few), st.integers(0, 9), st.integers(1, 4)),
    st.builds(kv.Cross, few, few),
    st.just(kv.NoCache()),
)
SPECS = st.lists(LAYERS, min_size=1, max_size=6).map(kv.CacheSpec.from_layers)
DTYPES = st.sampled_from(kv.DTYPES)
