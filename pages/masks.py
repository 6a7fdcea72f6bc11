import streamlit as st; st.title("Masks page")
