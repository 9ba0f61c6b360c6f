"""Decisions: what acting on a score comes to, by the cut-off."""

import streamlit as st

from calibcore.data import EventScores
from calibcore.decisions import at_cutoff, cutoff_of_costs
from calibcore.events import TopR
from dashboard.scene import Scene
from dashboard.tables import csv_of
from dashboard.texts.rows import say_rows
from dashboard.views.decisions import results, words
from dashboard.views.decisions.document import CHOICES, Choices, document
from dashboard.widgets import address
from dashboard.widgets.blocks import write
from dashboard.widgets.downloads import file_name, offer_table
from dashboard.widgets.headline import show_subject


def show(scene: Scene) -> None:
    """Show the page."""
    show_subject(scene)
    top = st.container()
    if isinstance(scene.settings.event, TopR):
        acting, *rest = document(scene, _remember(Choices(accuracy=_choose_accuracy())))
        with top:
            write(acting)
        write(*rest)
        return
    cutoff, costs = _choose_cutoff(results.events_of(scene)["Before"])
    middle, offered = st.container(), results.groupings_of(scene)
    harm = _choose_harm()
    by = _choose_grouping(offered) if offered else None
    choices = _remember(Choices(cutoff, costs, harm=harm, by=by))
    acting, curve, counts, notes, use, *groups = document(scene, choices)
    with top:
        write(acting)
    with middle:
        left, right = st.columns(2, gap="medium")
        with left:
            write(curve)
        with right:
            write(counts, notes)
        write(use)
    with st.container(key="subgroups_table"):
        write(*groups)
    offer_table(lambda: _file(scene, choices), name=file_name("cut-off"), facts=True)


def _remember(choices: Choices) -> Choices:
    """Keep what is chosen for the report, and return it."""
    st.session_state[CHOICES] = choices
    return choices


def _choose_grouping(offered: list[str]) -> str | None:
    st.subheader(words.GROUPS, anchor=False)
    return st.selectbox(
        words.GROUP_BY,
        offered,
        index=None if results.usual_grouping(offered) is None else 0,
        key="decisions_by",
        **address.IN_ADDRESS,
        placeholder=words.GROUP_PLACE,
        width=320,
    )


def _file(scene: Scene, choices: Choices) -> str:
    """Return the counts of all rows and of every subgroup, each side, as a table."""
    sides, cutoff = results.events_of(scene), choices.cutoff or 0.0
    at_cutoffs = [at_cutoff(event, cutoff) for event in sides.values()]
    groups = results.by_group(scene, choices.by, [*sides.values()], cutoff) if choices.by else []
    named = [(say_rows(words.ALL_ROWS), at_cutoffs), *groups]
    lines = words.file_lines(
        [(name, side, one) for name, each in named for side, one in zip(sides, each, strict=True)]
    )
    return csv_of(words.FILE_HEAD, lines)


def _choose_harm() -> float:
    with st.expander(words.MORE):
        per_hundred = st.number_input(
            words.TEST_HARM, 0.0, 100.0, 0.0, key="test_harm", **address.IN_ADDRESS,
            help=words.TEST_HARM_HELP, width=200,
        )  # fmt: skip
    return float(per_hundred) / 100


def _choose_accuracy() -> float:
    wanted = st.slider(
        words.ACCURACY_WANTED, 50.0, 99.9, words.USUAL_ACCURACY, 0.1, key="accuracy_wanted",
        **address.IN_ADDRESS, help=words.ACCURACY_HELP, width=360,
    )  # fmt: skip
    return float(wanted) / 100


def _choose_cutoff(event: EventScores) -> tuple[float, tuple[float, float] | None]:
    """Let the user set a cut-off, or what mistakes cost, which are returned too."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        way = address.choose_button(
            words.BY, words.WAYS, key="cutoff_by", default="slider", width="content"
        )
        if way == "slider":
            usual = results.usual_cutoff(event)
            chosen = st.slider(
                words.CUTOFF, 1, 99, usual, key="cutoff", help=words.CUTOFF_HELP, width=420,
                **address.IN_ADDRESS,
            )  # fmt: skip
            return int(chosen) / 100, None
        alarm, miss = (
            st.number_input(
                label, 0.01, 1e9, usual, key=key, **address.IN_ADDRESS,
                help=words.COSTS_HELP, width=200,
            )
            for label, usual, key in (
                (words.ALARM, 1.0, "cost_alarm"),
                (words.MISS, 4.0, "cost_miss"),
            )
        )  # fmt: skip
    costs = float(alarm), float(miss)
    return cutoff_of_costs(*costs), costs
