"""The study of estimators on the laboratory's page: started by a click, watched, and stopped."""

from collections.abc import Callable

import streamlit as st

from calibcore.synthetic import EstimatorStudy
from dashboard import style
from dashboard.compute.laboratory import finished_study, study_of, study_seconds
from dashboard.figures.estimators import error_graph
from dashboard.learn.laboratory import Chosen, preset_of
from dashboard.learn.lesson import Picture
from dashboard.parts.long_work import LongWork, is_asked
from dashboard.parts.picture import show_picture, show_table
from dashboard.wording import estimators as words
from dashboard.wording.laboratory import PRESETS

_ZHANG = ("zhang", "zhang_better")
_KEY, _DRAWS = "lab_study_draws", (30, 100, 300, 1_000)


def is_computing(chosen: Chosen) -> bool:
    """Return whether the study of a model was started and is not finished."""
    n_draws = int(st.session_state.get(_KEY, _DRAWS[1]))
    return is_asked(_work(chosen, n_draws)) and study_seconds(chosen, n_draws) > 0


def show_study(chosen: Chosen, take: Callable[[str], None], *, whole: bool) -> None:
    """Show how far estimates are from their own truths, by number of rows.

    ``chosen``: the model of the laboratory. ``take``: puts a model to begin with, by its word, in
    its place. ``whole``: whether the whole page is run. Work that is started in a fragment starts
    such a run, as no click would end it before its end otherwise.
    """
    st.subheader(words.TITLE, anchor=False)
    st.markdown(words.INTRO)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        n_draws = st.segmented_control(
            words.DRAWS, _DRAWS, default=_DRAWS[1], required=True, key=_KEY,
            format_func=lambda one: f"{one:,}", help=words.DRAWS_HELP,
        ) or _DRAWS[1]  # fmt: skip
        for name in _ZHANG:
            if name != preset_of(chosen):
                st.button(PRESETS[name], key=f"lab_take_{name}", on_click=take, args=(name,))
    study = _study(chosen, n_draws, whole=whole)
    if study is not None and len(study.sizes) > 1:
        figure = error_graph(study, words.SHORT_NAMES, words.GRAPH, words.AXIS, style.palette())
        show_picture(Picture("errors", figure, words.caption(study)), "lab_picture_errors")
        show_table(words.AXIS, words.heads(study), words.rows(study))
        st.markdown(f":small[{words.NOTE}]")


def _work(chosen: Chosen, n_draws: int) -> tuple[object, ...]:
    return "estimators", chosen.model, chosen.seed, n_draws


def _study(chosen: Chosen, n_draws: int, *, whole: bool) -> EstimatorStudy | None:
    """Return the study, computed after a click; or what there is of it."""
    seconds = study_seconds(chosen, n_draws)
    if not seconds:
        return finished_study(chosen, n_draws)
    work = LongWork(_work(chosen, n_draws))
    if not work.agreed(seconds, words.WHAT, ask_from=0):
        found = finished_study(chosen, n_draws)
        if found is not None:
            st.markdown(words.STOPPED)
        return found
    if not whole:
        st.rerun()
    with work.watched() as report:
        return study_of(
            chosen, n_draws, lambda share, n_rows: report(share, words.step(n_rows, n_draws))
        )
