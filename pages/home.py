import streamlit as st
st.title("Home")
from attnviz.components.explorer import demo
demo()
