"""What is said of the intervals is what the simulations found."""

from math import nan
from pathlib import Path
from unittest.mock import Mock

from benchmarks.validation import held
from calibcore import EventScores, TopR, audit
from calibcore.inference.coverage import COVERAGE
from calibcore.inference.findings import Finding, Reference, Uncertainty
from calibcore.inference.intervals import Interval
from calibcore.metrics import METRICS
from dashboard.texts.measures import ABOVE, LEAST_COVERAGE, coverage_note, measure_rows, narrow_note

PAGE = Path(__file__).parents[2] / "docs" / "validation.md"


def test_the_shares_are_those_of_the_page() -> None:
    assert held(PAGE.read_text(encoding="utf-8")) == COVERAGE
    assert COVERAGE.keys() <= {measure.key for measure in METRICS}


def test_the_least_and_the_most_are_read_off_both_sides_and_all_models() -> None:
    page = "| KS error | 95.9 | 97.2 | 10.0 | 98.6 | 5.6 |\n| MCE | 90.0 | 91.0 | 1 |  |  |\n"
    again = "| KS error | 93.1 | 96.0 | 99.0 | 98.6 | 5.6 |\n"
    assert held(page + again) == {"ks_error": (93.1, 97.2), "mce": (90.0, 91.0)}


def test_too_narrow_intervals_are_named() -> None:
    narrow = [
        measure for measure in METRICS if COVERAGE.get(measure.key, (100, 100))[0] < LEAST_COVERAGE
    ]
    assert narrow
    text = narrow_note(METRICS)
    assert all(measure.name in text for measure in narrow)
    assert f"down to {min(COVERAGE[measure.key][0] for measure in narrow):.1f}%" in text
    good = tuple(measure for measure in METRICS if measure not in narrow)
    assert narrow_note(good) == ""


def test_an_estimate_outside_its_own_interval_says_why_beside_it() -> None:
    reference = Reference(nan, nan, nan)
    evaluated = audit(EventScores([0.307, 0.5], [0, 1]), event=TopR(1)).test
    shown = {
        high: measure_rows(
            evaluated,
            Mock(find=lambda key, high=high: Finding(
                key, Uncertainty(0.307, Interval(0.049, high), reference), None, None, None
            )),
            tuple(one for one in METRICS if one.key == "mce"),
        )[0].before.note
        for high in (0.270, 0.307)
    }  # fmt: skip
    assert shown == {0.270: f"4.9\u201327.0, {ABOVE}", 0.307: "4.9\u201330.7"}


def test_experts_read_the_coverage_of_every_interval() -> None:
    least, most = COVERAGE["ks_error"]
    text = coverage_note("ks_error", expert=True)
    assert text == f"Simulated coverage of its 95% CI: {least:.0f}\u2013{most:.0f}%."
    assert coverage_note("certain_misses", expert=True).endswith(": 100%.")
    assert coverage_note("ks_error") == ""
    for expert in (False, True):
        assert coverage_note("skce", expert=expert).startswith("No 95% CI")
    assert coverage_note("unknown", expert=True).endswith("has not been simulated.")
    assert coverage_note("unknown") == ""
