from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcore import CalibrationInputError
from calibcore.calibrators import SplineCalibration
from calibcore.calibrators.score_maps.spline import MOST_KNOTS
from tests.strategies import EventCase, event_data


def knots_of(case: EventCase) -> int:
    free = SplineCalibration(cross_validated=True, constrained=False)
    return free.fit(*case).knot_values.size


def held_out_error(scores: np.ndarray, hits: np.ndarray, n_knots: int) -> float:
    """Read the docstring slowly: sorted rows dealt to five folds in turn."""
    order = sorted(range(len(scores)), key=lambda i: (scores[i], hits[i]))
    total = 0.0
    for fold in range(5):
        kept = [i for place, i in enumerate(order) if place % 5 != fold]
        out = [i for place, i in enumerate(order) if place % 5 == fold]
        free = SplineCalibration(n_knots=n_knots, constrained=False)
        fitted = free.fit(scores[kept], hits[kept])
        total += sum(
            (p - h) ** 2 for p, h in zip(fitted.predict(scores[out]), hits[out], strict=True)
        )
    return total


@pytest.mark.parametrize("seed", range(4))
def test_the_best_number_of_knots_on_rows_left_out_is_taken(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = np.round(rng.random(400), 2)
    hits = (rng.random(400) < 0.5 + 0.4 * np.sin(9 * scores)).astype(int)
    errors = [held_out_error(scores, hits, n) for n in range(3, MOST_KNOTS + 1)]
    assert knots_of(EventCase(scores, hits)) == 3 + int(np.argmin(errors))


@given(case=event_data(min_size=6), random=st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(case: EventCase, random: Random) -> None:
    order = list(range(len(case.scores)))
    random.shuffle(order)
    assert knots_of(case) == knots_of(EventCase(case.scores[order], case.hits[order]))


def test_too_few_rows_are_refused() -> None:
    with pytest.raises(CalibrationInputError, match="scores: 3 rows"):
        SplineCalibration(cross_validated=True).fit([0.1, 0.2, 0.3], [0, 1, 0])
