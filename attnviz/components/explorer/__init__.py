import streamlit as st

_m = st.components.v2.component(
    "attnviz.explorer", html="<div class='root'></div>", js="main.js", css="explorer.css"
)


def demo():
    _m(key="x", data=b"hello")
