"""The page on uploaded files: their numbers, their text, and refusals in words."""

import os
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from calibcore.calibrators import CATALOGUE
from calibcore.data import EventScores, LogitSet
from calibcore.events import TopR
from calibcore.metrics import METRICS, ClassMeasure, accuracy
from calibcore.splits import split_rows
from dashboard.readers import FORMATS, FileError, read
from dashboard.settings import NO_METHOD
from dashboard.texts import opening as imports
from dashboard.texts.methods import method_name
from dashboard.texts.numbers import escape_markdown
from dashboard.texts.refusal import LABELS_ALONE, NEXT_STEP, NOT_FITTING, REFUSED
from tests.app.pages import (
    MARKUP,
    METHODS,
    before_after,
    bodies,
    charts,
    check_page,
    choose,
    click,
    ks_before_after,
    ks_crossed,
    made_set,
    measure_cells,
    npz_of,
    open_page,
    open_upload,
    tile,
    top_1_file,
    upload,
)
from tests.readers import files

# Uploads ------------------------------------------------------------------------------------


def test_nothing_uploaded_says_what_to_bring() -> None:
    page = open_page(data="file")
    assert not page.exception
    assert not page.error
    assert not charts(page)
    assert imports.BRING in bodies(page)
    assert imports.PANEL_ON_PHONES in bodies(page)
    assert any("logits=..., labels=..." in text for text in bodies(page))
    for ending in FORMATS:
        assert any(f"`{ending}`" in text for text in bodies(page))
        assert ending in imports.endings()
    assert [block.value for block in page.code] == [*imports.EXAMPLES.values()]
    for name in ("CSV", "JSON"):
        assert not read(f"example.{name.lower()}", imports.EXAMPLES[name].encode()).repairs


def forget(page: AppTest) -> None:
    click(page, "Forget my data")
    assert not page.exception
    assert not charts(page)
    assert imports.BRING in bodies(page)


def test_an_uploaded_file_shows_its_numbers_until_it_is_forgotten(rng: np.random.Generator) -> None:
    calibration, test = made_set(rng, 500), made_set(rng, 700)
    page = open_upload(("mine.npz", npz_of(calibration, test)))
    check_page(page)
    assert any("500 calibration \u00b7 700 test rows" in one.label for one in page.expander)
    right = f"{100 * accuracy(test.probabilities, test.labels):.1f}%"
    sentence = f"Test set: 700 rows, labels 0, 1, 2, accuracy {right}."
    assert any(f"- {escape_markdown(sentence)}\n" in f"{text}\n" for text in bodies(page))
    for method in METHODS:
        if page.selectbox(key="method_seen").value != method:
            choose(page, "method", method)
        both = ks_before_after(calibration, test, TopR(1), method)
        assert tile(page, "KS error") == before_after(*both, 700)
    forget(page)
    assert page.file_uploader(key="upload_1").value == []


def test_one_uploaded_set_is_crossed_or_split(rng: np.random.Generator) -> None:
    rows = made_set(rng, 400)
    page = open_upload(("one.npz", files.npz(logits=rows.logits, labels=rows.labels)))
    check_page(page)
    assert tile(page, "KS error") == before_after(*ks_crossed(rows, TopR(1)), 400)
    page.number_input(key="seed").set_value(3).run()
    assert tile(page, "KS error") == before_after(*ks_crossed(rows, TopR(1), seed=3), 400)
    assert all(control.key != "set_seen" for control in page.segmented_control)
    choose(page, "evaluation_seen", "split")
    halves = split_rows(rows, calibration_share=0.5, seed=3)
    both = ks_before_after(halves.calibration, halves.test, TopR(1), "spline")
    assert tile(page, "KS error") == before_after(*both, 200)
    page.slider(key="share").set_value(80).run()
    other = split_rows(rows, calibration_share=0.8, seed=3)
    both = ks_before_after(other.calibration, other.test, TopR(1), "spline")
    assert tile(page, "KS error") == before_after(*both, other.test.n_samples)


def test_the_values_can_be_overruled() -> None:
    data = files.npz(logits=files.PROBABILITIES, labels=files.LABELS)
    page = choose(open_upload(("p.npz", data)), "values", "Probabilities")
    taken = tile(page, "KS error")
    rows = LogitSet.from_probabilities(files.PROBABILITIES, files.LABELS)
    assert taken == before_after(*ks_crossed(rows, TopR(1)), rows.n_samples)
    choose(page, "values", "Logits")
    rows = LogitSet(files.PROBABILITIES, files.LABELS)
    assert tile(page, "KS error") == before_after(*ks_crossed(rows, TopR(1)), rows.n_samples)
    assert tile(page, "KS error") != taken


@pytest.mark.long
def test_one_changed_cell_of_a_large_array_changes_the_result(rng: np.random.Generator) -> None:
    # Streamlit's own hash of such an array would look at a fifth of its cells.
    calibration, test = made_set(rng, 20, 1000), made_set(rng, 500, 1000)
    assert test.logits.size >= 500_000
    shown = set()
    page = open_page(data="file")
    for row in (None, 123, 499):
        logits = test.logits.copy()
        if row is not None:
            logits[row, 777] = 1e4
        changed = LogitSet(logits, test.labels)
        upload(page, ("big.npz", npz_of(calibration, changed)))
        if row is None:
            choose(page, "method", NO_METHOD)
        both = ks_before_after(calibration, changed, TopR(1), NO_METHOD)
        assert tile(page, "KS error") == before_after(*both, 500)
        shown.add((measure_cells(page).to_csv(), charts(page)[0].spec))
    assert len(shown) == 3


def test_the_same_files_under_swapped_names_are_evaluated_anew(rng: np.random.Generator) -> None:
    # Calibration and test are told by the names, so the names are part of what was uploaded.
    one, other = made_set(rng, 300), made_set(rng, 300)
    one_file, other_file = (
        files.npz(logits=rows.logits, labels=rows.labels) for rows in (one, other)
    )
    page = open_upload(("a_calibration.npz", one_file), ("a_test.npz", other_file))
    both = ks_before_after(one, other, TopR(1), "spline")
    assert tile(page, "KS error") == before_after(*both, 300)
    upload(page, ("a_test.npz", one_file), ("a_calibration.npz", other_file))
    swapped = ks_before_after(other, one, TopR(1), "spline")
    assert before_after(*swapped, 300) != before_after(*both, 300)
    assert tile(page, "KS error") == before_after(*swapped, 300)


def test_a_look_at_a_sample_loses_no_file_and_one_that_comes_again_takes_its_place() -> None:
    page = open_upload(("good.npz", files.GOOD["good.npz"]))
    mine = tile(page, "KS error")
    choose(page, "data", "sample")
    check_page(page)
    assert tile(page, "KS error") != mine
    choose(page, "data", "file")
    check_page(page)
    assert tile(page, "KS error") == mine
    assert escape_markdown("good.npz") in {one.value for one in page.sidebar.markdown}
    first, second = (made_set(np.random.default_rng(i), 90) for i in (1, 2))
    both = ks_before_after(first, second, TopR(1), "spline")
    upload(page, ("good.npz", npz_of(first, second)))
    check_page(page)
    assert tile(page, "KS error") == before_after(*both, 90)
    choose(page, "data", "sample")
    choose(page, "data", "file")
    upload(page, ("better.npz", npz_of(second, first)))
    assert escape_markdown("good.npz") in bodies(page)
    take_away(page, "good.npz")
    assert escape_markdown("good.npz") not in bodies(page)
    check_page(page)
    both = ks_before_after(second, first, TopR(1), "spline")
    assert tile(page, "KS error") == before_after(*both, 90)
    choose(page, "data", "sample")
    choose(page, "data", "file")
    forget(page)


def take_away(page: AppTest, name: str) -> None:
    buttons = [b for b in page.button if str(b.key).startswith("remove_upload_")]
    buttons[files_kept(page).index(name)].click().run()


def files_kept(page: AppTest) -> list[str]:
    """List the files that are kept while their uploader is empty."""
    texts = [one.value.replace("\\", "") for one in page.sidebar.markdown]
    return [text for text in texts if text.endswith((".npz", ".npy"))]


def test_files_of_one_name_are_numbered_and_taken_away_one_by_one() -> None:
    one, other = (made_set(np.random.default_rng(i), 300) for i in (1, 2))
    data = [files.npz(logits=rows.logits, labels=rows.labels) for rows in (one, other)]
    page = open_upload(("preds.npz", data[0]), ("preds.npz", data[1]), together="sets:preds.npz")
    check_page(page)
    choose(page, "data", "sample")
    choose(page, "data", "file")
    check_page(page)
    assert files_kept(page) == ["preds.npz", "preds (2).npz"]
    take_away(page, "preds (2).npz")
    check_page(page)
    assert files_kept(page) == ["preds.npz"]
    both = ks_crossed(one, TopR(1))
    assert tile(page, "KS error") == before_after(*both, one.n_samples)


def test_the_other_half_is_asked_for_and_can_come_after_a_look_at_a_sample() -> None:
    rows = made_set(np.random.default_rng(5), 400)
    halves = {"labels.npy": files.npy(rows.labels), "logits.npy": files.npy(rows.logits)}
    page = open_page(data="file")
    for name, data in halves.items():
        upload(page, (name, data))
        if name == "labels.npy":
            assert not page.error
            assert [note.value for note in page.info] == [LABELS_ALONE]
            assert not charts(page)
        choose(page, "data", "sample")
        choose(page, "data", "file")
    check_page(page)
    both = ks_crossed(rows, TopR(1))
    assert tile(page, "KS error") == before_after(*both, 400)
    take_away(page, "labels.npy")
    assert [note.value for note in page.info] == [imports.WITHOUT_LABELS]
    assert not page.error
    assert not charts(page)
    upload(page, ("labels.npy", halves["labels.npy"]))
    check_page(page)
    assert tile(page, "KS error") == before_after(*both, 400)


def top_1_csv(rng: np.random.Generator, n_samples: int) -> tuple[bytes, EventScores]:
    scores = rng.uniform(0.5, 1, n_samples).round(4)
    hits = (rng.random(n_samples) < scores - 0.1).astype(int)
    return top_1_file(scores, hits), EventScores(scores, hits)


def test_top_1_scores_alone_open_without_what_needs_all_classes(rng: np.random.Generator) -> None:
    data, rows = top_1_csv(rng, 600)
    page = open_upload(("top1.csv", data), event="within", method="temperature", measures="all")
    check_page(page)
    keys = {control.key for control in page.segmented_control}
    assert not keys & {"event", "rank", "within"}
    offered = [method.name for method in CATALOGUE if method.acts_on == "event"]
    assert page.selectbox(key="method_seen").options == [*offered, method_name(NO_METHOD)]
    assert tile(page, "KS error") == before_after(*ks_crossed(rows, TopR(1)), 600)
    table = measure_cells(page)
    for measure in METRICS:
        shown = table.loc[measure.name, ["Before", "After", "Change"]]
        undefined = [text == "\u2013" for text in shown]
        of_classes = isinstance(measure, ClassMeasure) and measure.key != "accuracy"
        assert undefined == [of_classes, of_classes, of_classes or measure.is_tested_only]


def test_few_rows_open_without_the_frequency_graphs_and_a_spline_is_refused_in_words(
    rng: np.random.Generator,
) -> None:
    data, _ = top_1_csv(rng, 5)
    page = open_upload(("few.csv", data), path="ks", method=NO_METHOD)
    assert not page.exception
    assert not page.error
    assert len(charts(page)) == 3
    assert sum("Too few rows for this graph." in text for text in bodies(page)) == 2
    choose(page, "method", "spline")
    check_refusal(page)
    assert "at least 6" in page.error[0].value


# Refusals -----------------------------------------------------------------------------------


def check_refusal(page: AppTest) -> None:
    assert not page.exception
    assert not charts(page)
    assert not page.metric
    (error,) = page.error
    assert error.proto.title in (REFUSED, NOT_FITTING)
    assert error.value.endswith((NEXT_STEP, imports.FIX_STEP))
    assert "Traceback" not in error.value
    assert 'File "' not in error.value


WHOLE = files.GOOD["good.npz"]
RUN_ME = b"cos\nsystem\n(S'touch %s'\ntR."
BROKEN: dict[str, bytes] = {
    "garbage.npz": b"PK\x03\x04 this is no archive",
    "cut.npz": WHOLE[: len(WHOLE) // 2],
    "empty.npz": b"",
    "empty.csv": b"",
    "label.npz": files.npz(logits=files.LOGITS, labels=files.LABELS + 100),
    "short.npz": files.npz(logits=files.LOGITS, labels=files.LABELS[:-1]),
}


def test_broken_files_are_refused_in_words_and_the_next_one_is_read() -> None:
    page = open_page(data="file")
    for name, data in BROKEN.items():
        upload(page, (name, data))
        check_refusal(page)
        with pytest.raises(FileError) as refused:
            read(name, data).split()
        sentence = escape_markdown(str(refused.value))
        assert page.error[0].value.partition("\n\n")[0] == sentence
        assert not any(MARKUP.search(text) for text in bodies(page))
    check_page(upload(page, ("good.npz", WHOLE)))
    check_refusal(upload(page, ("garbage.npz", BROKEN["garbage.npz"])))
    choose(page, "data", "sample")
    check_page(page)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("words.csv", b"to be,or not,label\nthat is,the question,0\n1,2,1\n"),
        ("hole.csv", b"a,b,label\n1.5,,0\n2.5,1,1\n"),
        ("nan.npz", files.npz(logits=np.full((20, 3), np.nan), labels=np.zeros(20, dtype=int))),
        ("markup.csv", b"a,b,label\n1.5,2,0\n2.5,**<b>1</b>** [x](https://a.example),1\n"),
    ],
)
def test_a_file_without_scores_asks_for_them(name: str, data: bytes) -> None:
    page = open_upload((name, data))
    assert not page.exception
    assert not page.error
    assert not charts(page)
    asked = [one for one in page.button if str(one.key).startswith("answer_")]
    assert page.info or asked
    assert not any(MARKUP.search(text) for text in bodies(page))


def test_no_file_runs_code(tmp_path: Path) -> None:
    trace = tmp_path / "ran"
    check_refusal(open_upload(("x.pkl", RUN_ME % os.fsencode(trace))))
    assert not trace.exists()


def test_what_needs_no_file_stays_in_the_address_while_one_is_refused() -> None:
    page = open_upload(("a.csv", files.GOOD["good.csv"]), set="calibration")
    upload(page, ("b.csv", b"a,b\n1,2\nx,y\n"))
    assert not charts(page)
    assert page.query_params["resamples"] in ("0", ["0"])
    assert page.query_params["set"] in ("calibration", ["calibration"])
