"""What rows stand for and whom they belong to, in words."""

import math

import numpy as np

from calibcore.calibrators.score_maps.offset import FittedOffset
from calibcore.data import EventScores, Rows, is_designed
from calibcore.inference import Interval
from calibcore.prevalence import PriorShift
from calibcore.weights import effective_size
from dashboard.readers.records import Design
from dashboard.scene import Scene
from dashboard.texts.numbers import ci, percent
from dashboard.texts.rows import rows_of

NO_DRIFT = "Drift is not tested where rows have sampling weights or belong together."
NO_CLASSES = (
    "Classes are not compared where rows have sampling weights or belong together. Subgroups tests"
    " predicted classes; one class can be the event."
)


def design_line(scene: Scene) -> str:
    """Return what the rows stand for and how far that counts; empty of rows that count once."""
    if scene.result.prior_shift is not None:
        return prior_line(scene.rows, scene.result.prior_shift)
    rows, raw = scene.rows, next(iter(scene.upload.contents.sets.values()), None)
    design = Design() if raw is None or raw.design is None else raw.design
    parts = []
    if design.counts:
        parts.append(f'"{design.weight_name}" counts equal rows')
    if rows.weights is not None:
        size = effective_size(rows.weights.values)
        by = f' by "{design.weight_name}"' if design.weight_name else ""
        parts.append(f"weighted{by}: worth {size:,.0f} rows drawn with equal chances")
    if rows.clusters is not None:
        n_clusters = np.unique(rows.clusters).size
        name = f'"{design.cluster_name}"' if design.cluster_name else "clusters"
        parts.append(f"rows of {n_clusters:,} {name} belong together")
    if is_designed(rows):
        n_alike = rows.n_samples / _effect(scene)
        parts.append(
            f"the mean gap is as uncertain as that of {n_alike:,.0f} rows drawn one by one"
        )
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}." if parts else ""


def _effect(scene: Scene) -> float:
    design = scene.evaluated.before.counted.design
    return 1.0 if design is None else design.effect * design.times_by_t


def prior_line(rows: Rows, shift: PriorShift) -> str:
    """Return what a stated prevalence was taken to mean, and whether the scores speak against it.

    ``rows``: moved and weighted by it.
    """
    if rows.weights is None or not isinstance(rows, EventScores):
        return shift.assumed
    given, own = FittedOffset(-shift.offset).predict(rows.scores), float(rows.hits.mean())
    weighted = float(np.average(given, weights=rows.weights.values))
    if abs(_odds(weighted) - _odds(shift.stated)) >= abs(_odds(float(given.mean())) - _odds(own)):
        return shift.assumed
    n_rows = rows.n_samples
    return (
        f"{shift.assumed} But as given, scores fit the stated share better (mean"
        f" {percent(weighted, n_rows)} where it holds) than that of these rows (mean"
        f" {percent(float(given.mean()), n_rows)} of {percent(own, n_rows)}): if they are meant for"
        " it already, give rows sampling weights instead."
    )


def estimated_share(share: float, interval: Interval, n_rows: int, among: float) -> str:
    """Return the share of the event among rows without outcomes.

    ``interval``: of 95%. ``n_rows``: of these. ``among``: share among the rows with outcomes.
    """
    ends = ci(percent(interval.low, n_rows), percent(interval.high, n_rows))
    return (
        f"the event is estimated to have a share of {percent(share, n_rows)} of {rows_of(n_rows)}"
        f" without outcomes ({ends}); among those with outcomes it is {percent(among, n_rows)}."
    )


def shift_assumed(calibrator: str) -> str:
    """Return what an estimated share rests on. ``calibrator``: what calibrated the scores."""
    return (
        "It is assumed that rows with the event have scores like those with it here, and rows"
        f" without likewise, and that {calibrator} calibrates the scores. Rows without outcomes"
        " cannot show whether that is so, and the interval does not count it."
    )


def _odds(share: float) -> float:
    inside = min(max(share, 1e-9), 1 - 1e-9)
    return math.log(inside / (1 - inside))
