"""Rows with weights, or that belong together, on the pages."""

import re
from hashlib import sha256

import numpy as np
import pytest
from scipy.stats import norm
from streamlit.testing.v1 import AppTest

from calibcore import audit
from calibcore.calibrators import PlattScaling
from calibcore.calibrators.score_maps.offset import FittedOffset
from calibcore.data import EventScores
from calibcore.events import OneClass
from calibcore.prevalence import estimated_prevalence, prevalence_interval, restated
from calibcore.splits import Split
from dashboard.app import PAGES
from dashboard.compute.files import SourceFile, read_files
from dashboard.headless import scene_of
from dashboard.readers import ReadingOptions, read
from dashboard.readers.records import ColumnRole
from dashboard.texts.design import NO_CLASSES, prior_line, shift_assumed
from dashboard.texts.numbers import percent
from dashboard.texts.reliability import belt_caption
from dashboard.views.decisions.results import usual_cutoff
from dashboard.views.ks_graphs.drawing import spline_fit
from dashboard.views.maps.results import curve_of
from dashboard.views.models.results import read_beside
from tests.app.pages import open_upload

RNG = np.random.default_rng(1)
PATIENTS, VISITS = 60, 10
N = PATIENTS * VISITS
WHOSE = np.repeat(np.arange(PATIENTS) + 1000, VISITS)
RISK = RNG.beta(2, 2, N).round(4)
_LATENT = np.sqrt(0.7) * np.repeat(RNG.normal(size=PATIENTS), VISITS) + np.sqrt(0.3) * RNG.normal(
    size=N
)
DIED = (norm.cdf(_LATENT) < RISK).astype(int)
WEIGHT = (RNG.gamma(2, 1, N) + 0.1).round(3)
BOTH = "weight:sample_weight~cluster:patient_id"
WEIGHED: tuple[tuple[str, ColumnRole], ...] = (
    ("sample_weight", "weight"), ("patient_id", "left out"),
)  # fmt: skip


def visits(**more: object) -> tuple[str, bytes]:
    columns = {"risk": RISK, "died": DIED, "sample_weight": WEIGHT, "patient_id": WHOSE,
               "ward": np.arange(N) % 3, **more}  # fmt: skip
    rows = zip(*(np.asarray(values).tolist() for values in columns.values()), strict=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
    return "visits.csv", "\n".join(lines).encode()


def texts(page: AppTest) -> str:
    return " ".join(one.value for kind in (page.markdown, page.subheader) for one in kind)


def test_both_roles_are_proposed_and_one_click_takes_them() -> None:
    page = open_upload(visits())
    asked = [one.value for one in page.markdown if "?** " in one.value]
    assert [one.partition("?")[0] for one in asked] == [
        '**What does "sample\\_weight" say of each row',
        '**Do rows of the same "patient\\_id" belong together',
    ]
    page.button(key="answer_proposed00").click().run()
    page.button(key="answer_proposed00").click().run()
    assert "answer_proposed00" not in {one.key for one in page.button}
    known = audit(RISK, DIED, sample_weight=WEIGHT, clusters=WHOSE)
    text = texts(page)
    error = known.test.compare("ks_error").before
    assert error is not None
    assert f"KS error {percent(error, N)}" in text
    assert f"that of {known.n_effective:,.0f} rows drawn one by one" in text
    assert '60 "patient\\_id" belong together' in text


@pytest.mark.parametrize("path", [path for _, path, _ in PAGES])
def test_pages_count_the_weights_and_the_patients(path: str) -> None:
    page = open_upload(visits(), path=path, roles=BOTH, method="platt")
    assert not page.exception
    assert not page.error
    assert not [one.value for one in page.warning if "independent" in one.value]
    assert not re.search(r"\d\.\d{7}", texts(page))  # sums of weights are written as rows are


def test_numbers_of_rows_are_rows_on_every_page() -> None:
    counts = np.arange(N) % 4
    page = open_upload(visits(n=counts), path="decisions", roles="count:n~id:patient_id")
    assert f"of {counts.sum():,} rows" in texts(page)


def test_calibrators_that_cannot_weigh_are_not_offered() -> None:
    page = open_upload(visits(), roles=BOTH)
    offered = {one for box in page.selectbox if box.key == "method_seen" for one in box.options}
    assert "Platt scaling" in offered
    assert "Venn-Abers" not in offered


def test_scores_that_are_meant_for_the_stated_share_already_are_said_to_be() -> None:
    shown = np.append(np.flatnonzero(DIED), np.flatnonzero(DIED == 0)[::10])
    scores, hits = RISK[shown], DIED[shown]  # of the population, tried on enriched rows
    share = float(DIED.mean())
    _, shift = restated(Split(*2 * (EventScores(scores, hits),)), OneClass(1), share)
    for offset, against in ((0.0, True), (-shift.offset, False)):
        moved = FittedOffset(offset).predict(scores)
        split, own = restated(Split(*2 * (EventScores(moved, hits),)), OneClass(1), share)
        assert ("already" in prior_line(split.test, own)) == against


def test_a_filter_that_leaves_one_patient_says_why_nothing_is_tested() -> None:
    rooms = np.where(np.arange(N) < VISITS, "single", "ward")
    page = open_upload(visits(room=rooms), roles=BOTH, only="room", only_which="single")
    assert not page.exception
    assert "rows of one cluster do not show how clusters differ" in page.error[0].value


def test_another_model_is_moved_by_the_same_share() -> None:
    sources = [source("a.csv", visits(extra=WEIGHT)[1]), source("b.csv", visits(risk=RISK**2)[1])]
    options = ReadingOptions(roles=(("extra", "left out"),), prevalence=0.1)
    first = read_files(sources[:1], options)
    assert read_beside(first, sources[1]).options.prevalence == 0.1  # has no column "extra"


def source(name: str, data: bytes) -> SourceFile:
    return SourceFile(name, sha256(data).hexdigest(), lambda: data, own=True)


def test_what_is_counted_on_the_way_is_weighted_too() -> None:
    """The cut-off to start from, and the curves that are fitted beside the chosen calibrator."""
    weights = np.where(DIED == 1, 3.0, 1.0)
    upload = read("visits.csv", visits(sample_weight=weights)[1], roles=WEIGHED)
    scene = scene_of(upload, event=OneClass(1), method="spline", progress=lambda _: None)
    share = float(np.average(DIED, weights=weights))
    assert usual_cutoff(scene.evaluated.before.event) == round(100 * share)
    shown = curve_of(scene, "platt")
    fitted = PlattScaling().fit(RISK, DIED, sample_weight=weights)
    assert shown is not None
    np.testing.assert_allclose(shown.calibrated, fitted.predict(shown.score), atol=1e-9)
    totals = spline_fit(scene)
    assert totals is not None
    gap = float(np.average(DIED - RISK, weights=weights))
    assert totals.total[-1] == pytest.approx(gap, abs=1e-12)


def test_classes_of_weighted_rows_are_said_not_to_be_compared() -> None:
    probabilities = RNG.dirichlet(np.ones(4), N).round(6)
    rows = np.column_stack([probabilities, RNG.integers(0, 4, N), WEIGHT])
    head = "p_a,p_b,p_c,p_d,label,sample_weight"
    content = "\n".join([head, *(",".join(map(str, [*row[:4], int(row[4]), row[5]]))
                                 for row in rows.tolist())])  # fmt: skip
    page = open_upload(
        ("four.csv", content.encode()), path="reliability", roles="weight:sample_weight"
    )
    assert not page.exception
    assert NO_CLASSES in texts(page)


@pytest.mark.parametrize("diagram", ["isotonic", "smoothed", "belt"])
def test_curves_of_clusters_and_weights_are_drawn(diagram: str) -> None:
    page = open_upload(visits(), path="reliability", roles=BOTH, reliability=diagram)
    assert not page.exception
    assert not page.error
    known = audit(RISK, DIED, sample_weight=WEIGHT, clusters=WHOSE).test.before
    if diagram == "belt":
        assert belt_caption(known) in texts(page)
    if diagram == "isotonic":
        assert f"for {percent(known.corp_outside, N)} of rows" in texts(page)


def test_a_share_is_estimated_from_new_rows_and_taken_over() -> None:
    rng = np.random.default_rng(6)

    def table(hits: np.ndarray) -> tuple[np.ndarray, bytes]:
        risk = (1 / (1 + np.exp(-2 * rng.normal(np.where(hits, 1.0, -1.0))))).round(6)
        return risk, b"\n".join([b"risk", *(str(one).encode() for one in risk.tolist())])

    ill = rng.random(1_000) < 0.5
    risk, _ = table(ill)
    rows = [f"{a},{b:d}" for a, b in zip(risk.tolist(), ill.tolist(), strict=True)]
    later, new = table(rng.random(2_000) < 0.08)
    page = open_upload(("cases.csv", "\n".join(["risk,ill", *rows]).encode()), method="none")
    assert page.number_input(key="prevalence").value is None
    page.file_uploader(key="new_rows").set_value(("clinic.csv", new, "text/csv")).run()
    assert not page.error, page.error[0].value
    moved, among = PlattScaling().fit(risk, ill).predict(later), float(ill.mean())
    share, ends = estimated_prevalence(moved, among), prevalence_interval(moved, among)
    text = texts(page)
    assert f"a share of {percent(share, 2_000)} of 2,000 rows without outcomes" in text
    assert f"95% CI {100 * ends.low:.1f}\u2013{100 * ends.high:.1f}%" in text
    assert shift_assumed("Platt scaling") in text
    page.button(key="take_share").click().run()
    assert page.number_input(key="prevalence").value == pytest.approx(100 * share, rel=1e-3)
    assert f"have a share of {100 * share:.4g}% where scores are used" in texts(page).replace(
        "\\", ""
    )
    again = page.file_uploader(key="new_rows").set_value(
        ("old.csv", b"risk,ill\n.2,0\n.7,1", "text/csv")
    )
    again.run()
    assert "rows without" in page.error[0].value
