"""One figure with its caption, and the two sides of a page."""

import streamlit as st
from plotly import graph_objects as go
from streamlit.delta_generator import DeltaGenerator

from dashboard import style
from dashboard.figures import Mark
from dashboard.parts.light import LightFigure
from dashboard.parts.saved import file_name
from dashboard.wording.contest import ALL_COLUMNS

PICTURE_FORMATS = ("PNG", "SVG")


def show_graph(
    key: str,
    figure: go.Figure | None,
    caption: str,
    note: str = "",
    *,
    mark: Mark | None = None,
) -> None:
    """Show a figure over its caption.

    Parameters
    ----------
    key : str
        Unique on its page; its first word opens the description for who cannot see.
    figure : Figure or None
        None where there is nothing to draw, which the caption then says.
    caption : str
        What it shows here.
    note : str
        What else it shows, where that stands elsewhere on the page.
    mark : Mark or None
        What is added to the figure.
    """
    with st.container(gap=None):
        if figure is not None:
            st.plotly_chart(
                LightFigure(figure, style.palette(), mark),
                theme=None,
                key=key.lower().replace(" ", "_"),
                config=_config(key),
                alt=f"{key.split(maxsplit=1)[0]}: {figure.layout.title.text}. {caption} {note}",
            )
        st.markdown(f":small[{caption}]")


def choose_picture_format() -> None:
    """Let the user choose what the camera of each graph saves."""
    st.segmented_control(
        "Save pictures as",
        PICTURE_FORMATS,
        default="PNG",
        required=True,
        key="pictures",
        persist_state="session",
        help="The camera at the upper right of each graph saves it.",
    )


def _config(what: str) -> dict[str, object]:
    kind = str(st.session_state.get("pictures", "PNG")).lower()
    return {
        "displaylogo": False,
        "modeBarButtonsToRemove": ["select2d", "lasso2d", "zoom2d", "pan2d", "autoScale2d"],
        "toImageButtonOptions": {"format": kind, "filename": file_name(what), "scale": 2},
    }


def choose_side_on_phones() -> None:
    """Where the page is as narrow as a phone, show one side at a time."""
    with st.container(key="phone_switch"):
        side = st.segmented_control(
            "Show", ["Before", "After"], default="Before", required=True, key="side"
        )
    style.hide_on_phones("before_" if side == "After" else "after_")


def choose_columns_on_phones(name: str) -> str:
    """Where the page is as narrow as a phone, let the user see the columns that do not fit.

    Parameters
    ----------
    name : str
        Of the table.

    Returns
    -------
    str
        Class of the table. Unless all columns are asked for, a phone shows the first two and the
        last two, so what must be seen has to be there.
    """
    with st.container(key=f"phone_columns_{name}"):
        wanted = st.toggle(ALL_COLUMNS, key=f"all_columns_{name}")
    return "all-columns" if wanted else "all-columns few"


def two_sides(name: str) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Give the places of before, on the left, and after, on the right."""
    left, right = st.columns(2, gap="medium")
    return left.container(key=f"before_{name}"), right.container(key=f"after_{name}")
