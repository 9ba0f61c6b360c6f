"""Dates on the Subgroups page: by month, in time order."""

import re
from datetime import datetime

import numpy as np

from dashboard.compute.periods import periods_of
from tests.app.pages import bodies, open_upload, turn_to
from tests.app.test_slices import tables
from tests.hospital import discharges


def test_months_are_joined_where_there_are_many() -> None:
    months = [f"{year}-{month:02d}" for year in range(2010, 2026) for month in range(1, 13)]
    short = periods_of(months[:24])
    assert short is not None
    assert short.shown[:2] == ("Jan 2010", "Feb 2010")
    assert short.places == tuple(range(24))
    middle = periods_of(months[:25])
    assert middle is not None
    assert middle.shown[-1] == "Q1 2012"
    assert middle.places[-2:] == (7, 8)
    long = periods_of([*months[::-1], ""])
    assert long is not None
    assert long.shown == (*map(str, range(2010, 2026)), "(blank)")
    assert long.places[0] == 15
    assert periods_of(["2025-13"]) is None
    assert periods_of(["2025-03", "spring"]) is None
    assert periods_of([""]) is None


def test_dates_of_a_file_are_in_time_order() -> None:
    page = open_upload(("discharges.csv", discharges().data))
    turn_to(page, "slices")
    page.selectbox(key="slices_by").set_value("discharge_date").run()
    assert not page.exception
    (table,) = tables(page, "slices")
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
    said = " ".join(bodies(page))
    named = re.search(r"\*\*Drift over admitted.*?:\*\* since (\w+ 2025) scores are too low", said)
    assert named is not None
    assert named[1] in {"Jun 2025", "Jul 2025", "Aug 2025"}
    turn_to(page, "slices")
    page.selectbox(key="slices_by").set_value("admitted").run()
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


def test_without_a_drift_only_the_page_of_dates_says_so() -> None:
    page = open_upload(("year.csv", drifting(7, 0.0)))
    assert "Drift" not in " ".join(bodies(page))
    turn_to(page, "slices")
    page.selectbox(key="slices_by").set_value("admitted").run()
    assert "**Drift over admitted:** none detected" in " ".join(bodies(page))
