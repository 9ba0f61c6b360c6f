"""Dates on the Subgroups page: by month, in time order."""

import re

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
    assert [line[0] for line in table][:3] == ["Jan 2025", "Feb 2025", "Mar 2025"]
    assert re.search("of 12", " ".join(bodies(page)))
