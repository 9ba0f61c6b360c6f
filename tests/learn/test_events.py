"""The lesson on events: its figures by slow code, and what the dashboard finds of the same."""

import math
import re

import numpy as np
import pytest

from calibcore.calibrators import EnsembleTemperatureScaling
from calibcore.events import OneClass
from calibcore.inference.omnibus import omnibus_test
from dashboard.figures import LIGHT
from dashboard.learn import data
from dashboard.learn.lesson import start_of
from dashboard.learn.lessons.events import (
    BETWEEN,
    CALIBRATORS,
    EVENTS,
    LESSON,
    NEXT,
    VISIBLE,
    drawable,
    event_of,
    measured,
    name_of,
    of_classes,
    probabilities,
    show,
    verdict,
    worst_class,
)
from dashboard.texts.events import event_name
from tests import reference
from tests.learn.reference import ks_error

AFTER = "ensemble_temperature"


def test_the_figures_are_those_of_slow_code() -> None:
    rows = data.sample().test
    some = np.arange(0, rows.n_samples, 25)
    table = reference.softmax(rows.logits[some].astype(float).tolist())
    labels = rows.labels[some].tolist()
    expected_of = {
        "top": reference.top_r(table, labels, 1),
        "second": reference.top_r(table, labels, 2),
        "set": reference.within_top_r(table, labels, 2),
        "class": reference.one_class(table, labels, worst_class()),
    }
    for word, expected in expected_of.items():
        result = event_of(word).outcomes(probabilities("none")[some], labels)
        assert result.scores == pytest.approx(expected.scores, abs=1e-6)
        assert result.hits.tolist() == expected.hits


@pytest.mark.parametrize("calibrator", CALIBRATORS)
@pytest.mark.parametrize("word", EVENTS)
def test_mean_frequency_and_ks_error_of_all_rows(word: str, calibrator: str) -> None:
    result = measured(event_of(word), calibrator)
    event = event_of(word).outcomes(probabilities(calibrator), data.sample().test.labels)
    assert result.score == pytest.approx(float(np.mean(event.scores)))
    assert result.frequency == pytest.approx(float(np.mean(event.hits)))
    order = np.argsort(event.scores, kind="stable")
    gaps = np.cumsum(event.scores[order] - event.hits[order]) / len(order)
    # Ties aside, of which there are few, the largest gap.
    assert result.curves.ks_error == pytest.approx(float(np.abs(gaps).max()), abs=2e-4)


@pytest.mark.parametrize("calibrator", CALIBRATORS)
@pytest.mark.parametrize("word", EVENTS)
def test_the_verdict_is_that_of_the_dashboards_test(word: str, calibrator: str) -> None:
    event = event_of(word).outcomes(probabilities(calibrator), data.sample().test.labels)
    miscalibrated = omnibus_test(event.scores, event.hits).p_value < 0.05
    text = verdict(word, measured(event_of(word), calibrator))
    assert (text != "no miscalibration detected") == miscalibrated


def test_the_second_prediction_is_underconfident_where_the_first_is_overconfident() -> None:
    assert verdict("top", measured(event_of("top"), "none")) == "overconfident"
    assert verdict("second", measured(event_of("second"), "none")) == "underconfident"
    shown = show(start_of(LESSON))
    assert shown.answer.startswith("underconfident: mean score 3.7%, observed frequency 6.9%")


def test_the_mean_gaps_of_all_predictions_and_of_all_classes_add_up_to_0() -> None:
    rows = data.sample().test
    ranked = np.sort(probabilities("none"), axis=1)
    assert ranked.mean(axis=0).sum() == pytest.approx(1)
    for calibrator in CALIBRATORS:
        gaps = [one.score - one.frequency for one in of_classes(calibrator)]
        assert sum(gaps) == pytest.approx(0, abs=1e-9)
        assert min(gaps) < 0 < max(gaps)
    assert rows.n_classes == len(of_classes("none"))


def test_calibrated_for_its_top_prediction_and_wrong_for_one_class() -> None:
    top, one = (measured(event_of(word), AFTER).curves for word in ("top", "class"))
    assert top.ks_error < top.ks_null_95
    assert one.ks_error > 2 * one.ks_null_95
    every = [result.curves.ks_error for result in of_classes(AFTER)]
    assert one.ks_error == max(every)
    state = start_of(LESSON, chosen={"event": "class", "calibrator": AFTER})
    sentence = show(state).sentence
    assert "**scores too high**" in sentence
    assert sentence.endswith("no miscalibration detected.")


def test_calibration_keeps_every_class_in_its_place() -> None:
    rows = data.sample()
    fitted = EnsembleTemperatureScaling().fit(rows.calibration.logits, rows.calibration.labels)
    assert probabilities(AFTER) == pytest.approx(fitted.predict_proba(rows.test.logits))
    few = slice(0, 500)
    before, after = (probabilities(one)[few] for one in CALIBRATORS)
    assert np.array_equal(np.argmax(before, axis=1), np.argmax(after, axis=1))


def test_events_are_called_as_in_the_dashboard() -> None:
    names = data.sample().test.class_names
    for word in EVENTS:
        assert name_of(word) == event_name(event_of(word), names)


@pytest.mark.parametrize("word", EVENTS)
def test_one_row_is_drawn_as_it_is(word: str) -> None:
    for seed in range(20):
        state = start_of(LESSON, seed=seed, chosen={"event": word})
        row = int(state.rng(LESSON.key).choice(drawable()))
        table, label = probabilities("none")[row], int(data.sample().test.labels[row])
        assert BETWEEN[0] < table.max() < BETWEEN[1]
        assert table[worst_class()] > VISIBLE
        picture = show(state).pictures[0]
        bars = picture.figure.data[0]
        assert list(bars.x) == pytest.approx(sorted(table, reverse=True))
        blue = [k for k, colour in enumerate(bars.marker.color) if colour == LIGHT.score]
        event = event_of(word).outcomes(table[np.newaxis], [label])
        assert sum(bars.x[k] for k in blue) == pytest.approx(float(event.scores[0]))
        labels = picture.figure.layout.annotations
        marked = [note.text for note in labels if note.font.color == LIGHT.frequency]
        assert marked == [f"{100 * table[label]:.0f}%, true class"]
        assert ("It does not: it shows" in picture.text) == (event.hits[0] == 0)


def test_links_name_the_event() -> None:
    name = data.sample().test.class_names[worst_class()]
    expected = {
        "top": ("top", "rank", "1"),
        "second": ("top", "rank", "2"),
        "set": ("within", "within", "2"),
        "class": ("class", "class", name),
    }
    for word, (event, key, value) in expected.items():
        state = start_of(LESSON, chosen={"event": word, "calibrator": AFTER})
        query = LESSON.link(state).query
        assert (query["event"], query[key], query["method"]) == (event, value, AFTER)


def test_before_the_answer_only_the_top_prediction_is_shown() -> None:
    before = show(start_of(LESSON, revealed=False))
    after = show(start_of(LESSON, chosen={"event": "top"}))
    assert [p.figure.to_json() for p in before.pictures] == [
        p.figure.to_json() for p in after.pictures
    ]
    assert "Prediction 2" not in before.sentence
    second = measured(event_of("second"), "none")
    assert f"{100 * second.frequency:.1f}" not in before.sentence
    assert measured(OneClass(0), "none").frequency == pytest.approx(0.1)


def holm_off(p_values: list[float]) -> list[int]:
    """Places that Holm's steps reject at 5%, the smallest p-value first."""
    off = []
    for step, k in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[k] * (len(p_values) - step) >= 0.05:
            break
        off.append(k)
    return sorted(off)


@pytest.mark.parametrize("calibrator", CALIBRATORS)
def test_the_note_counts_and_names_the_miscalibrated_classes(calibrator: str) -> None:
    table, labels = probabilities(calibrator), data.sample().test.labels
    names, worst = data.sample().test.class_names, worst_class()
    by_class = [
        (table[:, k].tolist(), (labels == k).astype(int).tolist()) for k in range(len(names))
    ]
    errors = [ks_error(*one) for one in by_class]
    off = holm_off(
        [reference.gap_p_value(s, e) for (s, _), e in zip(by_class, errors, strict=True)]
    )
    note = show(start_of(LESSON, chosen={"event": "class", "calibrator": calibrator})).note
    assert note.startswith(f"{len(off)} of 10 classes are miscalibrated (adjusted for 10 tests).")
    gaps = {k: sum(by_class[k][0]) - sum(by_class[k][1]) for k in off}
    for head, side in (
        ("Too high on average: ", [names[k] for k in off if gaps[k] > 0]),
        ("Too low: ", [names[k] for k in off if gaps[k] < 0]),
    ):
        assert (head in note) == bool(side)
        text = note.partition(head)[2].partition(".")[0]
        assert [name for name in names if name in re.split(r", | and ", text)] == side
    before, after = (
        ks_error(probabilities(one)[:, worst].tolist(), by_class[worst][1]) for one in CALIBRATORS
    )
    assert f"{names[worst]} is shown" in note
    assert f"its KS error is {100 * before:.1f}% before and {100 * after:.1f}% after" in note


@pytest.mark.parametrize("calibrator", CALIBRATORS)
@pytest.mark.parametrize("word", EVENTS)
def test_what_is_written_of_an_event_is_what_was_measured(word: str, calibrator: str) -> None:
    view = show(start_of(LESSON, chosen={"event": word, "calibrator": calibrator}))
    curves = measured(event_of(word), calibrator).curves
    luck = f"KS error {100 * curves.ks_error:.1f}% (luck alone: up to {100 * curves.ks_null_95:.1f}"
    assert luck in view.sentence
    calibrated = calibrator != "none"
    assert ("fitted on other rows" in view.note) == calibrated
    if word != "class":
        assert ("add up to 100%" in view.note) == (word == "second" and not calibrated)
        assert view.note.endswith("Next, choose One class." if calibrated else NEXT)


@pytest.mark.parametrize("word", EVENTS)
def test_the_diagram_is_that_of_bins_counted_row_by_row(word: str) -> None:
    event = event_of(word).outcomes(probabilities("none"), data.sample().test.labels)
    tenths: list[list[tuple[float, int]]] = [[] for _ in range(10)]
    for score, hit in zip(event.scores.tolist(), event.hits.astype(int).tolist(), strict=True):
        tenths[max(0, math.ceil(10 * score - 1e-12) - 1)].append((score, hit))
    drawn = [(k, rows) for k, rows in enumerate(tenths) if len(rows) >= 20]
    picture = show(start_of(LESSON, chosen={"event": word})).pictures[1]
    bars, _, dots = picture.figure.data
    assert bars.x.tolist() == pytest.approx([0.1 * k + 0.05 for k, _ in drawn])
    assert bars.width.tolist() == pytest.approx([0.1] * len(drawn))
    scores = [sum(s for s, _ in rows) / len(rows) for _, rows in drawn]
    rates = [sum(h for _, h in rows) / len(rows) for _, rows in drawn]
    assert bars.y.tolist() == pytest.approx(rates)
    assert dots.x.tolist() == dots.y.tolist() == pytest.approx(scores)
    above = sum(score > rate for score, rate in zip(scores, rates, strict=True))
    assert picture.text.endswith(f"bar in {above} of {len(drawn)} bins.")
    assert "in bins of 20 rows or more" in picture.text
