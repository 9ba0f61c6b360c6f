"""A table is written once: before and after in one cell on a page, in two columns elsewhere."""

import re
from typing import Any

from streamlit.testing.v1 import AppTest

from dashboard.document.blocks import Cell, Report, ReportDetails, Row, Section, Table
from dashboard.document.html import html_of
from dashboard.widgets.blocks import html_of as page_html

GAP = Cell("+0.6", "0.3 to 1.0", 0.6, 0.3, 1.0, before=Cell("+1.2", "0.8 to 1.6", 1.2, 0.8, 1.6))
ERROR = Cell(
    "0.6%", value=0.006, below=(Cell("\u25b2 still <too> high", kind="over"),),
    before=Cell("1.2%", value=0.012, below=(Cell("\u25b2 too high", kind="over"), Cell(", p < 1"))),
)  # fmt: skip
SAME = Cell("0.1%", below=(Cell("\u25cb none", kind="none"),))
TABLE = Table(
    "by sex",
    ("Subgroup", "Gap", "KS error", "Accuracy"),
    (
        Row("f", "female", (GAP, ERROR, Cell("94.0%", place="best")), "52 rows"),
        Row("m", "male", (Cell("0.0"), Cell("0.1%", below=SAME.below, before=SAME), Cell("90%"))),
    ),
)


def as_json() -> Any:
    section = Section("subgroups", "Subgroups", "", (TABLE,))
    report = Report("T", ReportDetails(), "of it", "0", "2026", "0.1.0", (section,), {}, {})
    return report.as_dict()["sections"][0]["blocks"][0], html_of(report)


def test_a_report_has_before_and_after_in_columns_of_their_own() -> None:
    table, html = as_json()
    heads = ["Gap before", "Gap after", "KS error before", "KS error after", "Accuracy"]
    assert [*table["columns"]] == ["Subgroup", *heads]
    female, male = ([(one["shown"], one["value"]) for one in row["cells"]] for row in table["rows"])
    assert female == [
        ("+1.2", 1.2),
        ("+0.6", 0.6),
        ("1.2%", 0.012),
        ("0.6%", 0.006),
        ("94.0%", None),
    ]
    # What was the same, or is not known of before, stands in both.
    assert [shown for shown, _ in male] == ["0.0", "0.0", "0.1%", "0.1%", "90%"]
    assert table["rows"][0]["cells"][2]["note"] == "\u25b2 too high, p < 1"
    assert table["rows"][0]["cells"][0]["low"] == 0.8
    written = re.findall(r'cells/\d+/shown">(.*?)</span>', html)
    assert written == [one["shown"] for row in table["rows"] for one in row["cells"]]
    assert "still &lt;too&gt; high" in html


def test_a_page_has_them_in_one_cell() -> None:
    html = page_html(TABLE)
    cells = re.findall(r"<td>(.*?)</td>", html)
    assert (
        cells[0]
        == "+1.2 \u2192 +0.6<small>0.8\u00a0to\u00a01.6 \u2192 0.3\u00a0to\u00a01.0</small>"
    )
    high = "<span class='over'>\u25b2 too high</span>, p &lt; 1"
    still = "<span class='over'>\u25b2 still &lt;too&gt; high</span>"
    assert cells[1] == f"1.2 \u2192 0.6%<small>{high} \u2192 {still}</small>"
    assert cells[2] == "<b>94.0%</b>"
    none = "<span class='none'>\u25cb none before and after</span>"
    assert cells[4] == f"0.1 \u2192 0.1%<small>{none}</small>"


def test_a_badge_needs_no_comma_and_a_range_of_the_file_keeps_its_own() -> None:
    def page() -> None:
        from dashboard.document.blocks import Sentences  # noqa: PLC0415 - runs alone
        from dashboard.widgets.blocks import write  # noqa: PLC0415 - the same

        for line in (":red-badge[Before: both], right on average", r"age \= \(20, 40\], too low"):
            write(Sentences("worst", (line,), headline=True))

    shown = [one.value for one in AppTest.from_function(page).run().subheader]
    assert shown == [":red-badge[Before: both] right on average", r"age \= \(20, 40\], too low"]
