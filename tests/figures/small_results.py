"""Small results made by hand, and what a figure holds."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.auditing import AuditResult, audit
from calibcore.calibrators import SplineCalibration
from calibcore.data import EventScores, LogitSet
from calibcore.evaluation import Side
from calibcore.events import TopR
from calibcore.splits import Split
from dashboard.figures import LIGHT, Diagram, FourGraphs, Palette, four_graphs, reliability_diagram
from dashboard.settings import Settings
from dashboard.texts.badges import Badge, side_badge
from dashboard.texts.events import EventWords
from dashboard.texts.verdict import how_far

Floats = NDArray[np.float64]
Figure = Any
"""Plotly ships no types."""

MINUS, SPACE = "\u2212", "\u00a0"

GRAPHS = (
    "cumulative_by_fractile",
    "cumulative_by_score",
    "frequency_by_fractile",
    "frequency_by_score",
)


def pct(text: str) -> str:
    return f"{text}%"


def verdict(
    side: Side, event: EventWords, badge: Badge | None = None, *, expert: bool = False
) -> str:
    """The sentence of one side, its finding in words rather than as a badge."""
    badge = badge or side_badge(side, prediction=event.prediction)
    return f"{badge.word}{how_far(side, event, badge, expert=expert)}"


def events(n_samples: int, *, shift: float = 0.1, seed: int = 0) -> EventScores:
    """Scores between 0.2 and 1 without ties; hits less often than they say by the shift."""
    rng = np.random.default_rng(seed)
    scores = 0.2 + 0.8 * rng.beta(3, 1, n_samples)
    return EventScores(scores, rng.random(n_samples) < scores - shift)


def result_of(n_samples: int, *, shift: float = 0.1, n_bins: int = 15) -> AuditResult:
    rows = events(n_samples, shift=shift, seed=1)
    return audit(
        Split(events(2000, shift=shift), rows),
        event=TopR(1),
        calibrator=SplineCalibration(),
        n_bins=n_bins,
    )


def logit_result(method: str, *, n_test: int = 2000) -> AuditResult:
    """An overconfident model of three classes."""
    rng = np.random.default_rng(5)

    def rows(n: int) -> LogitSet:
        logits = 6 * rng.normal(size=(n, 3))
        return LogitSet(logits, (logits / 3 + rng.gumbel(size=logits.shape)).argmax(axis=1))

    chosen = Settings(TopR(1), method).calibrator()
    return audit(Split(rows(2000), rows(n_test)), event=TopR(1), calibrator=chosen)


def side_of(scores: object, hits: object) -> Side:
    """One side, of numbers given by hand."""
    rows = EventScores(np.asarray(scores, dtype=np.float64), np.asarray(hits, dtype=np.int64))
    return audit(Split(rows, rows), event=TopR(1), calibrator=None).test.before


def blocks(*parts: tuple[float, int, int]) -> Side:
    """One side of blocks of rows: their score, how many, how many of them hits."""
    scores = np.concatenate([np.full(n, score) for score, n, _ in parts])
    hits = np.concatenate([np.arange(n) < n_hits for _, n, n_hits in parts])
    return side_of(scores, hits)


def sides(result: AuditResult) -> list[tuple[str, Side, Side]]:
    """Each side of the test set by its name, with the one beside it."""
    before, after = result.test.before, result.test.after
    return [("before", before, after), ("after", after, before)]


def page(result: AuditResult, palette: Palette = LIGHT) -> dict[str, Figure]:
    """All figures of one page, by name."""
    before, after = result.test.before, result.test.after
    drawn: dict[str, Figure] = {}
    for name, side, beside in (("before", before, after), ("after", after, before)):
        graphs = four_graphs(side, beside, palette)
        drawn |= {f"{name}_{graph}": figure for graph, figure in parts(graphs).items()}
        drawn[f"{name}_reliability"] = reliability_diagram(side, beside, palette)
    return {name: figure for name, figure in drawn.items() if figure is not None}


def curves(result: AuditResult, palette: Palette = LIGHT) -> dict[str, Figure]:
    """Reliability diagrams that are drawn only when they are chosen, by name."""
    before, after = result.test.before, result.test.after
    ways: tuple[Diagram, ...] = ("isotonic", "smoothed", "belt")
    return {
        f"{name}_{way}": reliability_diagram(side, beside, palette, way)
        for name, side, beside in (("before", before, after), ("after", after, before))
        for way in ways
    }


def outline(drawn: Any) -> list[tuple[Floats, Floats, Floats]]:
    """Take the outline of a band apart: place, lowest and highest of each stretch."""
    gaps = np.flatnonzero(np.isnan(drawn.x))
    stretches = zip(np.split(drawn.x, gaps), np.split(drawn.y, gaps), strict=True)
    results = []
    for x, y in stretches:
        known = ~np.isnan(x)
        (there, back), (lower, upper) = np.split(x[known], 2), np.split(y[known], 2)
        assert there.tolist() == back[::-1].tolist()
        results.append((there, lower, upper[::-1]))
    return results


def parts(graphs: FourGraphs) -> dict[str, Figure]:
    return {name: getattr(graphs, name) for name in GRAPHS}


def trace(figure: Figure, name: str) -> Any:
    """Find what is drawn by the name it has in the hover."""
    (result,) = [drawn for drawn in figure.data if drawn.name == name]
    return result


def walk(value: object) -> list[str]:
    """Every text inside, numbers left out."""
    match value:
        case str():
            return [value]
        case dict():
            inside = [walk(part) for key, part in value.items() if key != "bdata"]
        case list() | tuple():
            inside = [walk(part) for part in value]
        case _:
            return []
    return [text for some in inside for text in some]


def texts(figure: Figure) -> list[str]:
    """Every text of a figure's specification."""
    return walk(json.loads(figure.to_json()))
