"""The lesson on events: its figures by slow code, and what the dashboard finds of the same."""

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

AFTER = "ensemble_temperature"


def test_the_figures_are_those_of_slow_code() -> None:
    rows = data.sample().test
    some = np.arange(0, rows.n_samples, 25)
    table = reference.softmax(rows.logits[some].astype(float).tolist())
    labels = rows.labels[some].tolist()
    slow = {
        "top": reference.top_r(table, labels, 1),
        "second": reference.top_r(table, labels, 2),
        "set": reference.within_top_r(table, labels, 2),
        "class": reference.one_class(table, labels, worst_class()),
    }
    for word, expected in slow.items():
        found = event_of(word).outcomes(probabilities("none")[some], labels)
        assert found.scores == pytest.approx(expected.scores, abs=1e-6)
        assert found.hits.tolist() == expected.hits


@pytest.mark.parametrize("calibrator", CALIBRATORS)
@pytest.mark.parametrize("word", EVENTS)
def test_mean_frequency_and_ks_error_of_all_rows(word: str, calibrator: str) -> None:
    found = measured(event_of(word), calibrator)
    event = event_of(word).outcomes(probabilities(calibrator), data.sample().test.labels)
    assert found.score == pytest.approx(float(np.mean(event.scores)))
    assert found.frequency == pytest.approx(float(np.mean(event.hits)))
    order = np.argsort(event.scores, kind="stable")
    gaps = np.cumsum(event.scores[order] - event.hits[order]) / len(order)
    # Ties aside, of which there are few, the largest gap.
    assert found.curves.ks_error == pytest.approx(float(np.abs(gaps).max()), abs=2e-4)


@pytest.mark.parametrize("calibrator", CALIBRATORS)
@pytest.mark.parametrize("word", EVENTS)
def test_the_verdict_is_that_of_the_dashboards_test(word: str, calibrator: str) -> None:
    event = event_of(word).outcomes(probabilities(calibrator), data.sample().test.labels)
    miscalibrated = omnibus_test(event.scores, event.hits).p_value < 0.05
    said = verdict(word, measured(event_of(word), calibrator))
    assert (said != "no miscalibration detected") == miscalibrated


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
    every = [found.curves.ks_error for found in of_classes(AFTER)]
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
        marked = [note.text for note in picture.figure.layout.annotations if "true" in note.text]
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
