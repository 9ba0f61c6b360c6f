"""Several files: what they were taken for is said, and can be chosen otherwise."""

from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest

from dashboard.texts import opening as several
from dashboard.texts import opening as words
from tests.app.pages import check_page, click, open_upload, text_of, tile
from tests.readers.test_xlsx import rows_xml, sheet_xml, workbook

N = 240


def scores_file(name: str, n_rows: int = N, seed: int = 1) -> tuple[str, bytes]:
    """Make rows of a score and an outcome; those of a model have ids, and the same outcomes."""
    scores = np.random.default_rng(seed).random(n_rows).round(4)
    outcomes = np.random.default_rng(n_rows).integers(0, 2, n_rows)
    rows = zip(range(100, 100 + n_rows), scores.tolist(), outcomes.tolist(), strict=True)
    lines = ["id,score,outcome", *(",".join(map(str, row)) for row in rows)]
    return name, "\n".join(lines).encode()


def choice(page: AppTest) -> Any:
    """Give the select that says what the files are, or nothing."""
    return next((one for one in page.selectbox if one.label == several.LABEL), None)


def labels(page: AppTest) -> str:
    return " ".join(one.label for one in page.expander)


def test_two_files_are_asked_about_and_can_be_read_otherwise() -> None:
    given = scores_file("north.csv", 200), scores_file("south.csv", N)
    page = open_upload(*given)
    assert "**What are they?**" in text_of(page)
    answers = [one for one in page.button if (one.key or "").startswith("answer_")]
    assert [one.label for one in answers] == [
        "Parts of one table",
        r"Two sets\: calibration north\.csv",
        r"Two sets\: calibration south\.csv",
    ]
    answers[1].click().run()
    check_page(page)
    assert "Calibration set from" in text_of(page)
    assert "200 calibration \u00b7 240 test rows" in labels(page)
    assert choice(page).options == [
        "Auto",
        "Calibration set north.csv, test set south.csv",
        "Calibration set south.csv, test set north.csv",
        "One table",
    ]
    choice(page).set_value(("sets", "south.csv")).run()
    check_page(page)
    assert "240 calibration \u00b7 200 test rows" in labels(page)
    assert "as chosen" in text_of(page)
    choice(page).set_value(("rows",)).run()
    check_page(page)
    assert "440 rows" in text_of(page)
    assert "2 parts of one table" in text_of(page)
    assert page.query_params["together"] in ("rows", ["rows"])
    again = open_upload(*given, together="sets:south.csv")
    assert "240 calibration \u00b7 200 test rows" in labels(again)
    click(again, words.DETECT_AGAIN)
    assert "**What are they?**" in text_of(again)
    assert "together" not in again.query_params


def test_a_list_of_those_with_the_event_is_one_click() -> None:
    _, whole = scores_file("scores.csv")
    rows = [line.rpartition(",")[0] for line in whole.decode().splitlines()]
    ids = [row.partition(",")[0] for row in rows[1::5]]
    page = open_upload(
        ("scores.csv", "\n".join(rows).encode()), ("dead.csv", "\n".join(["id", *ids]).encode())
    )
    assert "**Does it list all rows with the event?**" in text_of(page)
    next(one for one in page.button if one.key == "answer_0").click().run()
    check_page(page)
    assert f"{N} rows" in labels(page)
    assert f"{N - len(ids)} count as without the event" in text_of(page)


def test_of_models_of_the_same_rows_one_is_chosen() -> None:
    page = open_upload(scores_file("forest.csv", seed=1), scores_file("boost.csv", seed=2))
    assert "Which model's scores?" in text_of(page)
    assert "The page Models compares" in text_of(page)
    click(page, "boost.csv")
    check_page(page)
    alone = open_upload(scores_file("boost.csv", seed=2))
    assert tile(page, "KS error") == tile(alone, "KS error")
    assert choice(page).value == ("without", "forest.csv")
    choice(page).set_value(("without", "boost.csv")).run()
    alone = open_upload(scores_file("forest.csv", seed=1))
    assert tile(page, "KS error") == tile(alone, "KS error")


def test_of_models_in_sheets_of_a_workbook_one_is_chosen() -> None:
    rows: list[list[list[Any]]] = []
    for seed in (1, 2):
        head, *lines = scores_file("", seed=seed)[1].decode().splitlines()
        rows.append([head.split(","), *([*map(float, line.split(","))] for line in lines)])
    made = workbook(*(sheet_xml(rows_xml(one)) for one in rows), names=("forest", "boost"))
    page = open_upload(("models.xlsx", made))
    assert "Which model's scores?" in text_of(page)
    click(page, "boost")
    check_page(page)
    alone = open_upload(scores_file("boost.csv", seed=2))
    assert tile(page, "KS error") == tile(alone, "KS error")
    (select,) = [one for one in page.selectbox if one.label == several.OF_SHEETS]
    assert select.value == ("without", "forest")
    assert "Only forest" in select.options
    select.set_value(("rows",)).run()
    check_page(page)
    assert "480 rows" in text_of(page)


def test_one_file_and_its_labels_leave_nothing_to_choose() -> None:
    name, data = scores_file("scores.csv")
    lines = [line.rpartition(",") for line in data.decode().splitlines()]
    values = "\n".join(line[0] for line in lines).encode()
    labels = "\n".join(f"{line[0].split(',')[0]},{line[2]}" for line in lines[:1] + lines[:0:-1])
    page = open_upload((name, values), ("outcomes.csv", labels.encode()))
    check_page(page)
    assert "were joined by column" in text_of(page)
    assert choice(page) is None
