"""Summaries one after another, such as days: part of the page Models."""

from dataclasses import dataclass, fields
from pathlib import PurePath

import numpy as np
import streamlit as st

from calibcore.counted import counted_scores, joined
from calibcore.inference import Drift
from calibcore.subgroups import JointScreen, SubgroupScreen, screen_subgroups
from calibcore.summary import Period, in_time
from dashboard.compute.cache import key_of, once
from dashboard.figures.subgroups import period_plot
from dashboard.scene import Scene
from dashboard.texts import summaries as words
from dashboard.views.models.document import series_blocks
from dashboard.widgets.blocks import write
from dashboard.widgets.graph import show_graph
from dashboard.widgets.headline import show_subject

_LEAST, _USUAL = 20, 200
"""Draws for the interval of each mean gap; many summaries take a while."""


@dataclass(frozen=True, eq=False)
class _Series:
    """Summaries in the order of their names."""

    periods: tuple[Period, ...]
    drift: Drift | None
    screen: SubgroupScreen
    """The mean gap of each, for the picture."""


def show(scene: Scene) -> None:
    """Show a row a summary, and whether the mean gap drifts; or that it takes two."""
    show_subject(scene)
    if len(scene.upload.summaries) < 2:
        st.info(words.ONE_ALONE, icon=":material/info:")
        return
    with st.spinner(words.PICTURE):
        series = once("summaries in time", key_of(scene.upload, scene.settings), lambda: _of(scene))
    line, table = series_blocks(series.periods, series.drift, expert=scene.expert)
    write(line)
    names = [one.name for one in series.periods]
    figure = period_plot((series.screen, None), names, scene.palette)
    show_graph(words.PICTURE, figure, words.CAPTION)
    write(table)


def _of(scene: Scene) -> _Series:
    named = sorted(scene.upload.summaries.items(), key=lambda one: PurePath(one[0]).stem)
    parts = {PurePath(name).stem: summary.whole for name, summary in named}
    if len(parts) < len(named):
        parts = {name: summary.whole for name, summary in named}
    n_resamples = min(max(scene.n_resamples, _LEAST), _USUAL)
    periods, drift = in_time(parts, n_resamples=n_resamples)
    rows = joined([counted_scores(one.counted, k) for k, one in enumerate(parts.values())])
    screen = screen_subgroups(
        rows.cells.scores, rows.cells.hits, np.asarray(rows.cells.groups), n_subgroups=len(parts),
        sample_weight=rows.times,
    )  # fmt: skip
    low, high = np.array([(one.interval.low, one.interval.high) for one in periods]).T
    known = {one.name: getattr(screen, one.name) for one in fields(SubgroupScreen)}
    none = np.zeros(len(parts), dtype=np.bool_)
    return _Series(
        periods, drift, JointScreen(**known, low=low, high=high, differs=none, n_tests=len(parts))
    )
