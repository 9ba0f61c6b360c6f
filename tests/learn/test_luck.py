"""Miscalibrated or luck: line-ups against slow loops, and how often the network stands out."""

import math

import numpy as np
import pytest

from calibcore.cumulative import cumulative_curves
from calibcore.inference.draws import redrawn
from calibcore.samples import load_sample
from calibcore.tally import tally
from dashboard.learn import data
from dashboard.learn.lesson import ChoiceGuess, State, start_of
from dashboard.learn.lessons import luck
from dashboard.texts.numbers import of_100
from tests import reference
from tests.learn.reference import p_text

SEEDS = range(20)


def state(rows: int, **more: int) -> State:
    return start_of(luck.LESSON, chosen={"rows": str(rows)}, **more)


@pytest.mark.parametrize("n_rows", [50, 500])
def test_one_picture_is_the_network_the_others_are_drawn(n_rows: int) -> None:
    at = state(n_rows, seed=3)
    result = luck.draw(at)
    assert int(at.rng(luck.KEY).integers(luck.N_PICTURES)) == result.place
    rows = data.drawn(n_rows, at.rng(f"{luck.KEY}{n_rows}"), data.top_scores(luck.MODEL))
    scores, hits = rows.scores.tolist(), rows.hits.tolist()
    assert result.network.ks_error == pytest.approx(reference.ks_error(scores, hits))
    assert result.network.ks_p_value == pytest.approx(reference.ks_p_value(scores, hits), abs=1e-6)
    assert reference.gap_p_value(scores, result.limit) == pytest.approx(0.05, abs=1e-6)
    for one in result.curves:
        p_value = reference.gap_p_value(scores, one.ks_error)
        assert one.ks_p_value == pytest.approx(p_value, abs=1e-6)
        assert one.cum_score.tolist() == pytest.approx(result.network.cum_score.tolist())
    assert len({tuple(one.cum_hits.tolist()) for one in result.curves}) == luck.N_PICTURES


def test_the_network_is_the_sample_s_top_prediction() -> None:
    data = load_sample(luck.MODEL)
    logits, labels = data["logits_test"].astype(float), data["labels_test"]
    right = (logits.argmax(axis=1) == labels).mean()
    result = luck.draw(state(10_000))
    assert result.network.cum_hits[-1] == pytest.approx(right)


def test_luck_exceeds_its_limit_in_one_of_twenty_pictures() -> None:
    n_beyond = n_pictures = 0
    for seed in range(200):
        result = luck.draw(state(500, seed=seed))
        n_beyond += len([k for k in result.beyond if k != result.place])
        n_pictures += luck.N_PICTURES - 1
    spread = math.sqrt(0.05 * 0.95 / n_pictures)
    assert n_beyond / n_pictures == pytest.approx(0.05, abs=4 * spread)


def test_the_network_is_in_every_place_as_often() -> None:
    places = [luck.draw(state(50, seed=seed)).place for seed in range(300)]
    counts = np.bincount(places, minlength=luck.N_PICTURES)
    assert counts.min() > 25
    assert counts.max() < 80


@pytest.mark.parametrize("seed", SEEDS)
def test_with_more_rows_it_stays_in_its_place(seed: int) -> None:
    assert len({luck.draw(state(n, seed=seed)).place for n in luck.ROWS}) == 1


@pytest.mark.parametrize("n_rows", [100, 1_000])
def test_what_is_said_of_false_alarms_is_that_of_slow_draws(n_rows: int) -> None:
    rng, every, n_alarms = np.random.default_rng(10), data.top_scores(luck.MODEL), []
    for _ in range(20):
        scores = np.sort(every.scores[rng.integers(every.n_samples, size=n_rows)])
        hits = (rng.random((400, n_rows)) < scores).astype(int)
        errors = np.abs(np.cumsum(scores - hits, axis=1)).max(axis=1) / n_rows
        limit = cumulative_curves(scores, hits[0]).ks_null_95
        assert reference.gap_p_value(scores.tolist(), limit) == pytest.approx(0.05, abs=1e-6)
        n_alarms.append(np.mean(errors > limit))
    result, shown = luck.often(n_rows), luck.show(state(n_rows))
    assert result.alarms == pytest.approx(np.mean(n_alarms), abs=0.015)
    assert f"of luck alone: {100 * result.alarms:.0f}%" in shown.sentence
    assert f"where {100 - 100 * result.alarms:.0f}% of pictures of luck" in shown.pictures[0].text
    assert ("the test rejects too seldom" in shown.note) == (result.alarms < 0.04)


def test_the_line_of_the_network_goes_as_is_said() -> None:
    assert luck.draw(state(10_000)).network.gap[-1] < 0
    few, many = (luck.show(state(n_rows)).sentence for n_rows in (100, 10_000))
    assert luck.draw(state(100)).network.ks_p_value > 0.05
    assert "With 10,000 rows its line falls; here this cannot be seen." in few
    assert "too low, so its line falls" in many


@pytest.mark.parametrize("seed", SEEDS)
def test_with_all_rows_the_network_stands_out(seed: int) -> None:
    result = luck.draw(state(10_000, seed=seed))
    assert result.place in result.beyond
    assert result.network.ks_error == max(one.ks_error for one in result.curves)


def test_with_few_rows_it_does_not() -> None:
    results = [luck.draw(state(50, seed=seed)) for seed in SEEDS]
    assert sum(one.place in one.beyond for one in results) <= 4
    widest = [max(range(6), key=lambda k: one.curves[k].ks_error) == one.place for one in results]
    assert sum(widest) < 10


def test_how_often_grows_with_the_rows() -> None:
    detected = [luck.often(n).detected for n in luck.ROWS]
    assert detected[0] < 0.15
    assert detected[-1] == 1
    assert np.all(np.diff(detected) > -0.1)
    assert luck.often(50).widest < 0.4


def test_how_large_luck_is_comes_from_slow_draws_and_shrinks_with_the_rows() -> None:
    rng, every = np.random.default_rng(9), data.top_scores(luck.MODEL)
    errors, eces = [], []
    for _ in range(300):
        scores = np.sort(every.scores[rng.integers(every.n_samples, size=500)])
        hits = (rng.random(500) < scores).astype(int)
        errors.append(float(np.abs(np.cumsum(scores - hits)).max() / 500))
        eces.append(reference.ece(scores.tolist(), hits.tolist(), luck.N_BINS, "equal_width"))
    result = luck.often(500)
    assert result.usual_ks == pytest.approx(np.median(errors), rel=0.1)
    assert result.usual_ece == pytest.approx(np.median(eces), rel=0.1)
    few, many = luck.often(50), luck.often(2_000)
    assert few.usual_ks > result.usual_ks > many.usual_ks
    assert few.usual_ece > result.usual_ece > many.usual_ece


@pytest.mark.parametrize("seed", range(5))
def test_nothing_but_the_numbers_differs_before_the_answer(seed: int) -> None:
    shown = luck.show(start_of(luck.LESSON, seed=seed, revealed=False))
    (picture,) = shown.pictures
    figure = picture.figure
    assert [one.text for one in figure.layout.annotations] == [f"<b>{k}</b>" for k in range(1, 7)]
    assert len({one.font.color for one in figure.layout.annotations}) == 1
    assert len(figure.data) == luck.N_PICTURES
    assert len({(one.line.color, one.line.width, one.line.dash) for one in figure.data}) == 1
    layout = figure.layout.to_plotly_json()
    ups = [tuple(layout[name]["range"]) for name in layout if name.startswith("yaxis")]
    assert len(ups) == luck.N_PICTURES
    assert len(set(ups)) == 1
    assert "network" not in picture.text
    assert shown.sentence == shown.note == ""


def test_the_answer_is_the_place_of_the_network_whose_name_has_its_colour() -> None:
    at = state(100)
    place, shown = luck.draw(at).place, luck.show(at)
    name = shown.pictures[0].figure.layout.annotations[place]
    assert name.font.color == at.palette.frequency
    assert shown.answer == f"picture {place + 1}"
    assert int(shown.right) == place + 1
    assert luck.LESSON.guess_each_draw


def test_the_grey_band_ends_inside_each_picture() -> None:
    for n_rows in luck.ROWS:
        at = state(n_rows)
        top = luck.show(at).pictures[0].figure.layout.yaxis.range[1]
        result = luck.draw(at)
        assert top >= 1.4 * result.limit
        assert top <= 1.6 * max(result.limit, *(one.ks_error for one in result.curves))


def test_a_right_guess_is_called_luck_where_the_rows_do_not_show_it() -> None:
    for seed in SEEDS:
        at = state(100, seed=seed)
        scores = luck.draw(at).network
        p_value = scores.ks_p_value
        word = luck.show(at).if_right
        if p_value < 0.05:
            assert word == "right"
        else:
            assert word == (
                f"right, but by luck: {of_100(p_value)} of pictures of luck have so wide a gap"
            )
    assert luck.show(state(10_000)).if_right == "right"


def test_luck_beyond_the_limit_is_named() -> None:
    notes = {seed: luck.show(state(500, seed=seed)).note for seed in SEEDS}
    for seed, note in notes.items():
        result = luck.draw(state(500, seed=seed))
        lucky = [k + 1 for k in result.beyond if k != result.place]
        assert ("Luck, yet" in note) == bool(lucky)
        assert all(str(k) in note for k in lucky)
    assert any("Luck, yet" in note for note in notes.values())


SEEN = "too low, so its line falls."
HIDDEN = "too low. With 10,000 rows its line falls; here this cannot be seen."
WRONG_WAY = (
    "too low. With 10,000 rows its line falls; here it leaves the grey the wrong way: a small"
    " p-value says that, not how."
)


@pytest.mark.parametrize(
    ("n_rows", "seed", "says"),
    [(10_000, 0, SEEN), (50, 43, SEEN), (100, 11, SEEN), (50, 0, WRONG_WAY), (100, 0, HIDDEN)],
)
def test_what_is_said_of_the_way_is_that_of_the_widest_gap(
    n_rows: int, seed: int, says: str
) -> None:
    at = state(n_rows, seed=seed)
    gaps = luck.draw(at).network.gap.tolist()
    widest = max(gaps, key=abs)
    scores = data.drawn(n_rows, at.rng(f"{luck.KEY}{n_rows}"), data.top_scores(luck.MODEL)).scores
    is_detected = reference.gap_p_value(scores.tolist(), abs(widest)) < 0.05
    assert is_detected == (says != HIDDEN)
    if is_detected:
        assert (widest < 0) == (says == SEEN)
    assert f"is the network: its scores are {says} KS error" in luck.show(at).sentence


@pytest.mark.parametrize("n_rows", luck.ROWS)
def test_too_few_false_alarms_are_said_with_their_number(n_rows: int) -> None:
    alarms = luck.often(n_rows).alarms
    text = (
        "With so few rows the test rejects too seldom, as its limit is too far out: false alarms"
        f" are {100 * alarms:.0f}%, not 5%."
    )
    assert (text in luck.show(state(n_rows)).note) == (alarms < 0.04)


@pytest.mark.parametrize(("n_rows", "seed"), [(100, 0), (500, 4), (500, 9)])
def test_every_figure_that_is_written_is_that_of_the_line_up(n_rows: int, seed: int) -> None:
    at = state(n_rows, seed=seed)
    result, rates, shown = luck.draw(at), luck.often(n_rows), luck.show(at)
    # The lines begin with 0, so that each error is the largest of its own gaps.
    errors = [max(abs(gap) for gap in one.gap.tolist()) for one in result.curves]
    written = [f"{100 * error:.1f}%" for error in errors]
    chances = [p_text(one.ks_p_value) for one in result.curves]
    own = f" KS error {written[result.place]}, {chances[result.place]}. With {n_rows} rows"
    assert f"{own} the KS test (p below 0.05) finds" in shown.sentence
    assert f"**{100 * rates.detected:.0f}%** of samples" in shown.sentence
    assert (
        f"of the six in **{100 * rates.widest:.0f}%**; guessing finds it in 17%." in shown.sentence
    )
    usual = f"a KS error of {100 * rates.usual_ks:.1f}% and an ECE (15 bins) of"
    assert shown.note.startswith(f"Perfectly calibrated, {n_rows:,} such rows show {usual}")
    assert f" {100 * rates.usual_ece:.1f}%, by luck alone (medians)" in shown.note
    beyond = [k for k, error in enumerate(errors) if error > result.limit]
    lucky = [str(k + 1) for k in beyond if k != result.place]
    chance = 100 * (1 - (1 - rates.alarms) ** 5)
    text = (
        f"Luck, yet beyond the limit: {', '.join(lucky)}. Among 5 pictures of luck, that happens in"
        f" {chance:.0f}% of draws."
    )
    assert shown.note.endswith(text) == bool(lucky)
    picture = shown.pictures[0]
    numbers = ", ".join(str(k + 1) for k in beyond)
    named = f"picture{'s' if len(beyond) > 1 else ''} {numbers}" if beyond else "no picture"
    assert picture.text.startswith(f"Orange, picture {result.place + 1}: the network. The other 5")
    assert picture.text.endswith(f"up to {100 * result.limit:.1f}%. Beyond it: {named}.")
    _, *table = shown.numbers
    lines = picture.figure.data[1::2]
    for k, (cells, line) in enumerate(zip(table, lines, strict=True)):
        of = "the network" if k == result.place else "luck"
        assert cells == (str(k + 1), of, written[k], chances[k])
        assert (line.x[0], line.x[-1]) == (0, 1)
        is_network = k == result.place  # in orange, as the caption says
        assert line.line.color == (at.palette.frequency if is_network else at.palette.text)
        assert max(abs(gap) for gap in line.y) == pytest.approx(errors[k])
        assert line.y[-1] == pytest.approx(result.curves[k].gap[-1])
        label = picture.figure.layout.annotations[k].text
        assert label == (
            f"<b>{k + 1}</b> {'<b>network</b>' if k == result.place else 'luck'}<br>KS {written[k]}"
        )
    for band in picture.figure.data[::2]:
        assert {abs(y) for y in band.y} == {result.limit}


def test_the_check_and_the_link_speak_of_rows_that_show_it() -> None:
    check, n_every = luck.LESSON.check, data.top_scores(luck.MODEL).n_samples
    assert check.question.startswith("On 100 rows, a model's KS error is no larger than luck makes")
    assert "on 10,000 rows of the same kind it is far larger" in check.question
    assert check.answers["lucky"].startswith("The 10,000 rows")
    assert check.answers[check.right].startswith("100 rows are too few")
    assert "with 100 rows its KS error is mostly no larger than luck" in check.why
    assert luck.often(100).detected < 0.5 < luck.often(10_000).detected
    assert luck.LESSON.link(state(100)).label == f"All {n_every:,} rows in the dashboard"
    assert n_every == 10_000


def test_six_pictures_stand_in_two_lines_and_share_the_names_of_their_axes() -> None:
    guess = luck.LESSON.guess
    assert isinstance(guess, ChoiceGuess)
    assert guess.answers == {str(k): str(k) for k in (1, 2, 3, 4, 5, 6)}
    layout = luck.show(state(100)).pictures[0].figure.layout.to_plotly_json()
    for k in range(6):
        number = "" if k == 0 else str(k + 1)
        across, up = layout[f"xaxis{number}"], layout[f"yaxis{number}"]
        name = "Rows, lowest score first" if k == 4 else ""  # below the middle one
        assert (across["title"]["text"], across["showticklabels"]) == (name, k == 4)
        assert across["tickvals"] == [0, 0.5, 1]
        assert (up["title"]["text"], up["showticklabels"]) == (
            ("Gap", True) if k in {0, 3} else ("", False)
        )
        (left, right), (low, high) = across["domain"], up["domain"]
        assert left - k % 3 / 3 == pytest.approx(0, abs=0.03)
        assert right - left == pytest.approx(1 / 3, abs=0.03)
        assert high < 0.5 if k > 2 else low > 0.5


def test_how_often_counts_what_a_loop_over_its_own_draws_counts() -> None:
    n_rows, rng = 50, np.random.default_rng((50, *luck.KEY.encode()))
    every = data.top_scores(luck.MODEL)
    n_detected = n_widest = n_alarms = 0
    for _ in range(100):
        chosen = rng.integers(every.n_samples, size=n_rows)
        rows = tally(every.scores[chosen], every.hits[chosen])
        scores, counts = rows.scores.tolist(), rows.counts.tolist()

        def error(hits: list[float], scores: list[float], counts: list[float]) -> float:
            total = largest = 0.0
            for score, count, hit in zip(scores, counts, hits, strict=True):
                total += score * count - hit
                largest = max(largest, abs(total))
            return largest / n_rows

        own = error(rows.hits.tolist(), scores, counts)
        alike = [
            error(hits, scores, counts)
            for hits in redrawn(rng, rows, rows.scores, 10).hits.tolist()
        ]
        each = [s for s, n in zip(scores, counts, strict=True) for _ in range(int(n))]
        n_detected += reference.gap_p_value(each, own) < 0.05
        n_widest += own > max(alike[:5])
        n_alarms += sum(reference.gap_p_value(each, one) < 0.05 for one in alike)
    result = luck.often(n_rows)
    assert (result.detected, result.widest) == (n_detected / 100, n_widest / 100)
    assert result.alarms == pytest.approx(n_alarms / 1_000, abs=1e-9)
