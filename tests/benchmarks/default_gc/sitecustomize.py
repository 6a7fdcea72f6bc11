"""For comparison only: a server that never freezes its heap, as Streamlit is by default."""

import gc

gc.freeze = lambda: None
