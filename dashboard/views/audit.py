"""The audit: verdict, tiles, graphs before and after, reliability diagrams, measures."""

from collections.abc import Callable

import streamlit as st
from plotly import graph_objects as go

from calibcore.evaluation import AuditResult, SetResult, Side
from dashboard import style, wording
from dashboard.compute import SideFigures
from dashboard.figures import Diagram, reliability_diagram
from dashboard.settings import Settings
from dashboard.wording.sentences import band_note, isotonic_caption, smoothed_caption

PLOT_CONFIG = {
    "displaylogo": False,
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "zoom2d", "pan2d", "autoScale2d"],
}

DIAGRAMS: dict[str, Diagram] = {
    "Bins": "bins",
    "Isotonic (CORP)": "isotonic",
    "Smoothed": "smoothed",
}
CAPTIONS: dict[Diagram, Callable[[Side], str]] = {
    "bins": wording.reliability_caption,
    "isotonic": isotonic_caption,
    "smoothed": smoothed_caption,
}


def show_verdict(
    result: AuditResult, judged: SetResult, event: wording.EventWords, settings: Settings
) -> None:
    """Say the conclusion in two sentences, with the fit's warnings."""
    found = wording.verdict(judged.before, event)
    with st.container(key="verdict"):
        st.markdown(f":{found.colour}-badge[{found.icon} {found.word}]")
        st.subheader(found.sentence, anchor=False)
        st.markdown(wording.outcome(result, judged, settings.method))
    if judged is result.calibration:
        st.info(wording.FITTED_HERE, icon=":material/info:")
    if result.same_data:
        st.warning(wording.SAME_DATA, icon=":material/warning:")


def show_tiles(result: AuditResult, judged: SetResult) -> None:
    """Show the four figures that matter most, before and after, and what the fit warns of."""
    with st.container(key="tiles"):
        columns = st.columns(4)
        for column, tile in zip(columns, wording.tiles(judged), strict=True):
            column.metric(
                tile.name,
                tile.value,
                delta=tile.note,
                delta_color=tile.colour,
                delta_arrow="off",
                help=tile.definition,
                border=True,
            )
    st.markdown(f":small[{wording.below_tiles(judged)}]")
    for sentence in result.warnings:
        st.markdown(f":small[:material/warning: {wording.escape_markdown(sentence)}]")


def show_sides(
    result: AuditResult, judged: SetResult, before: SideFigures, after: SideFigures
) -> None:
    """Show the graphs before on the left and after on the right."""
    with st.container(key="phone_switch"):
        side = st.segmented_control(
            "Show", ["Before", "After"], default="Before", required=True, key="side"
        )
    hidden = "before" if side == "After" else "after"
    style.hide_on_phones(f"side_{hidden}")
    style.hide_on_phones(f"diagram_{hidden}")
    where = wording.set_name(result, judged)
    left, right = st.columns(2, gap="medium")
    with left, st.container(key="side_before"):
        _show_side("Before", judged.before, before, where)
    with right, st.container(key="side_after"):
        _show_side("After", judged.after, after, where)
    _show_diagrams(judged, before, after)
    with st.expander("How to read these graphs"):
        st.markdown(wording.HOW_TO_READ)


def _show_side(name: str, side: Side, figures: SideFigures, where: str) -> None:
    st.subheader(name, anchor=False)
    note = band_note(side)
    st.markdown(f"**{wording.side_title(side, where)}**  \n:small[{note}]")
    graphs = figures.graphs
    panels = (
        ("a", graphs.cumulative_by_fractile, wording.cumulative_caption(side)),
        ("b", graphs.cumulative_by_score, wording.warped_caption(side)),
        ("c", graphs.frequency_by_fractile, wording.fractile_caption(side)),
        ("d", graphs.frequency_by_score, wording.score_caption(side)),
    )
    for pair in (panels[:2], panels[2:]):
        for column, (letter, figure, caption) in zip(st.columns(2, gap="small"), pair, strict=True):
            with column:
                _show_graph(f"{name} {letter}", figure, caption, note)


def _show_diagrams(judged: SetResult, before: SideFigures, after: SideFigures) -> None:
    """Show the reliability diagrams of both sides, drawn in the way that is chosen."""
    diagram, caption = _choose_diagram()
    left, right = st.columns(2, gap="medium")
    sides = (
        ("Before", left, judged.before, judged.after, before),
        ("After", right, judged.after, judged.before, after),
    )
    for name, column, side, beside, figures in sides:
        figure = figures.reliability
        if diagram != "bins":
            figure = reliability_diagram(side, beside, style.palette(), diagram)
        with column, st.container(key=f"diagram_{name.lower()}", gap=None):
            st.markdown(f"**{name}**")
            _show_graph(f"{name} reliability", figure, caption(side))


def _choose_diagram() -> tuple[Diagram, Callable[[Side], str]]:
    """Let the user choose how the diagram is drawn; give also what captions it."""
    chosen = st.segmented_control(
        "Draw the reliability diagram as",
        list(DIAGRAMS),
        default="Bins",
        required=True,
        key="reliability",
        bind="query-params",
        persist_state="session",
        help="Bins are the usual picture. The isotonic curve finds its own steps. The smoothed one"
        " averages the rows near each score.",
    )
    diagram = DIAGRAMS[chosen or "Bins"]
    return diagram, CAPTIONS[diagram]


def _show_graph(key: str, figure: go.Figure | None, caption: str, note: str = "") -> None:
    """Show a figure over its caption; a note that stands elsewhere is for who cannot see."""
    with st.container(gap=None):
        if figure is not None:
            st.plotly_chart(
                figure,
                key=key.lower().replace(" ", "_"),
                config=PLOT_CONFIG,
                alt=f"{key.split(maxsplit=1)[0]}: {figure.layout.title.text}. {caption} {note}",
            )
        st.markdown(f":small[{caption}]")
