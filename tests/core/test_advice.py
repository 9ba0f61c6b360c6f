"""Which calibrator to use, as far as the rows tell: losses row by row, leads, advice."""

import math

import numpy as np
import pytest
from scipy.special import expit

from calibcore.calibrators import CATALOGUE, BetaCalibration, PlattScaling, ScoreMap
from calibcore.calibrators.catalogue import SIMPLEST_FIRST
from calibcore.comparison import Advice, advise, lead, row_losses
from calibcore.data import EventScores, LogitSet
from calibcore.evaluation import side_of
from calibcore.events import OneClass
from calibcore.fitting import fit_folds, prepare
from calibcore.inference import SideRows
from calibcore.metrics import METRICS, EventMeasure, Options, RowMeasure, measure_by_key
from calibcore.probabilities import PROBABILITY_FLOOR
from calibcore.splits import deal_folds
from calibcore.tally import tally
from calibcore.validation import Floats

OPTIONS = Options()


def never(_key: str) -> bool:
    return False


def test_their_mean_is_the_measure(rng: np.random.Generator) -> None:
    rows = LogitSet(40 * rng.normal(size=(300, 3)), rng.integers(3, size=300))
    prepared = prepare(rows, OneClass(1))
    side, result = side_of(prepared, OneClass(1), None), 0
    for measure in METRICS:
        losses = row_losses(measure, side)
        if losses is None:
            assert measure.key not in ("event_nll", "event_brier", "nll", "brier", "accuracy")
            continue
        result += 1
        assert losses.shape == (300,)
        if isinstance(measure, EventMeasure):
            event = side.event
            value = float(measure.compute(tally(event.scores, event.hits, event.rest), OPTIONS))
        else:
            assert isinstance(measure, RowMeasure)
            value = measure.compute(rows.probabilities, rows.labels, OPTIONS)
        better = -1 if measure.better == "higher" else 1
        assert better * losses.mean() == pytest.approx(value, rel=1e-12), measure.key
    assert result >= 5
    assert row_losses(measure_by_key("nll"), SideRows(side.event)) is None


def test_a_lead_by_hand() -> None:
    first, second = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, 2.0, 5.0, 5.0])
    result = lead(first, second, 5)
    spread = np.std([-1, 0, -2, -1], ddof=1) / 2 * 1.5
    assert result.low == pytest.approx(-1 - 1.959964 * spread, abs=1e-6)
    assert result.high == pytest.approx(-1 + 1.959964 * spread, abs=1e-6)


def test_the_simplest_of_the_level_ones_is_advised() -> None:
    rng = np.random.default_rng(2)
    base = rng.uniform(0.5, 1.5, 400)
    noise = rng.normal(size=400)
    losses = {
        "spline": base - 0.2,
        "platt": base - 0.2 + 0.01 * (noise - noise.mean()) + 1e-5,
        "temperature": base - 0.2 + 0.01 * (noise - noise.mean()) + 2e-5,
        "isotonic": base,
    }
    order = ("temperature", "platt", "spline")
    result = advise(losses, lambda _: True, order, 5)
    assert result == Advice("spline", "temperature", ("spline", "platt"))
    asked: list[str] = []

    def improves(key: str) -> bool:
        asked.append(key)
        return key != "temperature"

    assert advise(losses, improves, order, 5) == Advice(
        "spline", "platt", ("spline", "temperature")
    )
    assert asked == ["temperature", "platt"]
    # What is better by itself is advised, though of the best that cannot be said.
    assert advise(losses, lambda key: key == "platt", order, 5) == Advice(
        "spline", "platt", ("spline", "temperature")
    )
    assert advise(losses, never, order, 5) == Advice("spline", None, ("platt", "temperature"))
    alone = advise({"isotonic": base}, lambda _: True, order, 5)
    assert alone == Advice("isotonic", "isotonic", ())
    assert advise({}, never, order, 5) is None


def test_a_probability_of_0_for_what_happened_is_never_level() -> None:
    losses = {"platt": np.full(500, 0.5), "isotonic": np.full(500, 0.4)}
    losses["isotonic"][7] = -math.log(PROBABILITY_FLOOR)
    assert lead(losses["platt"], losses["isotonic"], 5).high > 0  # a single row tells no more
    assert advise(losses, lambda _: True, (), 5) == Advice("platt", "platt", ())
    losses["platt"][8] = losses["isotonic"][7]
    assert advise(losses, lambda _: True, (), 5) == Advice("isotonic", "isotonic", ("platt",))


def test_equal_methods_are_ranked_in_at_most_5_of_100_draws() -> None:
    # Both hold the truth, so neither is better by more than what fitting costs.
    maps: tuple[ScoreMap, ScoreMap] = (PlattScaling(), BetaCalibration())
    nll, ranked = measure_by_key("event_nll"), 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        truth = rng.normal(size=300)
        hits = rng.random(300) < expit(truth)
        rows = EventScores(expit(0.4 + 1.4 * truth), hits)
        prepared, fold = prepare(rows, OneClass(1)), deal_folds(rows, seed=seed)
        fits = (fit_folds(one, prepared, fold, None) for one in maps)
        losses: list[Floats] = []
        for fitted in fits:
            result = row_losses(nll, side_of(prepared, OneClass(1), fitted))
            assert result is not None
            losses.append(result)
        found_lead = lead(losses[0], losses[1], 5)
        ranked += found_lead.high < 0 or found_lead.low > 0
    assert ranked <= 5


def test_every_calibrator_has_its_place_in_the_order() -> None:
    assert sorted(SIMPLEST_FIRST) == sorted(method.key for method in CATALOGUE)


def test_nothing_is_infinite() -> None:
    side = SideRows(EventScores([1.0, 0.0], [0, 1]))
    losses = row_losses(measure_by_key("event_nll"), side)
    assert losses is not None
    assert np.isfinite(losses).all()
    assert losses.min() > 700
    assert math.isfinite(lead(losses, np.zeros(2), 2).high)
