"""The first page: tiles and table say the same, and what to do next leads to other pages."""

import re
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.app import PAGES
from dashboard.wording.measures import MARKS
from dashboard.wording.next_steps import HEADING
from dashboard.wording.numbers import SPACE
from tests.app.pages import (
    bodies,
    check_page,
    choose,
    made_set,
    measure_cells,
    npz_of,
    open_page,
    open_upload,
)
from tests.readers import files

OPENINGS = "Use|Mend|Leave|Try|Collect|Mind|Check|Look|Bring"
GARMENTS = "Three garments that look alike"


def steps(page: AppTest) -> list[str]:
    said = bodies(page)
    assert HEADING in said
    return [text for text in said if re.match(rf"\*\*({OPENINGS}) [^*]*\*\*", text)]


def links(page: AppTest) -> list[str]:
    found: Any = page.get("page_link")
    return [link.proto.page for link in found]


@pytest.mark.parametrize("method", ["spline", "temperature", "none"])
@pytest.mark.parametrize("measures", ["Short list", "All"])
def test_tiles_and_table_agree(method: str, measures: str) -> None:
    page = choose(open_page(sample=GARMENTS, resamples="200", measures=measures), "method", method)
    assert not page.exception
    table, notes = measure_cells(page).astype(str), measure_cells(page, notes=True).astype(str)
    for shown in page.metric:
        mark, before = (str(t.loc[shown.label, c]) for t, c in ((table, "Mark"), (notes, "Before")))
        assert mark in {f"{sign} {text}" for sign, text in MARKS.values()}
        if method == "none":
            assert not shown.delta  # nothing was done that could change something
        elif shown.label == "Accuracy":
            assert shown.delta == "no decision changes"
        else:
            assert shown.delta == mark
        said = [text.replace(SPACE, " ") for text in bodies(page)]
        assert any(f":small[{before}" in text for text in said), shown.label


def test_without_resamples_tiles_show_the_change_alone() -> None:
    page = open_page(sample=GARMENTS)
    check_page(page)
    change = measure_cells(page)["Change"].astype(str)
    for shown in page.metric:
        if shown.label != "Accuracy":
            assert shown.delta == change[shown.label]
    assert list(measure_cells(page).columns) == ["Before", "After", "Change"]
    said = " ".join(f"{shown.delta}" for shown in page.metric)
    assert not re.search("better|worse|evidence", said)


@pytest.mark.parametrize(
    ("query", "opening", "address"),
    [
        ({"sample": GARMENTS, "method": "Temperature scaling"}, "**Use the calibrated", None),
        ({"sample": GARMENTS, "method": "None (leave as it is)"}, "**Mend", "compare"),
        (
            {
                "sample": "Synthetic: labels drawn from the scores",
                "method": "None (leave as it is)",
            },
            "**Leave",
            "slices",
        ),
        ({}, "**Use the calibrated scores, or try another", "compare"),
    ],
    ids=str,
)
def test_what_to_do_next_leads_to_a_page(
    query: dict[str, str], opening: str, address: str | None
) -> None:
    page = open_page(**query)
    assert steps(page)[0].startswith(opening)
    assert links(page)
    assert set(links(page)) <= {path for _, path, _ in PAGES}
    if address:
        assert links(page)[0] == address


def test_the_spline_that_overshoots_is_told_of_its_switch() -> None:
    page = open_page()
    assert any(text.startswith("**Mind certainty**: 3 predictions") for text in steps(page))
    page = open_page(spline_constrained="true")
    assert not any(text.startswith("**Mind certainty**") for text in steps(page))


def test_rows_that_were_fitted_on_give_no_advice() -> None:
    (step,) = steps(open_page(set="Calibration set"))
    assert step.startswith("**Look at the test set")


def test_experts_read_statistics_and_others_do_not() -> None:
    plain, expert = (" ".join(bodies(open_page(wording=w))) for w in ("Plain", "Expert"))
    for term in ("Brownian", "calibration-in-the-large", "\u221aN", "Kuiper/"):
        assert term in expert
        assert term not in plain


@pytest.mark.parametrize("n_rows", [8, 40])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_small_files_open(n_rows: int, n_classes: int, rng: np.random.Generator) -> None:
    data = npz_of(made_set(rng, n_rows, n_classes), made_set(rng, n_rows, n_classes))
    page = open_upload(("small.npz", data), resamples="200", wording="Expert")
    check_page(page)
    assert 1 <= len(steps(page)) <= 3


def test_scores_alone_open(rng: np.random.Generator) -> None:
    rows = np.stack([rng.beta(8, 1, 300)], axis=1)
    table = files.csv_of(rows, rng.integers(0, 2, 300), header="score,label")
    page = open_upload(("scores.csv", table), resamples="200")
    check_page(page)
    assert steps(page)
