"""The pages call the event as the file does."""

import json
import re

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard.texts.numbers import escape_markdown, percent
from dashboard.texts.rows import REFUSED, ROWS, call_rows, rows_of, say_rows
from dashboard.texts.verdict import LOOKING_CLOSER
from tests.app.pages import bodies, charts, choose, html_of, open_page, open_upload, turn_to
from tests.marks import first_and_long

NAME = "readmitted_30d = Yes"
PATHS = ("overview", "reliability", "ks", "maps", "decisions", "subgroups")


def risk_file(n_rows: int = 600, outcome: str = "readmitted_30d") -> tuple[bytes, int]:
    """One risk per row, too high by a third, beside the outcome; with the count of events."""
    rng = np.random.default_rng(5)
    risk = rng.beta(2, 5, n_rows)
    back = rng.random(n_rows) < 0.67 * risk
    lines = [
        f"{p:.6f},{'Yes' if hit else 'No'},Ward {k % 3}"
        for k, (p, hit) in enumerate(zip(risk, back, strict=True))
    ]
    return "\n".join([f"risk,{outcome},ward", *lines]).encode(), int(back.sum())


@pytest.mark.long
def test_the_event_is_called_as_the_file_calls_it_on_every_page() -> None:
    data, n_events = risk_file()
    for path in PATHS:
        page = open_upload(("risk.csv", data), path=path, measures="all")
        assert not page.exception
        text = "\n".join(bodies(page))
        assert escape_markdown(NAME) in text, path
        assert "class Yes" not in text, path
        assert "Class Yes" not in text, path
        count = f"{n_events} of 600 ({percent(n_events / 600, 600)})"
        assert escape_markdown(f"{NAME}: {count}") in text
    axis = json.loads(charts(open_upload(("risk.csv", data)))[0].spec)["layout"]["yaxis"]
    assert axis["title"]["text"] == f"Frequency of {NAME}"


def test_the_list_of_rows_calls_the_event_so_and_its_download_too() -> None:
    data, _ = risk_file()
    page = open_upload(("risk.csv", data), path="subgroups")
    (table,) = html_of(page, "class='measures listed")
    heads = re.findall("<th scope='col'>(.*?)</th>", table)
    assert heads == ["Row", "True", "Predicted", NAME, "Score before", "Score after", "ward"]
    assert escape_markdown(f"highest scores without {NAME}") in "\n".join(bodies(page))


def test_a_hostile_name_is_escaped_and_files_without_names_stay_as_they_are() -> None:
    data, n_events = risk_file(outcome="<b>y</b>")
    page = open_upload(("risk.csv", data))
    text = "\n".join(bodies(page))
    assert escape_markdown("<b>y</b> = Yes") in text
    assert f"{n_events} of 600" in text
    other = "\n".join(bodies(open_page(event="class", sample="crash_survival")))
    assert re.search(r"\u00b7 Class [^\u00b7=]+\\: [\d,]+ of [\d,]+ ", other)


# Rows ---------------------------------------------------------------------------------------

EVERY = (*PATHS, "calibrators", "data-needed", "models")
OF_THE_FILE = "about this example"
"""End of the head of what is said of the file itself, whose rows are rows."""


def seen(page: AppTest) -> list[str]:
    """Every heading, sentence, table and title of a figure, without what tooltips hold."""
    tables = [re.sub(r"<style>.*?</style>|<[^>]*>", " ", one, flags=re.DOTALL)
              for one in html_of(page)]  # fmt: skip
    titles = []
    for chart in charts(page):
        spec = json.loads(chart.spec)
        parts = [part for name, part in spec["layout"].items() if re.match("title|[xy]axis", name)]
        titles += [str(part.get("text") or part.get("title")) for part in parts]
        titles += [str(trace.get("hovertemplate")) for trace in spec["data"]]
        titles += [str(text) for trace in spec["data"] for text in trace.get("text") or ()]
        titles.append(chart.alt)
    return [*bodies(page), *tables, *titles]


@pytest.mark.parametrize("words", first_and_long(["plain", "expert"]))
def test_rows_are_called_as_the_reader_calls_them_on_every_page(words: str) -> None:
    for path in EVERY:
        page = open_page(path, rows_are="patients", wording=words, event="class")
        assert not page.exception
        texts = seen(page)
        read = "\n".join(str(part.value) for box in page.expander for part in box.markdown
                         if box.label.endswith(OF_THE_FILE))  # fmt: skip
        left = [text for text in texts if re.search(r"\brows\b", text, re.IGNORECASE)
                and text not in read]  # fmt: skip
        assert not left, path
        assert any("patients" in text for text in texts), path


def test_the_name_is_shared_with_nobody_and_kept_where_a_part_runs_alone() -> None:
    ours, theirs = open_page("subgroups", rows_are="patients"), open_page("subgroups")
    assert any("10,000 patients" in text for text in seen(ours))
    assert not any("patients" in text for text in seen(theirs))
    assert not any("rows" in text for text in seen(ours.run()))


@pytest.mark.parametrize("word", ["<b>x</b>", "$x$", "2", "rows of wards", "-", "*a*"])
def test_a_name_that_could_be_markup_is_refused_in_a_sentence(word: str) -> None:
    page = open_page(rows_are=word)
    assert not page.exception
    assert REFUSED in [warning.value for warning in page.warning]
    assert any("10,000 rows" in text for text in bodies(page))


def test_one_row_keeps_its_name() -> None:
    call_rows("patients")
    assert (rows_of(1), rows_of(7_400)) == ("1 row", "7,400 patients")
    assert say_rows("Rows of rows, tomorrows") == "Patients of patients, tomorrows"
    call_rows(ROWS)


# Ranges of scores ---------------------------------------------------------------------------


def test_where_scores_are_off_is_said() -> None:
    data, _ = risk_file(4000)
    page = open_upload(("risk.csv", data), path="reliability")
    for path in ("reliability", "overview"):
        text = "\n".join(bodies(turn_to(page, path)))
        assert re.search(
            r"Scores (above|of|at) .{,30}\.\d percentage points too high"
            r" \(\d+\.\d\u2013\d+\.\d by bin, n\u00a0=\u00a0[\d,]+\)", text
        ), path  # fmt: skip


# Before the verdict, and before the intervals -----------------------------------------------


def test_scores_of_exactly_0_are_said_once_in_plain_words_below_the_verdict() -> None:
    rng = np.random.default_rng(3)
    risk = np.round(rng.beta(0.6, 2, 900), 2)
    back = rng.random(900) < risk
    back[risk.argmin()] = True
    lines = [f"{p:.2f},{int(hit)}" for p, hit in zip(risk, back, strict=True)]
    page = open_upload(("risk.csv", "\n".join(["risk,back", *lines]).encode()))
    assert not any("exactly" in one.value or "probability 0" in one.value for one in page.warning)
    verdict = page.subheader[0].value
    texts = [one.value for one in page.main if hasattr(one, "value")]
    seen = [str(text) for text in texts if text is not None]
    n_zeros = int((risk == 0).sum())
    for what in ("true class has probability 0 in 1 row", f"exactly 0 in {n_zeros} of 900 rows"):
        (place,) = [k for k, text in enumerate(seen) if what in text and ":small[" in text]
        assert place > seen.index(verdict)
    assert not any(word in "\n".join(bodies(page)) for word in ("nats", "2e-308"))


def test_nothing_is_advised_before_the_intervals_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        st.stop()

    monkeypatch.setattr("dashboard.views.overview.page.closer_look", never)
    data, _ = risk_file()
    page = open_upload(("risk.csv", data), method="platt", resamples="100")
    text = "\n".join(bodies(page))
    assert not page.exception
    assert f"{LOOKING_CLOSER} \u2026" in text
    assert "Use " not in text.split("Recommendations")[1]
    assert "KS error fell" not in text
    quick = "\n".join(bodies(open_upload(("risk.csv", data), method="platt", resamples="0")))
    assert "**Use " in quick


def test_a_spline_that_changes_the_order_of_rows_says_so_with_the_auroc() -> None:
    data, _ = risk_file()
    page = open_upload(("risk.csv", data), method="spline", spline_n_knots="20", evaluation="split")
    told = re.search(
        r"which changes the order of the rows \(AUROC (0\.\d+) \u2192 (0\.\d+)\)",
        "\n".join(bodies(page)),
    )
    assert told
    assert told[1] != told[2]
    assert "order of the rows" not in "\n".join(bodies(choose(page, "method", "platt")))
