"""The ranges of scores that are off, in words: from the result alone, before the KS error."""

import numpy as np

from calibcore.auditing import AuditResult, audit
from calibcore.calibrators import SplineCalibration
from calibcore.data import EventScores
from calibcore.evaluation import Side
from calibcore.events import TopR
from calibcore.inference import off_ranges
from calibcore.splits import Split
from dashboard.texts.badges import NO_SINGLE, NONE, ranges_sentence
from dashboard.texts.events import event_words
from dashboard.texts.verdict import side_badges, where_off
from tests.figures.made import blocks

TOP_1 = event_words(TopR(1), None)


def result(n_rows: int = 3000, *, off_from: float = 0.6, by: float = 0.18) -> AuditResult:
    """Scores that are true up to a point, and too high beyond it."""
    rng = np.random.default_rng(3)

    def rows() -> EventScores:
        scores = rng.random(n_rows)
        return EventScores(scores, rng.random(n_rows) < scores - by * (scores > off_from))

    return audit(Split(rows(), rows()), event=TopR(1), calibrator=SplineCalibration())


def side_of(scores: list[float], hits: list[int]) -> Side:
    rows = EventScores(np.array(scores), np.array(hits))
    return audit(Split(rows, rows), event=TopR(1), calibrator=None).test.before


def test_the_sentence_has_the_numbers_of_the_result() -> None:
    side = result().test.before
    (found,) = off_ranges(side.event.scores, side.event.hits)
    assert (found.low, found.last) == (0.6, True)
    inside = side.event.scores > 0.6
    gap = side.event.scores[inside].mean() - side.event.hits[inside].mean()
    bins = [
        100 * abs((scores - hits).mean())
        for k in range(9, 15)
        if (mine := (side.event.scores > k / 15) & (side.event.scores <= (k + 1) / 15)).any()
        for scores, hits in [(side.event.scores[mine], side.event.hits[mine])]
    ]
    assert ranges_sentence(side) == (
        f"Scores above 60% are {100 * gap:.1f} percentage points too high"
        f" ({min(bins):.1f}\u2013{max(bins):.1f} by bin, n\u00a0=\u00a0{inside.sum():,})."
    )


def test_every_range_is_named_and_what_its_bins_span() -> None:
    """As of a file in which one page named two ranges of scores above 47%, the other none."""
    low = ((0.1, 300, 30), (0.3, 200, 60), (0.43, 100, 43))
    high = ((0.5, 60, 23), (0.56, 50, 21), (0.63, 46, 22), (0.7, 40, 22), (0.76, 34, 18),
            (0.83, 26, 17), (0.9, 22, 16), (0.97, 16, 13))  # fmt: skip
    assert ranges_sentence(blocks(*low, *high)) == (
        "Scores above 46.7% are 15.6 percentage points too high (11.7\u201323.1 by bin,"
        " n\u00a0=\u00a0294)."
    )


def test_two_ranges_are_named_the_worst_first_and_others_counted() -> None:
    scores, hits = [], []
    for score, n_hits in ((0.1, 60), (0.3, 60), (0.5, 100), (0.7, 60), (0.9, 180)):
        scores += [score] * 200
        hits += [1] * n_hits + [0] * (200 - n_hits)
    assert ranges_sentence(side_of(scores, hits)) == (
        "Scores of 66.7\u201373.3% are 40.0 percentage points too high (n\u00a0=\u00a0200); up to"
        " 13.3% are 20.0 too low (n\u00a0=\u00a0200)."
    )
    many = [(0.03 + k / 15, 300, 0 if k % 2 else 300) for k in range(12)]
    assert ranges_sentence(blocks(*many)).endswith("; 8 further ranges less.")
    everywhere = ranges_sentence(side_of([0.9] * 400, [1] * 200 + [0] * 200))
    assert (
        everywhere
        == "Scores at all levels are 40.0 percentage points too high (n\u00a0=\u00a0400)."
    )


def test_without_evidence_no_range_is_named() -> None:
    rng = np.random.default_rng(0)
    scores = rng.random(800)
    assert ranges_sentence(side_of(list(scores), list(rng.random(800) < scores))) == NONE
    # One row can be far off, and shows nothing.
    assert ranges_sentence(side_of([0.6] * 5, [1] * 5)) == NONE


def test_ranges_are_of_rows_that_were_not_fitted() -> None:
    found = result()
    where = where_off(found.test, side_badges(found, found.test, TOP_1))
    assert where["Before"].startswith("Scores above 60%")
    assert where["After"] == NO_SINGLE
    on_fit = where_off(found.calibration, side_badges(found, found.calibration, TOP_1))
    assert on_fit.keys() == {"Before"}


def test_evidence_of_all_scores_together_is_not_denied_for_want_of_a_range() -> None:
    rng = np.random.default_rng(0)
    scores = rng.random(2000)
    side = side_of(list(scores), list(rng.random(2000) < np.clip(scores + 0.022, 0, 1)))
    assert side.omnibus.p_value < 0.05
    assert ranges_sentence(side) == "No single range of scores stands out."
