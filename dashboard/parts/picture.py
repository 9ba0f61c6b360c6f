"""A picture of the pages that teach, over its sentence; and a table."""

from collections.abc import Callable, Sequence

import streamlit as st

from dashboard import style
from dashboard.figures.sent import LightFigure
from dashboard.learn.lesson import Picture
from dashboard.wording import learn


def show_picture(picture: Picture, key: str, on_click: Callable[[], None] | None = None) -> None:
    """Show a picture.

    Parameters
    ----------
    picture : Picture
        What is drawn, and what it shows in words.
    key : str
        Unique on its page.
    on_click : callable or None
        Called when a point was clicked, which the state of the key then holds.
    """
    with st.container(gap=None):
        st.plotly_chart(
            LightFigure(picture.figure, style.palette()),
            theme=None,
            key=key,
            on_select=on_click or "ignore",
            selection_mode="points",
            config={"displayModeBar": False, "scrollZoom": False},
            alt=learn.alt_text(str(picture.figure.layout.title.text), picture.text),
        )
        st.markdown(f":small[{picture.text}]")


def show_table(title: str, head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """Show a table of texts, row by row, under its title."""
    st.markdown(f"**{title}**")
    st.table({name: [row[k] for row in rows] for k, name in enumerate(head)})
