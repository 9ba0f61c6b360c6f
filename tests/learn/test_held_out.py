"""The lesson on held-out rows: its figures by slow code, and its point over many draws."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from calibcore.calibrators import IsotonicCalibration, TemperatureScaling
from calibcore.events import TopR
from calibcore.metrics import ece, ks_error
from dashboard.figures import LIGHT
from dashboard.learn import data
from dashboard.learn.laboratory import PRESETS, drawn_of
from dashboard.learn.lesson import start_of
from dashboard.learn.lessons.held_out import (
    CALIBRATORS,
    FEW,
    KEY,
    LESSON,
    SIZES,
    Result,
    find,
    show,
    spread,
)
from tests import reference, reference_score_maps
from tests.learn.reference import quantile

SEEDS = range(20)


@pytest.fixture(scope="module")
def results_by_size() -> dict[int, Result]:
    return {seed: find(start_of(LESSON, seed=seed), FEW) for seed in SEEDS}


def test_the_brier_scores_are_those_of_slow_fits() -> None:
    state = start_of(LESSON, seed=1)
    result = find(state, FEW)
    calibration = data.sample().calibration
    rows = calibration.rows(state.rng(KEY).permutation(calibration.n_samples)[:FEW])
    logits, labels = rows.logits.astype(float).tolist(), rows.labels.tolist()
    scores, hits = reference.top_r(reference.softmax(logits), labels, 1)
    temperature = reference.best_temperature(logits, labels)
    scaled = [[z / temperature for z in row] for row in logits]
    steps = reference_score_maps.isotonic(scores, hits)
    expected = [
        reference.event_brier(scores, hits),
        reference.event_brier(reference.top_r(reference.softmax(scaled), labels, 1).scores, hits),
        reference.event_brier([reference_score_maps.read_step(steps, s) for s in scores], hits),
    ]
    assert result.briers("fit") == pytest.approx(expected, abs=1e-6)
    other = data.top_scores()
    read = [reference_score_maps.read_step(steps, s) for s in other.scores.tolist()]
    assert result.briers("other")[-1] == pytest.approx(
        float(np.mean(np.square(np.array(read) - other.hits))), abs=1e-12
    )


def test_on_its_own_rows_each_step_is_its_observed_frequency(
    results_by_size: dict[int, Result],
) -> None:
    for result in results_by_size.values():
        steps = result.fit[-1]
        assert steps.scores == pytest.approx(steps.hits / steps.counts, abs=1e-12)
        rows = np.repeat(steps.scores, steps.counts.astype(int))
        hits = np.concatenate(
            [np.arange(n) < h for n, h in zip(steps.counts, steps.hits, strict=True)]
        )
        assert ece(rows, hits) == pytest.approx(0, abs=1e-12)
        assert ks_error(rows, hits) == pytest.approx(0, abs=1e-12)


def test_isotonic_regression_is_best_on_the_rows_of_the_fit_and_not_on_others(
    results_by_size: dict[int, Result],
) -> None:
    temperature, isotonic = map(CALIBRATORS.index, ("Temperature scaling", "Isotonic regression"))
    assert all(result.best("fit") == isotonic for result in results_by_size.values())
    best = [result.best("other") for result in results_by_size.values()]
    assert best.count(isotonic) <= 1
    assert best.count(temperature) >= 17
    worse = [
        result.briers("other")[2] > result.briers("other")[0] for result in results_by_size.values()
    ]
    assert sum(worse) >= 14


def test_how_usual_a_draw_is_comes_from_a_hundred_others() -> None:
    rows, other = data.sample(), data.top_scores()
    rng = np.random.default_rng((FEW, *KEY.encode()))
    for drawn_scores in spread(FEW)[:3].tolist():
        chosen = rng.permutation(5_000)[:FEW]
        fit = rows.calibration.rows(chosen)
        top = TopR(1).outcomes(fit.probabilities, fit.labels)
        isotonic = IsotonicCalibration().fit(top.scores, top.hits).predict(other.scores)
        fitted = TemperatureScaling().fit(fit.logits, fit.labels)
        scaled = TopR(1).outcomes(fitted.predict_proba(rows.test.logits), rows.test.labels)
        briers = [
            math.fsum((s - h) ** 2 for s, h in zip(scores.tolist(), hits.tolist(), strict=True))
            / len(hits)
            for scores, hits in (
                (other.scores, other.hits), (scaled.scores, scaled.hits), (isotonic, other.hits)
            )
        ]  # fmt: skip
        assert drawn_scores == pytest.approx(briers, abs=1e-9)
    note = show(start_of(LESSON)).note
    every = spread(FEW).tolist()
    best = sum(one[1] == min(one) for one in every)
    worse = sum(one[2] > one[0] for one in every)
    assert f"temperature scaling is best in {best}%" in note
    assert f"worse than uncalibrated in {worse}%" in note


def test_with_all_rows_both_are_better_than_uncalibrated_and_nothing_is_drawn() -> None:
    first, second = (find(start_of(LESSON, seed=seed), SIZES[-1]) for seed in (0, 1))
    assert first.briers("other") == pytest.approx(second.briers("other"), abs=1e-9)
    none, temperature, isotonic = first.briers("other")
    assert max(temperature, isotonic) < none
    assert "changes nothing" in show(start_of(LESSON, chosen={"rows": "5000"})).note


def test_the_sentence_is_of_the_chosen_rows_and_the_answer_of_the_question() -> None:
    fit, other = (show(start_of(LESSON, chosen={"evaluate": word})) for word in ("fit", "other"))
    assert "**Isotonic regression** is best" in fit.sentence
    assert "**Temperature scaling** is best" in other.sentence
    assert "is 0.0% on the rows of its fit" in fit.sentence
    assert fit.answer == other.answer == "Temperature scaling, with 50 rows"
    assert "All lie on the line." in fit.pictures[0].text
    assert "Farthest from the line" in other.pictures[0].text


def test_before_the_answer_only_the_rows_of_the_fit_are_shown() -> None:
    before = show(start_of(LESSON, revealed=False, chosen={"evaluate": "other", "rows": "500"}))
    fit = show(start_of(LESSON, chosen={"evaluate": "fit"}))
    assert [p.figure.to_json() for p in before.pictures] == [
        p.figure.to_json() for p in fit.pictures
    ]
    assert fit.sentence.startswith(before.sentence)
    assert "other" not in before.sentence + "".join(p.text for p in before.pictures)


def test_where_no_temperature_fits_steps_win() -> None:
    note = show(start_of(LESSON, chosen={"rows": str(SIZES[-1])})).note
    steps, scaled = (float(x) for x in re.findall(r"(0\.\d{3}) \(", note))
    model = replace(PRESETS["wavy"], rows=SIZES[-1])
    fit, other = (drawn_of(model, which) for which in (0, 1))
    blocks = IsotonicCalibration().fit(fit.event.scores, fit.event.hits)
    fitted = blocks.predict(other.event.scores).tolist()
    by_hand = sum((s - h) ** 2 for s, h in zip(fitted, other.event.hits.tolist(), strict=True))
    assert steps == pytest.approx(by_hand / SIZES[-1], abs=5.1e-4)
    # The least Brier score that any one factor on the log-odds reaches is above it.
    odds = np.log(other.event.scores / (1 - other.event.scores))
    best = min(
        float(((1 / (1 + np.exp(-factor * odds)) - other.event.hits) ** 2).mean())
        for factor in np.linspace(0.05, 3, 60)
    )
    assert steps < best <= scaled + 5.1e-4


def slow_ece(scores: list[float], hits: list[int]) -> float:
    return reference.ece(scores, hits, 15, "equal_width")


@pytest.mark.parametrize(("rows", "which"), [("50", "other"), ("500", "fit")])
def test_every_figure_shown_is_of_the_chosen_rows(rows: str, which: str) -> None:
    at = start_of(LESSON, chosen={"rows": rows, "evaluate": which})
    result, text = find(at, int(rows)), show(at)
    _, *table = text.numbers
    for k, (name, *cells) in enumerate(table):
        assert name == CALIBRATORS[k]
        eces = []
        for one in (result.fit[k], result.other[k]):
            scores = np.repeat(one.scores, one.counts.astype(int)).tolist()
            hits = [
                int(j < hit)
                for n, hit in zip(one.counts.tolist(), one.hits.tolist(), strict=True)
                for j in range(int(n))
            ]
            eces.append(f"{100 * slow_ece(scores, hits):.1f}%")
        briers = [result.briers(one)[k] for one in ("fit", "other")]
        assert cells == [*(f"{one:.3f}" for one in briers), *eces]
    assert text.sentence.endswith(
        f"isotonic regression is {table[2][3]} on the rows of its fit, {table[2][4]} on others."
    )
    briers = result.briers(which)
    best = briers.index(min(briers))
    assert f"**{CALIBRATORS[best]}** is best: Brier score **{briers[best]:.3f}**" in text.sentence
    others = [f"{briers[k]:.3f} ({name.lower()})" for k, name in enumerate(CALIBRATORS)]
    assert f"against {' and '.join(one for one in others if one != others[best])}." in text.sentence
    assert text.sentence.startswith(
        f"On the {rows} rows of the fit, " if which == "fit" else "On 10,000 other rows, "
    )


@pytest.mark.parametrize(("rows", "which"), [("50", "other"), ("500", "fit")])
def test_both_pictures_are_of_the_chosen_rows(rows: str, which: str) -> None:
    at = start_of(LESSON, chosen={"rows": rows, "evaluate": which})
    result = find(at, int(rows))
    briers, (steps, bars) = result.briers(which), show(at).pictures
    best = briers.index(min(briers))
    written = [label.text for label in bars.figure.layout.annotations]
    assert written == [f"<b>{b:.3f}</b>" if b == min(briers) else f"{b:.3f}" for b in briers]
    n_rows = f"the {rows} rows of the fit" if which == "fit" else "10,000 other rows"
    assert bars.text.startswith(f"Brier score on {n_rows}; {CALIBRATORS[best].lower()} has the")
    assert bars.figure.layout.yaxis.range[1] > max(briers)
    shown_bars, *dots = bars.figure.data
    assert list(shown_bars.y) == briers
    marked = [k for k, colour in enumerate(shown_bars.marker.color) if colour == LIGHT.score]
    assert marked == [best]
    assert ("Small dots: 100 other draws." in bars.text) == (which == "other") == bool(dots)
    for k, cloud in enumerate(dots, 1):
        assert cloud.y.tolist() == spread(int(rows))[:, k].tolist()
        assert all(k + 0.3 < x < k + 0.5 for x in cloud.x)  # beside its bar, not on another
    one = (result.fit if which == "fit" else result.other)[2]
    frequency = [h / n for h, n in zip(one.hits.tolist(), one.counts.tolist(), strict=True)]
    drawn_dots = steps.figure.data[2]
    assert drawn_dots.x.tolist() == one.scores.tolist()
    assert drawn_dots.y.tolist() == pytest.approx(frequency)
    order = np.argsort(one.counts)
    assert np.all(np.diff(np.array(drawn_dots.marker.size)[order]) >= 0)
    gaps = [abs(s - f) for s, f in zip(one.scores.tolist(), frequency, strict=True)]
    far = gaps.index(max(gaps))
    assert steps.text.startswith(f"A dot is one of {len(gaps)} steps, larger with more rows. ")
    if which == "other":
        ends = one.scores[far], frequency[far]
        assert "score {:.1%}, observed frequency {:.1%}.".format(*ends) in steps.text


def test_what_90_percent_of_other_draws_show_is_between_ordered_ones() -> None:
    briers = spread(FEW)[:, 2].tolist()
    low, high = (quantile(briers, share) for share in (0.05, 0.95))
    between = f"90% of its Brier scores are between {low:.3f} and {high:.3f}."
    assert between in show(start_of(LESSON)).note


def test_each_kind_of_draw_has_its_sentence(results_by_size: dict[int, Result]) -> None:
    kinds = set()
    for seed, result in results_by_size.items():
        none, temperature, isotonic = result.briers("other")
        note = show(start_of(LESSON, seed=seed)).note
        if temperature < none < isotonic:
            kind = ""
        elif temperature < isotonic <= none:
            kind = "With this draw, isotonic regression is no worse than uncalibrated."
        else:
            kind = "With this draw it does not show. Draw again."
        kinds.add(kind)
        assert note.removeprefix(kind).strip().startswith("Of 100 other draws of 50 rows,")
        every = spread(FEW)[:, 2].tolist()
        below = sum(one < isotonic for one in every) / len(every)
        assert note.endswith(f"This draw's is higher than {100 * below:.0f}% of them.")
    assert len(kinds) > 1
