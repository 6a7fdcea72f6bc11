import streamlit as st

st.title("masks")
