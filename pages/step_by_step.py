import streamlit as st

st.title("step_by_step")
