"""A picture of the pages that teach, over its sentence; and a table."""

from collections.abc import Callable, Sequence

import pyarrow as pa
import streamlit as st

from dashboard import style
from dashboard.figures.drawing import title_of
from dashboard.figures.plotly_json import LightFigure
from dashboard.learn.lesson import LessonPicture
from dashboard.texts import learn


def show_picture(
    picture: LessonPicture, key: str, on_click: Callable[[], None] | None = None
) -> None:
    """Show a picture.

    ``picture``: what is drawn, and what it shows in words. ``key``: unique on its page.
    ``on_click``: called when a point was clicked, which the state of the key then holds.
    """
    with st.container(gap=None):
        st.plotly_chart(
            LightFigure(picture.figure, style.palette()),
            theme=None,
            key=key,
            on_select=on_click or "ignore",
            selection_mode="points",
            config={"displayModeBar": False, "scrollZoom": False},
            alt=learn.alt_text(title_of(picture.figure), picture.text),
        )
        st.markdown(f":small[{picture.text}]")


def show_table(
    title: str, head: tuple[str, ...], rows: Sequence[tuple[str, ...]], *, narrow: bool = False
) -> None:
    """Show a table of texts, row by row, under its title; a narrow one is as wide as they are."""
    st.markdown(f"**{title}**")
    # Of an Arrow table Streamlit makes no data frames, which take 4 ms.
    columns = pa.table({name: [row[k] for row in rows] for k, name in enumerate(head)})
    st.table(columns, hide_index=True, width="content" if narrow else "stretch")
