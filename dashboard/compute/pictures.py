"""Figures drawn once for each result and theme."""

from dataclasses import dataclass
from typing import Literal

from plotly import graph_objects as go

from calibcore.metrics.bins import sweep_bins
from dashboard.compute.keep import key_of, once
from dashboard.figures import (
    FourGraphs,
    SweepFigures,
    four_graphs,
    reliability_diagram,
    sweep_figures,
)
from dashboard.scene import Scene

SideChoice = Literal["before", "after"]


@dataclass(frozen=True)
class SideFigures:
    """What is drawn of one side.

    Parameters
    ----------
    graphs : FourGraphs
        The four cumulative and fractile graphs.
    reliability : plotly.graph_objects.Figure
        The reliability diagram.
    """

    graphs: FourGraphs
    reliability: go.Figure


def draw(scene: Scene, side: SideChoice) -> SideFigures:
    """Draw one side of one set."""

    def make() -> SideFigures:
        shown, beside = scene.judged.before, scene.judged.after
        if side == "after":
            shown, beside = beside, shown
        return SideFigures(
            four_graphs(shown, beside, scene.palette),
            reliability_diagram(shown, beside, scene.palette),
        )

    return once("sides", (*_key(scene), side), make)


def draw_sweep(scene: Scene) -> SweepFigures:
    """Draw the error against the number of bins on one set."""

    def make() -> SweepFigures:
        judged = scene.judged
        before = sweep_bins(judged.before.counted)
        after = before if judged.after is judged.before else sweep_bins(judged.after.counted)
        return sweep_figures(before, after, scene.settings.n_bins, scene.palette)

    return once("sweeps", _key(scene), make)


def _key(scene: Scene) -> tuple[object, ...]:
    return key_of(scene.upload, scene.settings), scene.chosen, scene.palette
