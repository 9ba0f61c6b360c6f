"""How far columns go together: what a score foretells, and where classes are the same."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.recognition.features import Feature, table_of
from dashboard.readers.recognition.ranks import spelt_alike
from dashboard.readers.recognition.vocabulary import folded

EVERY = 500_000
"""Rows that are looked at where the answer counts for all that follows."""

_PARTS, _LARGEST_LOGIT = 20, 50


@dataclass(frozen=True)
class Relation:
    """How the numbers of some rows are above those of the others.

    The skill is the share of the Brier score of the frequency alone that is saved by taking the
    numbers for probabilities, percentages or logits, of the others where the area is below 0.5.
    """

    area: float = 0.5  # AUROC
    sure: float = 0.0  # distance of the area from 0.5 in standard errors under chance
    skill: float = 0.0

    @property
    def strength(self) -> float:
        """Rank correlation from 0 to 1, as far as it is beyond luck."""
        if abs(self.sure) < 2:
            return 0.0
        return 2 * abs(self.area - 0.5) * (1 - 1 / abs(self.sure))


def relation(score: Feature, marks: NDArray[np.int64], most: int = 0) -> Relation:
    """Return how the numbers of rows marked 1 are above those marked 0; others do not count."""
    rows, ranks = score.ranked(most) if most else score.ranks
    own = marks[rows]
    known = own >= 0
    happened = own[known] == 1
    n_first, n_rows = int(happened.sum()), len(happened)
    ranks = ranks[known]
    if min(n_first, n_rows - n_first) < 2 or not (spread := float(ranks.var(ddof=1))):
        return Relation()
    gap = float(ranks[happened].mean() - ranks[~happened].mean())
    error = float(np.sqrt(spread * (1 / n_first + 1 / (n_rows - n_first))))
    area = min(max(0.5 + gap / len(rows), 0.0), 1.0)
    skill = _skill(score, rows[known], happened if area >= 0.5 else ~happened)
    return Relation(area, gap / error, skill)


def _skill(score: Feature, rows: NDArray[np.intp], happened: NDArray[np.bool_]) -> float:
    values = score.column.values[rows].astype(np.float64)
    if score.is_share:
        p = values
    elif score.low >= 0 and score.high <= 100:
        p = values / 100
    elif score.low < 0 < score.high and max(-score.low, score.high) < _LARGEST_LOGIT:
        p = 1 / (1 + np.exp(-values))
    else:
        return 0.0
    share = float(happened.mean())
    return max(0.0, 1 - float(((p - happened) ** 2).mean()) / (share * (1 - share)))


def beyond_luck(truth: NDArray[np.int64], said: NDArray[np.int64]) -> bool:
    """Return whether two columns of classes agree more often than by chance."""
    known = truth >= 0
    truth, said = truth[known], said[known]
    if len(truth) < 5:
        return False
    kinds, places = np.unique(np.concatenate((truth, said)), return_inverse=True)
    own = np.bincount(places[: len(truth)], minlength=len(kinds)) / len(truth)
    other = np.bincount(places[len(truth) :], minlength=len(kinds)) / len(truth)
    luck = float(own @ np.where(kinds < 0, 0, other))
    error = float(np.sqrt(max(luck * (1 - luck), 1e-9) / len(truth)))
    return float((truth == said).mean()) > luck + 3 * error


def same_classes(first: Feature, second: Feature) -> bool:
    """Return whether the values of two columns are mostly the same."""
    own, other = spelt_alike(first.kinds[0], second.kinds[0])
    shared = len({*own} & {*other})
    least = min(first.n_kinds, second.n_kinds)
    return shared >= max(min(2, least), 0.5 * least)


def hits(truth: Feature, said: Feature) -> NDArray[np.int64] | None:
    """Mark rows of two columns that agree by 1, others 0, unknown -1; None if that may be luck."""
    own_names, other_names = spelt_alike(truth.kinds[0], said.kinds[0])
    places = {name: k for k, name in enumerate(own_names)}
    known = np.array([*(places.get(name, -2) for name in other_names), -2])
    own, other = truth.kinds[1], said.kinds[1]
    if not beyond_luck(own[truth.rows], known[other[truth.rows]]):
        return None
    return np.where((own >= 0) & (other >= 0), own == known[other], -1).astype(np.int64)


def largest(
    members: Sequence[Feature], outcome: Feature, names: Mapping[str, int]
) -> tuple[bool, float]:
    """Return whether the largest value is that of the outcome beyond luck, and how often it is."""
    rows = members[0].rows
    table = np.nan_to_num(table_of(members, rows), nan=-np.inf)
    top = table.argmax(axis=1)
    written, codes = outcome.kinds
    own = codes[rows]
    numberings: list[NDArray[np.int64]] = []
    if names:
        places = np.array([names.get(folded(kind), -1) for kind in written])
        numberings.append(np.where(own >= 0, places[own], -1))
    elif outcome.is_number:
        truth = np.where(own >= 0, np.nan_to_num(outcome.column.values[rows]).astype(np.int64), -1)
        numberings += [truth, truth - 1] if outcome.low >= 1 else [truth]
    elif len(written) == table.shape[1]:
        counts = np.zeros((len(written), len(written)))
        np.add.at(counts, (own[own >= 0], top[own >= 0]), 1)
        best, whole = counts.argmax(axis=0), max(float(counts.sum()), 1.0)
        share = float(counts.max(axis=0).sum()) / whole
        apart = len({*best.tolist()}) == len(written)
        return apart and share > 1.3 * float(counts.sum(axis=1).max()) / whole, share
    found = [(beyond_luck(truth, top), float((truth == top).mean())) for truth in numberings]
    return max(found, default=(False, 0.0))
