"""Your own calibration: the code of the answers, what they show, and its pictures."""

import math
import re
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.figures import DARK, LIGHT, Palette
from dashboard.learn import garments, own, own_pictures
from dashboard.learn.own import LETTERS, LEVELS, OwnAnswer
from dashboard.learn.questions import N_QUESTIONS
from dashboard.views.learn import own_words as words
from tests import reference
from tests.reference_reliability import wilson

answers = st.builds(OwnAnswer, st.sampled_from(LEVELS), st.booleans())
twenty = st.lists(answers, min_size=N_QUESTIONS, max_size=N_QUESTIONS)
some = st.lists(answers, min_size=1, max_size=60)


def same(level: int, n_right: int, n: int = N_QUESTIONS) -> list[OwnAnswer]:
    return [OwnAnswer(level, k < n_right) for k in range(n)]


# The code of the answers --------------------------------------------------------------------


@given(twenty)
def test_a_code_stands_for_the_answers(given_answers: list[OwnAnswer]) -> None:
    code = own.code_of(given_answers)
    assert len(code) == N_QUESTIONS
    assert own.answers_of(code) == tuple(given_answers)
    assert own.answers_of(f" {code[:5].lower()} {code[5:]}\n") == tuple(given_answers)


@given(st.text(max_size=30))
def test_only_twenty_of_the_letters_are_a_code(text: str) -> None:
    result = own.answers_of(text)
    plain = re.sub(r"[ \t\n\r\x0b\x0c\x1c-\x1f]", "", text)
    is_code = re.fullmatch(f"[{LETTERS}{LETTERS.lower()}]{{20}}", plain) is not None
    assert (result is not None) == is_code
    if result is not None:
        assert own.code_of(result) == plain.upper()


def test_letters_are_pairs_of_wrong_and_right() -> None:
    assert len(LETTERS) == 2 * len(LEVELS) == 24
    assert own.answers_of("A" * 19 + "X") == (*same(50, 0, 19), OwnAnswer(100, right=True))
    assert own.answers_of("\u00df" * 10) is None  # its capital is SS


def test_lines_that_are_no_code_are_named_and_repeated_ones_count_once() -> None:
    good, other = "ABCDEFGHIJKLMNOPQRST", "BBCDEFGHIJKLMNOPQRST"
    result = own.collect(f"{good}\n\n{good[:-1]}\n {other.lower()} \n{good}\nAnna {good}\n")
    assert [own.code_of(one) for one in result.people] == [good, other]
    assert (result.refused, result.repeated) == ((3, 6), (5,))
    assert result.together.n_samples == 40
    assert words.refused(result) == (
        "Lines 3 and 6 are not a code of 20 letters from A to X, and are left out."
    )
    assert words.repeated(result) == "Line 5 repeats a code above, and counts once."
    assert words.refused(own.collect("no")).startswith("Line 1 is not a code of 20 letters")
    assert words.refused(own.collect(good)) == words.repeated(own.collect(good)) == ""


def test_a_line_with_two_codes_loses_none_in_silence() -> None:
    good, other = "ABCDEFGHIJKLMNOPQRST", "BBCDEFGHIJKLMNOPQRST"
    for line in (f"Anna: {good}, Bob: {other}", f"you?code={good} you?code={other}"):
        result = own.collect(line)
        assert (result.people, result.refused) == ((), (1,))


def test_too_many_codes_are_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own, "MOST_CODES", 2)
    result = own.collect("\n".join("A" * 19 + letter for letter in "ABCDE"))
    assert (len(result.people), result.left_out) == (2, 3)
    assert words.repeated(result) == "The last 3 codes are left out: too many."


# What answers show --------------------------------------------------------------------------


@given(some)
def test_figures_are_those_of_slow_arithmetic(given_answers: list[OwnAnswer]) -> None:
    result = own.result_of(own.scores_of(given_answers))
    n = len(given_answers)
    scores = [one.level / 100 for one in given_answers]
    hits = [int(one.right) for one in given_answers]
    assert result.n_answers == n
    assert result.mean_confidence == pytest.approx(sum(scores) / n)
    assert result.right == pytest.approx(sum(hits) / n)
    assert result.gap == pytest.approx((sum(scores) - sum(hits)) / n, abs=1e-12)
    assert result.side.curves.ks_error == pytest.approx(reference.ks_error(scores, hits), abs=1e-12)
    squares = [(score - hit) ** 2 for score, hit in zip(scores, hits, strict=True)]
    assert result.brier == pytest.approx(sum(squares) / n)
    assert result.brier_of_half == pytest.approx(0.25)
    assert result.nll_of_half == pytest.approx(math.log(2))
    if any(one == OwnAnswer(100, right=False) for one in given_answers):
        assert math.isinf(result.nll)
    else:
        chances = [s if hit else 1 - s for s, hit in zip(scores, hits, strict=True)]
        assert result.nll == pytest.approx(-sum(map(math.log, chances)) / n)


@given(some)
def test_bins_hold_their_lower_end_and_have_wilson_intervals(
    given_answers: list[OwnAnswer],
) -> None:
    binned = own.binned_from_half(own.scores_of(given_answers))
    for k in range(5):
        low = 50 + 10 * k
        inside = [
            a for a in given_answers if low <= a.level < low + 10 or (k == 4 and a.level >= 90)
        ]
        assert binned.bins.counts[k] == len(inside)
        if not inside:
            assert math.isnan(binned.bins.frequency[k])
            continue
        n_right = sum(one.right for one in inside)
        mean = sum(one.level for one in inside) / len(inside) / 100
        assert binned.bins.frequency[k] == pytest.approx(n_right / len(inside))
        assert binned.bins.mean_score[k] == pytest.approx(mean)
        ends = wilson(n_right, len(inside), 0.95)
        assert (binned.lower[k], binned.upper[k]) == pytest.approx(ends, abs=1e-9)


def exceeding(scores: list[float], limit: float) -> float:
    """Add up the probability of each course of the outcomes in which the gap exceeds a limit."""
    ordered = sorted(scores)
    chance, total = {0: 1.0}, 0.0
    for k, score in enumerate(ordered):
        total += score
        after: dict[int, float] = {}
        for hits, p in chance.items():
            after[hits] = after.get(hits, 0.0) + p * (1 - score)
            after[hits + 1] = after.get(hits + 1, 0.0) + p * score
        is_end = k + 1 == len(ordered) or ordered[k + 1] != score
        inside = limit * len(ordered) + 1e-9
        chance = {h: p for h, p in after.items() if not is_end or abs(total - h) <= inside}
    return 1 - sum(chance.values())


@given(st.lists(st.sampled_from(LEVELS), min_size=N_QUESTIONS, max_size=N_QUESTIONS))
def test_luck_exceeds_the_limit_in_at_most_5_percent(levels: list[int]) -> None:
    result = own.result_of(own.scores_of([OwnAnswer(level, right=True) for level in levels]))
    scores = [level / 100 for level in levels]
    assert exceeding(scores, result.side.curves.ks_null_95) <= 0.05
    assert result.limit_of_more <= result.side.curves.ks_null_95


def test_it_exceeds_it_in_about_3_percent_as_is_said() -> None:
    rng = np.random.default_rng(3)
    results = []
    for _ in range(100):
        levels = rng.choice(LEVELS[:-1], N_QUESTIONS)
        curves = own.result_of(
            own.scores_of([OwnAnswer(int(k), right=True) for k in levels])
        ).side.curves
        results.append(exceeding((levels / 100).tolist(), curves.ks_null_95))
    assert 0.025 < float(np.mean(results)) < 0.035
    assert "about 3% of cases" in words.COMPUTED_TEXT


@pytest.mark.parametrize(
    ("given_answers", "text"),
    [
        (same(99, 10), "**Overconfident by 49.0 percentage points** (p < 0.001)"),
        (same(50, 20), "**Underconfident by 50.0 percentage points** (p < 0.001)"),
        (same(80, 16), "**20 answers do not show** over- or underconfidence"),
        (same(80, 13), "**20 answers do not show** over- or underconfidence"),
        (same(55, 12, 12) + same(95, 0, 8), "**Over- and underconfident** (p = "),
    ],
)
def test_the_verdict_is_that_of_the_ks_error(given_answers: list[OwnAnswer], text: str) -> None:
    result = own.result_of(own.scores_of(given_answers))
    assert text in words.yours(result)
    shown = result.side.curves.ks_error >= result.side.curves.ks_null_95
    assert shown == ("do not show" not in text)


def test_luck_is_said_before_the_answers_and_independently_of_them() -> None:
    wrong, right = (own.result_of(own.scores_of(same(80, n))) for n in (0, 20))
    assert words.band(wrong) == words.band(right)
    assert (
        "KS error (largest cumulative gap) of up to **20.0%** in at least 95% of cases"
        in words.band(right)
    )
    assert "With 100 such answers: up to 9.0%" in words.band(right)


def test_certain_and_wrong_is_infinite_and_said() -> None:
    result = own.result_of(own.scores_of([OwnAnswer(100, right=False), *same(99, 19, 19)]))
    cells = {row[0]: row[1] for row in words.measure_rows(result, None)}
    assert cells["NLL (nats)"] == "\u221e"
    assert "The NLL is infinite" in words.against_half(result)
    assert "infinite" not in words.against_half(own.result_of(own.scores_of(same(99, 19))))


def test_the_brier_score_is_compared_with_saying_50_percent() -> None:
    better, worse = (own.result_of(own.scores_of(same(90, n))) for n in (18, 10))
    alike = own.result_of(own.scores_of(same(50, 10)))
    assert words.against_half(better) == (
        "Brier score 0.090; always saying 50% gives 0.250. Lower is better: your confidences help."
    )
    assert worse.brier == 0.5 * 0.01 + 0.5 * 0.81 > worse.brier_of_half == 0.25
    assert words.against_half(worse).endswith("50% each time would do better.")
    assert words.against_half(alike).endswith("50% each time would do as well.")


def test_a_name_or_a_link_may_stand_around_a_code() -> None:
    one, two = own.code_of(same(90, 10)), own.code_of(same(70, 9))
    link = f"http://192.168.1.5:8501/you?set=facts&seed=7&code={two}"
    result = own.collect(f"Anna: {one}\n{link}\n{link}&set=facts\nBen: {one[:-1]}\ncode=&x=1")
    assert result.people == (own.answers_of(one), own.answers_of(two))
    assert (result.repeated, result.refused) == ((3,), (4, 5))


def test_links_of_different_questions_are_told_of() -> None:
    links = [
        f"http://x/you?set={which}&seed={seed}&code={own.code_of(same(90, n))}"
        for n, (which, seed) in enumerate([("facts", 7), ("facts", 7), ("facts", 8)])
    ]
    bare = own.code_of(same(60, 3))
    assert words.mixed(own.collect("\n".join([*links[:2], bare]))) == ""
    collected = own.collect("\n".join(links))
    assert collected.questions == (("facts", "7"), ("facts", "8"))
    assert "(General knowledge, seed 7; General knowledge, seed 8)" in words.mixed(collected)
    pictures = links[0].replace("facts", "pictures").replace("seed=7&", "seed=0&seed=7&")
    assert own.collect(f"{links[1]}\n{pictures}").questions == (("facts", "7"), ("pictures", "7"))
    assert own.collect(links[0].replace("facts", "other")).questions == ()


def test_nearly_all_calibrated_people_are_in_the_grey_of_a_class() -> None:
    figure = own_pictures.people([same(80, 16)], LIGHT).figure
    x, y = (list(figure.data[0][axis]) for axis in "xy")
    half = len(x) // 2
    for place, high, low in zip(x[:half], y[:half], reversed(y[half:]), strict=True):
        share = math.fsum(
            math.comb(20, k) * place**k * (1 - place) ** (20 - k)
            for k in range(round(20 * low), round(20 * high) + 1)
        )
        assert share >= 0.95


# Pictures -----------------------------------------------------------------------------------

EXTREMES = MappingProxyType(
    {
        "all_50": same(50, 9),
        "all_100_right": same(100, 20),
        "all_100_wrong": same(100, 0),
        "all_99": same(99, 20),
        "mixed": [OwnAnswer(level, level % 3 > 0) for level in (*LEVELS, *LEVELS[:8])],
    }
)


@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.parametrize("shade", [LIGHT, DARK], ids=["light", "dark"])
def test_pictures_are_drawn_of_any_answers_in_large_type(name: str, shade: Palette) -> None:
    result = own.result_of(own.scores_of(EXTREMES[name]))
    graphs = own_pictures.four(result, shade)
    assert [one.name for one in graphs] == ["a", "b", "c", "d"]
    network = own.result_of(garments.network_scores(garments.draw_pictures(1)))
    for picture in (
        own_pictures.diagram(result, None, shade),
        own_pictures.diagram(result, network, shade),
        own_pictures.gap(result, shade),
        own_pictures.pooled(result, shade),
        own_pictures.people([EXTREMES[name]], shade),
        *graphs,
    ):
        assert picture.text.endswith(".")
        layout = picture.figure.layout
        axes = (layout.xaxis, layout.yaxis)
        sizes = [axis.tickfont.size for axis in axes] + [axis.title.font.size for axis in axes]
        assert min([*sizes, *(note.font.size for note in layout.annotations)]) >= 13
        hover = [trace.hovertemplate or "" for trace in picture.figure.data]
        assert "rows" not in " ".join([*hover, *(axis.title.text for axis in axes)])


def test_the_diagram_draws_each_bin_and_says_it() -> None:
    result = own.result_of(own.scores_of([*same(70, 3, 4), *same(99, 2, 2)]))
    picture = own_pictures.diagram(result, None, LIGHT)
    (bars,) = [trace for trace in picture.figure.data if trace.type == "bar"]
    assert list(bars.x) == pytest.approx([0.75, 0.95])
    assert list(bars.y) == [0.75, 1.0]
    assert "3 of 4 at 70\u201380%, 2 of 2 at 90\u2013100%" in picture.text


def test_the_gap_and_the_four_graphs_end_at_the_mean_gap() -> None:
    result = own.result_of(own.scores_of([*same(70, 3, 10), *same(90, 6, 10)]))
    line = own_pictures.gap(result, LIGHT).figure.data[2]
    assert line.y[-1] == pytest.approx(0.8 - 0.45)
    cumulative = own_pictures.four(result, LIGHT)[0].figure.data
    ends = {trace.name: trace.y[-1] for trace in cumulative if trace.name}
    assert ends["cumulative score"] == pytest.approx(0.8)
    assert ends["cumulative outcomes"] == pytest.approx(0.45)


def test_people_are_dots_over_what_luck_does() -> None:
    everybody = [same(80, 12), same(60, 14), same(90, 18)]
    picture = own_pictures.people(everybody, LIGHT)
    dots = picture.figure.data[2]
    assert list(dots.x) == pytest.approx([0.8, 0.6, 0.9])
    assert list(dots.y) == pytest.approx([0.6, 0.7, 0.9])
    assert "1 of 3 below the diagonal" in picture.text


def test_about_95_percent_of_perfectly_calibrated_people_lie_in_the_grey() -> None:
    rng = np.random.default_rng(11)
    levels = rng.choice(LEVELS[:-1], (4_000, N_QUESTIONS))
    right = rng.random(levels.shape) < levels / 100
    everybody = [
        [OwnAnswer(int(level), bool(hit)) for level, hit in zip(*rows, strict=True)]
        for rows in zip(levels, right, strict=True)
    ]
    grey, _, dots = own_pictures.people(everybody, LIGHT).figure.data
    grid, low, high = grey.x[:51], grey.y[101:50:-1], grey.y[:51]
    inside = (dots.y >= np.interp(dots.x, grid, low)) & (dots.y <= np.interp(dots.x, grid, high))
    assert 0.94 < float(np.mean(inside)) < 0.985


def test_a_bar_beyond_its_interval_is_named_where_the_test_detects_nothing() -> None:
    result = own.result_of(own.scores_of(same(75, 12, 17) + same(95, 0, 3)))
    assert wilson(0, 3, 0.95)[1] < 0.95
    assert "do not show" in words.yours(result)
    assert "at 90\u2013100% the mean confidence lies outside the interval" in words.yours(result)
    calm = own.result_of(own.scores_of(same(80, 16)))
    assert "outside the interval" not in words.yours(calm)
