"""The first page: tiles and table say the same, and recommendations lead to other pages."""

import codecs
import csv
import io
import json
import re
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from calibcore import TopR, audit
from calibcore.calibrators import SplineCalibration
from calibcore.evaluation import sides_of
from calibcore.inference import Plan, infer
from calibcore.metrics import METRICS
from calibcore.splits import Split
from dashboard.app import PAGES
from dashboard.texts.advice import HEADING
from dashboard.texts.measures import MARKS
from dashboard.texts.numbers import NO_BREAK
from dashboard.texts.opening import FIRST_ROWS
from dashboard.views.overview.document import measures_csv, measures_table
from dashboard.widgets.downloads import offer_table
from tests.app.pages import (
    bodies,
    charts,
    check_page,
    choose,
    made_set,
    measure_cells,
    npz_of,
    open_page,
    open_upload,
    top_1_file,
    upload,
)
from tests.readers import files

OPENINGS = "Turn on|Use|Calibrate|Try|Collect|Check|Evaluate|Upload|Fit"
GARMENTS = "three_garments"


def steps(page: AppTest) -> list[str]:
    texts = bodies(page)
    assert HEADING in texts
    advice = [text for text in texts if re.match(rf"\*\*({OPENINGS}) [^*]*\*\*", text)]
    return [text for text in advice if text != f"**{FIRST_ROWS}**"]


def links(page: AppTest) -> list[str]:
    results: Any = page.get("page_link")
    return [link.proto.page for link in results]


@pytest.mark.parametrize(
    ("method", "measures"), [("spline", "All"), ("temperature", "Short list"), ("none", "All")]
)
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
            assert shown.delta == "predictions unchanged"
        else:
            assert shown.delta == mark
        texts = [text.replace(NO_BREAK, " ") for text in bodies(page)]
        assert any(f":small[95% CI {before}" in text for text in texts), shown.label


def test_without_resamples_tiles_show_the_change_alone() -> None:
    page = open_page(sample=GARMENTS)
    check_page(page)
    change = measure_cells(page)["Change"].astype(str)
    for shown in page.metric:
        if shown.label != "Accuracy":
            assert shown.delta == change[shown.label]
    assert list(measure_cells(page).columns) == ["Before", "After", "Change"]
    text = " ".join(f"{shown.delta}" for shown in page.metric)
    assert not re.search("better|worse|clear", text)


@pytest.mark.parametrize(
    ("query", "opening", "address"),
    [
        ({"sample": GARMENTS, "method": "temperature"}, "**Check subgroups first", "subgroups"),
        ({"sample": GARMENTS, "method": "none"}, "**Calibrate the", "calibrators"),
        ({"sample": "perfect_synthetic", "method": "none"}, "**Use the uncalibrated", "subgroups"),
    ],
    ids=str,
)
def test_recommendations_lead_to_a_page(query: dict[str, str], opening: str, address: str) -> None:
    page = open_page(**query)
    assert steps(page)[0].startswith(opening)
    assert set(links(page)) <= {path for _, path, _ in PAGES}
    assert links(page)[0] == address


def test_the_spline_that_overshoots_is_told_of_its_switch() -> None:
    page = open_page(spline_constrained="false")
    nll = next(shown.value for shown in page.metric if "NLL" in shown.label)
    was, now = nll.split(" \u2192 ")
    (first, *_) = steps(page)
    assert first.startswith('**Turn on "Keep inside 0\u2013100%" first.')
    told = "3 wrong predictions have a score of exactly 0% or 100%"
    assert f"{told} (NLL of the event {was} \u2192 {now})." in first
    constrained = open_page()
    assert steps(constrained)[0].startswith("**Try another calibrator.")
    assert not any("exactly" in text for text in steps(constrained))
    for one in (page, constrained):
        assert links(one)[0] == "calibrators"


def test_rows_that_were_fitted_on_give_no_advice() -> None:
    (step,) = steps(open_page(set="calibration"))
    assert step.startswith("**Evaluate on the test set")


def test_experts_read_statistics_and_others_do_not() -> None:
    plain, expert = (" ".join(bodies(open_page(wording=w))) for w in ("plain", "expert"))
    for term in ("Brownian", "p < 0.001", "\u221aN", "Kuiper/"):
        assert term in expert
        assert term not in plain


def risks(n_rows: int = 4000) -> bytes:
    """Risks that are too high, of which the larger of each and its rest is right on average."""
    rng = np.random.default_rng(8)
    odds = 1.4 * rng.normal(size=n_rows) - 0.4
    died = (rng.random(n_rows) < 1 / (1 + np.exp(-odds))).astype(int)
    scores = 1 / (1 + np.exp(-(odds + 0.5)))
    return files.csv_of(scores[:, np.newaxis].round(4), died, header="risk,died")


def test_a_file_of_one_score_opens_on_its_class() -> None:
    page = open_page(sample=GARMENTS, resamples="200")
    assert page.segmented_control(key="event_seen").value == "top"
    choose(page, "data", "file")
    upload(page, ("risks.csv", risks()))
    check_page(page)
    assert page.segmented_control(key="event_seen").value == "class"
    assert page.selectbox(key="class").value == "1"
    verdict, *_ = [h.value for h in page.subheader if r"died \= 1, mean score" in h.value]
    assert "Before: scores too high] by " in verdict
    # Whoever evaluates the top prediction is told of the class and led back to it.
    choose(page, "event", "top")
    assert any("Before: miscalibrated in subgroups, not det" in h.value for h in page.subheader)
    (first, *_) = steps(page)
    assert first.startswith("**Check died \\= 1.**")
    page.button(key="open_next_again").click().run()
    assert page.segmented_control(key="event_seen").value == "class"
    choose(page, "data", "sample")
    assert page.segmented_control(key="event_seen").value == "top"


@pytest.mark.long
def test_what_is_looked_at_stays_where_it_was_chosen() -> None:
    page = open_page(sample=GARMENTS, event="class")
    choose(page, "data", "file")
    upload(page, ("risks.csv", risks()))
    choose(page, "data", "sample")
    assert page.segmented_control(key="event_seen").value == "class"
    second_upload = open_upload(("risks.csv", risks()), event="top")
    assert second_upload.segmented_control(key="event_seen").value == "top"
    crash = open_page(sample="crash_survival")
    assert crash.segmented_control(key="event_seen").value == "class"
    assert crash.selectbox(key="class").value == "died"
    assert crash.metric[3].label == "AUROC of the score"
    assert not [text for text in bodies(crash) if text.startswith(":small[Always the commonest")]
    assert choose(crash, "event", "top").metric[3].label == "Accuracy"


def test_the_accuracy_of_top_1_scores_has_the_interval_of_their_frequency() -> None:
    rng = np.random.default_rng(3)
    rows = rng.beta(8, 2, 400)
    table = top_1_file(rows.round(4), rng.random(400) < rows)
    page = open_upload(("top.csv", table), resamples="200")
    notes = measure_cells(page, notes=True).astype(str)
    for side in ("Before", "After"):
        own, alike = (str(notes.loc[name, side]) for name in ("Accuracy", "Observed frequency"))
        assert own == alike
        assert "\u2013" in own
    assert not [text for text in bodies(page) if text == ":small[95% CI \u2026]"]
    assert not [text for text in steps(page) if "temperature scaling" in text]


def test_pictures_and_tables_are_named_after_what_they_hold(rng: np.random.Generator) -> None:
    sets = made_set(rng, 200), made_set(rng, 300)
    page = open_upload(("my run.v2.npz", npz_of(*sets)))
    names = [json.loads(chart.config)["toImageButtonOptions"]["filename"] for chart in charts(page)]
    stem = "fractile_my_run_v2_overview_test_set"
    for name, side in zip(names, ("before", "after"), strict=True):
        about = r"_top_prediction_300_\d{4}_\d\d_\d\d_fractile_\d+_\d+_\d+"
        assert re.fullmatch(f"{stem}_{side}_reliability{about}", name.lower())
    choose(page, "set", "calibration")
    (chart, _) = charts(page)
    assert "_calibration_set_" in chart.config


def test_the_measures_are_taken_home_with_every_digit(rng: np.random.Generator) -> None:
    calibration, test = made_set(rng, 200), made_set(rng, 300)
    result = audit(Split(calibration, test), event=TopR(1), calibrator=SplineCalibration())
    answer = result.test
    measures = tuple(one for one in METRICS if one.key in ("ks_error", "classwise_ece"))
    row = answer.compare("ks_error")
    head, line, classes = csv.reader(
        io.StringIO(measures_csv(measures_table(answer, None, measures)))
    )
    assert head[:4] == ["Measure", "Before", "Before, from", "Before, to"]
    cells = dict(zip(head, line, strict=True))
    assert [float(cells[name]) for name in ("Before", "After", "Change")] == [
        row.before, row.after, row.change,
    ]  # fmt: skip
    assert classes[4:] == [""] * 7  # a map of scores leaves no classes
    known = infer(*sides_of(test, answer, result.fitted), Plan(measures, n_resamples=50))
    _, line, _ = csv.reader(io.StringIO(measures_csv(measures_table(answer, known, measures))))
    cells = dict(zip(head, line, strict=True))
    before, change = known.find("ks_error").before, known.find("ks_error").change
    assert before is not None
    assert change is not None
    assert float(cells["Before, from"]) == before.interval.low
    assert float(cells["Change, to"]) == change.high
    assert cells["In words"] == "better"


def test_a_table_s_file_says_that_it_is_unicode(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []
    monkeypatch.setattr("streamlit.download_button", lambda _, data, **kw: sent.extend((data, kw)))
    offer_table(lambda: "\u2717 no", name="rows")
    assert sent[0]().startswith(codecs.BOM_UTF8)
    assert sent[0]().decode("utf-8-sig") == "\u2717 no"
    assert sent[1]["file_name"] == "rows.csv"
