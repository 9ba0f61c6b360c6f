"""Numbers and text from files, as they are written on screen."""

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibcore.auditing import audit
from calibcore.data import EventScores
from calibcore.evaluation import Comparison
from calibcore.events import TopR
from calibcore.inference import Interval
from calibcore.metrics import METRICS, Measure
from calibcore.metrics.measure import Unit
from calibcore.splits import Split
from dashboard.texts.numbers import (
    detected_points,
    escape_markdown,
    finer_digits,
    measured,
    measured_change,
    percent,
    points,
)
from tests.figures.small_results import MINUS, pct

# Numbers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "n_samples", "text"),
    [
        (0.12345, 49_999, "12.3"),
        (0.12345, 50_000, "12.35"),
        (0.0, 10, "0.0"),
        (1.0, 10, "100.0"),
        (-0.0, 10, "0.0"),
        (-0.0004, 10, "0.0"),
        (-0.0004, 50_000, f"{MINUS}0.04"),
        (-0.05, 10, f"{MINUS}5.0"),
    ],
)
def test_percent_and_points(value: float, n_samples: int, text: str) -> None:
    assert percent(value, n_samples) == pct(text)
    assert points(value, n_samples) == f"{text} percentage points"


@pytest.mark.parametrize(
    ("value", "text"), [(0.012, "1.2"), (0.0004, "0.04"), (1e-8, "1e-06"), (2e-16, "0"), (0, "0")]
)
def test_what_was_detected_has_digits_unless_it_is_rounding(value: float, text: str) -> None:
    assert detected_points(value, 10) == f"{text} percentage points"


@pytest.mark.parametrize(
    ("value", "text"), [(0.05, "+5.0"), (-0.05, f"{MINUS}5.0"), (0.0002, "0.0"), (-0.0002, "0.0")]
)
def test_signed_points(value: float, text: str) -> None:
    assert points(value, 10, signed=True) == f"{text} percentage points"


@given(st.floats(-1, 1), st.sampled_from([1, 49_999, 50_000, 10**7]))
def test_a_minus_is_a_minus_sign(value: float, n_samples: int) -> None:
    for text in (percent(value, n_samples), points(value, n_samples, signed=True)):
        assert "-" not in text
        assert f"{MINUS}0.0 " not in text


UNITS: dict[str, Measure] = {measure.unit: measure for measure in METRICS}


def comparison(unit: str, before: float | None, after: float | None) -> Comparison:
    return Comparison(UNITS[unit], before, after)


@pytest.mark.parametrize(
    ("unit", "before", "after", "shown", "change"),
    [
        ("share", 0.5, 0.25, pct("50.0"), f"{MINUS}25.0 pp"),
        ("share", 0.25, 0.5, pct("25.0"), "+25.0 pp"),
        ("nats", 0.5, 0.25, "0.500", f"{MINUS}0.250"),
        ("nats", 0.25, 0.2502, "0.250", "0.000"),
        ("nats", 0.2502, 0.25, "0.250", "0.000"),
        ("squared", 0.25, 0.5, "0.250", "+0.250"),
        ("rows", 1200, 0, "1,200", f"{MINUS}1,200"),
        ("rows", 0, 0, "0", "0"),
        ("rows", 0, 34_567, "0", "+34,567"),
        # Of what is written: 6.5 less 1.1 is 5.4, though 5.48 is nearer to 5.5.
        ("share", 0.0654, 0.0106, pct("6.5"), f"{MINUS}5.4 pp"),
    ],
)
def test_each_unit_has_its_form(
    unit: str, before: float, after: float, shown: str, change: str
) -> None:
    row = comparison(unit, before, after)
    assert measured(row, before, 100) == shown
    assert measured_change(row, 100) == change


def test_a_change_with_its_interval_is_not_outside_it_for_rounding() -> None:
    row = comparison("share", 0.0654, 0.0106)
    wide, near, fine = Interval(-0.06, -0.05), Interval(-0.055, -0.0545), Interval(0.0, 0.0)
    assert measured_change(row, 100, interval=wide) == f"{MINUS}5.4 pp"
    assert measured_change(row, 100, interval=near) == f"{MINUS}5.5 pp"
    assert measured_change(row, 100, interval=fine) == f"{MINUS}5.5 pp"
    close, finer = comparison("nats", 0.25, 0.2502), Interval(0.0001, 0.0003)
    assert measured_change(close, 100, interval=finer) == "+0.0002"


@pytest.mark.parametrize("unit", ["share", "nats", "squared", "rows"])
def test_what_is_not_defined_is_a_dash(unit: str) -> None:
    row = comparison(unit, 0.5, None)
    assert measured(row, None, 100) == "\u2013"
    assert measured_change(row, 100) == "\u2013"
    assert measured_change(comparison(unit, None, None), 100) == "\u2013"


@pytest.mark.parametrize(
    ("low", "high", "unit", "finer"),
    [
        (0.0002, 0.0004, "nats", 1),
        (-0.3, -0.00002, "nats", 2),
        (-0.0002, 0.0004, "nats", 0),
        (0.02, 0.03, "nats", 0),
        (0.0002, 0.01, "share", 1),
        (1, 3, "rows", 0),
        (1e-12, 1.0, "nats", 0),
        (-0.0003, -1e-12, "nats", 1),
        (math.nan, math.nan, "nats", 0),
    ],
)
def test_an_interval_beside_0_has_digits_that_show_it(
    low: float, high: float, unit: Unit, finer: int
) -> None:
    assert finer_digits(Interval(low, high), unit, 1_000) == finer


def test_no_minus_before_a_zero() -> None:
    # Every row certain and right: a likelihood of 1, whose logarithm is 0.
    rows = EventScores(np.ones(20), np.ones(20, dtype=int))
    evaluated = audit(Split(rows, rows), event=TopR(1), calibrator=None).test
    row = evaluated.compare("event_nll")
    assert measured(row, row.before, 20) == "0.000"


# Text from files ----------------------------------------------------------------------------

SIGNS = set("\\`*_{}[]()<>#+-.!|~:$&^=")


@given(st.text(max_size=60))
def test_no_sign_of_markdown_is_left_bare(text: str) -> None:
    escaped = escape_markdown(text)
    assert "\n" not in escaped
    bare = re.sub(r"\\(.)", "", escaped)
    assert not SIGNS & set(bare)


@given(st.text(alphabet="ab \\*_<>$", max_size=60))
def test_escaping_loses_nothing_but_line_breaks(text: str) -> None:
    shown = re.sub(r"\\(.)", r"\1", escape_markdown(text)).replace("\u2060", "")
    assert shown == re.sub(r"[^\S\u00a0]+", " ", text)


@pytest.mark.parametrize("address", ["https://a.example", "www.a.example", "me@a.example", "HTTP:"])
def test_addresses_are_broken_up(address: str) -> None:
    escaped = escape_markdown(f"see {address}")
    assert "\u2060" in escaped
    assert not re.search(r"(?i)https?\\?:\\?/|www\\?\.|@[a-z]", escaped)


@pytest.mark.parametrize("sign", ["->", "<-", "<->", "--", ">=", "<=", "~=", ":material/home:"])
def test_what_streamlit_replaces_after_markdown_is_broken_up(sign: str) -> None:
    # Arrows, dashes and icons are put into the rendered text, where no backslash is left.
    rendered = re.sub(r"\\(.)", r"\1", escape_markdown(f"a {sign} b"))
    assert sign not in rendered
