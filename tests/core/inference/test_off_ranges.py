"""Ranges of scores that are off: against loops over rows and draws, and scores that are true."""

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import erfc

from calibcore.errors import CalibrationInputError
from calibcore.inference import OffRange, off_ranges
from tests.strategies import Floats

Run = tuple[int, int]


def rows_of(*parts: tuple[float, int, int]) -> tuple[list[float], list[int]]:
    """Return scores and outcomes: of each part its score, its rows and its hits."""
    scores = [score for score, n, _ in parts for _ in range(n)]
    return scores, [int(k < n_hits) for _, n, n_hits in parts for k in range(n)]


def test_many_bins_that_are_each_a_little_off_are_one_range() -> None:
    # 294 rows above 47%, 11 to 26 points too high in every bin; below, scores are true.
    low = ((0.1, 300, 30), (0.3, 200, 60), (0.43, 100, 43))
    high = ((0.5, 60, 23), (0.56, 50, 21), (0.63, 46, 22), (0.7, 40, 22), (0.76, 34, 18),
            (0.83, 26, 17), (0.9, 22, 16), (0.97, 16, 13))  # fmt: skip
    (result,) = off_ranges(*rows_of(*low, *high))
    n_rows, n_hits = sum(n for _, n, _ in high), sum(hits for _, _, hits in high)
    gap = (sum(score * n for score, n, _ in high) - n_hits) / n_rows
    assert (round(result.low, 4), result.high, result.first, result.last) == (
        0.4667,
        1,
        False,
        True,
    )
    assert (n_rows, result.n_rows) == (294, 294)
    assert result.gap == pytest.approx(gap)
    each = [score - hits / n for score, n, hits in high]
    assert (round(min(each), 2), round(max(each), 2)) == (0.12, 0.23)
    assert (result.least, result.most) == pytest.approx((min(each), max(each)))
    # By themselves, adjusted for 11 bins, two are off (Bonferroni, normal).
    parts = zip(each, high, strict=True)
    alone = [erfc(gap / math.sqrt(2 * s * (1 - s) / n)) for gap, (s, n, _) in parts]
    assert sum(p_value < 0.05 / 11 for p_value in alone) == 2


class Slow:
    """Every run of bins in loops over rows, and the strongest of those that are significant."""

    def __init__(self, scores: Floats, hits: Floats, n_bins: int) -> None:
        self.scores, self.hits, self.n_bins = scores, hits, n_bins
        self.place = np.maximum(np.ceil(np.round(scores * n_bins, 9)).astype(int) - 1, 0)
        self.filled = sorted(set(self.place.tolist()))
        n = len(self.filled)
        self.runs = [(i, j) for i in range(n) for j in range(i, n)]
        self.seen = self.deviations(hits)

    def inside(self, run: Run) -> NDArray[np.bool_]:
        return np.isin(self.place, self.filled[run[0] : run[1] + 1])

    def deviations(self, labels: Floats) -> dict[Run, float]:
        results = {}
        for run in self.runs:
            s, h = self.scores[self.inside(run)], labels[self.inside(run)]
            results[run] = float((s.sum() - h.sum()) / math.sqrt((s * (1 - s)).sum()))
        return results

    def contrary(self, run: Run) -> bool:
        for k in range(run[0], run[1] + 1):
            big = self.inside((k, k)).sum() >= 0.01 * self.scores.size
            if (big or abs(self.seen[k, k]) > 1.96) and self.seen[k, k] * self.seen[run] < 0:
                return True
        return False

    def labels(self, n_draws: int) -> list[int]:
        rng = np.random.default_rng(5)
        drawn = [(rng.random(self.scores.size) < self.scores).astype(float) for _ in range(n_draws)]
        largest = sorted(max(map(abs, self.deviations(one).values())) for one in drawn)
        label = [0] * len(self.filled)
        for run in sorted(self.runs, key=lambda one: -abs(self.seen[one])):
            mine = slice(run[0], run[1] + 1)
            result = abs(self.seen[run]) > largest[int(0.95 * n_draws)] and not self.contrary(run)
            if result and not any(label[mine]):
                label[mine] = [1 if self.seen[run] > 0 else -1] * (run[1] + 1 - run[0])
        return label

    def range_of(self, run: Run) -> OffRange:
        start, end = run
        mine, gaps = self.inside(run), []
        for k in range(start, end + 1):
            own = self.inside((k, k))
            if own.sum() >= 0.01 * self.scores.size:
                gaps.append(abs(float(self.scores[own].mean() - self.hits[own].mean())))
        low, high = self.filled[start] / self.n_bins, (self.filled[end] + 1) / self.n_bins
        means = float(self.scores[mine].mean()), float(self.hits[mine].mean())
        first, last = start == 0, end == len(self.filled) - 1
        return OffRange(low, high, first, last, int(mine.sum()), *means, min(gaps), max(gaps))

    def ranges(self, n_draws: int) -> list[OffRange]:
        results, place = [], 0
        for sign, same in itertools.groupby(self.labels(n_draws)):
            end = place + len(list(same))
            results += [self.range_of((place, end - 1))] if sign else []
            place = end
        return results


@pytest.mark.parametrize(("seed", "n_bins"), [(0, 6), (1, 10), (2, 15)])
def test_ranges_are_those_of_a_loop_over_all_runs(seed: int, n_bins: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.random(1200)
    scores = scores[(scores < 0.5) | (scores > 0.65)]  # an empty part joins its sides
    true = np.clip(scores + rng.choice([-0.25, 0.25]) * np.sin(4 * scores), 0, 1)
    hits = (rng.random(scores.size) < true).astype(float)
    results, expected = (
        off_ranges(scores, hits, n_bins=n_bins),
        Slow(scores, hits, n_bins).ranges(60),
    )
    assert expected
    names = ("low", "high", "first", "last", "n_rows", "mean_score", "frequency", "least", "most")
    assert [[getattr(one, name) for name in names] for one in results] == [
        pytest.approx([getattr(one, name) for name in names]) for one in expected
    ]


def test_true_scores_rarely_name_a_range() -> None:
    rng, named = np.random.default_rng(9), 0
    for _ in range(150):
        scores = rng.beta(0.3, 3, 200)  # rare events among them
        named += bool(off_ranges(scores, rng.random(200) < scores, level=0.1, n_draws=100))
    assert named <= 15 + 3 * math.sqrt(15 * 0.9)


def test_scores_of_0_and_1_that_are_wrong_are_found() -> None:
    (result,) = off_ranges([0.0] * 40 + [1.0] * 40, [0] * 40 + [1] * 39 + [0])
    assert (result.last, result.n_rows, round(result.gap, 9)) == (True, 40, 0.025)
    assert off_ranges([0.0, 1.0], [0, 1]) == ()


@pytest.mark.parametrize("level", [0, 1, 1.5, "x"])
def test_a_level_is_between_0_and_1(level: object) -> None:
    with pytest.raises(CalibrationInputError, match="level"):
        off_ranges([0.5], [1], level=level)  # type: ignore[arg-type]
