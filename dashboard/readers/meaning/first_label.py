"""Top-1 tables in which true and predicted classes are numbers that may count from 0 or from 1."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dashboard.readers.columns.slices import NUMBER
from dashboard.readers.contents import SET_NAMES, Array, Options, RawEvent, Role, rows_of_file
from dashboard.readers.meaning.labels import NUMBERED
from dashboard.readers.refusal import FileError, percent

_HIGHEST = 10**9
_FEW_ROWS = 20
_TELLING, _FAR, _PLAIN = 0.1, 0.2, 0.5
_WHICH = {1: "true labels", -1: "predicted labels"}


@dataclass(frozen=True)
class Counted:
    """Events whose true and predicted classes count alike, and what was said of it."""

    events: Mapping[Role, RawEvent]
    repairs: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


def numbers_of(names: Sequence[str], *codes: Array) -> tuple[Array, ...] | None:
    """Give classes as the numbers that they are called by, if all are.

    Parameters
    ----------
    names : sequence of str
        The different classes.
    *codes : ndarray
        Places among them.

    Examples
    --------
    >>> [part.tolist() for part in numbers_of(["3", "LABEL_2"], np.array([0, 1]))]
    [[3, 2]]
    >>> numbers_of(["cat", "2"], np.array([0, 1])) is None
    True
    """
    parts = [NUMBERED.fullmatch(name) for name in names]
    if len({part[1] for part in parts if part}) > 1:
        return None
    texts = [part[2] if part else name for part, name in zip(parts, names, strict=True)]
    if not texts or not all(NUMBER.fullmatch(text) and len(text) < 40 for text in texts):
        return None
    numbers = np.array([float(text) for text in texts])
    if (numbers != np.floor(numbers)).any() or np.abs(numbers).max() > _HIGHEST:
        return None
    whole = numbers.astype(np.min_scalar_type(-int(np.abs(numbers).max()) - 2))
    return tuple(whole[part] for part in codes)


def counted_alike(events: Mapping[Role, RawEvent], options: Options) -> Counted:
    """Compare true with predicted classes again, where one counts from 1 and the other from 0.

    Notes
    -----
    That is so where one has 1 .. K, the other 0 .. K - 1, and they agree far more often when one is
    taken from the first. The user's word that labels count from 0 leaves all as it stands.
    """
    pairs = [raw.numbers for raw in events.values() if raw.numbers is not None]
    if not pairs or len(pairs) < len(events):
        return Counted(events)
    truth, predicted = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    if options.first_label == 1:
        _refuse_zero(events)
        return _from_one(events, truth, predicted, 1 if predicted.min() < 1 else 0)
    if options.first_label == 0:
        return Counted(events)
    shift = next((s for s in (1, -1) if _may_differ(truth, predicted, s)), 0)
    if shift:
        return _weighed(events, truth, predicted, shift)
    return Counted(events, (), _far_more_often(truth, predicted))


def _weighed(
    events: Mapping[Role, RawEvent], truth: Array, predicted: Array, shift: int
) -> Counted:
    """Follow plain evidence that one counts from 1, and doubt where there is some."""
    low, high = (truth, predicted)[::-shift]
    gain = _agreement(truth, predicted, shift) - _agreement(truth, predicted, 0)
    if len(truth) < _FEW_ROWS:
        return Counted(events, (), (_doubt(truth, predicted, shift),) if gain > _PLAIN else ())
    one_off = low.max() == high.max() - 1
    if one_off and gain > max(_FAR, 2 / math.sqrt(len(truth))):
        return _from_one(events, truth, predicted, shift)
    if one_off or gain > _TELLING:
        return Counted(events, (), (_doubt(truth, predicted, shift),))
    return Counted(events)


def _far_more_often(truth: Array, predicted: Array) -> tuple[str, ...]:
    """Doubt numbers without a 0 that agree far more often when one is taken from the first."""
    if len(truth) < _FEW_ROWS:
        return ()
    shift = max((1, -1), key=lambda s: _agreement(truth, predicted, s))
    gain = _agreement(truth, predicted, shift) - _agreement(truth, predicted, 0)
    far = gain > max(_FAR, 2 / math.sqrt(len(truth)))
    return (_doubt(truth, predicted, shift),) if far else ()


def _may_differ(truth: Array, predicted: Array, shift: int) -> bool:
    """Tell numbers without a 0 beside others with one, of which the first may count from 1."""
    low, high = (truth, predicted)[::-shift]
    return bool(high.min() >= 1 > low.min() >= 0)


def _agreement(truth: Array, predicted: Array, shift: int) -> float:
    """Give the share of rows that are right if the truth, or with -1 the prediction, is from 1."""
    return float(np.mean(truth == predicted + shift))


def _doubt(truth: Array, predicted: Array, shift: int) -> str:
    """Say that one column may count from 1."""
    there, then = (percent(_agreement(truth, predicted, s)) for s in (0, shift))
    return (
        f"True labels are from {truth.min()} to {truth.max()} and predicted ones from"
        f" {predicted.min()} to {predicted.max()}; they agree in {there} of the rows. If the"
        f" {_WHICH[shift]} count from 1 and the others from 0, they agree in {then}."
    )


def _from_one(
    events: Mapping[Role, RawEvent], truth: Array, predicted: Array, shift: int
) -> Counted:
    """Compare anew, with the truth, or with -1 the prediction, counted from 1."""
    if not shift:
        return Counted(events)
    there, then = (percent(_agreement(truth, predicted, s)) for s in (0, shift))
    n_classes = len(np.unique(np.concatenate([np.unique(truth - shift), np.unique(predicted)])))
    high = truth if shift > 0 else predicted
    said = (
        f"{_WHICH[shift].capitalize()} from {high.min()} to {high.max()} were shifted to"
        f" {high.min() - 1} to {high.max() - 1} ({len(truth):,} labels), since"
        f" {_WHICH[-shift]} begin at 0: they agree in {then} of the rows, instead of {there}."
    )
    made = {role: _compared(raw, shift, n_classes) for role, raw in events.items()}
    return Counted(made, (said,))


def _compared(raw: RawEvent, shift: int, n_classes: int) -> RawEvent:
    if raw.numbers is None:
        return raw
    truth, predicted = raw.numbers
    return replace(raw, hits=truth == predicted + shift, n_classes=n_classes)


def _refuse_zero(events: Mapping[Role, RawEvent]) -> None:
    """Refuse labels below 1 that are said to count from 1."""
    for role, raw in events.items():
        bad = np.asarray(raw.numbers)[0] < 1
        if bad.any():
            place = f"labels {SET_NAMES[role]}".strip()
            raise FileError(place, f"numbers below 1 {rows_of_file(bad, raw)}", "labels from 1")
