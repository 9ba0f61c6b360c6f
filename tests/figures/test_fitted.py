"""What a calibrator has learned, as words, tables and a heat map."""

import numpy as np
import pytest

from calibcore.calibrators import CATALOGUE, ScoreMap
from calibcore.calibrators.base import FittedCalibrator
from calibcore.calibrators.by_group import FittedByGroup
from calibcore.calibrators.ensembles.temperature import FittedEnsembleTemperature
from calibcore.calibrators.linear.fit import FittedLinear
from calibcore.calibrators.multicalibration import FittedMulticalibration
from calibcore.calibrators.score_maps.beta import FittedBeta
from calibcore.calibrators.score_maps.histogram import FittedHistogram
from calibcore.calibrators.score_maps.isotonic import FittedIsotonic
from calibcore.calibrators.score_maps.platt import FittedPlatt
from calibcore.calibrators.score_maps.spline import FittedSpline
from calibcore.calibrators.temperature import FittedTemperature
from dashboard.figures import LIGHT
from dashboard.figures.maps import weights_map
from dashboard.texts import fitted_groups
from dashboard.views.maps import words

NAMES = ("cat", "<b>dog</b>", "owl")
W = np.array([[1.0, -0.25, 0.5], [0.0, 2.0, 0.25], [-1.0, 0.0, 1.5]])
B = np.array([0.1, -0.2, 0.3])


def linear(weights: np.ndarray) -> FittedLinear:
    return FittedLinear(weights, B, "logits", 1.0, 0.0, (0.5, 0.25), 0.0, 0.0)


@pytest.mark.parametrize(
    ("fitted", "text"),
    [
        (FittedTemperature(1.5), "T = 1.5. All logits are divided by T, which makes predictions"),
        (
            FittedEnsembleTemperature(2.0, np.array([0.75, 0.2, 0.05])),
            "T = 2. Mixture: 75% temperature scaling, 20% uncalibrated probabilities, 5% equal",
        ),
        (FittedPlatt(0.5, -0.1), "Slope a = 0.5 of the log-odds: below 1, scores become less"),
        (FittedPlatt(0.5, -0.1), "Intercept b = \u22120.1: it lowers all log-odds alike."),
        (FittedBeta(1.0, 0.5, 0.25), "a = 1, b = 0.5, c = 0.25. "),
        (
            linear(W),
            "Strength of the penalty: 0.5 and 0.25. Mean weight of a class for itself: 1.5",
        ),
        (linear(W), "between classes: 0.333; of a bias: 0.2."),
    ],
)
def test_numbers_are_written_with_what_they_mean(fitted: FittedCalibrator, text: str) -> None:
    assert text in fitted.describe().sentence


def rows(fitted: FittedCalibrator) -> list[tuple[str, ...]]:
    listed = words.named(fitted.describe(), NAMES)
    assert listed is not None
    assert all(len(row) == len(listed.heads) for row in listed.rows)
    return list(listed.rows)


def test_tables_hold_each_class_bin_step_and_knot() -> None:
    assert rows(linear(np.array([1.0, 0.5, 2.0])))[1] == ("<b>dog</b>", "0.5", "\u22120.2")
    histogram = FittedHistogram(np.array([0, 0.5, 1]), np.array([0, 1234]), np.array([0.0, 0.75]))
    assert rows(histogram) == [("0%\u201350%", "0", "\u2013"), ("50%\u2013100%", "1,234", "75%")]
    steps = FittedIsotonic(
        np.array([0.1, 0.4]), np.array([0.3, 0.9]), np.array([0.0, 0.5]), interpolate=False
    )
    assert rows(steps) == [("10%\u201330%", "0%"), ("40%\u201390%", "50%")]
    spline = FittedSpline(np.array([0.1]), np.array([0.2]), np.array([0.0, -0.0125, 0.01]))
    assert rows(spline)[1:] == [("2", "50%", "\u22121.25"), ("3", "100%", "1.00")]


@pytest.mark.parametrize(
    "key", [m.key for m in CATALOGUE if m.acts_on == "event" and not m.knows_groups]
)
def test_every_map_of_the_event_says_something(key: str) -> None:
    score_map = next(m for m in CATALOGUE if m.key == key).make()
    assert isinstance(score_map, ScoreMap)
    rng = np.random.default_rng(2)
    scores = rng.random(200)
    assert score_map.fit(scores, rng.random(200) < scores).describe().sentence


def test_the_heat_map_holds_the_weights_and_the_bias_under_harmless_names() -> None:
    figure = weights_map(W, B, NAMES, "W", LIGHT)
    (cells,) = figure.data
    np.testing.assert_allclose(np.array(cells.z), np.column_stack([W, B]))
    assert cells.y[1] == "&lt;b&gt;dog&lt;/b&gt;"
    assert cells.x[-1] == "b"
    assert figure.layout.yaxis.autorange == "reversed"  # the first class at the top


def test_of_many_classes_few_are_named() -> None:
    names = [f"class {place}" for place in range(100)]
    many = FittedLinear(np.eye(100), np.zeros(100), "logits", 1.0, 0.0, (), 0.0, 0.0)
    figure = weights_map(many.weights, many.bias, names, "W", LIGHT)
    assert len(figure.layout.yaxis.tickvals) == 20
    assert figure.data[0].zmax == 1.0
    assert words.matrix(many) is not None


def test_groups_have_their_shift_and_slope_by_name() -> None:
    fitted = FittedByGroup(
        FittedPlatt(1.0, 0.0),
        groups=np.array([0, 2]),
        shift=np.array([0.5, -1e-6]),
        slope=np.array([1.0, 0.75]),
        penalty=1.0,
    )
    listed = fitted_groups.listed(fitted, [("side", ("north", "south", "west"))])
    assert listed is not None
    assert list(listed.rows) == [("north", "0.5", "1"), ("west", "\u2248 0", "0.75")]
    assert "times the slope" in fitted_groups.how(fitted)
    assert fitted_groups.listed(FittedPlatt(1.0, 0.0), ()) is None
    assert not fitted_groups.how(FittedPlatt(1.0, 0.0))


def test_corrections_of_several_columns_are_listed_by_name() -> None:
    fitted = FittedMulticalibration(
        known_grouping=np.array([0, 0, 1]),
        known_group=np.array([0, 1, 4]),
        edges=np.array([0.2, 0.555]),
        grouping=np.array([0, -1, 1]),
        group=np.array([1, 0, 4]),
        bin=np.array([-1, 2, 1]),
        shift=np.array([0.625, -0.5, 0.25]),
        gain=12.34,
    )
    names = [("ward", ("A", "B")), ("age", ("", "", "", "", "60 and more"))]
    listed = fitted_groups.listed(fitted, names)
    assert listed is not None
    assert list(listed.rows) == [
        ("ward = B", "all", "+0.625"),
        ("all rows", "55.5% and more", "\u22120.5"),
        ("age = 60 and more", "20\u201355.5%", "+0.25"),
    ]
    assert "gets the sum" in fitted_groups.how(fitted)
    assert fitted.describe().sentence == (
        "3 corrections were confirmed by rows left out of the fit, whose log loss fell by 12.3 nats"
        " in all."
    )
