"""Several models on the page: samples of the same rows, and files that are brought."""

import csv
import io
import re
from html import unescape
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from calibcore import LogitSet, TopR, audit
from calibcore.calibrators import SplineCalibration
from calibcore.splits import Split
from dashboard import wording
from dashboard.readers import read
from dashboard.samples import Sample, samples
from dashboard.settings import NO_METHOD
from dashboard.views.models import models_csv
from dashboard.wording.models import NO_MATES, NO_RESAMPLES, NO_SAMPLES
from tests.app.pages import (
    MARKUP,
    bodies,
    charts,
    made_set,
    npz_of,
    open_page,
    open_upload,
    top_1_file,
    turn_to,
)
from tests.readers import files

FASHION = samples()[:3]


def table(page: AppTest, kind: str = "models") -> dict[str, list[str]]:
    """Read a table: the cells of each row, by its first."""
    found: Any = page.get("html")
    (body,) = [one.proto.body for one in found if f"class='measures {kind} " in one.proto.body]
    lines = re.findall(r"<tr><th scope='row'>(.*?)</th>(.*?)</tr>", body)
    return {
        unescape(re.sub("<[^>]*>", " ", name)).strip(): [
            unescape(re.sub("<[^>]*>", " ", cell)) for cell in re.findall("<td>(.*?)</td>", cells)
        ]
        for name, cells in lines
    }


def said(page: AppTest) -> str:
    return " ".join(bodies(page))


def error_of(sample: Sample) -> tuple[float, float]:
    split: Any = read("x.npz", sample.read_bytes()).split()
    found = audit(split, event=TopR(1), calibrator=SplineCalibration(constrained=True)).test
    return found.before.curves.ks_error, found.after.curves.ks_error


def test_samples_of_the_same_rows_are_compared() -> None:
    page = open_page("models", sample=FASHION[0].title)
    assert not page.exception
    rows = table(page)
    assert list(rows) == [sample.title for sample in FASHION]
    errors = {sample.title: error_of(sample) for sample in FASHION}
    for title, (before, after) in errors.items():
        assert rows[title][0].split() == [f"{100 * before:.1f}%", f"{100 * after:.1f}%"]
    best = min(errors, key=lambda title: errors[title][0])
    assert page.subheader[0].value.startswith(
        f"Best calibrated before: {wording.escape_markdown(best)} (KS error"
    )
    assert len(charts(page)) == 1 + len(FASHION)
    assert all(len(chart.alt) > 20 for chart in charts(page))
    page.multiselect(key="beside_seen").set_value([FASHION[2].name]).run()
    assert list(table(page)) == [FASHION[0].title, FASHION[2].title]


def test_a_sample_alone_says_what_is_missing() -> None:
    page = open_page("models", sample="Three garments that look alike")
    assert not page.exception
    assert NO_MATES in said(page)
    assert not charts(page)


def test_no_sample_beside_asks_for_one() -> None:
    page = open_page("models")
    page.multiselect(key="beside_seen").set_value([]).run()
    assert [info.value for info in page.info] == [NO_SAMPLES]


def test_intervals_are_those_of_the_same_rows() -> None:
    page = open_page(
        "models", sample=FASHION[0].title, models_intervals="true", resamples="200",
        method=NO_METHOD,
    )  # fmt: skip
    page.multiselect(key="models_measures_seen").set_value(["ks_error"]).run()
    rows = table(page, "differences")
    assert len(rows) == 2
    for sample in FASHION[1:]:
        (cells,) = [cells for name, cells in rows.items() if name.startswith(sample.title)]
        gap = 100 * (error_of(sample)[0] - error_of(FASHION[0])[0])
        assert cells[0].startswith(f"\u2212{abs(gap):.1f} pp")
        assert "\u25b2 better" in cells[0]
    assert wording.escape_markdown(FASHION[0].title) in said(page)


def test_a_map_of_scores_leaves_the_difference_of_accuracies() -> None:
    page = open_page("models", models_intervals="true", resamples="200")
    page.multiselect(key="models_measures_seen").set_value([]).run()
    cells = [cells[-1] for cells in table(page, "differences").values()]
    assert cells[0::2] == cells[1::2]
    assert all(" pp" in cell for cell in cells)


def test_intervals_without_resamples_say_so() -> None:
    page = open_page("models", models_intervals="true")
    assert NO_RESAMPLES in said(page)


def test_a_part_of_the_rows_is_that_of_the_first_model() -> None:
    page = open_page(
        "models", sample=FASHION[0].title, only="Predicted class", only_which="Shirt",
        method=NO_METHOD,
    )  # fmt: skip
    sets: list[Any] = [read("x.npz", sample.read_bytes()).test for sample in FASHION]
    mine = sets[0].logits.argmax(axis=1) == sets[0].class_names.index("Shirt")
    rows = table(page)
    for sample, one in zip(FASHION, sets, strict=True):
        right = float((one.logits.argmax(axis=1) == one.labels)[mine].mean())
        assert rows[sample.title][-1].strip() == wording.percent(right, int(mine.sum()))


# Files --------------------------------------------------------------------------------------


def bring(page: AppTest, *files: tuple[str, bytes]) -> AppTest:
    parts = [(name, data, "application/octet-stream") for name, data in files]
    page.file_uploader(key="models_0").set_value(parts).run()
    return page


def sets(seed: int, n_rows: int = 300, n_classes: int = 3) -> tuple[LogitSet, LogitSet]:
    rng = np.random.default_rng(seed)
    return made_set(rng, n_rows, n_classes), made_set(rng, n_rows, n_classes)


def again(rows: LogitSet, seed: int) -> LogitSet:
    """Another model of the same rows."""
    noise = np.random.default_rng(seed).normal(size=rows.logits.shape)
    return LogitSet(0.5 * rows.logits + noise, rows.labels)


def test_files_are_checked_and_compared() -> None:
    first = sets(0)
    names = ("<b>a</b>", "b", "$x$")
    page = open_upload(("first.npz", npz_of(*first, names)), path="models")
    assert "at least one further model" in said(page)
    good = npz_of(again(first[0], 1), again(first[1], 2))
    labels = first[1].labels.copy()
    labels[41] = (labels[41] + 1) % 3
    bad = npz_of(first[0], LogitSet(first[1].logits, labels))
    bring(page, ("<b>good</b>.npz", good), ("bad.npz", bad), ("short.npz", npz_of(*sets(3, 40))))
    assert not page.exception
    assert list(table(page)) == ["first.npz", "<b>good</b>.npz"]
    errors = " ".join(str(error.value) for error in page.error)
    assert "in row 42" in errors
    assert "40" in errors
    assert not MARKUP.search(said(page))
    # They stay while another page is looked at.
    turn_to(page, "overview")
    turn_to(page, "models")
    assert list(table(page)) == ["first.npz", "<b>good</b>.npz"]


def test_files_of_one_name_are_numbered_and_stay_apart() -> None:
    first = sets(0)
    page = open_upload(("run.npz", npz_of(*first)), path="models")
    runs = [npz_of(again(first[0], seed), again(first[1], seed + 9)) for seed in (1, 2, 3)]
    bring(page, ("run.npz", runs[0]), ("run.npz", runs[1]))
    names = ["run.npz", "run (2).npz", "run (3).npz"]
    assert list(table(page)) == names
    shown = table(page)
    turn_to(page, "overview")
    turn_to(page, "models")
    assert not page.exception
    assert table(page) == shown
    bring(page, ("run.npz", runs[2]))  # another run takes no other's place
    assert list(table(page)) == [*names, "run (4).npz"]
    remove = [b for b in page.button if str(b.key).startswith("remove_models_")]
    remove[0].click().run()
    assert list(table(page)) == names
    assert table(page)["run (2).npz"] == shown["run (3).npz"]


def test_the_table_is_taken_home_with_every_digit() -> None:
    first = sets(0)
    evaluated = [
        audit(Split(*pair), event=TopR(1), calibrator=SplineCalibration(constrained=True)).test
        for pair in (first, (again(first[0], 1), again(first[1], 2)))
    ]
    one = evaluated[1].compare("ks_error")
    written = models_csv(["=a", "b"], evaluated, [one.measure])
    head, line, last = csv.reader(io.StringIO(written))
    assert head == ["Model", "KS error, before", "KS error, after"]
    assert (line[0], last[0]) == ("'=a", "b")
    assert [float(cell) for cell in last[1:]] == [one.before, one.after]


def csv_of_scores(seed: int) -> bytes:
    rng = np.random.default_rng(seed)
    scores = rng.uniform(0.4, 1, 400)
    return top_1_file(scores, rng.random(400) < scores)


def test_scores_alone_are_compared_with_a_warning() -> None:
    page = open_upload(("a.csv", csv_of_scores(1)), path="models")
    bring(page, ("b.csv", csv_of_scores(2)))
    assert not page.exception
    assert list(table(page)) == ["a.csv", "b.csv"]
    assert "only the number of rows is checked" in said(page)


def test_one_set_is_split_alike_in_every_file() -> None:
    rows = sets(5)[0]
    data = [files.npz(logits=one.logits, labels=one.labels) for one in (rows, again(rows, 1))]
    page = open_upload(("a.npz", data[0]), path="models", method=NO_METHOD)
    bring(page, ("b.npz", data[1]))
    split: Any = read("a.npz", data[0]).split()
    other: Any = read("b.npz", data[1]).split()
    assert (split.test.labels == other.test.labels).all()
    for one, cells in zip((split.test, other.test), table(page).values(), strict=True):
        right = float((one.logits.argmax(axis=1) == one.labels).mean())
        assert cells[-1].strip() == wording.percent(right, 150)
    # A file with both sets does not fit to one with a single set.
    bring(page, ("both.npz", npz_of(*sets(0))))
    assert any("one set of rows as in the first model" in str(e.value) for e in page.error)


def test_further_files_are_read_as_the_user_reads_the_first() -> None:
    rows = sets(6)[0]
    guess = (rows.labels + 1) % 3

    def npz(seed: int, **labels: Any) -> bytes:
        return files.npz(logits=again(rows, seed).logits, **labels)

    page = open_upload(
        ("a.npz", npz(0, labels=guess, truth=rows.labels)), path="models", roles="outcome:truth"
    )
    bring(
        page,
        ("same.npz", npz(1, labels=guess, truth=rows.labels)),
        ("other.npz", npz(2, labels=rows.labels)),  # has no array of that name
        ("wrong.npz", npz(3, labels=rows.labels, truth=guess)),
    )
    assert not page.exception
    assert list(table(page)) == ["a.npz", "same.npz", "other.npz"]
    (refused,) = [str(error.value) for error in page.error]
    assert "wrong" in refused
    assert "Labels" in refused


@pytest.mark.parametrize("n_classes", [2, 3])
def test_few_rows_open(n_classes: int) -> None:
    first = sets(7, 8, n_classes)
    page = open_upload(("a.npz", npz_of(*first)), path="models", event="Class", **{"class": "1"})
    bring(page, ("b.npz", npz_of(again(first[0], 1), again(first[1], 2))))
    assert not page.exception
    assert list(table(page)) == ["a.npz", "b.npz"]
