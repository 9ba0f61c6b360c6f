"""Why bins mislead: every number of the lesson against plain loops over the rows."""

import re
import statistics
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from calibcore.data import EventScores
from dashboard.learn import data
from dashboard.learn.lesson import State, start_of
from dashboard.learn.lessons import bins
from tests import reference
from tests.learn.reference import at_temperature

DRAWS = (1, 2, 5)

every_draw = pytest.mark.parametrize("draws", DRAWS)
both_binnings = pytest.mark.parametrize("binning", ["equal_width", "equal_mass"])


def state(n_bins: int = 100, binning: str = "equal_width", draws: int = 1, **more: bool) -> State:
    chosen = {"bins": str(n_bins), "binning": binning}
    return start_of(bins.LESSON, chosen=chosen, draws=draws, **more)


@cache
def rows(draws: int) -> tuple[list[float], list[int]]:
    """The rows of a draw, looked up one by one among those of the network."""
    drawn = data.drawn(bins.N_ROWS, state(draws=draws).rng(bins.KEY))
    every = at_temperature(1.0, data.NETWORK)
    # To nine decimals, as two ways to a softmax differ in the last ones.
    known = {(round(s, 9), h) for s, h in zip(every.scores, every.hits, strict=True)}
    pairs = list(zip(drawn.scores.tolist(), drawn.hits.tolist(), strict=True))
    assert len(pairs) == 100
    assert all((round(score, 9), hit) in known for score, hit in pairs)
    return drawn.scores.tolist(), drawn.hits.tolist()


@cache
def luck(draws: int, binning: str) -> tuple[dict[int, float], float]:
    """Median ECE by number of bins, and KS error, of outcomes drawn from the scores themselves."""
    scores, _ = rows(draws)
    rng = np.random.default_rng(draws)
    many = [[int(rng.random() < score) for score in scores] for _ in range(300)]
    by_bins = {
        n: statistics.median(reference.ece(scores, hits, n, binning) for hits in many)
        for n in (5, 15, 100)
    }
    return by_bins, statistics.median(reference.ks_error(scores, hits) for hits in many)


@every_draw
@both_binnings
def test_each_number_of_the_table_is_that_of_loops(draws: int, binning: str) -> None:
    scores, hits = rows(draws)
    head, *table = bins.show(state(binning=binning, draws=draws)).numbers
    assert head == ("Bins", "ECE", "If perfectly calibrated", "KS error")
    assert [row[0] for row in table] == ["2", "5", "10", "15", "20", "30", "50", "75", "100"]
    for n_bins, error, perfect, ks in table:
        slow = reference.ece(scores, hits, int(n_bins), binning)
        assert error == f"{100 * slow:.1f}%"
        assert ks == f"{100 * reference.ks_error(scores, hits):.1f}%"
        by_luck = luck(draws, binning)[0].get(int(n_bins))
        if by_luck is not None:
            assert float(perfect[:-1]) == pytest.approx(100 * by_luck, abs=0.6)


@every_draw
@both_binnings
@pytest.mark.parametrize("n_bins", [5, 15, 100])
def test_the_sentence_says_these_numbers(draws: int, binning: str, n_bins: int) -> None:
    scores, hits = rows(draws)
    shown = bins.show(state(n_bins, binning, draws))
    few, here, many = (
        f"{100 * reference.ece(scores, hits, n, binning):.1f}%" for n in (5, n_bins, 100)
    )
    also = "" if n_bins in {5, 100} else f", {here} with {n_bins}"
    ks = f"{100 * reference.ks_error(scores, hits):.1f}%"
    start = (
        f"The same 100 rows: ECE **{few}** with 5 bins, **{many}** with 100{also}. The KS error is"
        f" {ks}, whatever the number of bins."
    )
    assert shown.sentence.startswith(start)
    luck_says = re.search(
        r"would still show an ECE of about ([\d.]+)% with (\d+) bins, and a KS error of about"
        r" ([\d.]+)%\.$",
        shown.sentence,
    )
    assert luck_says is not None
    by_bins, perfect_ks = luck(draws, binning)
    assert float(luck_says[1]) == pytest.approx(100 * by_bins[n_bins], abs=0.6)
    assert int(luck_says[2]) == n_bins
    assert float(luck_says[3]) == pytest.approx(100 * perfect_ks, abs=0.4)
    assert shown.answer == f"{many}, of these rows"


@pytest.mark.parametrize("n_bins", [5, 100])
def test_the_note_says_what_all_rows_show(n_bins: int) -> None:
    every = at_temperature(1.0, data.NETWORK)
    note = bins.show(state(n_bins)).note
    error = reference.ece(every.scores, every.hits, n_bins, "equal_width")
    assert f"of all 10,000 rows, in {n_bins} equally wide bins, it is {100 * error:.1f}%" in note
    written = re.search(r", and ([\d.]+)% by luck alone", note)
    assert written is not None
    rng, scores = np.random.default_rng(3), np.array(every.scores)
    of_bin = np.ceil(scores * n_bins)  # no score is 0
    by_luck = []
    for _ in range(200):
        gap = scores - (rng.random(scores.size) < scores)
        sums = [abs(gap[of_bin == k].sum()) for k in np.unique(of_bin)]
        by_luck.append(sum(sums) / scores.size)
    assert float(written[1]) == pytest.approx(100 * statistics.median(by_luck), abs=0.06)


@every_draw
def test_before_the_answer_only_five_bins_are_told(draws: int) -> None:
    scores, hits = rows(draws)
    before = bins.show(state(draws=draws, revealed=False))
    few = reference.ece(scores, hits, 5, "equal_width")
    assert before.sentence == f"With 5 bins, the ECE of these 100 rows is {100 * few:.1f}%."


@every_draw
@both_binnings
def test_the_caption_counts_the_bins_that_hold_rows(draws: int, binning: str) -> None:
    scores, hits = rows(draws)
    table = reference.bins(scores, hits, 15, binning)
    n_filled = sum(count > 0 for count in table.counts)
    caption = bins.show(state(15, binning, draws)).pictures[0].text
    assert caption.startswith(
        f"{n_filled} of 15 bins hold rows, the fullest {max(table.counts)} of"
    )


@both_binnings
def test_no_draw_shows_the_opposite(binning: str) -> None:
    """Of bins that are split, the parts are off by as much together, or by more."""
    for draws in range(1, 40):
        few, many = (reference.ece(*rows(draws), n, binning) for n in (5, 100))
        assert many > few


def test_the_check_is_right_for_scores_that_are_the_true_probabilities() -> None:
    assert bins.LESSON.check.right == "luck"
    by_bins, _ = luck(1, "equal_width")
    assert all(low < high for low, high in pairwise(by_bins.values()))
    event = EventScores([0.25, 0.75], [0, 1])  # two bins or one: an error of 0.25, and none
    assert reference.ece(event.scores.tolist(), event.hits.tolist(), 2, "equal_width") == 0.25
    assert reference.ece(event.scores.tolist(), event.hits.tolist(), 1, "equal_width") == 0
