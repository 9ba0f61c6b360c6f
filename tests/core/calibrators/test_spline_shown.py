"""The spline beside what it was fitted to, and rows found by their fractile."""

from itertools import pairwise
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from calibcore.calibrators import SplineCalibration
from calibcore.cumulative import cumulative_curves
from tests import reference
from tests.strategies import EventCase, event_data

Runout = Literal["natural", "parabolic", "cubic"]
FitTo = Literal["difference", "hits"]


@given(
    event_data(min_size=8),
    st.sampled_from(["natural", "parabolic", "cubic"]),
    st.sampled_from(["difference", "hits"]),
)
def test_the_points_and_the_curve_agree_with_the_loops(
    case: EventCase, runout: Runout, fit_to: FitTo
) -> None:
    calibrator = SplineCalibration(5, runout, fit_to, constrained=False)
    fitted = calibrator.fit(*case)
    shown = calibrator.shown(fitted, *case)
    rows = reference.calibration_rows(case.scores.tolist(), case.hits.tolist(), fit_to)
    assert_allclose(shown.fractile, [float(x) for x in rows.fractile], rtol=0, atol=1e-15)
    assert_allclose(shown.total, [float(total) for total in rows.total], rtol=0, atol=1e-12)
    knots = fitted.knot_values.tolist()
    curve = [reference.spline(knots, runout, x) for x in shown.fractile.tolist()]
    scale = max(1.0, *map(abs, knots))
    assert_allclose(shown.fitted, curve, rtol=0, atol=1e-9 * scale)
    gaps = [abs(total - y) for total, y in zip(shown.total.tolist(), curve, strict=True)]
    assert shown.farthest == pytest.approx(max(gaps), abs=1e-9 * scale)
    squares = sum(gap * gap for gap in gaps) / len(gaps)
    assert shown.root_mean_square == pytest.approx(squares**0.5, abs=1e-9 * scale)


def test_the_usual_and_the_cross_validated_fit_are_shown_as_they_are(
    rng: np.random.Generator,
) -> None:
    scores = rng.beta(4, 1, 400)
    hits = (rng.random(400) < scores**2).astype(int)
    for calibrator in (
        SplineCalibration(constrained=False),
        SplineCalibration(cross_validated=True, constrained=False),
    ):
        fitted = calibrator.fit(scores, hits)
        shown = calibrator.shown(fitted, scores, hits)
        assert shown.spline.values.tolist() == fitted.knot_values.tolist()
        # The slope of what is shown, added to the score, is the calibrated score.
        ordered = np.sort(scores)
        slope = np.clip(shown.spline.derivative(shown.fractile) + ordered, 0, 1)
        assert_allclose(fitted.predict(ordered), slope, rtol=0, atol=1e-9)


@given(event_data(), st.floats(0, 1))
def test_the_place_is_the_first_block_that_ends_there(case: EventCase, fractile: float) -> None:
    curves = cumulative_curves(*case)
    place = curves.place_at(fractile)
    ends = curves.fractile.tolist()
    wanted = next(k for k, end in enumerate(ends) if k > 0 and end >= fractile)
    assert place == wanted


def test_every_hundredth_of_10_000_rows_is_met_exactly(rng: np.random.Generator) -> None:
    curves = cumulative_curves(rng.permutation(10_000) / 10_000, rng.integers(0, 2, 10_000))
    places = [curves.place_at(percent / 100) for percent in range(1, 101)]
    assert [float(curves.fractile[k]) for k in places] == [p / 100 for p in range(1, 101)]
    assert all(a < b for a, b in pairwise(places))
    assert curves.place_at(0.0) == 1
