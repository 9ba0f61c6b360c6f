"""Summaries on the pages: brought, or of the server's folder, and what of it cannot be reached."""

import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibcore import counted
from calibcore.summary import GroupedSummary, Summary, on_grid
from dashboard import folder
from dashboard.app import PAGES
from dashboard.readers.refusal import FileError
from dashboard.summary_file import write_summary
from dashboard.texts import summaries as words
from dashboard.texts.opening import BRING
from tests.app.pages import (
    MARKUP,
    bodies,
    charts,
    check_opens,
    html_of,
    open_page,
    open_upload,
    tile,
)
from tests.marks import first_and_long

N = 12_000
HOSTILE = "<b>region</b> _x_"


def day(number: int, column: str = "region") -> GroupedSummary:
    """Rows of a day; on the third, scores are too high in one group."""
    rng = np.random.default_rng(number)
    scores, regions = rng.random(N).round(3), rng.choice(["eu", "us", "<i>asia</i>"], N)
    off = (regions == "eu") & (number == 2)
    return GroupedSummary.of(
        scores, rng.random(N) < np.where(off, 0.7, 1) * scores, {column: regions}
    )


@pytest.mark.parametrize("path", [path for _, path, _ in PAGES])
def test_every_page_takes_a_summary_and_no_row_of_it(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counted, "_MOST_ROWS", 0)  # so that whatever asks for rows is refused
    data = write_summary(day(2, HOSTILE))
    page = open_upload(("week.parquet", data), path=path, method="spline", resamples="200")
    check_opens(page)
    for text in bodies(page):
        assert not MARKUP.search(text), text
    assert not any("<b>region" in sent or "<i>asia" in sent for sent in html_of(page))
    sentence = " ".join(bodies(page))
    wanted = {
        "data-needed": words.NEEDS_ROWS, "models": words.ONE_ALONE, "maps": words.NO_HAND,
        "reliability": words.NO_LIST, "subgroups": words.NO_LIST,
    }  # fmt: skip
    if path in wanted:
        assert wanted[path] in sentence
    else:
        assert charts(page)


@pytest.mark.parametrize("path", first_and_long(path for _, path, _ in PAGES))
def test_every_page_takes_groups_on_the_grid(path: str) -> None:
    exact = day(1)
    parts = {name: on_grid(part) for name, part in zip(exact.names, exact.parts, strict=True)}
    data = write_summary(GroupedSummary.of_parts(exact.columns, parts))
    check_opens(open_upload(("week.parquet", data), path=path, method="platt"))


def test_a_summary_without_groups_says_so() -> None:
    page = open_upload(("week.parquet", write_summary(on_grid(day(1).whole))), path="subgroups")
    check_opens(page)
    assert words.NO_GROUPS in bodies(page)


def test_a_summary_that_is_brought_says_what_its_rows_do() -> None:
    page = open_upload(("a.parquet", write_summary(day(0))), ("b.parquet", write_summary(day(2))))
    check_opens(page)
    whole = (day(0) + day(2)).whole
    ks = whole.audit().test.compare("ks_error").before or 0.0
    assert tile(page, "KS error").startswith(f"{100 * ks:.1f} ")
    text = " ".join(bodies(page)).replace("\\", "")
    assert "Counted by score, from 2 summaries: 24,000 rows" in text
    assert "region = eu" in text
    assert "Single rows, such as those behind a bin" in text


def test_two_summaries_of_one_name_are_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counted, "_MOST_ROWS", 0)
    files = (("week.parquet", write_summary(day(k))) for k in (0, 2))
    page = open_upload(*files, path="models")
    check_opens(page)
    text = " ".join(bodies(page)).replace("\\", "")
    assert "since week (2) scores are too high" in text


def test_a_filter_keeps_one_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counted, "_MOST_ROWS", 0)
    chosen = {"only": "region", "only_which": "eu", "method": "platt"}
    page = open_upload(("week.parquet", write_summary(day(2))), **chosen)
    check_opens(page)
    rows = day(2).by("region")["eu"].n_samples
    text = " ".join(bodies(page)).replace("\\", "")
    assert f"region = eu: {rows:,} of 12,000 rows." in text


# The folder -----------------------------------------------------------------------------------


@pytest.fixture
def days(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of three days, beside a file that is not in it."""
    within = tmp_path / "days"
    within.mkdir()
    for number in range(3):
        (within / f"day{number}.parquet").write_bytes(write_summary(day(number)))
    (tmp_path / "secret.parquet").write_bytes(
        write_summary(Summary.of([0.5] * 77, [0, 1] * 38 + [0]))
    )
    monkeypatch.setenv(folder.SUMMARIES, str(within))
    return within


def test_without_a_folder_nothing_of_it_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(folder.SUMMARIES, raising=False)
    page = open_page(data="folder", summaries="day0.parquet")
    assert not page.exception
    assert (
        words.FOLDER
        not in next(one for one in page.segmented_control if one.key == "data_seen").options
    )
    assert all(one.label != words.SUMMARIES for one in page.multiselect)


@pytest.mark.usefixtures("days")
def test_the_files_of_the_folder_are_listed_and_chosen_ones_added_up() -> None:
    page = open_page(data="folder")
    check_opens(page)
    listed = " ".join(html_of(page))
    assert all(f"day{number}.parquet" in listed for number in range(3))
    assert listed.count("12,000") == 3
    assert "secret" not in listed
    page.multiselect[0].set_value(["day0.parquet", "day2.parquet"]).run()
    check_opens(page)
    text = " ".join(bodies(page)).replace("\\", "")
    assert "Counted by score, from 2 summaries: 24,000 rows" in text
    assert "region = eu" in text


@pytest.mark.usefixtures("days")
def test_summaries_stand_one_after_another() -> None:
    chosen = "day0.parquet,day1.parquet,day2.parquet"
    page = open_page("models", data="folder", summaries=chosen)
    check_opens(page)
    assert any("since day2 scores are too high by" in text for text in bodies(page))
    assert len(charts(page)) == 1
    assert all(f"day{number}" in " ".join(html_of(page)) for number in range(3))


def test_what_is_not_in_the_folder_cannot_be_opened(days: Path) -> None:
    link = days / "link.parquet"
    link.symlink_to(days.parent / "secret.parquet")
    (days / "more.parquet").mkdir()
    (days / "more.parquet" / "inside.parquet").write_bytes(b"")
    (days / "within").symlink_to(days.parent, target_is_directory=True)
    os.mkfifo(days / "pipe.parquet")
    assert [one.name for one in folder.listed(days)] == [f"day{k}.parquet" for k in range(3)]
    secret = str(days.parent / "secret.parquet")
    for name in (
        "link.parquet", "../secret.parquet", "within/secret.parquet", secret, "pipe.parquet",
        "more.parquet", "more.parquet/inside.parquet", "", ".", "..", "day0.parquet/",
        "DAY0.parquet", "day0.parquet\x00", "./day0.parquet", "x\x00.parquet",
        "a" * 999 + ".parquet",
    ):  # fmt: skip
        with pytest.raises(FileError, match="no such summary in the folder"):
            folder.source(days, name)
        page = open_page(data="folder", summaries=name.replace(",", "%2C"))
        assert not page.exception
        assert "77" not in " ".join(html_of(page))
        assert words.CHOOSE in bodies(page)


def test_a_file_that_changes_is_not_taken_for_another(days: Path) -> None:
    one = folder.source(days, "day0.parquet")
    (days / "day0.parquet").write_bytes(write_summary(day(1)))
    with pytest.raises(FileError, match="changes while it is read"):
        one.load()
    again = folder.source(days, "day0.parquet")
    assert again.digest != one.digest
    assert again.load() == write_summary(day(1))


def test_a_file_that_becomes_a_link_is_not_followed(days: Path) -> None:
    one = folder.source(days, "day0.parquet")
    (days / "day0.parquet").unlink()
    (days / "day0.parquet").symlink_to(days.parent / "secret.parquet")
    with pytest.raises(FileError, match="a link"):
        one.load()
    with pytest.raises(FileError):
        folder.source(days, "day0.parquet")


def broken(data: bytes) -> dict[str, bytes]:
    """Files that tell that they are summaries, and are none, or more."""
    told = b'fractile.summary {"version": 1, "rows": 5} PAR1'
    return {
        "cut": data[: len(data) // 2] + told,
        "text": b"PAR1 <script>alert(1)</script>" + told,
        "turned": data[:200] + bytes(reversed(data[200:400])) + data[400:],
    }


def changed(**told: object) -> bytes:
    table = pq.read_table(pa.BufferReader(write_summary(day(0))))
    sink = pa.BufferOutputStream()
    facts = json.dumps({"version": 1, "rows": N, "by": ["region"]} | told)
    pq.write_table(table.replace_schema_metadata({"fractile.summary": facts}), sink)
    return bytes(sink.getvalue())


BROKEN = broken(write_summary(day(0))) | {
    "later": changed(version=2), "fewer": changed(rows=3), "by": changed(by=["p"] * 99),
}  # fmt: skip


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_of_the_folder_gets_one_sentence(days: Path, kind: str) -> None:
    (days / "bad.parquet").write_bytes(BROKEN[kind])
    page = open_page(data="folder", summaries="bad.parquet")
    assert not page.exception
    assert len(page.error) == 1
    assert not charts(page)
    assert not MARKUP.search(str(page.error[0].value))
    if kind == "cut":
        beside = open_page(data="folder", summaries="bad.parquet,day0.parquet")
        assert not beside.exception
        assert len(beside.error) == 1


def test_an_empty_folder_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(folder.SUMMARIES, str(tmp_path))
    page = open_page(data="folder")
    assert not page.exception
    assert words.NONE_THERE in bodies(page)
    monkeypatch.setenv(folder.SUMMARIES, str(tmp_path / "gone"))
    gone = open_page(data="folder")
    assert not gone.exception
    assert len(gone.error) == 1
    assert BRING not in bodies(page)
