"""Subgroups drawn and written: the arrays and the numbers of the result, and nothing else."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from calibcore.binning import bin_scores
from calibcore.events import OneClass, TopR
from calibcore.inference import group_gaps
from calibcore.subgroups import SubgroupScreen, joint_screen, screen_subgroups, subgroup_shares
from dashboard.figures import DARK, LIGHT, Palette
from dashboard.figures.subgroups import ROW, period_plot, score_histogram, subgroup_plot
from dashboard.texts import listed
from dashboard.texts import subgroups as names_of
from dashboard.texts.events import event_words
from dashboard.views.subgroups import words
from dashboard.views.subgroups.document import subgroup_table
from tests.figures.conftest import Keep
from tests.figures.small_results import MINUS, pct, texts, trace
from tests.reviewed import check_reviewed

TOP_1 = event_words(TopR(1), None)
NAMES = ("day", "<b>night</b> $x$", "fog", "dusk")
ROWS = (400, 600, 500, 9)


def screens(*, evaluate: bool = True) -> tuple[SubgroupScreen, SubgroupScreen]:
    """Subgroups with mean gaps of 0, 20, -10 and (few rows) 30 points; afterwards of none."""
    rng = np.random.default_rng(1)
    places = np.repeat(np.arange(4), ROWS)
    scores = 0.4 + 0.2 * rng.random(places.size)
    truth = scores - np.array([0.0, 0.2, -0.1, 0.3])[places]
    hits = rng.random(places.size) < truth
    before, after = (
        screen_subgroups(values, hits, places, n_subgroups=5, evaluate=evaluate)
        for values in (scores, truth)
    )
    return before, after


def test_all_periods_are_in_one_picture_with_the_worst_marked() -> None:
    before, after = screens()
    figure = period_plot((before, after), (*NAMES, "none"), LIGHT)
    drawn = trace(figure, "before")
    assert_allclose(drawn.y, before.mean_gap[:4])
    assert_allclose(trace(figure, "95% CI, after").y[1::3], after.gap_high[:4])
    # The last has too few rows to be the worst.
    assert before.widest == 1
    ring = trace(figure, "worst")
    assert (ring.x[0], ring.y[0]) == (drawn.x[1], drawn.y[1])
    assert [one.x for one in figure.layout.annotations] == [drawn.x[1]]
    assert words.worst_caption(("May", "June", "July", "August"), before) == (
        "Ringed: June, the largest gap."
    )


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_the_plot_draws_the_gaps_with_their_intervals(palette: Palette, keep: Keep) -> None:
    before, after = screens()
    order = before.order()
    figure = subgroup_plot((before, after), (*NAMES, "none"), order, palette)
    keep(f"slices_{'light' if palette is LIGHT else 'dark'}", figure)
    for name, screen in (("before", before), ("after", after)):
        drawn = trace(figure, name)
        assert_allclose(drawn.x, screen.mean_gap[order])
        error_bar = trace(figure, f"95% CI, {name}")
        assert_allclose(error_bar.x[0::3], screen.gap_low[order])
        assert_allclose(error_bar.x[1::3], screen.gap_high[order])
        assert_allclose(error_bar.y[0::3], drawn.y)
        # The small subgroup is pale.
        assert list(drawn.marker.opacity) == [1.0, 1.0, 1.0, 0.45]
    assert figure.layout.height >= ROW * 4
    left, right = figure.layout.xaxis.range
    ends = np.concatenate([[0.0], before.gap_low, before.gap_high])
    assert left < np.nanmin(ends)
    assert np.nanmax(ends) < right
    assert order.tolist() == [1, 2, 0, 3]
    ticks = figure.layout.xaxis
    assert [float(text.replace(MINUS, "-")) for text in ticks.ticktext] == pytest.approx(
        [100 * value for value in ticks.tickvals]
    )
    assert f"{MINUS}0" not in ticks.ticktext
    assert left <= ticks.tickvals[0] < 0 < ticks.tickvals[-1] <= right


def test_the_plot_of_one_side_has_one_mark_per_subgroup() -> None:
    before, _ = screens()
    figure = subgroup_plot((before, None), (*NAMES, "none"), before.order(), LIGHT)
    assert {drawn.name for drawn in figure.data} == {"before", "95% CI, before"}
    assert_allclose(trace(figure, "before").y, [0, 1, 2, 3])


def test_names_of_the_file_are_no_markup() -> None:
    before, after = screens()
    figure = subgroup_plot((before, after), (*NAMES, "x" * 90), before.order(), LIGHT)
    written = texts(figure)
    assert "&lt;b&gt;night&lt;/b&gt; x" in written
    assert not any("<b>" in text or "$" in text for text in written)


def test_the_histogram_draws_the_shares_of_rows_and_of_misses() -> None:
    rng = np.random.default_rng(2)
    scores = rng.random(500)
    hits = rng.random(500) < scores
    bins = bin_scores(scores, hits, n_bins=10)
    figure = score_histogram(bins, (0.2, 0.9), "wrong", LIGHT)
    assert_allclose(np.array(trace(figure, "rows").y) * 500, bins.counts)
    misses = [np.sum(~hits & (scores > k / 10) & (scores <= (k + 1) / 10)) for k in range(10)]
    assert_allclose(np.array(trace(figure, "wrong").y) * 500, misses)
    (ground,) = figure.layout.shapes
    assert (ground.x0, ground.x1) == (0.2, 0.9)
    assert not score_histogram(bins, (0.0, 1.0), "wrong", LIGHT).layout.shapes


# Words --------------------------------------------------------------------------------------


def conclusion(
    results: tuple[SubgroupScreen, SubgroupScreen | None], *, by: str = "light", **how: bool
) -> str:
    chosen = {"after_first": False, "prediction": True, "expert": False} | how
    return " ".join(words.conclusion(results, by, (*NAMES, "none"), words.Wording(**chosen)))


def rules() -> dict[str, list[str]]:
    """What is said of subgroups, by what it is about."""
    before, after = screens()
    alone, both, equal = (before, None), (before, after), (after, after)
    by_truth, _ = screens(evaluate=False)
    one_class = event_words(OneClass(1), None)
    named = event_words(OneClass(1), ("No", "Yes"), "back_30d")
    return {
        "before and after": [
            conclusion(both),
            conclusion(both, after_first=True),
            conclusion(both, expert=True),
            conclusion(both, prediction=False),
        ],
        "one side": [conclusion(alone), conclusion((after, None)), conclusion(equal)],
        "true classes": [conclusion((by_truth, None), by=names_of.TRUE)],
        "dots": [words.dots_caption(before, after), words.dots_caption(before, None)],
        "ranges of scores": [
            *names_of.score_ranges([0.3, 0.9], [0.8, 1.0]),
            *names_of.score_ranges([0.5, 0.99991], [0.9999, 1.0]),
            # Ends next to 1 take no digits from the other ranges, and 1 alone is written as 100.
            *names_of.score_ranges([0.3268, 0.97, 0.9999908], [0.97, 0.99990771, 0.99999999]),
            *names_of.score_ranges([1.0], [1.0]),
        ],
        "ranges of numbers": [
            *names_of.range_names([1.0, 3.0], [2.00001, 4.0]),
            *names_of.range_names([100_234.0, 100_834.0], [100_833.0, 101_433.0]),
            *names_of.range_names([0.0, 12345.6], [12345.2, 2e5]),
            *names_of.range_names([-1.0, 1.00001], [1.0, 1.00002]),
            listed.number(1_234_567.0),
        ],
        "rows of a range": [
            listed.range_sentence((60, 90), 200, 50, TOP_1),
            listed.range_sentence((0, 100), 1, 1, one_class),
            listed.range_sentence((3, 4), 0, 0, TOP_1),
        ],
        "the list of rows": [
            f"{one.missed}: {listed.list_note((0, 100), 1500, one, 'Rows are numbered so.')}"
            for one in (TOP_1, event_words(TopR(2), None), one_class, named)
        ],
        "a filter": [names_of.only_line("light = <i>", 312, 10_000)],
    }


def test_rules_say_what_was_reviewed() -> None:
    lines = [line for about, says in rules().items() for line in (f"# {about}", *says)]
    check_reviewed(Path(__file__).with_name("subgroups.txt"), lines)


def rows_of(shown: Sequence[str], *given: Any, **how: Any) -> Any:
    return subgroup_table("light", shown, *given, **how).rows


def finding_of(row: Any) -> str:
    """Return what stands below the KS error before, without its sign."""
    error = row.cells[1]
    return str((error.before or error).below[0].word)


def test_the_joint_test_tells_which_are_like_other_rows() -> None:
    rng = np.random.default_rng(5)
    scores, places = rng.uniform(0.2, 0.7, 6_000), np.repeat([0, 1, 2], 2_000)
    hits = rng.random(6_000) < scores + np.where(places == 2, 0.25, 0.1)
    alone = screen_subgroups(scores, hits, places, n_subgroups=3)
    result = joint_screen(alone, group_gaps(scores, hits, [places]), 0)
    rows = rows_of("abc", (result, None), (None, None), [0, 2], prediction=False)
    texts = [finding_of(row) for row in rows]
    assert texts == ["too low, about as much as the rest", "too low, more than the rest"]
    how = words.Wording(after_first=False, prediction=False, expert=False)
    sentence = " ".join(words.conclusion((result, None), "ward", ("a", "b", "c"), how))
    size = f"{-100 * result.mean_gap[2]:.1f}"
    assert f"scores too low by {size} percentage points, more than the rest" in sentence
    assert sentence.endswith("3 of 3 (adjusted for 3 subgroups of all columns).")
    assert "Overview" in words.about(result, expert=False)
    all_in_one = joint_screen(alone, group_gaps(scores, hits, []), 0)
    sentence = " ".join(words.conclusion((all_in_one, None), "ward", ("a", "b", "c"), how))
    assert sentence.startswith("All rows are in one subgroup")


def test_few_rows_are_not_tested() -> None:
    result = screen_subgroups([0.9] * 20, [0] * 20, [0] * 12 + [1] * 8, n_subgroups=2)
    how = words.Wording(after_first=False, prediction=True, expert=False)
    text = " ".join(words.conclusion((result, None), names_of.PREDICTED, ("a", "b"), how))
    assert text == "No subgroup has the 30 rows that a test needs."
    rows = rows_of("ab", (result, None), (None, None), [0, 1], prediction=True)
    assert [finding_of(row) for row in rows] == ["too few rows"] * 2
    assert [row.cells[2].shown for row in rows] == ["\u2013"] * 2
    note = words.table_note(result, 2, by=names_of.PREDICTED)
    assert "2 subgroups with fewer than 30 rows are shown but not tested" in note


def test_the_table_holds_the_numbers_of_the_result() -> None:
    before, after = screens()
    right = subgroup_shares(
        np.tile([1, 1, 1, 0], 378)[:1509], np.repeat(np.arange(4), ROWS), n_subgroups=5
    )
    order = before.order().tolist()
    rows = rows_of(NAMES, (before, after), (right, right), order, prediction=True)
    assert [row.name for row in rows] == [NAMES[k] for k in order]
    assert rows[0].note == "600 rows"
    gaps, errors = ([row.cells[k].before for row in rows] for k in (0, 1))
    assert gaps[0].shown == f"+{100 * before.mean_gap[1]:.1f}"
    assert (gaps[0].value, rows[0].cells[0].value) == (before.mean_gap[1], after.mean_gap[1])
    low, high = 100 * before.gap_low[2], 100 * before.gap_high[2]
    assert gaps[1].note == f"{low:.1f} to {high:.1f}".replace("-", MINUS)
    assert errors[1].shown == pct(f"{100 * before.ks_error[2]:.1f}")
    assert [one.below[0].kind for one in errors] == ["over", "under", "none", "none"]
    signs = [one.below[0].shown[0] for one in errors]
    assert signs == ["\u25b2", "\u25bc", "\u25cb", "\u2013"]
    findings = ["overconfident", "underconfident", "not detected", "too few rows"]
    assert [finding_of(row) for row in rows] == findings
    of_risk = rows_of(NAMES, (before, after), (right, right), order, prediction=False)
    assert [finding_of(row) for row in of_risk] == ["too high", "too low", *findings[2:]]
    accuracy = rows[0].cells[2]
    assert (accuracy.shown, accuracy.before) == (pct("75.0"), None)  # the same on both sides
    with_p = rows_of(NAMES, (before, after), (right, right), order, prediction=True, expert=True)
    assert [len(row.cells[1].below) for row in with_p] == [2, 2, 2, 1]  # too few rows: no p-value
    note = words.table_note(before, 4, by="light")
    assert "1 subgroup with fewer than 30 rows is shown but not tested" in note
    assert "1 subgroup has no rows" in note
    assert "adjusted for 3 tests" in words.about(before, expert=False)
    assert "Holm" in words.about(before, expert=True)
