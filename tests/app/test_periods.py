"""Dates on the Subgroups page: by month, in time order."""

import re
from datetime import datetime

import numpy as np
import pytest

from dashboard.compute.periods import in_time, periods_of
from dashboard.readers import GroupingColumn
from dashboard.texts.advice import TOGETHER
from tests.app.pages import bodies, open_upload, turn_to
from tests.app.test_subgroups_page import tables
from tests.hospital import discharges


def test_months_are_joined_where_there_are_many() -> None:
    months = [f"{year}-{month:02d}" for year in range(2010, 2026) for month in range(1, 13)]
    short = periods_of(months[:24])
    assert short is not None
    assert short.shown[:2] == ("Jan 2010", "Feb 2010")
    assert short.places.tolist() == [*range(24)]
    middle = periods_of(months[:25])
    assert middle is not None
    assert middle.shown[-1] == "Q1 2012"
    assert middle.places[-2:].tolist() == [7, 8]
    long = periods_of([*months[::-1], ""])
    assert long is not None
    assert long.shown == (*map(str, range(2010, 2026)), "(blank)")
    assert long.places[0] == 15
    assert periods_of(["2025-13"]) is None
    assert periods_of(["2025-03", "spring"]) is None
    assert periods_of([""]) is None


def periods_in(name: str, values: list[float]) -> tuple[tuple[str, ...], list[int]] | None:
    result = in_time(GroupingColumn(name, np.asarray(values)))
    return None if result is None else (result.shown, result.places.tolist())


def test_numbers_of_weeks_and_months_are_periods_in_order() -> None:
    nan = float("nan")
    assert periods_in("admission_month", [12, 2, nan, 1]) == (
        ("1", "2", "12", "(blank)"),
        [2, 1, 3, 0],
    )
    result = periods_in("Month", [202412, 202401, 202311])
    assert result == (("Nov 2023", "Jan 2024", "Dec 2024"), [2, 1, 0])
    assert periods_in("week", [202501, 202452]) == (("W52 2024", "W01 2025"), [1, 0])
    weeks = periods_in("week_no", [*range(1, 54)])
    assert weeks is not None
    assert (weeks[0][0], weeks[0][-1]) == ("1\u20134", "49\u201353")
    assert weeks[1] == [min((week - 1) // 4, 12) for week in range(1, 54)]
    years = periods_in(
        "week", [100 * year + week for year in (2023, 2024) for week in range(1, 53)]
    )
    assert years is not None
    assert years[0][0] == "Q1 2023"
    assert [years[1].count(place) for place in range(8)] == [13] * 8


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("age", [*range(1, 13)]),
        ("monthly_income", [*range(1, 13)]),
        ("weekday", [*range(1, 8)]),
        ("month", [0, 1, 2]),
        ("month", [1, 13]),
        ("month", [1.5, 2]),
        ("month", [5, 5]),
        ("month", [7, 202401]),
    ],
)
def test_other_numbers_are_no_periods(name: str, values: list[float]) -> None:
    assert periods_in(name, values) is None


def test_dates_of_a_file_are_in_time_order() -> None:
    page = open_upload(("discharges.csv", discharges().data))
    turn_to(page, "subgroups")
    page.selectbox(key="subgroups_by").set_value("discharge_date").run()
    assert not page.exception
    (table,) = tables(page, "subgroups")
    names = [line[0] for line in table]
    assert names[:3] == ["Jan 2025", "Feb 2025", "Mar 2025"]
    assert len(names) == 12
    assert re.search("of 12", " ".join(bodies(page)))


def drifting(since: int, by: float) -> bytes:
    """Write 4,000 rows of a year whose scores are too low from a month on."""
    rng = np.random.default_rng(4)
    scores, months = rng.uniform(0.1, 0.7, 4_000), np.sort(rng.integers(1, 13, 4_000))
    hits = rng.random(4_000) < scores + by * (months >= since)
    lines = [
        f"2025-{month:02d}-{1 + k % 28:02d},{score:.4f},{hit:d}"
        for k, (month, score, hit) in enumerate(zip(months, scores, hits, strict=True))
    ]
    return "\n".join(["admitted,risk,died", *lines]).encode()


def test_a_drift_is_named_on_both_pages() -> None:
    page = open_upload(("year.csv", drifting(7, 0.15)))
    assert not page.exception
    sentence = " ".join(bodies(page))
    named = re.search(
        r"\*\*Drift over admitted.*?:\*\* since (\w+ 2025) scores are too low", sentence
    )
    assert named is not None
    assert named[1] in {"Jun 2025", "Jul 2025", "Aug 2025"}
    turn_to(page, "subgroups")
    page.selectbox(key="subgroups_by").set_value("admitted").run()
    heads = [head.value for head in page.subheader]
    assert any(head.startswith(named[0].replace("**", "")) for head in heads), heads
    assert not [head for head in heads if "detected in" in head or "Miscalibrated sub" in head]
    # The advice leads to the rows since then, on every page.
    page.button(key="filter_drift").click().run()
    assert not page.exception
    since = datetime.strptime(named[1], "%b %Y").month  # noqa: DTZ007 - a month of the file
    n_rows = sum(int(line[5:7]) >= since for line in drifting(7, 0.15).decode().splitlines()[1:])
    (line,) = [text for text in bodies(page) if "Filtered to" in text]
    assert f"{named[1]} \u2013 Dec 2025: {n_rows:,} of 4,000" in line
    assert page.query_params["only_until"] == "2025-12"
    page.selectbox(key="only_until").set_value("").run()
    assert f"{named[1]}: " in next(text for text in bodies(page) if "Filtered to" in text)


@pytest.mark.long
def test_without_a_drift_only_the_page_of_dates_says_so() -> None:
    page = open_upload(("year.csv", drifting(7, 0.0)))
    assert "Drift" not in " ".join(bodies(page))
    turn_to(page, "subgroups")
    page.selectbox(key="subgroups_by").set_value("admitted").run()
    assert "**Drift over admitted:** none detected" in " ".join(bodies(page))


def numbered(data: bytes) -> bytes:
    """Write the month of each row as its number."""
    head, *lines = data.decode().splitlines()
    rows = [f"{int(line[5:7])},{line.partition(',')[2]}" for line in lines]
    return "\n".join([head.replace("admitted", "month"), *rows]).encode()


def test_a_numbered_month_drifts_as_a_date_does() -> None:
    page = open_upload(("year.csv", numbered(drifting(7, 0.15))))
    assert not page.exception
    text = " ".join(bodies(page))
    named = re.search(r"\*\*Drift over month.*?:\*\* since (\d+) scores are too low", text)
    assert named is not None
    assert named[1] in {"6", "7", "8"}


def test_a_drift_is_in_the_verdict_and_explained_beside_subgroups() -> None:
    # Too high before and too low after by as much: right on average, and within each month a
    # gap that its few rows do not show.
    rng = np.random.default_rng(1)
    scores, months = rng.uniform(0.3, 0.7, 1_200), np.repeat(np.arange(1, 13), 100)
    hits = rng.random(1_200) < scores + np.where(months > 6, 0.07, -0.07)
    rows = [f"2025-{m:02d}-01,{s:.4f},{h:d}" for m, s, h in zip(months, scores, hits, strict=True)]
    page = open_upload(("even.csv", "\n".join(["day,risk,died", *rows]).encode()), method="none")
    text = " ".join(bodies(page))
    assert "**Drift over day:**" in text
    assert "Before: scores drift over time, no miscalibration detected overall" in text
    assert "Before: no miscalibration detected" not in text
    assert "No mean gap detected in any of" in text
    assert TOGETHER in text
