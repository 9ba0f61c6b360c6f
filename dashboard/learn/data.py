"""The data of the lessons: real models of the samples, read once."""

from dataclasses import replace
from functools import cache
from typing import Literal

import numpy as np

from calibcore.data import EventScores, LogitSet
from calibcore.events import TopR
from calibcore.samples import load_sample
from calibcore.splits import Split
from dashboard.learn.laboratory import EVENT, LIMITS, LaboratoryModel
from dashboard.learn.lesson import Link, State

SETS = ("calibration", "test")

NETWORK = "fashion_cnn_overconfident"
"""The model that most lessons speak of: one that was trained too long."""

NETWORK_NAME = "a neural network that names the garment in a picture"


@cache
def sample(name: str = NETWORK) -> Split[LogitSet]:
    """Return both sets of a sample."""
    arrays = load_sample(name)
    names = [str(one) for one in arrays["class_names"]]
    fit, test = (LogitSet(arrays[f"logits_{s}"], arrays[f"labels_{s}"], names) for s in SETS)
    return Split(fit, test)


@cache
def top_scores(name: str = NETWORK, which: Literal["calibration", "test"] = "test") -> EventScores:
    """Return the scores of the top prediction, and whether it was correct, of one set."""
    rows: LogitSet = getattr(sample(name), which)
    return TopR(1).outcomes(rows.probabilities, rows.labels)


@cache
def few_rows(n: int = 60, seed: int = 7) -> EventScores:
    """Return a few rows of the network, evenly over the scores where most of them are too high.

    Rows drawn at random would nearly all have a score of 100%, and show nothing: so as many are
    drawn in each tenth of the scores above 40%.
    """
    every = top_scores()
    rng = np.random.default_rng(seed)
    edges = np.linspace(0.4, 1, 7)
    tenth = np.digitize(every.scores, edges[1:-1])
    inside = every.scores > edges[0]
    parts = [
        rng.choice(np.flatnonzero(inside & (tenth == k)), n // 6, replace=False) for k in range(6)
    ]
    chosen = np.sort(np.concatenate(parts))
    return every.rows(chosen[np.argsort(every.scores[chosen], kind="stable")])


def drawn(n: int, rng: np.random.Generator, of: EventScores | None = None) -> EventScores:
    """Return rows drawn at random without repetition, of the network's unless given."""
    every = top_scores() if of is None else of
    return every.rows(np.sort(rng.choice(every.n_samples, n, replace=False)))


def in_laboratory(model: LaboratoryModel, state: State, key: str) -> LaboratoryModel:
    """Return a model of the laboratory with a state's draw: its code opens the very same rows."""
    rng = state.rng(key)
    seed, draw = (int(rng.integers(*LIMITS[name], endpoint=True)) for name in ("seed", "draw"))
    return replace(model, seed=seed, draw=draw)


def laboratory_link(
    page: str, model: LaboratoryModel, label: str, method: str = "none", **more: str
) -> Link:
    """Return the rows of a model of two classes on a page of the dashboard.

    ``method``: key of a calibrator. ``**more``: of the address.
    """
    query = {"data": "laboratory", "model": model.code, "method": method}
    return Link(page, {**query, "event": "class", "class": EVENT, **more}, label)
