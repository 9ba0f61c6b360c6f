"""A file of very many rows: one is asked whether to count them, and the counts are the rows'."""

import io
from typing import Any

import numpy as np
import pandas as pd
import pytest

from calibcore import EventScores, LogitSet, counted, ks_error
from calibcore.summary import GroupedSummary, Summary
from dashboard import many_rows
from dashboard.app import PAGES
from dashboard.many_rows import ask_of_many
from dashboard.readers import FileError, read
from dashboard.readers.upload import Upload
from dashboard.texts import opening as words
from tests.app.pages import MARKUP, bodies, charts, click, open_upload, text_of, tile

N = 12_000


def frame() -> pd.DataFrame:
    """Scores of three digits, too high in one region."""
    rng = np.random.default_rng(5)
    scores, region = rng.random(N).round(3), rng.choice(["eu", "us", "<i>asia</i>"], N)
    hits = rng.random(N) < np.where(region == "eu", 0.6, 1) * scores
    return pd.DataFrame(
        {
            "risk": scores,
            "readmitted": np.where(hits, "yes", "no"),
            "region": region,
            "age": rng.normal(60, 9, N).round(1),
        }
    )


def parquet(table: pd.DataFrame) -> bytes:
    out = io.BytesIO()
    table.to_parquet(out)
    return out.getvalue()


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many_rows, "MANY_ROWS", N)
    monkeypatch.setattr("calibcore.summary._AT_ONCE", N // 5 + 1)


def test_one_is_asked_and_each_answer_can_be_taken_back() -> None:
    table = frame()
    wanted = ks_error(table["risk"], table["readmitted"] == "yes")
    page = open_upload(("many.parquet", parquet(table)), method="none", event="class")
    assert "How should so many rows be kept?" in text_of(page)
    assert "other subgroups than by region" in text_of(page)
    assert not charts(page)
    click(page, "Count them by score")
    assert not page.exception
    assert page.query_params["rows"] == "Counted"
    assert f"Counted by score\\: {N:,} rows in 1,001 distinct scores" in text_of(page)
    assert "readmitted \\= yes" in text_of(page)
    assert "Left out\\: the groups of age" in text_of(page)
    assert f"{100 * wanted:.1f}" in tile(page, "KS error")
    assert "region" in text_of(page)
    click(page, words.EVERY_ROW)
    assert page.query_params["rows"] == "Every"
    assert f"{100 * wanted:.1f}" in tile(page, "KS error")
    assert "Counted by score" not in text_of(page)
    click(page, words.DETECT_AGAIN)
    assert "How should so many rows be kept?" in text_of(page)


@pytest.mark.parametrize("path", [path for _, path, _ in PAGES])
def test_every_page_takes_counted_rows(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counted, "_MOST_ROWS", 0)  # so that whatever asks for rows is refused
    given = {"rows": "Counted", "method": "spline", "resamples": "200"}
    page = open_upload(("many.parquet", parquet(frame())), path=path, **given)
    assert not page.exception
    assert not page.error
    for text in bodies(page):
        assert not MARKUP.search(text), text


def opened(table: pd.DataFrame, **options: Any) -> Upload:
    return read("many.parquet", parquet(table), **options)


def test_what_is_counted_is_the_event_of_the_rows_by_group() -> None:
    table = frame()
    upload = many_rows.counted(opened(table))
    assert upload.summary is not None
    whole = Summary.of(table["risk"], table["readmitted"] == "yes")
    for name in ("scores", "rows", "events"):
        np.testing.assert_array_equal(getattr(upload.summary.whole, name), getattr(whole, name))
    assert upload.counted_event == ("readmitted", ("no", "yes"))
    assert isinstance(upload.summary, GroupedSummary)
    parts = dict(zip(upload.summary.names, upload.summary.parts, strict=True))
    of_eu = table[table["region"] == "eu"]
    assert parts["eu",].n_samples == len(of_eu)
    assert parts["eu",].n_events == (of_eu["readmitted"] == "yes").sum()


def test_confidences_are_counted_as_what_is_right() -> None:
    table = pd.DataFrame({"confidence": frame()["risk"], "correct": frame()["readmitted"] == "yes"})
    upload = many_rows.counted(opened(table))
    assert isinstance(opened(table).rows, EventScores)
    assert upload.counted_event == ("correct", ("0", "1"))
    assert upload.summary is not None
    assert upload.summary.n_events == table["correct"].sum()


def test_one_is_not_asked_where_rows_are_few_or_are_more_than_a_score_and_an_outcome() -> None:
    table = frame()
    assert ask_of_many(opened(table)) is not None
    assert ask_of_many(opened(table.iloc[1:])) is None
    assert ask_of_many(opened(table, many="every")) is None
    assert ask_of_many(opened(table, prevalence=0.2)) is None
    three = pd.DataFrame(np.random.default_rng(0).dirichlet([1, 1, 1], N), columns=list("abc"))
    three["label"] = np.array(list("abc"))[np.arange(N) % 3]
    assert isinstance(opened(three).rows, LogitSet)
    assert ask_of_many(opened(three)) is None
    with pytest.raises(FileError, match="one score and one outcome in each row"):
        many_rows.counted(opened(three))


def test_columns_of_many_groups_are_left_out() -> None:
    table = frame().assign(
        ward=[f"w{k % 15}" for k in range(N)], city=[f"c{k % 30}" for k in range(N)]
    )
    assert [*many_rows.counted_columns(opened(table))] == ["region", "ward"]
