"""Two columns called a label, of which one lists every class of each sample in turn."""

from collections.abc import Sequence

from dashboard.readers.columns.headings import CONFIDENCE, LABELS, is_score
from dashboard.readers.columns.slices import NUMBER
from dashboard.readers.columns.truths import Sample, has_fractions

_LEAST, _MOST_OFF = 3, 0.05


def classes_in_turn(
    keys: Sequence[str], sample: Sample, label: int | None
) -> tuple[int, int] | None:
    """Find the true label, and the column of the class whose score each row gives.

    Parameters
    ----------
    keys, sample : sequence
        The headings as they are compared, and the first rows.
    label : int, optional
        The column that the user calls the label.

    Returns
    -------
    tuple of int, optional
        Both columns, where every few rows list all classes once, with scores that sum to 1, and
        have one label.

    Examples
    --------
    >>> shares = (("a", "0.7"), ("b", "0.3"))
    >>> rows = [[label, one, share] for label in "aba" for one, share in shares]
    >>> classes_in_turn(["label", "class", "probability"], rows, None)
    (0, 1)
    """
    called = [c for c, key in enumerate(keys) if key in LABELS and not has_fractions(c, sample)]
    scores = [c for c, key in enumerate(keys) if key in CONFIDENCE or is_score(key)]
    if len(called) != 2 or len(scores) != 1:
        return None
    first, second = called
    found = [
        (true, own)
        for true, own in ((first, second), (second, first))
        if label in (None, true) and _lists_all(sample, true, own, scores[0])
    ]
    return found[0] if len(found) == 1 else None


def _lists_all(sample: Sample, true: int, own: int, score: int) -> bool:
    classes = {row[own].strip() for row in sample}
    width = len(classes)
    starts = range(0, len(sample) - width + 1, width)
    parts = [sample[k : k + width] for k in starts if width > 1]
    if len(parts) < _LEAST or not all(NUMBER.fullmatch(row[score]) for row in sample):
        return False
    return all(
        {row[own].strip() for row in part} == classes
        and len({row[true].strip() for row in part}) == 1
        and _is_whole(sum(float(row[score]) for row in part))
        for part in parts
    )


def _is_whole(total: float) -> bool:
    return any(abs(total / top - 1) <= _MOST_OFF for top in (1, 100))
