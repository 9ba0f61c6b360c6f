"""What the laboratory writes and draws, recomputed by loops over its rows and over the truth."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

from calibcore.calibrators import CATALOGUE
from calibcore.synthetic import WorldSample
from dashboard.figures import LIGHT
from dashboard.learn import lab_pictures
from dashboard.learn.laboratory import PRESETS, LaboratoryModel, Result, redraws_of, result_of
from dashboard.texts import laboratory as words
from tests import reference, reference_kernel, reference_measures
from tests.learn.reference import p_text, quantile

N_ROWS = 300

CASES = ("overconfident", "calibrated", "wavy", "two_groups", "many_classes")


def case(name: str) -> tuple[LaboratoryModel, Result]:
    model = replace(PRESETS[name], rows=N_ROWS)
    return model, result_of(model)


class Rows(NamedTuple):
    scores: list[float]
    hits: list[int]


def rows_of(drawn: WorldSample) -> Rows:
    event = drawn.event
    return Rows(event.scores.tolist(), [int(hit) for hit in event.hits])


class TrueErrors(NamedTuple):
    """Of scores that stand for all: each distance, and the largest running total."""

    distance: float
    squared: float
    ks: float


def true_of(scores: Sequence[float], frequency: Sequence[float]) -> TrueErrors:
    """Add up score minus frequency from the lowest score; points of equal scores together."""
    ordered = sorted(zip(scores, frequency, strict=True))
    total = largest = distance = squared = here = 0.0
    count = 0
    for i, (score, rate) in enumerate(ordered):
        here, count = here + score - rate, count + 1
        if i + 1 == len(ordered) or ordered[i + 1][0] != score:
            total += here
            largest = max(largest, abs(total))
            distance += abs(here)
            squared += here**2 / count
            here, count = 0.0, 0
    return TrueErrors(distance / len(ordered), squared / len(ordered), largest / len(ordered))


@cache
def truth_of(name: str) -> TrueErrors:
    truth = case(name)[1].truth
    return true_of(truth.scores.tolist(), truth.frequency.tolist())


def percent(value: float) -> str:
    return f"{100 * value:.1f}".replace("-", "\u2212") + "%"


@pytest.mark.parametrize("name", CASES)
def test_the_true_frequency_is_that_of_the_numbers_of_the_model(name: str) -> None:
    model, result = case(name)
    if model.groups or model.classes > 2:
        return
    for score in (0.1, 0.3, 0.5, 0.8):
        odds = math.log(score / (1 - score))
        plain = reference_measures.sigmoid(model.slope / 100 * odds + model.shift / 10)
        rate = float(result.truth.curve([score])[0])
        if not model.wave:
            assert rate == pytest.approx(plain, abs=1e-6)
        elif score != 0.5:  # too low below 50%, too high above it
            assert (rate > plain) == (score < 0.5)


@pytest.mark.parametrize("name", CASES)
def test_each_figure_of_the_conclusion_is_that_of_a_loop(name: str) -> None:
    _, result = case(name)
    rows, true = rows_of(result.test), truth_of(name)
    ks, p_value = reference.ks_error(*rows), reference.ks_p_value(*rows)
    assert result.curves.ks_p_value == pytest.approx(p_value, abs=1e-6)
    detected = p_value < 0.05
    if name == "calibrated":
        of_truth = "In truth the model is perfectly calibrated"
        of_truth += ": a false alarm." if detected else ", so this is right."
    else:
        detect = "detect it" if detected else "do not detect it"
        of_truth = f"True mean error {100 * true.distance:.1f} pp; these 300 rows {detect}."
    assert words.conclusion(result) == (
        f"**{'M' if detected else 'No m'}iscalibration detected**: KS error (largest cumulative"
        f" gap) {percent(ks)}, {p_text(p_value)}. {of_truth} True KS error: {percent(true.ks)}."
    )


SHARES: dict[str, tuple[str, Callable[[list[float], list[int]], float]]] = {
    "mean_gap": ("Mean score minus frequency", reference_measures.mean_gap),
    "ks_error": ("KS error", reference.ks_error),
    "ece": ("ECE, equal-width bins", lambda s, h: reference.ece(s, h, 15, "equal_width")),
    "ece_equal_mass": ("ECE, equal-mass bins", lambda s, h: reference.ece(s, h, 15, "equal_mass")),
    "debiased_ece": (
        "ECE, squared gaps, debiased",
        lambda s, h: reference_measures.debiased_ece(s, h, 15, "equal_mass"),
    ),
    "smooth_ece": ("Smooth ECE", reference_kernel.smooth_ece),
    "kde_ece": ("KDE-ECE", lambda s, h: reference_kernel.kde_ece(s, h, 1)),
}
NUMBERS: dict[str, tuple[str, Callable[[list[float], list[int]], float]]] = {
    "event_brier": ("Brier score of the event", reference.event_brier),
    "event_nll": ("NLL of the event", reference.event_nll),
    "auroc": ("AUROC of the score", reference_measures.auroc),
}


def near(text: str, value: float, unit: float, slack: float = 0.0) -> None:
    number = float(text.replace("\u2212", "-").removesuffix("%").removesuffix("\u00a0pp"))
    assert number == pytest.approx(value, abs=0.5001 * unit + slack)


@pytest.mark.parametrize("name", ["overconfident", "many_classes"])
def test_each_estimate_stands_in_its_line_with_its_truth_and_error(name: str) -> None:
    _, result = case(name)
    rows, true = rows_of(result.test), truth_of(name)
    distances = ("ece", "ece_equal_mass", "kde_ece")
    truths = dict.fromkeys(distances, true.distance) | {
        "ks_error": true.ks, "debiased_ece": math.sqrt(true.squared),
        "mean_gap": reference.mean(result.truth.scores.tolist())
        - reference.mean(result.truth.frequency.tolist()),
    }  # fmt: skip
    table = {line[0]: line[1:] for line in words.estimate_rows(result, None)}
    for key, (label, slow) in SHARES.items():
        own, aim, error = table[label]
        value = 100 * slow(rows.scores, rows.hits)
        near(own, value, 0.1, 0.02)
        assert (own[-1], aim[-1], error[-3:]) == ("%", "%", "\u00a0pp")
        assert error[0] in "+\u22120"
        if key in truths:
            near(aim, 100 * truths[key], 0.1)
            near(error, value - 100 * truths[key], 0.1, 0.02)
    for label, slow in NUMBERS.values():
        own, aim, error = table[label]
        value = slow(rows.scores, rows.hits)
        near(own, value, 0.001)
        near(error, value - float(aim), 0.001, 0.0005)
    odds = reference_measures.log_odds(rows.scores)
    own, _, _ = table["Calibration intercept"]
    near(own, reference_measures.fitted_intercept(odds, rows.hits, 1.0), 0.001)
    slope = float(table["Calibration slope"][0])
    assert abs(reference_measures.slope_off(rows.scores, rows.hits, slope)) < 0.002
    assert len(table) == len(SHARES) + len(NUMBERS) + 2


def test_what_is_written_of_many_draws_is_that_of_each_draw() -> None:
    model = replace(PRESETS["overconfident"], rows=100)
    many, result = redraws_of(model), result_of(model)
    true = truth_of("overconfident")
    ends = {}
    for key in ("ece", "ks_error", "mean_gap"):
        values = many.of(key).tolist()
        assert len(values) == 200
        ends[key] = [quantile(values, share) for share in (0.025, 0.975)]
    parts = [
        f"{label}: 95% of draws between {percent(ends[key][0])} and {percent(ends[key][1])}, truth"
        f" {percent(aim)}"
        for key, label, aim in (
            ("ece", "ECE, equal-width bins", true.distance),
            ("ks_error", "KS error", true.ks),
        )
    ]
    assert words.spread(many) == f"200 draws of 100 rows. {'. '.join(parts)}."
    table = {line[0]: line[4:] for line in words.estimate_rows(result, many)}
    for key, label, aim in (
        ("mean_gap", "Mean score minus frequency", 0.0),
        ("ece", "ECE, equal-width bins", true.distance),
        ("ks_error", "KS error", true.ks),
    ):
        mean, bias, between = table[label]
        average = reference.mean(many.of(key).tolist())
        assert mean == percent(average)
        near(bias, 100 * (average - aim), 0.1)
        low, high = map(percent, ends[key])
        assert between == f"{low} to {high}"
    assert words.MANY_HEAD[-3:] == ("Mean of 200", "Bias", "95% between")
    for label in ("Calibration intercept", "Calibration slope"):
        assert table[label] == ("\u2013",) * 3


def at_best_temperature(fit: Rows, scores: Sequence[float]) -> list[float]:
    """Divide log-odds by the number with the least NLL, found by thirds."""
    odds = reference_measures.log_odds(fit.scores)

    def loss(inverse: float) -> float:
        return reference.event_nll(
            [reference_measures.sigmoid(inverse * x) for x in odds], fit.hits
        )

    low, high = 0.0, 5.0
    for _ in range(60):
        first, second = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, second) if loss(first) < loss(second) else (first, high)
    return [reference_measures.sigmoid(low * x) for x in reference_measures.log_odds(scores)]


@cache
def slow_calibrators(name: str) -> dict[str, tuple[float, TrueErrors]]:
    """Fit each calibrator to the calibration rows; how far its map is from the true frequency."""
    _, result = case(name)
    truth, fit = result.truth, rows_of(result.calibration)
    table = {"Uncalibrated": (math.sqrt(truth_of(name).squared), truth_of(name))}
    for one in result.calibrators:
        if one.key == "temperature":
            mapped = at_best_temperature(fit, truth.scores.tolist())
        else:
            calibrator: Any = next(method for method in CATALOGUE if method.key == one.key).make()
            mapped = calibrator.fit(*map(np.array, fit)).predict(truth.scores).tolist()
        squares = [(a - b) ** 2 for a, b in zip(mapped, truth.frequency.tolist(), strict=True)]
        after = true_of(mapped, truth.frequency.tolist())
        table[words.calibrator_name(one.key)] = math.sqrt(reference.mean(squares)), after
    return table


@pytest.mark.parametrize("name", ["overconfident", "calibrated", "many_classes"])
def test_calibrators_stand_beside_the_truth_the_nearest_first(name: str) -> None:
    model, result = case(name)
    slow = slow_calibrators(name)
    assert len(slow) == (9 if model.classes == 2 else 8)
    assert ("Temperature scaling" in slow) == (model.classes == 2)
    nearest_first = sorted(slow, key=lambda label: slow[label][0])
    table = words.calibrator_rows(result.calibrators, result.truth)
    assert [line[0] for line in table] == nearest_first
    for label, *cells in table:
        distance, after = slow[label]
        assert cells == [f"{100 * distance:.1f} pp", percent(after.distance), percent(after.ks)]
    before, best = slow["Uncalibrated"][0], nearest_first[0]
    if best == "Uncalibrated":
        expected = f"uncalibrated scores, {100 * before:.1f} pp away."
    else:
        away = f"{100 * slow[best][0]:.1f} pp away"
        expected = f"{best}, {away}; uncalibrated scores: {100 * before:.1f} pp."
    assert words.nearest(result.calibrators, result.truth) == f"Nearest to the truth: {expected}"
    assert (best == "Uncalibrated") == (name == "calibrated")


def line_of(picture: Any, colour: str) -> Any:
    (line,) = (
        one for one in picture.figure.data
        if one.mode == "lines" and one.line.color == colour and one.name is None
    )  # fmt: skip
    return line


@pytest.mark.parametrize(("name", "n_rows"), [(name, N_ROWS) for name in CASES] + [("wavy", 50)])
def test_the_bars_are_those_of_a_loop_and_the_caption_names_the_rows(
    name: str, n_rows: int
) -> None:
    model = replace(PRESETS[name], rows=n_rows)
    result = result_of(model)
    drawn = lab_pictures.diagram(result, model, LIGHT)
    slow = reference.bins(*rows_of(result.test), 15, "equal_width")
    assert (1 in slow.counts) >= (n_rows == 50)  # such a bar is drawn, too
    filled = [k for k in range(15) if slow.counts[k]]
    bars, *_ = drawn.figure.data
    assert list(bars.x) == pytest.approx([(k + 0.5) / 15 for k in filled])
    assert list(bars.y) == pytest.approx([slow.frequency[k] for k in filled])
    assert list(bars.width) == pytest.approx([1 / 15] * len(filled))
    truth = next(one for one in drawn.figure.data if one.name == "truth")
    ends = result.truth.scores.min(), result.truth.scores.max()
    assert (truth.x[0], truth.x[-1]) == pytest.approx(ends)
    assert drawn.text == (
        f"Bars: observed frequency of {n_rows} rows. Strong line: true frequency, on average"
        f" {100 * truth_of(name).distance:.1f} pp from the scores."
    )
    labels = [one.text for one in drawn.figure.layout.annotations]
    assert labels == ["<b>\u2501 truth</b>", "\u2508 perfectly calibrated"]


@pytest.mark.parametrize("name", CASES)
def test_the_gap_is_drawn_whole_with_what_luck_does(name: str) -> None:
    _, result = case(name)
    rows, drawn = rows_of(result.test), lab_pictures.gap(result, LIGHT)
    largest, true = reference.ks_error(*rows), truth_of(name).ks
    own = line_of(drawn, LIGHT.score)
    assert max(abs(y) for y in own.y) == pytest.approx(largest)
    assert own.y[-1] == pytest.approx(reference_measures.mean_gap(*rows))
    exact = next(one for one in drawn.figure.data if one.name == "truth")
    assert max(abs(y) for y in exact.y) == pytest.approx(true, abs=5e-4)
    (band,) = (one for one in drawn.figure.data if one.name == "luck")
    (limit,) = {abs(y) for y in band.y}
    assert reference.gap_p_value(rows.scores, limit) == pytest.approx(0.05, abs=1e-6)
    low, high = drawn.figure.layout.yaxis.range
    assert 1.1 < high / max(limit, largest, true) < 1.2
    assert low == pytest.approx(-high)
    assert drawn.text == (
        f"Blue: these rows, largest gap {percent(largest)}. Strong: the truth, {percent(true)}."
        " Grey: where the largest gap of a perfectly calibrated model stays in about 95% of draws."
    )


KEYS = ("temperature", "spline", "isotonic", "histogram")


@pytest.mark.parametrize("n_maps", range(5))
def test_each_map_is_drawn_named_and_measured(n_maps: int) -> None:
    _, result = case("overconfident")
    keys = KEYS[:n_maps]
    drawn = lab_pictures.maps(result, keys, LIGHT)
    _, truth, *lines = drawn.figure.data
    low, high = truth.x[0], truth.x[-1]
    assert (low, high) == (result.truth.scores.min(), result.truth.scores.max())
    shown = [one for one in result.calibrators if one.key in keys]
    labels = drawn.figure.layout.annotations
    away = []
    for one, line, label in zip(shown, lines, labels, strict=True):
        name = words.calibrator_name(one.key)
        assert label.text == f"{name} ({line.line.dash})"
        assert label.font.color == line.line.color
        assert low <= min(line.x)
        assert max(line.x) <= high
        # Where a map jumps, its line has two heights at one score.
        steps = [k for k in range(1, len(line.x)) if line.x[k] == line.x[k - 1]]
        smooth = [k for k in range(len(line.x)) if k not in steps and k + 1 not in steps]
        across = [line.x[k] for k in smooth]
        assert [line.y[k] for k in smooth] == pytest.approx(
            one.fitted.predict(np.array(across)).tolist(), abs=1e-9
        )
        away.append(f"{name} {100 * slow_calibrators('overconfident')[name][0]:.1f} pp")
    heights = [label.y for label in labels]
    assert heights == sorted(set(heights), reverse=True)
    assert len({(one.line.dash, one.line.color) for one in lines}) == n_maps
    distances = f" Distance from it: {'; '.join(away)}." if away else ""
    assert drawn.text == f"Strong line: the truth.{distances}"


def test_handles_stand_at_their_scores_and_each_place_above_can_be_clicked() -> None:
    model, result = case("by_hand")
    *_, places, handles = lab_pictures.diagram(result, model, LIGHT).figure.data
    assert list(handles.x) == pytest.approx([k / 10 for k in range(11)])
    assert list(handles.y) == pytest.approx([height / 100 for height in model.handles])
    expected = {(round(k / 10, 6), round(n / 20, 6)) for k in range(11) for n in range(21)}
    results = {(round(x, 6), round(y, 6)) for x, y in zip(places.x, places.y, strict=True)}
    assert results == expected


def test_the_spread_is_drawn_within_its_axis_and_its_title_counts_the_draws() -> None:
    model = replace(PRESETS["overconfident"], rows=100)
    picture = lab_pictures.spread(redraws_of(model), result_of(model), LIGHT)
    drawn = picture.figure
    assert picture.text == (
        "Thick: the middle half of the draws; thin: 95% of them. Diamond: these rows. Upright mark:"
        " what is aimed at."
    )
    low, high = drawn.layout.xaxis.range
    reached = [x for one in drawn.data for x in one.x if not math.isnan(x)]
    assert low < min(reached) < 0 < max(reached) < high
    assert drawn.layout.title.text.startswith("Spread over 200 draws")
