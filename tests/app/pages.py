"""The page as the tests drive it, and calibcore's numbers to compare with."""

import base64
import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from calibcore.calibrators import SplineCalibration, TemperatureScaling
from calibcore.cumulative import ks_error
from calibcore.data import EventScores, LogitSet, Rows
from calibcore.events import OneClass, TopR, WithinTopR
from calibcore.metrics import METRICS, Measure, RowMeasure
from calibcore.splits import deal_folds
from dashboard.settings import NO_METHOD
from dashboard.texts.numbers import escape_markdown, percent
from dashboard.widgets.long_work import RUN
from tests.readers import files

APP = Path(__file__).parents[2] / "dashboard" / "app.py"
METHODS = ("spline", "temperature", NO_METHOD)
Event = TopR | WithinTopR | OneClass


def open_page(path: str = "overview", **query: str | list[str]) -> AppTest:
    """Open a page, without intervals unless they are asked for."""
    page = AppTest.from_file(str(APP), default_timeout=60)
    page._page_hash = calc_hash(path)  # noqa: SLF001 - `switch_page` knows pages in files only
    page.query_params.update({"resamples": "0"} | query)
    return page.run()


def open_upload(*uploaded: tuple[str, bytes], path: str = "overview", **query: str) -> AppTest:
    page = open_page(path, data="file", **query)
    return upload(page, *uploaded)


def upload(page: AppTest, *uploaded: tuple[str, bytes]) -> AppTest:
    parts = [(name, data, "application/octet-stream") for name, data in uploaded]
    page.file_uploader(key="upload_0").set_value(parts).run()
    return page


def choose(page: AppTest, key: str, value: object) -> AppTest:
    """Choose a value, by its word in the address."""
    in_segments = key.removesuffix("_seen") in {
        "data", "evaluation", "event", "rank", "within", "set", "values", "wording",
    }  # fmt: skip
    if key in {"rank", "within"} and key in {one.key for one in page.number_input}:
        return page.number_input(key=key).set_value(value).run()  # type: ignore[arg-type]
    kinds = (page.selectbox, page.segmented_control)
    if f"{key}_seen" in {one.key for kind in kinds for one in kind}:
        key = f"{key}_seen"
    if in_segments:
        return page.segmented_control(key=key).set_value(value).run()
    return page.selectbox(key=key).set_value(value).run()


def click(page: AppTest, label: str) -> AppTest:
    """Click on the one button with a label, its signs of Markdown escaped or not."""
    labels = {label, escape_markdown(label)}
    (button,) = [one for one in page.button if one.label in labels]
    return button.click().run()


def charts(page: AppTest) -> list[Any]:
    results: Any = page.get("plotly_chart")
    return [chart.proto for chart in results]


def text_of(page: AppTest) -> str:
    return "\n".join(bodies(page))


def numbers(sent: Any) -> np.ndarray:
    """Read numbers that a picture sends: bytes, or a list."""
    if isinstance(sent, dict):
        return np.frombuffer(base64.b64decode(sent["bdata"]), dtype=sent["dtype"])
    return np.asarray(sent, dtype=np.float64)


def html_of(page: AppTest, mark: str = "") -> list[str]:
    """Give what is sent as HTML and holds a mark."""
    results: Any = page.get("html")
    return [part.proto.body for part in results if mark in part.proto.body]


_ROW = re.compile(r"<tr><th scope='row'><details><summary>(.*?)</summary>.*?</th>(.*?)</tr>")
_CELL = re.compile(r"<td[^>]*>(?:<span[^>]*>)?([^<]*)(?:</span>)?(?:<small>(.*?)</small>)?</td>")


def measure_cells(page: AppTest, *, notes: bool = False) -> pd.DataFrame:
    """Read the table of measures: values, or the small notes below them."""
    (table,) = html_of(page, "class='measures'")
    rows = {
        unescape(name): [unescape(cell[notes]) for cell in _CELL.findall(cells)]
        for name, cells in _ROW.findall(table)
    }
    columns = ["Before", "After", "Change", "Mark", "Perfect"]
    n_columns = max(map(len, rows.values()))  # without resamples, the last two are not there
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns[:n_columns])


def tile(page: AppTest, name: str) -> str:
    (result,) = [metric.value for metric in page.metric if metric.label == name]
    return str(result)


MARKUP = re.compile(r"(?<!\\)<(?=img|b\b)|(?<!\\)\]\(|https?://|(?<!\\)\$|(?<!\\):red\[")
"""Markup of the hostile names below, where it would take effect."""


def bodies(page: AppTest) -> list[str]:
    """Every text that is rendered as Markdown."""
    kinds = (page.markdown, page.title, page.header, page.subheader, page.caption)
    alerts = (page.error, page.warning, page.info, page.success)
    shown = [str(element.value) for kind in (*kinds, *alerts) for element in kind]
    return [*shown, *(f"{m.label} {m.value} {m.delta}" for m in page.metric)]


def before_after(before: float, after: float, n_samples: int) -> str:
    """Write two shares as a tile does."""
    was, now = percent(before, n_samples), percent(after, n_samples)
    return was if was == now else f"{was.removesuffix('%')} \u2192 {now}"


def outcomes(event: Event, rows: LogitSet) -> EventScores:
    return event.outcomes(rows.probabilities, rows.labels)


def ks_before_after(
    calibration: LogitSet, evaluated: LogitSet, event: Event, method: str
) -> tuple[float, float]:
    """Both KS errors, from calibcore's parts."""
    before = outcomes(event, evaluated)
    after = before
    if method == "spline":
        seen = outcomes(event, calibration)
        fitted = SplineCalibration(constrained=True).fit(seen.scores, seen.hits)
        after = EventScores(fitted.predict(before.scores), before.hits)
    elif method == "temperature":
        scaled = TemperatureScaling().fit(calibration.logits, calibration.labels)
        after = event.outcomes(scaled.predict_proba(evaluated.logits), evaluated.labels)
    return ks_error(before.scores, before.hits), ks_error(after.scores, after.hits)


def ks_crossed(rows: Rows, event: Event, *, seed: int = 0) -> tuple[float, float]:
    """Both KS errors of one set after the spline, each row by the fit on all other folds."""
    before = rows if isinstance(rows, EventScores) else outcomes(event, rows)
    fold, after = deal_folds(rows, seed=seed), np.empty(before.n_samples)
    for k in range(5):
        seen, own = fold != k, fold == k
        fitted = SplineCalibration(constrained=True).fit(before.scores[seen], before.hits[seen])
        after[own] = fitted.predict(before.scores[own])
    return ks_error(before.scores, before.hits), ks_error(after, before.hits)


def check_opens(page: AppTest) -> None:
    assert not page.exception
    assert not page.error
    assert len(page.main) > 1


def check_page(page: AppTest) -> None:
    assert not page.exception
    assert not page.error
    has_calibrator = page.selectbox(key="method_seen").value != "none"
    check_charts(page, ["Before", "After"] if has_calibrator else ["Before"])
    shown = measure_cells(page).index
    every = page.query_params.get("measures") == ["all"]
    wanted = [m.name for m in METRICS if m.name in shown or (every and not may_repeat(m))]
    assert list(shown) == wanted


def may_repeat(measure: Measure) -> bool:
    """Tell whether it is left out where it would repeat another: accuracies, class-wise ECEs."""
    several = isinstance(measure, RowMeasure) and (measure.first or 1) > 1
    return several or measure.key in ("classwise_ece", "max_classwise_ece")


def go_on(page: AppTest) -> AppTest:
    """Begin what waits for a click where the machine is slow."""
    for label in ("Fit it", RUN):
        for button in page.button:
            if button.label == label:
                button.click().run()
                break
    return page


def check_charts(page: AppTest, sides: list[str]) -> None:
    """Expect these charts, each described for who cannot see it."""
    drawn = charts(page)
    assert [chart.alt.split(":")[0] for chart in drawn] == sides
    for chart in drawn:
        assert len(chart.alt.split(". ", 1)[1]) > 20


def turn_to(page: AppTest, path: str) -> AppTest:
    """Go to another page, as a click in the bar above does."""
    page._page_hash = calc_hash(path)  # noqa: SLF001 - `switch_page` knows pages in files only
    return page.run()


def made_set(rng: np.random.Generator, n_samples: int, n_classes: int = 3) -> LogitSet:
    logits = 6 * rng.normal(size=(n_samples, n_classes))
    labels = (logits / 3 + rng.gumbel(size=logits.shape)).argmax(axis=1)
    return LogitSet(logits.astype(np.float32), labels)


def top_1_file(scores: Any, hits: Any) -> bytes:
    """Write true and predicted classes, of five, with the confidence of each prediction."""
    rows = (
        f"{k % 5},{(k if hit else k + 1) % 5},{score}"
        for k, (score, hit) in enumerate(zip(scores, hits, strict=True))
    )
    return "\n".join(["true_label,pred_label,confidence", *rows]).encode()


def npz_of(
    calibration: LogitSet, test: LogitSet, class_names: tuple[str, ...] | None = None
) -> bytes:
    named = class_names or calibration.class_names
    return files.npz(
        logits_calibration=calibration.logits,
        labels_calibration=calibration.labels,
        logits_test=test.logits,
        labels_test=test.labels,
        class_names=np.array(named),
    )
