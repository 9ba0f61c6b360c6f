"""From rows to a reliability diagram."""

import json
import re

import numpy as np
import pytest

from dashboard.figures import LIGHT
from dashboard.learn import data
from dashboard.learn.lesson import LessonView, start_of
from dashboard.learn.lessons.diagram import (
    BINS,
    LESSON,
    N_BINS,
    N_ROWS,
    PER_BIN,
    QUESTION_BIN,
    SEED,
    find,
    rows_until,
)
from tests.reference_reliability import wilson

STEPS = (1, 2, 7, 14, 33, 59, 60)


def view_of(rows: int, k: int = QUESTION_BIN, **more: object) -> LessonView:
    return LESSON.show(start_of(LESSON, chosen={"rows": str(rows), "bin": str(k)}, **more))


def by_hand(n_rows: int) -> dict[int, list[tuple[float, int]]]:
    """Scores and outcomes of each bin, row by row."""
    every = data.few_rows(N_ROWS)
    order = np.random.default_rng(SEED).permutation(N_ROWS).tolist()
    results: dict[int, list[tuple[float, int]]] = {k: [] for k in BINS}
    for i in order[:n_rows]:
        score = float(every.scores[i])
        k = next(k for k in BINS if k / 10 < score <= (k + 1) / 10)
        results[k].append((score, int(every.hits[i])))
    return results


@pytest.mark.parametrize("n_rows", STEPS)
def test_bars_and_intervals_are_those_counted_by_hand(n_rows: int) -> None:
    result = find(n_rows)
    for k, inside in by_hand(n_rows).items():
        n, correct = len(inside), sum(hit for _, hit in inside)
        assert result.counted(k) == (correct, n)
        if n:
            assert result.diagram.bins.frequency[k] == pytest.approx(correct / n)
            assert result.diagram.bins.mean_score[k] == pytest.approx(
                sum(score for score, _ in inside) / n
            )
            low, high = wilson(correct, n, 0.95)
            assert result.diagram.lower[k] == pytest.approx(low, abs=1e-9)
            assert result.diagram.upper[k] == pytest.approx(high, abs=1e-9)


def test_every_bin_ends_with_as_many_rows_and_no_row_is_elsewhere() -> None:
    counts = find(N_ROWS).diagram.bins.counts
    assert counts[list(BINS)].tolist() == [PER_BIN] * len(BINS)
    assert counts.sum() == N_ROWS


@pytest.mark.parametrize("n_rows", STEPS)
def test_a_pile_has_its_correct_rows_below(n_rows: int) -> None:
    result = find(n_rows)
    bins = np.ceil(result.rows.scores * 10) - 1
    for k in BINS:
        here = bins == k
        order = np.argsort(result.heights[here])
        assert result.heights[here][order].tolist() == list(range(1, here.sum() + 1))
        hits = result.rows.hits[here][order].tolist()
        assert hits == sorted(hits, reverse=True)


@pytest.mark.parametrize("n_rows", STEPS)
def test_each_row_is_drawn_once_filled_if_correct(n_rows: int) -> None:
    correct, wrong, last = view_of(n_rows).pictures[0].figure.data
    rows = find(n_rows).rows
    assert sorted(correct.x) == sorted(rows.scores[rows.hits == 1])
    assert sorted(wrong.x) == sorted(rows.scores[rows.hits == 0])
    assert (correct.marker.symbol, wrong.marker.symbol) == ("circle", "circle-open")
    assert last.x[0] == rows.scores[-1]


def test_the_bar_of_the_question_starts_at_100_percent_and_falls_by_half() -> None:
    bars = [find(n).diagram.bins.frequency[QUESTION_BIN] for n in range(1, N_ROWS + 1)]
    first = next(bar for bar in bars if not np.isnan(bar))
    assert first == 1
    assert bars[-1] == 0.5
    assert view_of(N_ROWS).answer == "50%: 5 of 10 rows"


@pytest.mark.parametrize("seed", range(20))
def test_every_seed_shows_the_same(seed: int) -> None:
    here = LESSON.show(start_of(LESSON, seed=seed, seat=seed))
    first, second = here.sentence.split("  \n")
    assert first.startswith("**Scores of 80\u201390%**: 5 of 10 rows are correct, so the bar")
    assert first.endswith(" stands at **50.0%** (95% CI 23.7\u201376.3%).")
    assert second.startswith("The mean score is 85.1%, outside that interval: too high by **35.1 ")


def test_few_rows_may_be_luck_and_none_make_no_bar() -> None:
    assert "may be luck" in view_of(14).sentence
    empty = next(n for n in range(1, N_ROWS) if not by_hand(n)[QUESTION_BIN])
    assert "no row yet" in view_of(empty).sentence
    assert view_of(empty).pictures[1].figure.layout.annotations[0].text == "no row"


@pytest.mark.parametrize("k", BINS)
def test_what_is_written_fits_together(k: int) -> None:
    sentence = view_of(N_ROWS, k).sentence
    frequency, score = (
        float(re.findall(pattern, sentence)[0])
        for pattern in (r"stands at \*\*([\d.]+)%", r"mean score is ([\d.]+)%")
    )
    gap = float(re.findall(r"\*\*[+\u2212]?([\d.]+) percentage points", sentence)[0])
    assert gap == pytest.approx(abs(score - frequency), abs=1e-9)


def test_before_the_answer_no_outcome_is_sent() -> None:
    before = view_of(N_ROWS, revealed=False)
    sent = "".join(json.dumps(json.loads(p.figure.to_json())) + p.text for p in before.pictures)
    assert LIGHT.frequency not in sent
    assert "circle" not in sent
    assert " of 10" not in sent
    [dots] = before.pictures[0].figure.data
    rows = find(N_ROWS).rows
    assert dots.x.tolist() == rows.scores.tolist()
    counts = dict.fromkeys(range(11), 0)
    for score, height in zip(rows.scores, dots.y, strict=True):  # in the order of their coming
        assert height == counts[int(np.ceil(score * 10))] + 0.5
        counts[int(np.ceil(score * 10))] += 1


def test_a_guess_stays_in_the_picture_of_its_bin() -> None:
    def guessed(k: int) -> list[str]:
        figure = view_of(N_ROWS, k, guess="70").pictures[1].figure
        return [str(one.text) for one in figure.layout.annotations]

    assert "guess" in guessed(QUESTION_BIN)
    assert "guess" not in guessed(QUESTION_BIN - 1)


def test_one_row_leaves_open_what_the_check_says() -> None:
    low, high = wilson(1, 1, 0.95)
    assert f"{100 * low:.1f}\u2013{100 * high:.1f}%" in LESSON.check.why


@pytest.mark.parametrize("k", BINS)
def test_what_all_rows_show_in_a_bin_is_that_of_a_slow_loop(k: int) -> None:
    every = data.top_scores()
    pairs = zip(every.scores.tolist(), every.hits.tolist(), strict=True)
    rows = [(s, h) for s, h in pairs if k / N_BINS < s <= (k + 1) / N_BINS]
    gap = 100 * (sum(s for s, _ in rows) - sum(h for _, h in rows)) / len(rows)
    text = view_of(N_ROWS, k).sentence
    assert f"In all 10,000 predictions, {len(rows):,} scores are in that bin" in text
    assert f"too {'high' if gap > 0 else 'low'} by **{abs(gap):.1f} percentage points**." in text


@pytest.mark.parametrize("n", [1, 5, PER_BIN])
def test_the_rows_until_the_bin_of_the_question_holds_so_many_are_counted(n: int) -> None:
    counts = [len(by_hand(k)[QUESTION_BIN]) for k in range(1, N_ROWS + 1)]
    assert rows_until(n) == counts.index(n) + 1


def test_the_note_stands_with_all_rows_alone_and_counts_the_correct_ones() -> None:
    few = sum(hit for inside in by_hand(N_ROWS).values() for _, hit in inside)
    every = data.top_scores().hits.tolist()
    share = 100 * sum(every) / len(every)
    assert view_of(N_ROWS).note.endswith(
        f"Of these 60 rows {few} are correct, of all 10,000 {share:.1f}%: most have a score near"
        " 100%."
    )
    assert view_of(N_ROWS - 1).note == ""
    slider = next(one for one in LESSON.controls if one.name == "rows")
    first = next(iter(slider.values.values()))
    assert view_of(N_ROWS).note.startswith(f"Move the slider to {first}, then to the right: ")
    near = sum(score > 0.95 for score in data.top_scores().scores.tolist())
    assert near > len(every) / 2
