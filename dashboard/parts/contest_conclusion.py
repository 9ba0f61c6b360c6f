"""What a comparison of calibrators lets one say, above its picture."""

from dataclasses import replace

import streamlit as st

from calibcore.contest import Contestant, Picks, pick, sides_shown
from calibcore.events import OneClass
from calibcore.metrics import METRICS, EventMeasure, Measure
from dashboard import compute
from dashboard.compute import Dealt
from dashboard.scene import Scene
from dashboard.wording import contest as words
from dashboard.wording.rows import say_rows

_OF_ALL = tuple(next(m for m in METRICS if m.key == key) for key in ("nll", "accuracy"))
"""Measures of all classes, which an event does not decide."""


def show(scene: Scene, picks: Picks, among: list[Contestant], dealt: Dealt) -> None:
    """Show what is known of the best, of those that are level, and of the test set."""
    n_folds = min(dealt.n_folds, scene.split.calibration.n_samples)
    apart = _changers(scene, picks.measure, among)
    alike = [one for one in among if one not in apart]
    picks = pick(alike, picks.measure) or picks
    nll, accuracy = _OF_ALL
    with st.spinner(words.TESTING):
        found = compute.advice_of(scene, alike, dealt, picks.measure)
        by_nll = compute.advice_of(scene, apart, dealt, nll)
    level: list[Contestant] = []
    if found is not None:
        said = words.advice(found, alike, picks.measure, n_folds, expert=scene.expert)
        st.subheader(said, anchor=False)
        used = next(one for one in alike if one.key == (found.advised or found.best))
        picks = replace(picks, winner=used)
        told = [words.level(found)]
        if found.advised:
            told.append(words.worse_there(used, _OF_ALL))
        st.markdown(" ".join(filter(None, told)))
    elif len(alike) > 1:
        level = words.level_with(picks, alike)
        st.subheader(words.conclusion(picks, n_folds, level, expert=scene.expert), anchor=False)
        st.markdown(f":small[{words.NOT_TESTED}]")
    if apart:
        st.markdown(words.changers(by_nll, apart, nll, accuracy))
    same = scene.result.same_data
    if len(sides_shown(among)) > 1:
        st.markdown(words.on_test(picks, alike, level, same_data=same))
    if same:
        st.warning(say_rows(words.SAME_DATA), icon=":material/warning:")
    elif scene.chosen == "calibration":
        st.info(words.BOTH_SETS, icon=":material/info:")


def _changers(scene: Scene, measure: Measure, among: list[Contestant]) -> list[Contestant]:
    """Return those that change the predicted classes, and so what an event of ranks is about."""
    if isinstance(scene.settings.event, OneClass) or not isinstance(measure, EventMeasure):
        return []
    return [one for one in among if one.crossed.changed_decisions]
