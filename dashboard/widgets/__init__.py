"""Pieces that pages are put together from; they know Streamlit, but no page."""
