"""A calibrator of scores as a table of straight pieces, for a spreadsheet or a lookup by hand."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.calibrators.base import FittedScoreMap
from calibcore.calibrators.by_group import FittedByGroup
from calibcore.errors import CalibrationInputError
from calibcore.probabilities import log_odds, sigmoid
from calibcore.results import result_class
from calibcore.validation import Floats

TABLE_ACCURACY = 1e-4
"""By how much a table may differ from its calibrator: a hundredth of a percentage point."""

_STEP = 1e-13
"""Share of a score by which a step is moved off it, so that a rounded score is on the same side."""

_LOWEST = 1e-300
"""Where a step above the score 0 is."""

_SEEDS = np.concatenate(
    [np.linspace(0, 1, 257), 0.5 ** np.arange(9, 53), 1 - 0.5 ** np.arange(9, 53)]
)
"""Scores between which a curve is taken to bend no more than once."""


@result_class
class ScoreTable:
    """Straight pieces, each from its score up to the next; between pieces there may be a step."""

    score: Floats
    """Ascending; the first is 0, the last 1; shape (n_pieces,)."""
    calibrated: Floats
    """The calibrated score there; shape (n_pieces,)."""
    slope: Floats
    """What is added to it for each unit of score beyond; shape (n_pieces,)."""

    def at(self, scores: ArrayLike) -> Floats:
        """Look scores up.

        ``scores``: in [0, 1]; shape (n_samples,).
        """
        checked = validation.scores(scores)
        place = np.searchsorted(self.score, checked, side="right") - 1
        beyond = checked - self.score[place]
        return np.asarray(self.calibrated[place] + self.slope[place] * beyond)


def score_table(fitted: FittedScoreMap, accuracy: float = TABLE_ACCURACY) -> ScoreTable:
    """Write a calibrator of scores as a table.

    ``fitted``: of a calibrator by group, the table is the map of all rows. ``accuracy``: by how
    much the table may differ at any score; of a calibrator by group, also after what a group adds.

    With as few pieces as that needs, or nearly.

    Raises `CalibrationInputError` for an accuracy of 0 or below.

    Curves are halved until every piece is straight to a quarter of the accuracy; then pieces are
    joined, from the whole range down, as far as the rest of it allows. Steps are kept, but moved by
    1e-13 of their score away from the score that they are at, to the side on which it changes
    nothing: so a score with 15 digits, as spreadsheets keep it, is on the side that it was fitted.
    """
    if not accuracy > 0:
        raise CalibrationInputError("accuracy", f"{accuracy:g}", "a number above 0")
    of_all = fitted.score_map if isinstance(fitted, FittedByGroup) else fitted
    seen = _outputs(fitted)
    points = _halved(_breaks(of_all), of_all, seen, accuracy / 4)
    first, last = _joined(points, of_all, seen, 0.7 * accuracy)
    score, calibrated = points.score[first], points.right[first]
    slope = (points.left[last] - calibrated) / (points.score[last] - score)
    return ScoreTable(
        np.append(score, 1.0), np.append(calibrated, points.right[-1]), np.append(slope, 0.0)
    )


class _Points(NamedTuple):
    """Ascending scores with what they become, coming from below and going up from there."""

    score: Floats
    left: Floats
    right: Floats


Outputs = Callable[[Floats], Floats]
"""From scores by the map of all rows to what is read off them, shape (n_outputs, n_scores)."""


def _outputs(fitted: FittedScoreMap) -> Outputs:
    if not isinstance(fitted, FittedByGroup):
        return lambda calibrated: calibrated[np.newaxis]
    shift, slope = fitted.shift[:, np.newaxis], fitted.slope[:, np.newaxis]

    def of_groups(calibrated: Floats) -> Floats:
        inside = np.clip(calibrated, 0.0, 1.0)
        return np.vstack([calibrated, sigmoid(shift + slope * log_odds(inside))])

    return of_groups


def _breaks(fitted: FittedScoreMap) -> _Points:
    """Return the steps and corners of a map, its ends, and scores between that catch its curve."""
    starts, ends, corners = fitted.breaks()

    def predict(scores: Floats) -> Floats:
        return fitted.predict(scores) if scores.size else scores

    before = np.clip(starts * (1 - _STEP), 0.0, 1.0)
    after = np.clip(ends * (1 + _STEP), _LOWEST, 1.0)
    plain = np.concatenate([corners, _SEEDS])
    score = np.concatenate([before, after, plain])
    left = np.concatenate([predict(before), predict(ends), predict(plain)])
    right = np.concatenate([predict(starts), predict(after), predict(plain)])
    order = np.argsort(score, kind="stable")
    score, left, right = score[order], left[order], right[order]
    new = np.append(True, score[1:] > score[:-1])
    # Of several at one score, the first knows what is below and the last what is above.
    return _Points(score[new], left[new], right[np.append(new[1:], True)])


def _halved(points: _Points, fitted: FittedScoreMap, seen: Outputs, enough: float) -> _Points:
    """Add the middle of every piece that is not straight."""
    while True:
        score, left, right = points
        middle, value = _middles(points, fitted)
        off = np.abs(seen(value) - seen((right[:-1] + left[1:]) / 2)).max(axis=0) > enough
        if not off.any():
            return points
        place = np.flatnonzero(off) + 1
        points = _Points(
            np.insert(score, place, middle[off]),
            np.insert(left, place, value[off]),
            np.insert(right, place, value[off]),
        )


def _middles(points: _Points, fitted: FittedScoreMap) -> tuple[Floats, Floats]:
    """Return the middle of every piece, and what it becomes; of the narrowest, what is kept.

    A step is on the other side of its own score, so there the calibrator itself does not tell.
    """
    score, left, right = points
    middle = (score[1:] + score[:-1]) / 2
    starts, ends, _ = fitted.breaks()
    moved = 4 * _STEP * score[1:] if starts.size or ends.size else 0.0
    narrow = np.diff(score) <= np.maximum(moved, _LOWEST)
    narrow |= (middle == score[1:]) | (middle == score[:-1])
    return middle, np.where(narrow, (right[:-1] + left[1:]) / 2, fitted.predict(middle))


def _joined(
    points: _Points, fitted: FittedScoreMap, seen: Outputs, enough: float
) -> tuple[list[int], list[int]]:
    """Return the first and the last point of each piece."""
    score, left, right = points
    middle, value = _middles(points, fitted)
    wanted = [seen(left), seen(right), seen(value)]
    pieces: list[tuple[int, int]] = []
    waiting = [(0, score.size - 1)]
    while waiting:
        i, j = waiting.pop()
        slope = (left[j] - right[i]) / (score[j] - score[i])
        line = seen(right[i] + slope * (score[i + 1 : j] - score[i]))
        between = seen(right[i] + slope * (middle[i:j] - score[i]))
        off = np.zeros(j - i)
        for known in wanted[:2]:
            np.maximum(off[1:], np.abs(known[:, i + 1 : j] - line).max(axis=0), out=off[1:])
        apart = np.abs(wanted[2][:, i:j] - between).max(axis=0)
        if j == i + 1 or max(off.max(), apart.max()) <= enough:
            pieces.append((i, j))
            continue
        worst = int(np.maximum(off, apart)[1:].argmax()) + 1
        waiting += [(i, i + worst), (i + worst, j)]
    pieces.sort()
    return [i for i, _ in pieces], [j for _, j in pieces]
