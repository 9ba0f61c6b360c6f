"""The comparison of calibrators on the page."""

import csv
import io
import re
from dataclasses import replace
from html import unescape
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from calibcore import EventScores, OneClass, Split, TopR, audit
from calibcore.calibrators import (
    CATALOGUE,
    HistogramBinning,
    IsotonicCalibration,
    PlattScaling,
    ScoreMap,
)
from calibcore.comparison import Contestant, Standing
from calibcore.metrics import Options, measure_by_key
from calibcore.splits import deal_folds
from dashboard.compute.cache import forget
from dashboard.compute.comparison import moves_mean
from dashboard.readers import read
from dashboard.settings import NO_METHOD, USUAL, method_by_key
from dashboard.tables import comparison_csv, comparison_table, harmless, measures_shown
from dashboard.texts import choosing
from dashboard.texts import comparison as words
from dashboard.texts.comparison import half_note
from dashboard.texts.measures import NO_RESAMPLES, spelled_out
from dashboard.texts.methods import method_name
from dashboard.views.calibrators.page import MEASURES
from tests.app.pages import (
    bodies,
    charts,
    check_charts,
    click,
    html_of,
    made_set,
    npz_of,
    open_page,
    open_upload,
    tile,
    top_1_file,
    turn_to,
)
from tests.marks import first_and_long

SAMPLE = "three_garments"
NOTHING = method_name(NO_METHOD)
COMPARED = [key for key in USUAL if not method_by_key(key).knows_groups]
"""Of a sample, whose rows have no further columns."""


def tables(page: AppTest, kind: str) -> list[str]:
    return html_of(page, f"measures {kind}'")


def method_rows(page: AppTest) -> dict[str, list[tuple[str, str]]]:
    """Read the table: for each calibrator, cross-validated and any test set, column by column.

    Without the last one, the fit time.
    """
    lines = [
        line
        for table in tables(page, "all-columns few")
        for line in re.findall(r"<tr><th scope='row'>(.*?)</th>(.*?)</tr>", table)
    ]
    return {
        unescape(name.partition("<small>")[0]): re.findall(
            "<td>(.*?)(?:<small>test (.*?)</small>)?</td>", cells
        )[:-1]
        for name, cells in lines
    }


def plain(cell: str) -> str:
    return re.sub("<.*?>", "", cell)


# The page -----------------------------------------------------------------------------------


def test_the_usual_methods_are_tried_at_once_and_agree_with_the_tiles() -> None:
    page = open_page("calibrators", sample=SAMPLE, by="ks_error")
    check_charts(page, ["Calibrators"])
    rows = method_rows(page)
    names = {method_name(key) for key in (NO_METHOD, *COMPARED)}
    assert set(rows) == names
    before, after = (plain(rows[name][0][1]) for name in (NOTHING, "Spline"))
    assert (
        tile(turn_to(page, "overview"), "KS error") == f"{before.removesuffix('%')} \u2192 {after}"
    )


def test_one_calibrator_twice_and_the_diagrams_of_all(rng: np.random.Generator) -> None:
    file = npz_of(made_set(rng, 150), made_set(rng, 100))
    asked = "histogram,histogram.n_bins=3,nonsense.n_bins=3"
    page = open_upload(
        ("a.npz", file), path="calibrators", methods=asked, calibrators_diagrams="true"
    )
    assert not page.exception
    own = "Histogram binning of the event (calibrator bins 3)"
    names = [NOTHING, "Histogram binning of the event", own]
    rows = method_rows(page)
    assert sorted(rows) == sorted(names)
    assert rows[own] != rows["Histogram binning of the event"]
    drawn = [chart.alt for chart in charts(page) if chart.alt.startswith("Diagram: ")]
    assert drawn[0].startswith(f"Diagram: {NOTHING}. ECE ")
    assert sorted(alt.removeprefix("Diagram: ").split(". ECE")[0] for alt in drawn) == sorted(names)
    # Its value is that of a map with three bins, fitted on the calibration set.
    split: Any = read("a.npz", file).split()
    result = audit(split, event=TopR(1), calibrator=HistogramBinning(n_bins=3)).test
    ece = result.compare("ece").after
    assert ece is not None
    (alt,) = [one for one in drawn if own in one]
    assert f"ECE {100 * ece:.1f}%" in alt
    page.selectbox(key="variant").set_value("histogram").run()
    page.number_input(key="variant_histogram_n_bins").set_value(7).run()
    click(page, "Add")
    assert "Histogram binning of the event (calibrator bins 7)" in method_rows(page)


@pytest.mark.long
def test_all_calibrators_are_chosen_by_one_click_and_the_usual_ones_by_another() -> None:
    page = open_page("calibrators", sample=SAMPLE)
    click(page, words.EVERY)
    every = {method.name for method in CATALOGUE if not method.knows_groups}
    assert set(method_rows(page)) == {NOTHING, *every}
    assert not page.exception
    click(page, words.USUAL)
    assert len(method_rows(page)) == 1 + len(COMPARED)
    page.multiselect(key="methods_seen").set_value([]).run()
    assert list(method_rows(page)) == [NOTHING]


def test_the_address_chooses_calibrators_measures_and_the_ranking() -> None:
    page = open_page("calibrators", sample=SAMPLE, by="kuiper")
    page.multiselect(key="methods_seen").set_value(["temperature", "one_vs_rest_isotonic"]).run()
    page.multiselect(key="calibrators_measures_seen").set_value(["ece"]).run()
    assert len(method_rows(page)) == 3
    (head,) = [
        re.findall("<th scope='col'>(.*?)</th>", one) for one in tables(page, "all-columns few")
    ]
    wanted = ["Calibrator", "Kuiper", "ECE, equal-width bins", "Accuracy", "Predictions changed"]
    assert head == [*wanted, "Fit time"]
    values = [float(plain(cells[0][0]).removesuffix("%")) for cells in method_rows(page).values()]
    assert values == sorted(values)


def test_the_conclusion_holds_what_the_table_shows() -> None:
    page = open_page("calibrators", sample=SAMPLE)
    rows, measure = method_rows(page), re.escape(spelled_out(measure_by_key("event_nll").name))
    (sentence,) = [str(one.value) for one in page.subheader if "cross-validation" in str(one.value)]
    result = re.fullmatch(
        rf"Use (.+): {measure} ([\d.]+) \(uncalibrated ([\d.]+), ([\d.]+)% less\) in"
        r" cross-validation\.",
        sentence,
    )
    assert result is not None, sentence
    used, value, before, less = result.groups()
    share = 100 * (1 - float(value) / float(before))
    assert float(less) == pytest.approx(share, abs=100 * 0.001 / float(before))
    assert value == plain(rows[used][0][0])
    assert before == plain(rows[NOTHING][0][0])
    second = " ".join(bodies(page))
    level = re.search(r"Not clearly different: (.+); the simplest of them is advised\.", second)
    assert level is not None
    others = re.split(", | and ", level[1])
    assert set(others) <= rows.keys() - {used, NOTHING}
    kept = [name for name in rows if plain(rows[name][-1][0]) == "0"]  # predicted classes
    lowest = min(kept, key=lambda name: float(plain(rows[name][0][0])))
    assert lowest in {used, *others}
    test, before = plain(rows[used][0][1]), plain(rows[NOTHING][0][1])
    assert f"Test set: {test} (uncalibrated {before})." in second
    tried = len(rows) - 1
    counts = [
        sum(
            float(plain(row[0][side])) < float(plain(rows[NOTHING][0][side]))
            for name, row in rows.items()
            if name != NOTHING
        )
        for side in (0, 1)
    ]
    text = f"{counts[0]} of {tried} in cross-validation, {counts[1]} on the test set."
    assert f"Better than uncalibrated, to the digits shown: {text}" in second
    by_ks = open_page("calibrators", sample=SAMPLE, by="ks_error")
    (sentence,) = [str(one.value) for one in by_ks.subheader if "cross-val" in str(one.value)]
    first, value = next((name, plain(row[0][0])) for name, row in method_rows(by_ks).items())
    assert sentence.startswith(
        f"Lowest KS error (largest cumulative gap) in cross-validation: {first}, {value} ("
    )
    assert words.NOT_TESTED in " ".join(bodies(by_ks))


def test_the_headline_is_no_other_than_its_table() -> None:
    # Of those that keep predicted classes temperature scaling is lowest, but not in the table.
    asked = "temperature,vector,one_vs_rest_histogram,one_vs_rest_isotonic"
    page = open_page("calibrators", sample=SAMPLE, by="ece", methods=asked)
    rows = {name: [plain(side) for side in row[0]] for name, row in method_rows(page).items()}
    name, number = "Temperature scaling", spelled_out(measure_by_key("ece").name)
    value, before = rows[name][0], rows[NOTHING][0]
    assert page.subheader[0].value == (
        f"Lowest {number} in cross-validation of those that keep predicted classes: {name},"
        f" {value} (uncalibrated {before})."
    )
    lower = [one for one, (crossed, _) in rows.items() if float(crossed[:-1]) < float(value[:-1])]
    text = " ".join(bodies(page))
    assert (
        f"{len(lower)} calibrators that change predicted classes are lower, first of them"
        f" {lower[0]}: {rows[lower[0]][0]}." in text
    )
    assert len(lower) > 1
    mine = float(rows.pop(name)[1][:-1])
    beaten = any(float(test[:-1]) <= mine for _, test in rows.values())
    assert ("No other that keeps predicted classes is clearly better there." in text) == beaten


def test_intervals_are_found_when_they_are_asked_for() -> None:
    page = open_page("calibrators", sample=SAMPLE, resamples="200", by="nll")
    page.multiselect(key="methods_seen").set_value(["temperature", "isotonic"]).run()
    assert not tables(page, "changes")
    page.toggle(key="calibrators_intervals").set_value(True).run()
    check_charts(page, ["Calibrators"])
    (table,) = tables(page, "changes")
    lines = dict(re.findall(r"<tr><th scope='row'>(.*?)</th>(.*?)</tr>", table))
    assert set(lines) == {"Temperature scaling", "Isotonic regression of the event"}
    assert len(re.findall("better", lines["Temperature scaling"])) == 4  # class and word, twice
    assert "not comparable" in lines["Isotonic regression of the event"]


def test_intervals_without_resamples_say_so() -> None:
    page = open_page("calibrators", sample=SAMPLE, calibrators_intervals="true")
    assert NO_RESAMPLES in " ".join(bodies(page))
    assert not tables(page, "changes")


def test_a_part_of_the_rows_is_evaluated_alone_and_fitted_with_all() -> None:
    page = open_page("calibrators", sample=SAMPLE, only="Predicted class", by="ks_error")
    assert not page.exception
    assert len(method_rows(page)) == 1 + len(COMPARED)
    after = plain(method_rows(page)["Spline"][0][1])
    (note,) = [body for body in bodies(page) if "Upper figure" in body]
    whole = open_page("calibrators", sample=SAMPLE, by="ks_error")
    (all_rows,) = [body for body in bodies(whole) if "Upper figure" in body]
    n_part, n_whole = (
        [int(result.replace(",", "")) for result in re.findall(r"([\d,]+) rows", text)]
        for text in (note, all_rows)
    )
    assert all(few < many for few, many in zip(n_part, n_whole, strict=True))
    assert tile(turn_to(page, "overview"), "KS error").endswith(after)


# Expensive comparisons ----------------------------------------------------------------------


def test_an_expensive_comparison_waits_for_a_click_and_can_be_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forget()
    monkeypatch.setattr("dashboard.views.calibrators.page.ASK_FROM", 0.0)
    page = open_page("calibrators", sample=SAMPLE, bins="17")
    assert not method_rows(page)
    (text,) = [str(info.value) for info in page.info]
    assert text.startswith("9 calibrators to fit (6 fits each), about ")
    click(page, "Start")
    assert len(method_rows(page)) == 10
    assert not page.info
    # One more calibrator: only that one is to be fitted.
    more = [*page.multiselect(key="methods_seen").value, "per_rank"]
    page.multiselect(key="methods_seen").set_value(more).run()
    assert len(method_rows(page)) == 10
    (text,) = [str(info.value) for info in page.info]
    assert text.startswith("1 calibrator to fit (6 fits), about ")
    click(page, "Start")
    assert len(method_rows(page)) == 11
    forget()


# Other data ---------------------------------------------------------------------------------


def test_a_file_of_scores_alone_offers_maps_of_scores() -> None:
    rng = np.random.default_rng(1)
    scores = rng.uniform(0.4, 1, 600)
    data = top_1_file(scores, rng.random(600) < scores - 0.1)
    page = open_upload(("scores.csv", data), path="calibrators")
    assert not page.exception
    offered = {m.key for m in CATALOGUE if m.acts_on == "event"}  # by predicted class too
    assert set(page.multiselect(key="methods_seen").options) == {method_name(k) for k in offered}
    assert any(words.ONLY_EVENT in body for body in bodies(page))
    assert choosing.ONE_SCORE in bodies(page)
    assert choosing.ADD not in [one.label for one in page.button]
    click(page, words.EVERY)
    rows = method_rows(page)
    assert len(rows) == 1 + len(offered)
    assert all(plain(cells[-2][0]).endswith("%") for cells in rows.values())  # accuracy
    # One set is cross-validated, and has no test set beside it; the tiles show the same.
    assert not any(there for cells in rows.values() for _, there in cells)
    assert not any("test set" in body for body in bodies(page))
    value = plain(rows[method_name("spline")][1][0])
    turn_to(page, "overview")
    assert tile(page, "KS error").endswith(f" {value}")


@pytest.mark.parametrize("n_rows", first_and_long([2, 1, 4, 8]))
def test_a_few_rows_open_with_a_sentence(n_rows: int) -> None:
    rng = np.random.default_rng(n_rows)
    data = npz_of(made_set(rng, n_rows), made_set(rng, 8))
    page = open_upload(("few.npz", data), path="calibrators", method=NO_METHOD)
    assert not page.exception
    assert not page.error
    text = " ".join(str(info.value) for info in page.info)
    if n_rows == 1:
        assert "at least 2" in text
        assert not charts(page)
    else:
        assert NOTHING in method_rows(page)
        assert ("Spline cannot be fitted here" in text) == (n_rows < 8)


def test_one_that_moves_the_mean_away_is_named_and_not_advised() -> None:
    fit, there = (
        EventScores(
            [0.2] * 1000 + [0.8] * 1000, np.tile(np.arange(1000), 2) < np.repeat(hits, 1000)
        )
        for hits in ([400, 900], [200, 800])
    )
    result = audit(Split(fit, there), event=OneClass(1), calibrator=PlattScaling())
    standing = Standing.of(result.test, there, OneClass(1), result.of_test, Options())
    one = Contestant("platt", standing, standing)
    assert moves_mean(one, measure_by_key("event_nll"))
    assert not moves_mean(one, measure_by_key("nll"))
    uncalibrated = audit(Split(there, there), event=OneClass(1)).test
    same = Standing.of(uncalibrated, there, OneClass(1), None, Options())
    assert not moves_mean(Contestant("platt", same, same), measure_by_key("event_nll"))
    # Of two scores Platt scaling keeps each one's frequency: 40% and 90%, 65% on average.
    assert words.moves_mean(one) == (
        "Not advised: Platt scaling moves the mean score away from the observed frequency (50.0%"
        " \u2192 65.0%, observed 50.0%)."
    )


# The table ----------------------------------------------------------------------------------


def comparison_of(calibrators: dict[str, ScoreMap | None]) -> list[Contestant]:
    rng = np.random.default_rng(5)
    scores = rng.random(4_000)
    rows = EventScores(scores, rng.random(4_000) < scores**2)
    fold = deal_folds(rows)
    results = []
    for key, made in calibrators.items():
        crossed = audit(Split(rows, rows, fold=fold), event=TopR(1), calibrator=made)
        test = audit(Split(rows, rows), event=TopR(1), calibrator=made).test
        both = (crossed.test, crossed.by_fold), (test, None)
        results.append(
            Contestant(key, *(Standing.of(of, rows, TopR(1), by, Options()) for of, by in both))
        )
    return results


CALIBRATORS: dict[str, ScoreMap | None] = {
    NO_METHOD: None,
    "isotonic": IsotonicCalibration(),
    "histogram": HistogramBinning(),
    "bbq": HistogramBinning(),
}


def test_best_and_second_best_are_marked_and_equals_alike() -> None:
    measures = measures_shown(MEASURES, measure_by_key("event_brier"))
    table = comparison_table(comparison_of(CALIBRATORS), measures)
    assert table.columns[1] == measure_by_key("event_brier").name
    assert table.columns[-2:] == ("Accuracy", "Predictions changed")
    places = [[row.cells[0].place, row.cells[0].below[-1].place] for row in table.rows]
    assert places[1][1] == "best"
    assert places[2] == places[3]
    assert [row[1] for row in places] == ["", "best", "second", "second"]
    column = table.columns.index(measure_by_key("nll").name) - 1
    assert {row.cells[column].shown for row in table.rows} == {"\u2013"}
    assert {row.cells[-1].shown for row in table.rows} == {"0"}
    # Accuracy is the same everywhere, so nobody is best.
    accuracies = [row.cells[-2] for row in table.rows]
    assert {cell.place for one in accuracies for cell in (one, *one.below)} == {""}


def test_scores_across_one_half_have_a_column_of_their_own() -> None:
    decided, *others = comparison_of(CALIBRATORS)
    assert comparison_table([decided], []).columns == ("Calibrator", "Predictions changed")
    crossed = [replace(one, test=replace(one.test, past_half=12)) for one in others]
    table = comparison_table([decided, *crossed], [])
    assert table.columns[1:] == ("Predictions changed", "Scores across 50%")
    assert [row.cells[1].below[-1].shown for row in table.rows] == ["\u2013", "12", "12", "12"]
    head, *rows = csv.reader(io.StringIO(comparison_csv([decided, *crossed], []), newline=""))
    assert head[-1] == "Scores across 50%, test set"
    assert [row[-1] for row in rows] == ["", "12", "12", "12"]
    assert "predicted classes are not updated" in half_note(crossed)
    assert half_note([decided]) == ""


def test_fit_times_are_the_last_column_where_they_are_known() -> None:
    compared = comparison_of(CALIBRATORS)
    seconds = {compared[-1].key: 0.0123}
    table = comparison_table(compared, [], seconds)
    assert table.columns[-1] == "Fit time"
    texts = ["\u2013"] * (len(compared) - 1) + ["12 ms"]
    assert [row.cells[-1].shown for row in table.rows] == texts
    head, *rows = csv.reader(io.StringIO(comparison_csv(compared, [], seconds), newline=""))
    assert head[-1] == "Fit time (s)"
    assert [row[-1] for row in rows] == [""] * (len(compared) - 1) + ["0.0123"]


def test_measures_without_a_direction_mark_nobody() -> None:
    table = comparison_table(comparison_of(CALIBRATORS), [measure_by_key("mean_score")])
    means = [row.cells[0] for row in table.rows]
    assert {cell.place for one in means for cell in (one, *one.below)} == {""}


def test_the_file_holds_every_digit_and_no_formula() -> None:
    compared = comparison_of(CALIBRATORS)
    measures = [
        measure_by_key("event_nll"),
        measure_by_key("calibration_intercept"),
        measure_by_key("nll"),
    ]
    head, *rows = csv.reader(io.StringIO(comparison_csv(compared, measures), newline=""))
    assert head[:3] == [
        "Calibrator",
        "NLL of the event, cross-validated on the calibration set",
        "NLL of the event, test set",
    ]
    assert len(head) == 1 + 2 * 4
    for one, row in zip(compared, rows, strict=True):
        assert row[0] == method_name(one.key)
        assert float(row[1]) == one.crossed.compare(measures[0].key).after
        assert float(row[4]) == one.test.compare(measures[1].key).after
        assert row[5:] == ["", "", "0", "0"]
    # A number below 0 stays a number.
    assert any(row[3].startswith("-") for row in rows)


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r", "\n", "\0"])
def test_text_that_a_spreadsheet_would_run_is_held_back(sign: str) -> None:
    assert harmless(f"{sign}a") == f"'{sign}a"
    assert harmless(f"{sign}1") == (f"{sign}1" if sign in "+-" else f"'{sign}1")
    assert harmless(f"1{sign}") == f"1{sign}"


def test_one_recommendation_on_all_pages_is_one_click_away(rng: np.random.Generator) -> None:
    odds = rng.normal(size=1200)
    hits = rng.random(1200) < 1 / (1 + np.exp(-odds))
    scores = 1 / (1 + np.exp(-2 * odds - 1))
    lines = [f"{score:.5f},{hit:d}" for score, hit in zip(scores, hits, strict=True)]
    file = "\n".join(["risk,died", *lines]).encode()
    page = open_upload(("risk.csv", file), resamples="200", score_learners="beta")
    (sentence,) = [text for text in bodies(page) if re.match(r"\*\*Use (?!the)", text)]
    named = re.match(
        r"\*\*Use (.*?)\.\*\* (NLL \(log loss\) of the event [\d.]+ \(uncalibrated [^)]+\))",
        sentence,
    )
    assert named is not None, sentence
    name, figures = named.groups()
    assert name != "Spline"  # which the pages open with
    turn_to(page, "data-needed")
    assert sentence in bodies(page)
    turn_to(page, "calibrators")
    (head, *_) = [one.value for one in page.subheader]
    assert name in head
    assert figures in head
    click(page, f"Use {name}")
    assert f" \u00b7 {name} \u00b7 " in " ".join(bodies(turn_to(page, "overview")))
    assert any(text.startswith("**Use the calibrated scores.") for text in bodies(page))
