"""The study of estimators: slow loops on the same draws, and what Zhang 2020's figure 5 shows."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose

from calibcore.errors import CalibrationInputError
from calibcore.synthetic import (
    EstimatorStudy,
    LogOddsCurve,
    Redraws,
    World,
    redraw_estimates,
    sturges_bins,
    zhang_world,
)
from calibcore.synthetic.study import ESTIMATES
from calibcore.synthetic.world import streams_of
from tests import reference
from tests.reference_kernel import kde_ece, smooth_ece
from tests.reference_measures import debiased_ece, sweep_ece

CASES = {"less calibrated": (0.5, -1.5), "better calibrated": (0.2, -1.9)}
N_ROWS = 64


def slow_truth(beta0: float, beta1: float) -> dict[str, float]:
    """By sums over the number x behind a score, from Zhang 2020, S5, alone."""
    grid = [-8 + 16 * (k + 0.5) / 20_000 for k in range(20_000)]
    weights = [math.exp(-((x - 1) ** 2) / 2) + math.exp(-((x + 1) ** 2) / 2) for x in grid]
    gaps = [
        1 / (1 + math.exp(-beta0 - beta1 * x)) - 1 / (1 + math.exp(2 * x)) for x in grid
    ]  # the score falls as x rises
    total = math.fsum(weights)
    ks, running = 0.0, 0.0
    for weight, gap in zip(reversed(weights), reversed(gaps), strict=True):
        running += weight * gap / total
        ks = max(ks, abs(running))
    return {
        "ece": math.fsum(w * abs(g) for w, g in zip(weights, gaps, strict=True)) / total,
        "debiased_ece": math.sqrt(
            math.fsum(w * g * g for w, g in zip(weights, gaps, strict=True)) / total
        ),
        "ks_error": ks,
    }


SLOW: dict[str, Callable[[list[float], list[int]], float]] = {
    "ece": lambda s, h: reference.ece(s, h, 15, "equal_width"),
    "ece_equal_mass": lambda s, h: reference.ece(s, h, 15, "equal_mass"),
    "ece_sturges": lambda s, h: reference.ece(s, h, 7, "equal_width"),
    "ece_equal_mass_sturges": lambda s, h: reference.ece(s, h, 7, "equal_mass"),
    "sweep_ece": lambda s, h: sweep_ece(s, h, 1),
    "debiased_ece": lambda s, h: debiased_ece(s, h, 15, "equal_mass"),
    "kde_ece": lambda s, h: kde_ece(s, h, 1, 400),
    "smooth_ece": smooth_ece,
    "ks_error": reference.ks_error,
}


@pytest.fixture(scope="module")
def few() -> Redraws:
    return redraw_estimates(zhang_world(0.5, -1.5), N_ROWS, 3, seed=4)


def test_estimates_and_errors_are_those_of_slow_loops(few: Redraws) -> None:
    scores, _, hits, _ = zhang_world(0.5, -1.5).draw_events(streams_of([4, 64, 0]), (3, N_ROWS))
    truth = slow_truth(0.5, -1.5)
    assert few.keys == ESTIMATES
    assert set(SLOW) == set(ESTIMATES)
    for key, slow in SLOW.items():
        values = [
            slow(row.tolist(), [int(hit) for hit in own])
            for row, own in zip(scores, hits, strict=True)
        ]
        assert_allclose(few.of(key), values, atol=3e-4 if key == "kde_ece" else 3e-5, err_msg=key)
        if key == "smooth_ece":
            continue  # its truth has its own test in test_synthetic
        own = truth.get(key, truth["ece"])
        assert_allclose(few.errors(key), [abs(v - own) for v in values], atol=3e-4, err_msg=key)


@pytest.mark.parametrize("case", CASES)
def test_kernel_densities_are_nearer_than_bins_as_in_figure_5(case: str) -> None:
    world = zhang_world(*CASES[case])
    study = EstimatorStudy(
        tuple(redraw_estimates(world, n, 150, seed=2) for n in (64, 128, 256, 512))
    )
    kernel = study.mean_error("kde_ece")
    for key in ("ece", "ece_equal_mass", "ece_sturges", "ece_equal_mass_sturges"):
        assert (kernel < study.mean_error(key)).all(), key
    assert study.mean_error("ece")[0] > 2 * kernel[0]  # most of all with few rows
    ratio = study.mean_error("ece") / kernel
    assert ratio[0] > ratio[-1]


def test_errors_fall_as_one_over_the_root_of_the_rows() -> None:
    world = World(LogOddsCurve(slope=0.5))
    study = EstimatorStudy(tuple(redraw_estimates(world, n, 150, seed=3) for n in (256, 4_096)))
    for key in ("ks_error", "kde_ece", "smooth_ece"):
        few, many = study.mean_error(key)
        assert 2.5 < few / many < 6, key  # 4, but for chance


def redraws_of(errors: dict[str, list[float]], n_rows: int = 9) -> Redraws:
    values = np.array(list(errors.values())).T
    aims = np.zeros(len(errors))
    return Redraws(tuple(errors), values, aims, aims, n_rows)


def test_summaries_by_hand() -> None:
    first = redraws_of({"ece": [0.3, -0.1], "kde_ece": [0.1, -0.1]})
    study = EstimatorStudy((first, redraws_of({"ece": [0.1, 0.1], "kde_ece": [0.0, 0.2]}, 99)))
    assert study.n_rows.tolist() == [9, 99]
    assert_allclose(study.mean_error("ece"), [0.2, 0.1])
    assert_allclose(study.error_quantile("ece", 0.5), [0.2, 0.1])
    assert_allclose(study.error_quantile("kde_ece", 1.0), [0.1, 0.2])
    assert study.truth("ece") == 0
    with pytest.raises(CalibrationInputError):
        study.truth("auroc")


def test_the_lowest_are_those_that_no_draws_tell_apart() -> None:
    near = {"ece": [0.1, 0.3, 0.1, 0.3], "kde_ece": [0.2, 0.19, 0.2, 0.19]}
    study = EstimatorStudy((redraws_of(near | {"sweep_ece": [0.4, 0.41, 0.42, 0.4]}),))
    assert study.lowest(["ece", "kde_ece", "sweep_ece"]) == ("kde_ece", "ece")
    assert study.lowest(["sweep_ece"]) == ("sweep_ece",)


def test_progress_is_told_and_draws_go_on_in_parts() -> None:
    told: list[float] = []
    many = redraw_estimates(World(), 1 << 17, 3, seed=1, progress=told.append)
    assert told == [2 / 3, 1.0]
    assert np.unique(many.of("ece")).size == 3


def test_sturges_rule_by_its_formula() -> None:
    for n_rows in (1, 2, 3, 64, 100, 1_000, 1_024, 1_025, 65_536):
        assert sturges_bins(n_rows) == math.ceil(math.log2(n_rows)) + 1


@pytest.mark.parametrize(("n_rows", "n_draws", "seed"), [(0, 5, 1), (5, 0, 1), (5, 5, -1)])
def test_a_bad_number_is_refused(n_rows: int, n_draws: int, seed: int) -> None:
    with pytest.raises(CalibrationInputError):
        redraw_estimates(World(), n_rows, n_draws, seed=seed)
