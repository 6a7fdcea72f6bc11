import streamlit as st

st.title("inspect_model")
