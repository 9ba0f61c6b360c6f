"""Several models on the page: samples of the same rows, and files that are brought."""

import csv
import io
import re
from html import unescape
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from calibcore import LogitSet, TopR, audit
from calibcore.calibrators import SplineCalibration
from calibcore.cumulative import ks_error
from calibcore.splits import Split
from dashboard.readers import read
from dashboard.samples import Sample, samples
from dashboard.settings import NO_METHOD
from dashboard.texts.measures import NO_RESAMPLES
from dashboard.texts.numbers import escape_markdown, percent
from dashboard.views.models.page import models_csv
from dashboard.views.models.results import mates
from dashboard.views.models.words import NO_MATES, NO_SAMPLES
from tests.app.pages import (
    MARKUP,
    charts,
    html_of,
    made_set,
    npz_of,
    open_page,
    open_upload,
    text_of,
    top_1_file,
    turn_to,
)
from tests.readers import files

FASHION = samples()[:3]


def table(page: AppTest, kind: str = "models") -> dict[str, list[str]]:
    """Read a table: the cells of each row, by its first."""
    (body,) = html_of(page, f"class='measures {kind} ")
    lines = re.findall(r"<tr><th scope='row'>(.*?)</th>(.*?)</tr>", body)
    return {
        unescape(re.sub("<[^>]*>", " ", name)).strip(): [
            unescape(re.sub("<[^>]*>", " ", cell)) for cell in re.findall("<td>(.*?)</td>", cells)
        ]
        for name, cells in lines
    }


def error_of(sample: Sample) -> tuple[float, float]:
    split: Any = read("x.npz", sample.read_bytes()).split()
    result = audit(split, event=TopR(1), calibrator=SplineCalibration(constrained=True)).test
    return result.before.curves.ks_error, result.after.curves.ks_error


def test_samples_of_the_same_rows_are_compared() -> None:
    page = open_page("models", sample=FASHION[0].name, models_intervals="true")
    assert not page.exception
    assert NO_RESAMPLES in text_of(page)
    rows = table(page)
    assert list(rows) == [sample.title for sample in FASHION]
    errors = {sample.title: error_of(sample) for sample in FASHION}
    for title, (before, after) in errors.items():
        assert rows[title][0].split() == [f"{100 * before:.1f}%", f"{100 * after:.1f}%"]
    best = min(errors, key=lambda title: errors[title][0])
    assert (
        page.subheader[0]
        .value.partition(". Lowest")[2]
        .startswith(f" KS error before: {escape_markdown(best)} (")
    )
    assert len(charts(page)) == 2 + len(FASHION)
    assert all(len(chart.alt) > 20 for chart in charts(page))
    page.multiselect(key="beside_seen").set_value([FASHION[2].name]).run()
    assert list(table(page)) == [FASHION[0].title, FASHION[2].title]
    page.multiselect(key="beside_seen").set_value([]).run()
    assert [info.value for info in page.info] == [NO_SAMPLES]


def test_a_sample_alone_says_what_is_missing() -> None:
    page = open_page("models", sample="three_garments")
    assert not page.exception
    assert NO_MATES in text_of(page)
    assert not charts(page)
    (link,) = page.get("page_link")
    assert link.proto.query_string == f"sample={samples()[0].name}"
    assert mates(samples()[0])


def test_intervals_are_those_of_the_same_rows() -> None:
    page = open_page(
        "models", sample=FASHION[0].name, models_intervals="true", resamples="200",
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
    assert escape_markdown(FASHION[0].title) in text_of(page)


def test_a_map_of_scores_leaves_the_difference_of_accuracies() -> None:
    page = open_page("models", models_intervals="true", resamples="200")
    page.multiselect(key="models_measures_seen").set_value([]).run()
    cells = [cells[-1] for cells in table(page, "differences").values()]
    assert cells[0::2] == cells[1::2]
    assert all(" pp" in cell for cell in cells)


def test_a_part_of_the_rows_is_that_of_the_first_model() -> None:
    page = open_page(
        "models", sample=FASHION[0].name, only="Predicted class", only_which="Shirt",
        method=NO_METHOD,
    )  # fmt: skip
    sets: list[Any] = [read("x.npz", sample.read_bytes()).test for sample in FASHION]
    mine = sets[0].logits.argmax(axis=1) == sets[0].class_names.index("Shirt")
    rows = table(page)
    for sample, one in zip(FASHION, sets, strict=True):
        right = float((one.logits.argmax(axis=1) == one.labels)[mine].mean())
        assert rows[sample.title][-1].strip() == percent(right, int(mine.sum()))


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
    assert "at least one further model" in text_of(page)
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
    assert not MARKUP.search(text_of(page))
    # They stay while another page is looked at.
    turn_to(page, "overview")
    turn_to(page, "models")
    assert list(table(page)) == ["first.npz", "<b>good</b>.npz"]


@pytest.mark.long
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
    assert "only the number of rows is checked" in text_of(page)


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
        assert cells[-1].strip() == percent(right, 150)
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


# Loans: two scores of one file, and files whose rows are named ------------------------------------

LOANS = 240


def loans(order: Any = None, **named: str) -> bytes:
    """Write loans, their columns called as given; the IDs are texts in no order."""
    rng = np.random.default_rng(0)
    first = rng.random(LOANS).round(4)
    came = np.where(rng.random(LOANS) < first, "Yes", "No")
    second = np.clip(first + 0.1 * rng.normal(size=LOANS), 0.01, 0.99).round(4)
    ids = np.array([f"L{7 * k % 1000}" for k in range(LOANS)])
    held = {"id": ids, "v2": first, "v3": second, "default": came}
    chosen = np.arange(LOANS) if order is None else order
    columns = [held[key][chosen].tolist() for key in named]
    return "\n".join(
        ",".join(map(str, row)) for row in [named.values(), *zip(*columns, strict=True)]
    ).encode()


BOTH = {"id": "id", "v2": "PD model v2", "v3": "PD model v3", "default": "default"}
ONE = {"id": "id", "v3": "risk", "default": "default"}


def test_two_scores_of_one_file_are_compared_and_the_same_one_twice_is_refused() -> None:
    given = "loans.csv", loans(**BOTH)
    page = open_upload(given, path="models", roles="score:PD model v2")
    page.multiselect(key="beside_scores").set_value(["PD model v3"]).run()
    assert not page.exception
    assert not page.error
    rows = table(page)
    for name, column in {"PD model v2": "v2", "PD model v3": "v3"}.items():
        one = pd.read_csv(io.BytesIO(loans(**{column: "score", "default": "outcome"})))
        error = ks_error(one["score"], one["outcome"] == "Yes")
        assert rows[name][0].split()[0] == f"{100 * error:.1f}%"
    assert rows["PD model v2"] != rows["PD model v3"]
    assert "240 rows of the whole set, cross-validated" in text_of(page)
    bring(page, ("again.csv", given[1]))
    (refused,) = [one.value for one in page.error]
    assert r"Scores\: the same as in PD model v2" in refused
    assert list(table(page)) == ["PD model v2", "PD model v3"]


def test_rows_of_two_files_are_matched_by_what_names_them() -> None:
    mixed = np.random.default_rng(1).permutation(LOANS)
    page = open_upload(("v2.csv", loans(**BOTH)), path="models",
                       roles="score:PD model v2")  # fmt: skip
    bring(page, ("in_order.csv", loans(**ONE)), ("mixed.csv", loans(mixed, **ONE)))
    (refused,) = [one.value for one in page.error]  # the same model twice, whatever the order
    assert r"the same as in in\_order\.csv" in refused
    whole = table(page)
    bring(page, ("mixed.csv", loans(mixed, **ONE)), ("part.csv", loans(mixed[:200], **ONE)))
    assert table(page)["mixed.csv"] == whole["in_order.csv"]
    (refused,) = [one.value for one in page.error]
    assert "200 of the rows of the first model" in refused
    assert r"Expected all 240" in refused


def test_what_is_asked_of_a_further_file_is_answered_there() -> None:
    page = open_upload(("v2.csv", loans(id="id", v2="risk", default="default")), path="models")
    bring(page, ("two.csv", loans(id="id", v2="PD old", v3="PD new", default="default")))
    assert not page.error
    next(one for one in page.button if "PD new" in one.label).click().run()
    assert list(table(page)) == ["v2.csv", "two.csv"]
    alone = open_upload(("v2.csv", loans(id="id", v2="risk", default="default")), path="models")
    bring(alone, ("two.csv", loans(**ONE)))
    assert table(page) == table(alone)


def test_no_model_is_called_best_where_no_difference_is_clear() -> None:
    page = open_upload(
        ("loans.csv", loans(**BOTH)), path="models", roles="score:PD model v2", resamples="200",
        models_intervals="true", beside_scores="PD model v3", method=NO_METHOD,
    )  # fmt: skip
    page.multiselect(key="models_measures_seen").set_value(["ks_error"]).run()
    (cells,) = table(page, "differences").values()
    assert "no clear difference" in cells[0]
    assert "est calibrated" not in page.subheader[0].value
    assert page.subheader[0].value.startswith("Lowest KS error: PD model v3")


def test_only_columns_like_scores_are_offered_and_another_score_is_no_subgroup() -> None:
    rng = np.random.default_rng(1)
    lines = loans(**BOTH).decode().split("\n")
    beside = zip(rng.integers(20, 80, LOANS), rng.normal(size=LOANS).round(3), strict=True)
    rows = [f"{line},{age},{z}" for line, (age, z) in zip(lines[1:], beside, strict=True)]
    data = "\n".join([f"{lines[0]},age,troponin_z", *rows]).encode()
    page = open_upload(("loans.csv", data), path="models", roles="score:PD model v2")
    assert page.multiselect(key="beside_scores").options == ["PD model v3"]
    upload = read("loans.csv", data, roles=(("PD model v2", "score"),))
    assert set(upload.columns["rows"]) == {"age", "troponin_z"}
    second_upload = read(
        "loans.csv", data, roles=(("PD model v2", "score"), ("PD model v3", "group"))
    )
    assert "PD model v3" in second_upload.columns["rows"]


def test_a_further_file_is_asked_about_in_a_table_of_models_and_its_rows_are_matched() -> None:
    mixed = np.random.default_rng(1).permutation(LOANS)
    page = open_upload(
        ("v2.csv", loans(id="id", v2="risk", default="default")), path="models",
        models_view="table", methods="none,temperature",
    )  # fmt: skip
    both = {"id": "id", "v2": "PD old", "v3": "PD new", "default": "default"}
    bring(page, ("two.csv", loans(mixed, **both)))
    assert not page.error
    next(one for one in page.button if "PD new" in one.label).click().run()
    assert not page.exception
    shown = table(page)
    assert [name.split()[0] for name in shown] == ["v2.csv", "two.csv"]
    alone = open_upload(
        ("v2.csv", loans(id="id", v2="risk", default="default")), path="models",
        models_view="table", methods="none,temperature",
    )  # fmt: skip
    bring(alone, ("two.csv", loans(**ONE)), ("few.csv", loans(mixed[:200], **ONE)))
    assert not alone.error  # a table may be of other rows
    again = table(alone)
    assert [*shown.values()] == [*again.values()][:2]
    assert len(again) == 3
