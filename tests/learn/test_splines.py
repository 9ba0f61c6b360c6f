"""The lesson on splines: its figures by slow code, and its point over many draws."""

import re

import numpy as np
import pytest

from dashboard.learn import data
from dashboard.learn.lesson import start_of
from dashboard.learn.lessons.splines import (
    FEW,
    FEWEST,
    LESSON,
    MANY,
    NETWORK,
    SIZES,
    Result,
    drawn,
    find,
    of_all,
    show,
)
from tests import reference

SEEDS = range(20)


@pytest.fixture(scope="module")
def fitted() -> dict[int, tuple[Result, Result]]:
    """Splines of few and of many knots, by seed."""
    states = {seed: start_of(LESSON, seed=seed) for seed in SEEDS}
    rows = {seed: drawn(state, FEWEST) for seed, state in states.items()}
    return {seed: (find(few, FEW), find(few, MANY)) for seed, few in rows.items()}


def test_the_spline_and_its_nll_are_those_of_slow_code() -> None:
    rows = drawn(start_of(LESSON, seed=1), FEWEST)
    scores, hits = rows.scores.tolist(), rows.hits.tolist()
    result = find(rows, FEW)
    expected = reference.spline_map(scores, hits, FEW, "natural", "hits")
    low, high = result.fitted.slope.min(), result.fitted.slope.max()
    cut_off = [(score, min(max(value, low), high)) for score, value in expected]
    assert result.fitted.predict([score for score, _ in cut_off]) == pytest.approx(
        [value for _, value in cut_off], abs=1e-9
    )
    for nll, one in ((result.fit_nll, rows), (result.other_nll, data.top_scores(NETWORK))):
        calibrated = [reference.read_map(cut_off, score) for score in one.scores.tolist()]
        slowly = reference.event_nll(calibrated, one.hits.tolist())
        assert nll == pytest.approx(slowly, abs=1e-9)


def test_the_right_picture_is_the_slope_of_the_left_one() -> None:
    for knots in ("4", "30"):
        left, right = (
            picture.figure
            for picture in show(start_of(LESSON, chosen={"knots": knots, "rows": "500"})).pictures
        )
        x, y = np.array(left.data[1].x), np.array(left.data[1].y)
        slope = np.array(right.data[1].y)
        between = (slope[1:] + slope[:-1]) / 2
        low, high = slope.min(), slope.max()
        inside = (slope[1:] > low) & (slope[:-1] > low) & (slope[1:] < high) & (slope[:-1] < high)
        assert np.diff(y)[inside] / np.diff(x)[inside] == pytest.approx(between[inside], abs=0.02)
        assert right.data[-1].x == pytest.approx(np.linspace(0, 1, int(knots)))


def test_more_knots_are_better_on_the_rows_of_the_fit_and_worse_on_others(
    fitted: dict[int, tuple[Result, Result]],
) -> None:
    assert all(many.fit_nll < few.fit_nll for few, many in fitted.values())
    assert all(many.other_nll > few.other_nll for few, many in fitted.values())
    for seed in SEEDS:
        shown = show(start_of(LESSON, seed=seed))
        assert shown.answer.startswith("it rises")
        assert "does not show" not in shown.note


def test_with_many_rows_more_knots_are_no_loss_and_too_few_are() -> None:
    three, few, six, many = (of_all(n_knots) for n_knots in (3, FEW, 6, MANY))
    assert many.other_nll < few.other_nll
    assert three.other_nll > few.other_nll > six.other_nll
    shown = show(start_of(LESSON, chosen={"rows": str(SIZES[-1])}))
    assert "changes nothing" in shown.note
    assert shown.answer.endswith("with 100 rows")


def test_before_the_answer_only_few_knots_are_shown() -> None:
    before = show(start_of(LESSON, revealed=False, chosen={"knots": "15", "rows": "500"}))
    after = show(start_of(LESSON, chosen={"knots": str(FEW)}))
    assert [p.figure.to_json() for p in before.pictures] == [
        p.figure.to_json() for p in after.pictures
    ]
    assert before.sentence.startswith("With 4 knots")
    assert "30" not in before.sentence


def test_a_draw_that_does_not_show_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    # With all rows 30 knots are better, as a rare draw of 100 could have it.
    monkeypatch.setattr("dashboard.learn.lessons.splines.FEWEST", SIZES[-1])
    shown = show(start_of(LESSON, chosen={"rows": str(SIZES[-1])}))
    assert shown.answer.startswith("it falls")
    assert "Draw again." in shown.note


@pytest.mark.parametrize("knots", [4, 30])
def test_a_calibrated_score_that_falls_is_named(knots: int) -> None:
    at = start_of(LESSON, chosen={"knots": str(knots), "rows": "100"})
    fit = find(drawn(at, 100), knots)
    along = [k / 240 for k in range(241)]
    slopes = [float(fit.drawn.spline.derivative(np.array([x]))[0]) for x in along]
    cut_off = np.clip(slopes, fit.fitted.slope.min(), fit.fitted.slope.max())
    falls = bool(np.diff(cut_off).min() < -0.001)
    assert ("falls in places" in LESSON.show(at).note) == falls


@pytest.mark.parametrize(("rows", "knots"), [("100", "10"), ("500", "4")])
def test_both_pictures_and_their_captions_are_those_of_loops(rows: str, knots: str) -> None:
    at = start_of(LESSON, chosen={"rows": rows, "knots": knots})
    few = drawn(at, int(rows))
    ordered = sorted(zip(few.scores.tolist(), few.hits.tolist(), strict=True))
    left, right = show(at).pictures
    n, result = len(ordered), find(few, int(knots))
    for share, total in zip(left.figure.data[0].x, left.figure.data[0].y, strict=True):
        assert total == pytest.approx(sum(hit for _, hit in ordered[: round(share * n)]) / n)
    spline = result.drawn.spline
    blocks = [k + 1 for k in range(n) if k + 1 == n or ordered[k + 1][0] > ordered[k][0]]
    far = max(
        abs(float(spline(np.array([k / n]))[0]) - sum(hit for _, hit in ordered[:k]) / n)
        for k in blocks
    )
    assert left.text.endswith(
        f"its {knots} knots. The largest distance is {100 * far:.1f} percentage points."
    )
    for picture in (left, right):
        for k, text in enumerate(picture.figure.layout.xaxis.ticktext):
            score = ordered[min(k * n // 5, n - 1)][0]
            assert text == f"{20 * k}%<br>{100 * score:.0f}%"
    other = data.top_scores(NETWORK)
    bins = reference.bins(other.scores.tolist(), other.hits.tolist(), 15, "equal_mass")
    assert right.figure.data[2].y.tolist() == pytest.approx(bins.frequency)
    calibrated = result.fitted.predict(bins.mean_score).tolist()
    gap = max(abs(c - f) for c, f in zip(calibrated, bins.frequency, strict=True))
    assert f"in 15 bins of other rows, up to {100 * gap:.1f} percentage points away" in right.text


def test_the_answer_is_of_the_fewest_rows_whatever_is_shown() -> None:
    answers = {show(start_of(LESSON, chosen={"rows": str(size)})).answer for size in SIZES}
    assert len(answers) == 1
    results = [find(drawn(start_of(LESSON), FEWEST), knots).other_nll for knots in (FEW, MANY)]
    assert "{:.3f} \u2192 {:.3f}, with 100 rows".format(*results) in answers.pop()


def test_many_rows_and_few_knots_do_not_fall() -> None:
    at = start_of(LESSON, chosen={"rows": str(SIZES[-1]), "knots": "3"})
    slope = show(at).pictures[1].figure.data[1].y
    assert np.diff(slope).min() >= 0
    note = show(at).note
    assert "falls in places" not in note
    n_right, n_rows, slope_said = re.search(
        r"where (\d+) of the next (\d+) .* slope of (\d+)%", note
    ).groups()  # type: ignore[union-attr]
    assert int(slope_said) == 100 * int(n_right) / int(n_rows)
    n_all = data.top_scores(NETWORK, "calibration").n_samples
    assert LESSON.link(at).label.startswith(f"All {n_all:,} calibration rows")
    assert f"These are all {n_all:,} calibration rows" in note
