"""Scores of the predicted class, from 0 to 1 or in percent."""

import numpy as np

from calibcore.validation import Floats
from dashboard.readers.binary.npy import is_whole
from dashboard.readers.contents import SET_NAMES, Options, RawEvent, Role, rows_of_file
from dashboard.readers.refusal import FileError

HIGHEST_MARK = 20
"""Up to it the highest of some scores is that of a scale of marks, not a percentage."""

_OR_PERCENT = ", or your word that they are probabilities in percent"


def top_scores(raw: RawEvent, role: Role, repairs: list[str], options: Options) -> Floats:
    """Bring scores to 0 to 1.

    Raises
    ------
    FileError
        Marks of a scale, or percentages in some rows and fractions in others, unless the user says
        that they are probabilities.
    """
    scores = np.asarray(raw.scores, dtype=np.float64)
    place = f"confidence {SET_NAMES[role]}".strip()
    # Most percentages are above 1; a few such values among scores are faults.
    if scores.min() >= 0 and 2 <= scores.max() <= 100 and np.median(scores) > 1:
        if options.values != "probabilities":
            _refuse_marks(scores, place)
            _refuse_fractions(scores, raw, place)
        repairs.append(f"Percentages were divided by 100 in all {len(scores):,} rows.")
        return scores / 100
    bad = ~((scores >= 0) & (scores <= 1 + 1e-6))
    if bad.any():
        percent = ", or percentages in every row" if scores.min() >= 0 else ""
        wanted = f"scores from 0 to 1{percent}"
        raise FileError(place, f"values outside 0 to 1 {rows_of_file(bad, raw)}", wanted)
    return np.minimum(scores, 1.0)


def _refuse_marks(scores: Floats, place: str) -> None:
    low, high = float(scores.min()), float(scores.max())
    if high > HIGHEST_MARK or (high == HIGHEST_MARK and not is_whole(scores)):
        return
    kind = "whole numbers" if is_whole(scores) else "values"
    raise FileError(
        place, f"{kind} from {low:.4g} to {high:.4g}: marks of a scale, as of a rating",
        f"scores from 0 to 1 or in percent{_OR_PERCENT}",
    )  # fmt: skip


def _refuse_fractions(scores: Floats, raw: RawEvent, place: str) -> None:
    """Refuse what is too low for the likeliest class, though there be twice those that occur."""
    bad = (scores > 0) & (scores < min(1, 50 / (raw.n_classes or 1)))
    if bad.any():
        raise FileError(
            place,
            f"percentages up to {scores.max():.4g}, but values below 1 {rows_of_file(bad, raw)}",
            f"either fractions or percentages in every row{_OR_PERCENT}",
        )
