"""For comparison: one map of ?n= tokens as Streamlit's Plotly chart, changed by a switch."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

n = int(st.query_params.get("n", "64"))
maps = np.random.default_rng(0).dirichlet(np.ones(n), size=(2, n)).astype(np.float32)
chosen = int(st.toggle("Switch"))
figure = go.Figure(go.Heatmap(z=maps[chosen]))
figure.update_layout(height=600, yaxis={"autorange": "reversed"})
st.plotly_chart(figure, key="map")
