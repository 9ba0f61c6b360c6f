"""One set split by date: fitted on the past, evaluated on what came since."""

import shlex
from dataclasses import replace

import numpy as np
import pytest

from calibcore.calibrators import PlattScaling
from calibcore.events import OneClass
from dashboard.cli.terminal import options_of
from dashboard.compute.periods import LEAST, split_by_date, splits_by_date
from dashboard.readers import FileError, Upload, read
from dashboard.settings import NO_METHOD, Settings
from dashboard.texts.report import command
from tests.app.pages import bodies, measure_cells, open_upload
from tests.app.test_periods import drifting

AT = ("admitted", "2025-07")


def dated(*, blank: int = 0) -> bytes:
    """Return the drifting year, its first rows without a date."""
    head, *lines = drifting(7, 0.15).decode().split("\n")
    without = [line[line.index(",") :] for line in lines[:blank]]
    return "\n".join([head, *without, *lines[blank:]]).encode()


def columns() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Read the file by hand: month, score and outcome of each row."""
    lines = [line.split(",") for line in dated().decode().split("\n")[1:]]
    return (
        np.array([int(day[5:7]) for day, _, _ in lines]),
        np.array([float(score) for _, score, _ in lines]),
        np.array([int(hit) for _, _, hit in lines]),
    )


def read_at(data: bytes, *split_at: str) -> Upload:
    return split_by_date(read("year.csv", data, split_at=split_at))


@pytest.mark.parametrize(("period", "month"), [("2025-07", 7), ("2025-02", 2), ("2025-12", 12)])
def test_rows_before_it_are_the_calibration_set(period: str, month: int) -> None:
    months, _, hits = columns()
    upload = read_at(dated(), "admitted", period)
    split = upload.split()
    for rows, mask in ((split.calibration, months < month), (split.test, months >= month)):
        assert rows.labels.tolist() == hits[mask].tolist()  # type: ignore[union-attr]
    texts = upload.columns["test"]["admitted"]
    assert texts.categories is not None
    assert {texts.categories[k] for k in texts.values} == {
        f"2025-{k:02d}" for k in range(month, 13)
    }


def test_rows_without_a_date_are_in_neither_set_and_said() -> None:
    months, _, _ = columns()
    upload = read_at(dated(blank=30), *AT)
    split = upload.split()
    assert split.calibration.n_samples == int((months < 7).sum()) - 30
    assert split.test.n_samples == int((months >= 7).sum())
    assert "30 rows left out: no date in admitted." in upload.repairs


@pytest.mark.parametrize(
    ("split_at", "expected"),
    [
        (("ward", "2025-07"), 'column "ward". Expected one of dates: "admitted"'),
        (("risk", "2025-07"), 'column "risk". Expected one of dates: "admitted"'),
        (("admitted", "2025-01"), "no such period .* later one than 2025-01, to 2025-12"),
        (("admitted", "a-b"), "no such period"),
    ],
)
def test_a_split_that_leaves_a_side_empty_is_refused(
    split_at: tuple[str, str], expected: str
) -> None:
    with pytest.raises(FileError, match=expected):
        read_at(dated(), *split_at)


def test_only_splits_with_rows_and_outcomes_on_both_sides_are_offered() -> None:
    assert splits_by_date(read("year.csv", dated())) == [
        ("admitted", f"2025-{month:02d}") for month in range(2, 13)
    ]
    months = np.repeat([1, 2, 3], [LEAST, LEAST - 1, LEAST])
    outcomes = (np.arange(months.size) % 2) * (months < 3)  # nothing happened in March
    lines = [
        f"2025-{m:02d}-01,0.{k % 9 + 1},{y}"
        for k, (m, y) in enumerate(zip(months, outcomes, strict=True))
    ]
    few = "\n".join(["admitted,risk,died", *lines]).encode()
    assert splits_by_date(read("few.csv", few)) == [("admitted", "2025-02")]


def test_a_drift_is_split_by_a_click_and_the_address_keeps_it() -> None:
    page = open_upload(("year.csv", dated()), method="platt")
    (button,) = [one for one in page.button if one.label == "Split at Jul 2025"]
    button.click().run()
    assert not page.exception
    months, scores, hits = columns()
    fitted = PlattScaling().fit(scores[months < 7], hits[months < 7])
    gap = 100 * (fitted.predict(scores[months >= 7]).mean() - hits[months >= 7].mean())
    text = "\n".join(bodies(page))
    assert f"after \N{MINUS SIGN}{abs(gap):.1f} pp" in text
    assert f"{(months < 7).sum():,} rows before Jul 2025 are the calibration set" in text
    assert f"admitted from Jul 2025\\), {(months >= 7).sum():,} rows" in text
    assert page.query_params["split_at"] == "admitted~2025-07"
    again = open_upload(("year.csv", dated()), method="platt", split_at="admitted~2025-07")
    assert measure_cells(again).equals(measure_cells(page))
    page.selectbox(key="split_by_date").set_value(()).run()
    assert "split_at" not in page.query_params
    assert "cross" in "\n".join(bodies(page))


READING = {"columns": (), "outcome": None, "score": None, "event": None, "files_are": None,
           "class_names": None, "values": None, "first_label": None, "leave_out": False,
           "files": ("year.csv",)}  # fmt: skip


def test_the_command_of_a_report_splits_alike() -> None:
    upload = read_at(dated(), *AT)
    words = shlex.split(command(upload, Settings(OneClass(1), NO_METHOD)))
    given = words[words.index("--split-at") + 1]
    assert options_of(READING | {"split_at": given}).split_at == AT
    alone = options_of(READING | {"split_at": "2025-07"}).split_at
    assert read_at(dated(), *alone).options.split_at == AT


@pytest.mark.long
def test_an_address_that_splits_at_nothing_is_said_and_the_page_opens() -> None:
    page = open_upload(("year.csv", dated()), split_at="July")
    assert not page.exception
    (warning,) = [one.value for one in page.warning]
    assert "Expected column" in warning
    page = open_upload(("year.csv", dated()), split_at="ward~2025-07")
    assert not page.exception
    assert "ward" in "\n".join([*bodies(page), *(one.value for one in page.error)])


def test_a_further_model_is_split_at_the_same_date_or_refused_in_a_sentence() -> None:
    head, *lines = dated().decode().split("\n")
    other = "\n".join([head, *(line.replace(",0.", ",0.0") for line in lines)]).encode()
    undated = "\n".join(line[line.index(",") + 1 :] for line in other.decode().split("\n")).encode()
    page = open_upload(
        ("year.csv", dated()), path="models", method="platt", split_at="admitted~2025-07"
    )
    page.file_uploader(key="models_0").set_value([("other.csv", other, "")]).run()
    assert not page.exception
    assert not page.error
    page.file_uploader(key="models_0").set_value([("plain.csv", undated, "")]).run()
    assert not page.exception
    assert any("one of dates" in one.value for one in page.error)


def test_numbers_of_months_split_as_dates_do() -> None:
    months, _, hits = columns()
    head, *lines = dated().decode().split("\n")
    numbered = [f"{m},{line[line.index(',') + 1 :]}" for m, line in zip(months, lines, strict=True)]
    upload = read("year.csv", "\n".join([head.replace("admitted", "month"), *numbered]).encode())
    (first,) = [name for by, name in splits_by_date(upload) if name.strip("0") == "7"]
    split = split_by_date(
        replace(upload, options=replace(upload.options, split_at=("month", first)))
    )
    assert split.test is not None
    assert split.test.labels.tolist() == hits[months >= 7].tolist()  # type: ignore[union-attr]
