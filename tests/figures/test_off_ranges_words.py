"""The ranges of scores that are off, in words: from the result alone, before the KS error."""

import numpy as np

from calibcore.auditing import AuditResult, audit
from calibcore.calibrators import SplineCalibration
from calibcore.data import EventScores
from calibcore.events import TopR
from calibcore.inference import off_ranges
from calibcore.splits import Split
from dashboard.texts.badges import NO_SINGLE, ranges_sentence
from dashboard.texts.events import event_words
from dashboard.texts.verdict import side_badges, where_off

TOP_1 = event_words(TopR(1), None)


def result(n_rows: int = 3000, *, off_from: float = 0.6, by: float = 0.18) -> AuditResult:
    """Scores that are true up to a point, and too high beyond it."""
    rng = np.random.default_rng(3)

    def rows() -> EventScores:
        scores = rng.random(n_rows)
        return EventScores(scores, rng.random(n_rows) < scores - by * (scores > off_from))

    return audit(Split(rows(), rows()), event=TopR(1), calibrator=SplineCalibration())


def test_the_sentence_has_the_numbers_of_the_result() -> None:
    side = result().test.before
    (answer,) = off_ranges(side.event.scores, side.event.hits)
    assert (answer.low, answer.last) == (0.6, True)
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


def test_ranges_are_of_rows_that_were_not_fitted() -> None:
    answer = result()
    where = where_off(answer.test, side_badges(answer, answer.test, TOP_1))
    assert where["Before"].startswith("Scores above 60%")
    assert where["After"] == NO_SINGLE
    on_fit = where_off(answer.calibration, side_badges(answer, answer.calibration, TOP_1))
    assert on_fit.keys() == {"Before"}
