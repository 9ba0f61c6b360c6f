"""Names and labels that speak against what the values were taken for."""

import re
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from calibcore.data import EventScores, LogitSet
from calibcore.validation import Floats
from dashboard.readers.contents import ColumnUse
from dashboard.readers.meaning.scale import Scale
from dashboard.readers.refusal import quoted, visible

_LOGITS = frozenset({"logit", "logits"})
_SHARES = frozenset(
    {"prob", "probs", "proba", "probas", "probability", "probabilities", "softmax", "percent"}
)
_LOGARITHMS = frozenset({"log", "logprob", "logprobs", "raw", "unnormalized"})
_OF_ONE = frozenset({"p", "phat", "risk", "fitted"})
"""What one probability is called, besides."""

_FEW_ROWS = 20
_CLEAR = 3.0
_HALF, _NEARLY_ALL = 0.5, 0.8
_SORTED = 100_000


def called_otherwise(
    uses: Mapping[str, ColumnUse], reading: Scale, *, one_score: bool = False
) -> Iterator[str]:
    """Doubt logits that are called probabilities, and the reverse.

    Logarithms of probabilities give these either way, and a single score may have its doubts.

    Examples
    --------
    >>> list(called_otherwise({"logits": "class"}, Scale("logits", "")))
    []
    """
    names = [name for name, use in uses.items() if use == "class"]
    words = [{*re.split(r"[^a-z]+", name.lower())} for name in names]
    if not names:
        return
    told = _SHARES | _OF_ONE if one_score else _SHARES
    shares = all(part & told and not part & (_LOGITS | _LOGARITHMS) for part in words)
    logits = all(part & _LOGITS and not part & (_SHARES | _LOGARITHMS) for part in words)
    if reading.kind == "logits" and shares and not reading.natural:
        which = "some" if one_score else "they"
        yield (
            f"The values are called {quoted(names[0], 30)}, but {which} are outside 0 to 1 and were"
            " read as logits."
        )
    if reading.kind == "probabilities" and logits and not (one_score and reading.doubts):
        what = "all are within 0 to 1" if one_score else f"every row sums to {reading.divisor:.0f}"
        yield (
            f"The values are called {quoted(names[0], 30)}, but {what} and they were read as"
            " probabilities."
        )


def turned(rows: LogitSet | EventScores, where: str, *, one_score: bool = False) -> Iterator[str]:
    """Doubt scores that are lower where what they are of is true, of two classes at most.

    They are so by three standard errors, which is chance in 1 of 700 sets whose scores tell
    nothing. ``one_score``: the file has a score of one of two classes alone.
    """
    if isinstance(rows, EventScores):
        area = _area(rows.scores[:_SORTED], rows.hits[:_SORTED] == 1)
        if area is not None:
            yield (
                f"Scores{where} are lower in rows that are right than in others (AUC {area:.2f};"
                " 0.5 is chance): perhaps they measure doubt, as an entropy does, or stand beside"
                " other rows."
            )
        elif _are_of_true_class(rows):
            yield (
                f"No score{where} is above 0.5 where the prediction is wrong, and nearly all where"
                " it is right: perhaps they are of the true class, not of the predicted one."
            )
        return
    if rows.n_classes != 2:
        return
    given = rows.given[:_SORTED]
    area = _area(np.nan_to_num(given[:, 1] - given[:, 0]), rows.labels[:_SORTED] == 1)
    if area is None:
        return
    one, other = (visible(rows.class_names[k], 30) for k in (1, 0))
    mend = "the columns are in the other order."
    if one_score:
        mend = "the score is of the other class. If so, choose that one as the event."
    yield (
        f"Scores of class {one}{where} are lower in rows of class {one} than in rows of class"
        f" {other} (AUC {area:.2f}; 0.5 is chance): perhaps the labels are turned round, or {mend}"
    )


def _area(scores: Floats, truth: NDArray[np.bool_]) -> float | None:
    """Return the area under the ROC curve if it is clearly below one half."""
    n_ones = int(np.count_nonzero(truth))
    pairs = n_ones * (len(truth) - n_ones)
    if not pairs or len(truth) < _FEW_ROWS:
        return None
    noise = np.sqrt((len(truth) + 1) / (12 * pairs))
    others, ones = np.sort(scores[~truth]), scores[truth]
    below = np.searchsorted(others, ones, "left") + np.searchsorted(others, ones, "right")
    area = float(below.sum() / (2 * pairs))
    return area if area < 0.5 - _CLEAR * noise else None


def _are_of_true_class(rows: EventScores) -> bool:
    """Recognise scores that say themselves which rows are right, as those of the true class do."""
    right, high = rows.hits == 1, rows.scores > _HALF
    n_wrong, n_right = int(np.count_nonzero(~right)), int(np.count_nonzero(right))
    enough = min(n_wrong, n_right) >= _FEW_ROWS
    return enough and not high[~right].any() and bool(high[right].mean() > _NEARLY_ALL)
