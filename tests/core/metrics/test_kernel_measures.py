"""KDE-ECE and smooth ECE beside loops without a mesh, the authors' program and relplot."""

from collections.abc import Callable
from itertools import islice
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings

from benchmarks.timing import peak_bytes
from calibcore import CalibrationInputError, LogitSet
from calibcore.metrics import kernel as kernel_classwise
from calibcore.metrics.kernel import (
    MESH,
    NARROW,
    OF_EACH,
    half_widths,
    kde_classwise_ece,
    kde_ece,
    kde_ece_of,
    smooth_ece,
    smooth_ece_of,
)
from calibcore.tally import Tally, tally
from calibcore.validation import Floats
from tests import reference_kernel as reference
from tests.peers.cases import NAMES, case
from tests.peers.figures import read
from tests.strategies import (
    EventCase,
    Integers,
    LogitCase,
    event_data,
    logit_sets,
    seeded_events,
)

NORMS: tuple[Literal[1, 2], ...] = (1, 2)
MEASURES: dict[str, Callable[[Tally], Floats]] = {
    "kde_ece": kde_ece_of,
    "kde_ece, norm 2": lambda counted: kde_ece_of(counted, norm=2),
    "smooth_ece": smooth_ece_of,
}
each_measure = pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)


def lists(events: EventCase) -> tuple[list[float], list[int]]:
    return events.scores.tolist(), events.hits.tolist()


def close(value: object) -> object:
    return pytest.approx(value, rel=1e-10, abs=1e-12)


# Beside the loops ---------------------------------------------------------------------------------


def check_narrow(events: EventCase) -> None:
    for norm in NORMS:
        expected = reference.kde_ece_of_narrow(*lists(events), norm)
        assert kde_ece(*events, norm=norm) == pytest.approx(expected, rel=1e-6 * norm**2, abs=1e-12)


@pytest.mark.parametrize("spread", [5e-3, 1e-3, 1e-5, 1e-8])
@pytest.mark.parametrize("centre", [0.0, 1 / 3, 0.9, 1.0])
def test_narrow_kernels_are_the_integral_of_the_paper(spread: float, centre: float) -> None:
    rng = np.random.default_rng(36)
    scores = np.clip(centre + spread * rng.normal(size=40), 0, 1)
    for far in (scores, np.append(scores, [0.1, 0.5, 0.7])):
        hits = (rng.random(far.size) < 0.8).astype(np.int64)
        hits[40:] = 0
        events = EventCase(far, hits)
        assert reference.half_width(*lists(events)) < NARROW
        check_narrow(events)


def test_narrow_kernels_far_apart_are_of_bounded_memory(rng: np.random.Generator) -> None:
    scores = np.append(rng.random(100_000), [0.5, 0.5 + 1e-6])
    hits = np.append(np.zeros(100_000, np.int64), [1, 1])
    results: list[float] = []
    assert peak_bytes(lambda: results.append(kde_ece(scores, hits))) < 200e6
    # Nothing joins the scores, so each is off by its own gap.
    assert results[0] == pytest.approx(np.abs(scores - hits).mean(), rel=1e-6)


def test_many_sets_at_once_are_measured_as_each_alone(rng: np.random.Generator) -> None:
    scores = [rng.beta(2, 3, n) for n in (1, 40, 90)]
    scores += [np.full(30, 0.3), rng.choice([0.2, 0.2001], 500), np.zeros(5), np.ones(7)]
    sets = [tally(one, (rng.random(one.size) < one).astype(int)) for one in scores]
    assert {bool(half_widths(one) < NARROW) for one in sets} == {True, False}
    for key, alone in (("kde_ece", kde_ece_of), ("smooth_ece", smooth_ece_of)):
        expected = [float(alone(one, rough=True)) for one in sets]
        assert OF_EACH[key](sets) == pytest.approx(expected, rel=1e-12, abs=1e-15)
        assert OF_EACH[key]([]).shape == (0,)


def test_rough_values_of_narrow_kernels_are_near(rng: np.random.Generator) -> None:
    scores = 0.4 + 0.003 * rng.normal(size=200)
    counted = tally(scores, np.zeros(200))
    hits = (rng.random((50, 200)) < counted.scores).astype(float)
    redrawn = Tally(counted.scores, counted.counts, hits, 200)
    rough, exact = kde_ece_of(redrawn, rough=True), kde_ece_of(redrawn)
    assert rough == pytest.approx(exact, rel=2e-3)


@settings(max_examples=15)
@given(event_data(max_size=6))
def test_kde_is_the_loop_on_the_same_mesh(events: EventCase) -> None:
    results = [kde_ece(*events, norm=norm) for norm in NORMS]
    if reference.half_width(*lists(events)) < NARROW:
        check_narrow(events)
    else:
        expected = reference.kde_ece_on_mesh(*lists(events))
        assert results == pytest.approx(expected, abs=1e-10)


def test_kde_is_the_integral_of_the_paper() -> None:
    wide = (
        events
        for events in seeded_events(32, 1_000, max_size=12)
        if reference.half_width(*lists(events)) > 0.05
    )
    for events in islice(wide, 12):
        for norm in NORMS:
            expected = reference.kde_ece(*lists(events), norm)
            assert kde_ece(*events, norm=norm) == pytest.approx(expected, abs=1e-5)


@settings(max_examples=25)
@given(event_data(max_size=15))
def test_smooth_is_its_own_width(events: EventCase) -> None:
    """The error at its own width is the width; E falls as sigma grows, so there is no other."""
    result = smooth_ece(*events)
    if result > 0.01:
        again = reference.smoothed_gap(*lists(events), result)
        assert again == pytest.approx(result, abs=1e-10 / result**2 + 1e-7)


def test_smooth_is_what_bisection_finds() -> None:
    large = (one for one in seeded_events(34, 100, max_size=10) if smooth_ece(*one) > 0.03)
    for events in islice(large, 6):
        assert smooth_ece(*events) == pytest.approx(reference.smooth_ece(*lists(events)), abs=3e-7)


@given(event_data())
def test_smooth_lies_between_no_blur_and_all_blur(events: EventCase) -> None:
    counted = tally(*events)
    residual = (counted.hits - counted.counts * counted.scores) / counted.n_samples
    result = smooth_ece(*events)
    assert abs(residual.sum()) - 1e-12 <= result <= np.abs(residual).sum() + 1e-12


# What must not matter -----------------------------------------------------------------------------


@each_measure
@given(events=event_data())
def test_tied_rows_may_be_counted_together_or_apart(
    measure: Callable[[Tally], Floats], events: EventCase
) -> None:
    order = np.argsort(events.scores)
    n_rows = len(order)
    apart = Tally(events.scores[order], np.ones(n_rows), events.hits[order].astype(float), n_rows)
    assert measure(apart) == close(measure(tally(*events)))


@given(event_data())
def test_rows_twice_are_no_other_smooth_ece(events: EventCase) -> None:
    twice = smooth_ece(np.tile(events.scores, 2), np.tile(events.hits, 2))
    assert twice == close(smooth_ece(*events))


@each_measure
def test_scores_an_ulp_apart_are_like_ties(measure: Callable[[Tally], Floats]) -> None:
    # A blur as narrow as the scores' distance is none: so it is with the hits at one score.
    above = float(np.nextafter(0.3, 1))
    near = measure(tally([0.3, above, 0.3, above], [1, 1, 0, 0]))
    assert near == close(measure(tally([0.3] * 4, [1, 1, 0, 0])))


# By hand ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("score", [0.0, 1e-9, 0.1, 0.5, 1 / 3, 1 - 1e-9, 1.0])
@pytest.mark.parametrize("hit_share", [0.0, 0.25, 1.0])
def test_equal_scores_give_the_gap(score: float, hit_share: float) -> None:
    # Nothing to blur. A score counts whole wherever it lies; at 1, relplot would count it half.
    hits = np.arange(8) < 8 * hit_share
    gap = abs(score - hit_share)
    assert smooth_ece(np.full(8, score), hits) == pytest.approx(gap, abs=1e-12)
    assert kde_ece(np.full(8, score), hits) == pytest.approx(gap, abs=1e-12)
    assert kde_ece(np.full(8, score), hits, norm=2) == pytest.approx(gap, abs=0.5 / MESH)


@pytest.mark.parametrize("n_hits", [0, 1])
def test_fewer_than_two_hits_take_the_spread_of_all_scores(n_hits: int) -> None:
    scores, hits = [0.2, 0.4, 0.6, 0.8], [0, 0, n_hits, 0]
    # The standard deviation of the four is sqrt(0.05).
    assert reference.half_width(scores, hits) == pytest.approx(3 * 0.05**0.5 * 8**-0.2)
    assert kde_ece(scores, hits) == close(reference.kde_ece_on_mesh(scores, hits)[0])


@pytest.mark.parametrize("norm", [0, 3, "1"])
def test_another_norm_is_refused(norm: Literal[1, 2]) -> None:
    with pytest.raises(CalibrationInputError, match="norm: "):
        kde_ece([0.5], [1], norm=norm)
    with pytest.raises(CalibrationInputError, match="norm: "):
        kde_classwise_ece([[0.5, 0.5]], [1], norm=norm)


# All classes --------------------------------------------------------------------------------------


def check_classes(table: Floats, labels: Integers) -> None:
    columns = np.minimum(table, 1).T
    events = [EventCase(column, labels == k) for k, column in enumerate(columns)]
    means = np.mean([reference.kde_ece_on_mesh(*lists(event)) for event in events], axis=0)
    for norm, mean in zip(NORMS, means, strict=True):
        assert kde_classwise_ece(table, labels, norm=norm) == close(mean)


@given(logit_sets())
def test_it_is_the_mean_over_the_classes(one: LogitCase) -> None:
    rows = LogitSet(one.logits, one.labels)
    check_classes(rows.probabilities, rows.labels)


def test_classes_and_rows_are_taken_in_blocks(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_classwise, "_BATCH", 2)
    monkeypatch.setattr(kernel_classwise, "_MESHES", 1)
    table = rng.dirichlet(np.full(3, 0.2), size=MESH + 100)
    check_classes(
        table, (table.cumsum(axis=1) < rng.random((MESH + 100, 1))).sum(axis=1).clip(max=2)
    )


# The authors' program and relplot -----------------------------------------------------------------

PROGRAM = {
    "city_country_100": (0.3534596507038435, 0.3534197820901635),
    "crash_survival": (0.009556904670744527, 0.009541634058876735),
    "fashion_cnn_focal": (0.029714854339516664, 0.02966246660869925),
    "fashion_cnn_label_smoothing": (0.023617999361104345, 0.023606271164722234),
    "fashion_cnn_overconfident": (0.04567741742367489, 0.045545189823445305),
    "perfect_synthetic": (0.015549443485235077, 0.015549227907588477),
    "three_garments": (0.051309169605639665, 0.05128193621844843),
}
"""Zhang 2020's ``ece_kde_binary`` (KDEpy 1.1.9) of the test sets' top-1 events: with its grid of
2^14 points, and with 2^17, where it comes ten times nearer to the numbers here."""


@pytest.mark.parametrize("sample", NAMES)
def test_kde_is_the_number_of_the_authors_program(sample: str) -> None:
    events = case(sample).test_events
    coarse, fine = PROGRAM[sample]
    result = kde_ece(events.scores, events.hits)
    assert result == pytest.approx(coarse, abs=1.5e-4)
    assert result == pytest.approx(fine, abs=1e-5)


def relplot(sample: str) -> float:
    return next(
        float(record["values"]["value"])
        for record in read()
        if (record["sample"], record["job"]) == (sample, "smooth ECE")
    )


def test_smooth_is_relplots_where_no_score_is_near_1() -> None:
    events = case("fashion_cnn_label_smoothing").test_events
    assert np.mean(events.scores > 0.999) < 0.001
    # relplot knows sigma to 1 / 1024 and gives the error there.
    expected = relplot("fashion_cnn_label_smoothing")
    assert smooth_ece(events.scores, events.hits) == pytest.approx(expected, abs=3e-4)


def test_smooth_counts_saturated_scores_whole() -> None:
    events = case("fashion_cnn_overconfident").test_events
    assert np.mean(events.scores > 0.9999) > 0.4
    # relplot weighs such a row half, in the error and in the total that divides it.
    assert smooth_ece(events.scores, events.hits) == pytest.approx(0.0512329, abs=1e-7)
    assert relplot("fashion_cnn_overconfident") == pytest.approx(0.0686, abs=1e-4)
    few = EventCase(events.scores[::20], events.hits[::20].astype(np.int64))
    result = smooth_ece(*few)
    assert reference.smoothed_gap(*lists(few), result) == pytest.approx(result, abs=1e-7)
