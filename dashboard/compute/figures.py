"""Figures drawn once for each result and theme."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from plotly import graph_objects as go

from calibcore.evaluation import Side
from calibcore.metrics.binned import BinSweep, sweep_bins
from calibcore.subgroups import Places
from dashboard.compute.cache import key_of, once
from dashboard.compute.subgroups import SubgroupResults
from dashboard.compute.uncertainty import class_bins
from dashboard.document.blocks import Picture, Pictures
from dashboard.figures import Diagram, bins_graph, class_picture, reliability_diagram
from dashboard.figures.layout import harmless
from dashboard.figures.plotly_json import Titles
from dashboard.figures.subgroups import period_plot, subgroup_plot
from dashboard.scene import Scene
from dashboard.settings import CLASS_BINS
from dashboard.texts.events import EventWords
from dashboard.texts.reliability import (
    belt_caption,
    bins_caption,
    isotonic_caption,
    of_event,
    plot_caption,
    smoothed_caption,
)
from dashboard.texts.rows import rows, say_rows

CAPTIONS: dict[Diagram, Callable[..., str]] = {
    "bins": bins_caption,
    "plot": plot_caption,
    "isotonic": isotonic_caption,
    "smoothed": smoothed_caption,
    "belt": belt_caption,
}


def diagrams_of(scene: Scene, diagram: Diagram = "bins") -> Pictures:
    """Draw the reliability diagram of each side of one set; of one where there is no other."""
    before, after = scene.evaluated.before, scene.evaluated.after
    one_sided = after is before
    write = partial(_title, event=scene.event_words)

    def picture(name: str, side: Side, beside: Side) -> Picture:
        key = *_key(scene), name, diagram
        drawn = once(
            "diagrams", key, lambda: reliability_diagram(side, beside, scene.palette, diagram)
        )
        caption = CAPTIONS[diagram](side, expert=scene.expert)
        return Picture(
            f"{name.lower()} reliability", caption, drawn, Titles("" if one_sided else name, write)
        )

    first = picture("Before", before, after)
    return Pictures(
        "reliability", (first,) if one_sided else (first, picture("After", after, before))
    )


def _title(title: str, event: EventWords) -> str:
    named = of_event(title, event=event)
    return say_rows(title) if named == title else harmless(named)


SweepFigure = tuple[go.Figure, BinSweep]


def draw_sweep(scene: Scene) -> tuple[SweepFigure, SweepFigure]:
    """Draw the error against the number of bins on one set, before and after; with its numbers."""
    any_bins = _key(scene, n_bins=CLASS_BINS)[:2]

    def swept() -> tuple[BinSweep, BinSweep]:
        evaluated = scene.evaluated
        before = sweep_bins(evaluated.before.counted)
        return before, sweep_bins(evaluated.after.counted) if evaluated.calibrated else before

    def make() -> tuple[SweepFigure, SweepFigure]:
        before, after = once("swept bins", any_bins, swept)
        how = scene.settings.n_bins, scene.palette
        return (bins_graph(before, after, *how), before), (bins_graph(after, before, *how), after)

    return once("sweeps", _key(scene), make)


def draw_classes(scene: Scene, classes: tuple[int, ...]) -> tuple[go.Figure, ...]:
    """Draw a small picture of each of a few classes of one set; none where there are no classes."""

    def make() -> tuple[go.Figure, ...]:
        bins = class_bins(scene)
        if bins is None:
            return ()
        before, after = bins
        beside = None if after is before else after
        return tuple(
            class_picture(before.of_class(k), beside and beside.of_class(k), scene.palette)
            for k in classes
        )

    return once("class pictures", (*_key(scene, n_bins=CLASS_BINS), classes), make)


def draw_subgroups(scene: Scene, results: SubgroupResults, shown: Places) -> go.Figure:
    """Draw the mean gaps of some subgroups of one set; of periods of time, of all."""
    subgrouping = results.subgrouping
    after = None if results.after is results.before else results.after

    def make() -> go.Figure:
        if subgrouping.in_time:
            return period_plot((results.before, after), subgrouping.shown, scene.palette)
        return subgroup_plot((results.before, after), subgrouping.shown, shown, scene.palette)

    key = (*_key(scene, n_bins=CLASS_BINS), subgrouping.by, tuple(shown.tolist()))
    return once("subgroup plots", key, make)


def _key(scene: Scene, n_bins: int | None = None) -> tuple[object, ...]:
    """Return what decides a figure; with a number of bins, one that heeds no other."""
    settings = scene.settings if n_bins is None else replace(scene.settings, n_bins=n_bins)
    return key_of(scene.upload, settings), scene.chosen, scene.palette, rows()
