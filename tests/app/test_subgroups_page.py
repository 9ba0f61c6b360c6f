"""Subgroups on the page: evaluated, chosen for every page, and their rows listed."""

import csv
import io
import itertools
import math
import re
from html import unescape
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from calibcore import OneClass, TopR, audit, ks_error
from calibcore.calibrators import SplineCalibration, TemperatureScaling
from calibcore.fitting import fit
from calibcore.subgroups import screen_subgroups
from dashboard.compute import fits
from dashboard.compute.cache import forget
from dashboard.compute.listed_rows import ListedRows
from dashboard.compute.subgroups import find_groups
from dashboard.headless import scene_of
from dashboard.readers import read
from dashboard.samples import samples
from dashboard.settings import NO_METHOD, ChosenEvent
from dashboard.tables import csv_of
from dashboard.texts import listed
from dashboard.texts.events import event_words
from dashboard.texts.numbers import percent, pp
from dashboard.texts.subgroups import ALL_ROWS, PREDICTED
from dashboard.views.subgroups.words import ALL_GROUPINGS, NOT_BY_TRUTH
from dashboard.widgets.rows_list import lines_of
from tests.app.pages import (
    MARKUP,
    before_after,
    bodies,
    check_charts,
    choose,
    html_of,
    made_set,
    npz_of,
    open_page,
    open_upload,
    text_of,
    tile,
    top_1_file,
    turn_to,
)
from tests.marks import first_and_long

CRASH = next(sample for sample in samples() if sample.name == "crash_survival")
CITIES = next(sample for sample in samples() if sample.name == "city_country_100")


@pytest.mark.parametrize(("event", "tested"), [(OneClass(1), False), (TopR(1), True)])
def test_with_two_classes_on_one_event_the_predicted_class_is_no_subgroup(
    event: ChosenEvent, *, tested: bool
) -> None:
    scene = scene_of(read("x.npz", CRASH.read_bytes()), event=event, progress=lambda _: None)
    ways = [subgrouping.by for subgrouping in find_groups(scene).subgroupings]
    assert (PREDICTED in ways) == tested
    assert "sex" in ways


def tables(page: AppTest, kind: str) -> list[list[list[str]]]:
    """Read the cells of the tables of one kind, their small print left out."""
    bodies_ = html_of(page, f"class='measures {kind} ")
    return [
        [
            [unescape(re.sub("<small>.*?</small>|<[^>]*>", "", cell)) for cell in
             re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line)]
            for line in re.findall("<tr>(.*?)</tr>", body.split("<tbody>")[1])
        ]
        for body in bodies_
    ]  # fmt: skip


def column_of(name: str, role: str = "test") -> np.ndarray:
    upload = read("x.npz", CRASH.read_bytes())
    column = upload.columns[role][name]
    assert column.categories is not None
    return np.array(column.categories)[column.values]


def test_columns_of_the_file_come_first_and_are_evaluated() -> None:
    page = open_page("subgroups", event="top", sample=CRASH.name, subgroups_by="age_band")
    assert not page.exception
    check_charts(page, ["Subgroups", "Scores"])
    assert page.selectbox(key="subgroups_by").options[:4] == [
        "age_band",
        "airbag",
        "seatbelt",
        "sex",
    ]
    (table,) = tables(page, "subgroups")
    upload = read("x.npz", CRASH.read_bytes())
    rows = upload.test
    assert rows is not None
    event = TopR(1).outcomes(rows.probabilities, rows.labels)  # type: ignore[union-attr]
    ages = column_of("age_band")
    names = sorted(set(ages))
    places = np.array([names.index(age) for age in ages])
    result = screen_subgroups(event.scores, event.hits, places, n_subgroups=len(names))
    assert sorted(line[0] for line in table) == names
    for line in table:
        k = names.index(line[0])
        gap = pp(result.mean_gap[k], result.rows[k], signed=True).removesuffix(" pp")
        assert line[1].startswith(f"{gap} \u2192 ")
        assert line[3] == percent(event.hits[places == k].mean(), result.rows[k])
    assert "of 4 after, " in " ".join(bodies(page))


@pytest.mark.parametrize("method", first_and_long(["temperature", "none"]))
def test_the_page_names_the_subgroup_that_overview_names(method: str) -> None:
    overview = open_page(sample=CRASH.name, method=method)
    lines = re.findall(r"\*\*Worst subgroup[^*]*:\*\* (.*?) by (\S+) percentage", text_of(overview))
    assert lines
    *_, (named, size) = lines  # what is there now
    tests = re.search(r"Adjusted for (\d+) subgroups", text_of(overview))
    assert tests is not None
    page = turn_to(overview, "subgroups")
    every = next(one.value for one in page.markdown if ALL_GROUPINGS in one.value)
    assert f"{named.split(',')[0]} ({size} " in every.replace("percentage points ", "")
    assert f"adjusted for {tests[1]} subgroups of all columns" in " ".join(bodies(page))


def test_every_way_opens() -> None:
    query = {"sample": CRASH.name, "event": "class", "class": "died"}
    page = open_page("subgroups", subgroups_by="True class", **query)
    for by in ("True class", "Predicted class", "Score, 5 ranges", "sex"):
        page.selectbox(key="subgroups_by").set_value(by).run()
        assert not page.exception
        (table,) = tables(page, "subgroups")
        assert len(table) == (5 if by.startswith("Score") else 2)
        assert (NOT_BY_TRUTH in text_of(page)) == (by == "True class")


def test_a_hundred_classes_are_paged_worst_first() -> None:
    page = open_page("subgroups", sample=CITIES.name)
    (first,) = tables(page, "subgroups")
    assert len(first) == 10
    page.number_input(key="subgroups_page").set_value(10).run()
    (last,) = tables(page, "subgroups")
    assert len(last) == 10
    assert not {line[0] for line in first} & {line[0] for line in last}
    gaps = [
        abs(float(line[1].split(" \u2192 ")[1].split(" ")[0].replace("\u2212", "-")))
        for line in first
    ]
    # Those that differ from other rows, then those that are off: two runs at most.
    assert sum(later > earlier for earlier, later in itertools.pairwise(gaps)) <= 1
    assert "fewer than 30 rows are shown but not tested" in text_of(page)


# A part for every page ----------------------------------------------------------------------


@pytest.fixture
def fitted(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Note every calibrator that is fitted."""
    noted: list[object] = []

    def noting(calibrator: Any, *further: Any) -> Any:
        noted.append(calibrator)
        return fit(calibrator, *further)

    monkeypatch.setattr(fits, "fit", noting)
    forget()
    return noted


@pytest.mark.long
def test_bins_refit_nothing_and_an_event_only_maps_of_its_scores(fitted: list[object]) -> None:
    page = open_page(sample=CITIES.name, method="temperature")
    assert fitted == [TemperatureScaling()]
    page.number_input(key="bins").set_value(20).run()
    page.number_input(key="rank").set_value(2).run()
    assert len(fitted) == 1
    page.selectbox(key="method_seen").set_value("spline").run()
    page.number_input(key="rank").set_value(1).run()
    assert fitted[1:] == [SplineCalibration(constrained=True)] * 2


def test_a_subgroup_chosen_here_is_what_every_page_evaluates(fitted: list[object]) -> None:
    page = open_page("subgroups", event="top", sample=CRASH.name, subgroups_by="age_band")
    assert fitted == [SplineCalibration(constrained=True)]
    page.selectbox(key="subgroup_opened").set_value("60+").run()
    old = column_of("age_band") == "60+"
    line = f"Filtered to age\\_band \\= 60\\+: {old.sum():,} of {old.size:,} rows."
    assert line in text_of(page)
    assert page.selectbox(key="only").value == "age_band"
    assert page.selectbox(key="only_which").value == "60+"
    turn_to(page, "overview")
    assert line in text_of(page)
    upload = read("x.npz", CRASH.read_bytes())
    split: Any = upload.split()
    whole = audit(split, event=TopR(1), calibrator=SplineCalibration(constrained=True))
    before, after = (side.event for side in (whole.test.before, whole.test.after))
    was, now = (ks_error(event.scores[old], event.hits[old]) for event in (before, after))
    assert tile(page, "KS error") == before_after(was, now, int(old.sum()))
    # The fit on all rows is the one that was made before.
    assert len(fitted) == 1
    # The other set, by the same fit.
    choose(page, "set", "calibration")
    of_fit = column_of("age_band", "calibration") == "60+"
    assert f"{of_fit.sum():,} of {of_fit.size:,} rows." in text_of(page)
    assert len(fitted) == 1
    page.button(key="show_all").click().run()
    assert "Filtered to" not in text_of(page)


def test_a_part_that_the_data_do_not_have_is_all_rows() -> None:
    page = open_page("subgroups", only="sex", only_which="female")
    assert not page.exception
    assert "Filtered to" not in text_of(page)
    page = open_page("subgroups", sample=CRASH.name, only="sex", only_which="nobody")
    assert not page.exception
    assert "Filtered to sex" in text_of(page)


def test_a_part_is_left_with_the_data_that_have_it() -> None:
    page = open_page("subgroups", only="Predicted class", only_which="Trouser")
    assert "Filtered to predicted class Trouser" in text_of(page)
    # The subgroup that holds all rows is not tested again: Overview says what is found of them.
    assert "All rows are in one subgroup, predicted class Trouser, so none" in text_of(page)
    assert "1 tests" not in text_of(page)
    page.selectbox(key="sample_seen").set_value(CITIES.title).run()
    assert "Filtered to" not in text_of(page)
    assert page.selectbox(key="only").value == ALL_ROWS
    # Chosen by hand, the first part stands until another one is chosen.
    page.selectbox(key="only").set_value("True class").run()
    page.selectbox(key="only_which").set_value("Iran").run()
    page.selectbox(key="only").set_value("Score, 5 ranges").run()
    assert page.selectbox(key="only_which").value == "range 1 of 5"


def test_a_range_of_scores_outlives_a_change_of_event() -> None:
    page = open_page("subgroups", only="Score, 5 ranges", only_which="range 2 of 5")
    assert "Filtered to score" in text_of(page)
    page.number_input(key="rank").set_value(2).run()
    assert page.selectbox(key="only_which").value == "range 2 of 5"
    assert "Filtered to score" in text_of(page)


# Rows ---------------------------------------------------------------------------------------


def test_rows_of_a_range_are_listed_most_confident_mistakes_first() -> None:
    page = open_page("subgroups", event="top", sample=CRASH.name)
    page.slider(key="scores_listed").set_value((80, 95)).run()
    (table,) = tables(page, "listed")
    rows: Any = read("x.npz", CRASH.read_bytes()).test
    event = TopR(1).outcomes(rows.probabilities, rows.labels)
    inside = [k for k, score in enumerate(event.scores) if 0.8 <= score <= 0.95]
    order = sorted(inside, key=lambda k: (event.hits[k], -event.scores[k], k))[:100]
    assert [line[0] for line in table] == [str(k + 1) for k in order]
    assert table[0][1:3] == [rows.class_names[rows.labels[order[0]]],
                             rows.class_names[rows.probabilities[order[0]].argmax()]]  # fmt: skip
    assert table[0][3] == f"{100 * event.scores[order[0]]:.2f}%"
    assert table[0][5] == column_of("age_band")[order[0]]
    wrong = sum(1 for k in inside if not event.hits[k])
    assert listed.range_sentence(
        (80, 95), len(inside), wrong, event_words(TopR(1), None)
    ) in text_of(page)
    # In an address the ends can stand the other way round.
    turned = open_page("subgroups", event="top", sample=CRASH.name, scores_listed=["95", "80"])
    assert tables(turned, "listed") == [table]


def subgroups_csv(n_rows: int = 400) -> bytes:
    """One set with a column of text, hostile in places, and one of numbers."""
    rows = made_set(np.random.default_rng(4), n_rows, 2)
    head = "<b>a</b>,b,label,=light,age"
    names = ["<b>a</b>", "b"]
    lines = [
        f"{x:.5f},{y:.5f},{names[label]},{'=night()' if k % 3 else 'day'},{20 + k % 60}"
        for k, ((x, y), label) in enumerate(zip(rows.logits, rows.labels, strict=True))
    ]
    return "\n".join([head, *lines]).encode()


def test_rows_of_a_split_file_keep_the_numbers_they_have_there() -> None:
    data = subgroups_csv()
    page = open_upload(("mine.csv", data), path="subgroups", method=NO_METHOD)
    (table,) = tables(page, "listed")
    lines = data.decode().splitlines()
    for line in table[:20]:
        cells = lines[int(line[0]) - 1].split(",")
        assert line[1] == cells[2]
        assert line[-2:] == cells[3:]
    assert "from the top of the file" in text_of(page)
    assert not MARKUP.search(text_of(page))
    by = page.selectbox(key="subgroups_by")
    by.set_value("age").run()
    (slices,) = tables(page, "subgroups")
    assert len(slices) == 5
    named = [line[0] for line in slices]
    inner = sorted(tuple(map(int, one.split("\u2013"))) for one in named if "\u2013" in one)
    assert f"up to {inner[0][0] - 1}" in named
    assert f"{inner[-1][1] + 1} and more" in named
    assert all(high + 1 == low for (_, high), (low, _) in itertools.pairwise(inner))
    assert all(low % 5 == 0 for low, _ in inner)


def test_rows_are_numbered_as_the_preview_and_refusals_number_them() -> None:
    head, *lines = subgroups_csv().decode().splitlines()
    apart = [f"{line},{'val' if k % 2 else 'test'}" for k, line in enumerate(lines)]
    whole = "\n".join([f"{head},split", *apart])
    page = open_upload(("mine.csv", whole.encode()), path="subgroups")
    (table,) = tables(page, "listed")
    for line in table[:20]:
        cells = whole.splitlines()[int(line[0]) - 1].split(",")
        assert line[1] == cells[2]
        assert line[-2:] == cells[3:5]
        assert cells[5] == "test"
    arrays = npz_of(made_set(np.random.default_rng(1), 50), made_set(np.random.default_rng(2), 60))
    page = open_upload(("mine.npz", arrays), path="subgroups")
    assert "as in the test set, from 1" in text_of(page)


def test_the_listed_rows_are_taken_home_without_formulas() -> None:
    result = ListedRows(
        [7], ["=a"], ["b"], np.array([0]), np.array([0.25]), np.array([0.5]),
        {"light": ["@x"], "age": [52.0]},
    )  # fmt: skip
    head = ["Row", "True", "Predicted", "Score before", "After", "light", "age"]
    written = csv_of(head, lines_of(result, hits=False))
    assert list(csv.reader(io.StringIO(written))) == [
        head, ["7", "'=a", "b", "0.25", "0.5", "'@x", "52"]
    ]  # fmt: skip


# Other data ---------------------------------------------------------------------------------


def test_scores_alone_are_grouped_by_score() -> None:
    rng = np.random.default_rng(1)
    scores = rng.uniform(0.4, 1, 600)
    data = top_1_file(scores, rng.random(600) < scores - 0.1)
    page = open_upload(("scores.csv", data), path="subgroups")
    assert not page.exception
    assert page.selectbox(key="subgroups_by").options == [
        "predicted class", "Score, 5 ranges", "Score, 10 ranges"
    ]  # fmt: skip
    page.selectbox(key="subgroups_by").set_value("Score, 5 ranges").run()
    assert "no class probabilities, so rows cannot be grouped by class" in text_of(page)
    (rows,) = tables(page, "listed")
    assert len(rows) == 100
    page.selectbox(key="subgroup_opened").set_value("range 1 of 5").run()
    assert "Filtered to score" in text_of(page)
    assert not page.exception


def two_wards() -> bytes:
    """Scores whose errors cancel between two wards, beside numbers of patients."""
    rng = np.random.default_rng(8)
    odds, ward = rng.normal(0, 1.2, 2000), rng.integers(2, size=2000)
    died = rng.random(2000) < 1 / (1 + np.exp(-odds - np.where(ward == 1, 0.6, -0.6)))
    lines = zip(rng.permutation(9000)[:2000], odds, ward, died, strict=True)
    text = "".join(
        f"{number},{1 / (1 + math.exp(-x)):.4f},{'AB'[k]},{rng.integers(3)},{int(hit)}\n"
        for number, x, k, hit in lines
    )
    return f"reading,risk,ward,floor,died\n{text}".encode()


def test_the_page_opens_on_what_matters_most_and_overview_names_it() -> None:
    page = open_upload(("risks.csv", two_wards()), method="none")
    assert not page.exception
    result = " ".join(bodies(page))
    assert re.search(
        r"Worst subgroup:\*\* ward \\= A, scores too high by 1\d\.\d percentage", result
    )
    assert "Check subgroups first" in result or "Check subgroups.**" in result
    assert "Use the uncalibrated scores" not in result
    turn_to(page, "subgroups")
    assert page.selectbox(key="subgroups_by").value == "ward"
