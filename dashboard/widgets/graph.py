"""One figure with its caption, and the two sides of a page."""

from collections.abc import Callable

import streamlit as st
from plotly import graph_objects as go
from streamlit.delta_generator import DeltaGenerator

from calibcore.evaluation import SetResult
from dashboard import style
from dashboard.figures import RowMark
from dashboard.figures.drawing import title_of
from dashboard.figures.plotly_json import AS_DRAWN, LightFigure, Titles
from dashboard.texts.comparison import ALL_COLUMNS
from dashboard.widgets import address
from dashboard.widgets.downloads import picture_name

PICTURE_FORMATS = ("PNG", "SVG")


def show_graph(  # noqa: PLR0913 - a picture, what is said of it, and what a click does
    key: str,
    figure: go.Figure | None,
    caption: str,
    note: str = "",
    *,
    mark: RowMark | None = None,
    titles: Titles = AS_DRAWN,
    on_click: Callable[[], None] | None = None,
) -> None:
    """Show a figure over its caption.

    ``key``: unique on its page; its first word opens the description for who cannot see.
    ``figure``: None where there is nothing to draw, which the caption then says. ``caption``: what
    it shows here; "" for none. ``note``: what else it shows, where that stands elsewhere on the
    page. ``mark``: what is added to the figure. ``titles``: how its titles are written.
    ``on_click``: called when a point or bar was clicked, which the state of the key then holds.
    """
    with st.container(gap=None):
        if figure is not None:
            st.plotly_chart(
                LightFigure(figure, style.palette(), mark, titles),
                theme=None,
                key=key_of(key),
                on_select=on_click or "ignore",
                selection_mode="points",
                config=_config(key),
                alt=f"{key.split(maxsplit=1)[0]}: {titles.write(title_of(figure))}."
                f" {caption} {note}",
            )
        if caption:
            st.markdown(f":small[{caption}]")


def key_of(name: str) -> str:
    """Return the key of the figure of a name."""
    return name.lower().replace(" ", "_")


def choose_picture_format() -> None:
    """Show the choice of what the camera of each graph saves."""
    st.segmented_control(
        "Save pictures as",
        PICTURE_FORMATS,
        default="PNG",
        required=True,
        key="pictures",
        **address.IN_ADDRESS,
        help="The camera at the upper right of each graph saves it.",
    )


def _config(what: str) -> dict[str, object]:
    kind = str(st.session_state.get("pictures", "PNG")).lower()
    return {
        "displaylogo": False,
        "modeBarButtonsToRemove": ["select2d", "lasso2d", "zoom2d", "pan2d", "autoScale2d"],
        "toImageButtonOptions": {"format": kind, "filename": picture_name(what), "scale": 2},
    }


def choose_side_on_phones(evaluated: SetResult) -> None:
    """Show one side at a time, with a switch, where the page is as narrow as a phone.

    ``evaluated``: what the page shows; without a calibrator it has one side alone.
    """
    if evaluated.after is evaluated.before:
        return
    with st.container(key="phone_switch"):
        side = st.segmented_control(
            "Show", ["Before", "After"], default="Before", required=True, key="side",
            label_visibility="collapsed", **address.IN_ADDRESS,
        )  # fmt: skip
    style.hide_on_phones("before_" if side == "After" else "after_")


def choose_columns_on_phones(name: str) -> str:
    """Show a switch for the columns that do not fit, where the page is as narrow as a phone.

    ``name``: of the table.

    Class of the table. Unless all columns are asked for, a phone shows the first two and the last
    two, so what must be seen has to be there.
    """
    with st.container(key=f"phone_columns_{name}"):
        wanted = st.toggle(ALL_COLUMNS, key=f"all_columns_{name}")
    return "all-columns" if wanted else "all-columns few"


def two_sides(name: str, *, alone: bool = False) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Return the places of before, on the left, and after, on the right.

    ``alone``: whether the first has nothing beside it, and so three quarters of the page.
    """
    left, right = st.columns([3, 1] if alone else 2, gap="medium")
    return left.container(key=f"before_{name}"), right.container(key=f"after_{name}")
