"""The only caching: results keyed by a digest of the uploaded bytes and the settings.

Arrays are never part of a key, because Streamlit hashes large ones by a sample. What is cached is
shared between sessions and never changed.
"""

import gc
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import streamlit as st
from plotly import graph_objects as go

from calibcore.calibrators import CATALOGUE
from calibcore.calibrators.base import FittedVectorMap, Progress
from calibcore.data import EventScores, LogitSet, Split
from calibcore.evaluation import AuditResult, SetResult, audit, sides_of
from calibcore.events import TopR
from calibcore.inference import ClassScreen, Inference, Plan, infer, screen_classes
from calibcore.metrics import Measure, Options
from calibcore.metrics.bins import sweep_bins
from dashboard.figures import (
    FourGraphs,
    Palette,
    SweepFigures,
    four_graphs,
    reliability_diagram,
    sweep_figures,
)
from dashboard.readers import Upload, combine, read
from dashboard.settings import NO_METHOD, Settings, method_by_key

ValuesChoice = Literal["auto", "logits", "probabilities"]
SetChoice = Literal["calibration", "test"]
SideChoice = Literal["before", "after"]

MOST_RESULTS = 64
"""Audits kept in memory."""

LEAST_RESAMPLES, MOST_DRAWN = 100, 50_000_000
"""With many rows there are fewer resamples than asked for, so that nobody waits for minutes."""

_Key = tuple[str, str, str, str]
"""What stands for a result: digest of the bytes, names, how they were read, settings.

The names of several files decide which holds which set.
"""


@dataclass(frozen=True)
class SourceFile:
    """A file as it came, with the digest that stands for its bytes.

    Parameters
    ----------
    name : str
        Shown as text; its ending picks the reader.
    digest : str
        SHA-256 of the bytes.
    load : callable
        Gives the bytes, when they have to be read.
    """

    name: str
    digest: str
    load: Callable[[], bytes]


@dataclass(frozen=True)
class SideFigures:
    """What is drawn of one side.

    Parameters
    ----------
    graphs : FourGraphs
        The four cumulative and fractile graphs.
    reliability : plotly.graph_objects.Figure
        The reliability diagram.
    """

    graphs: FourGraphs
    reliability: go.Figure


@dataclass(frozen=True)
class Screening:
    """Every class of one set.

    Parameters
    ----------
    before : ClassScreen
        Uncalibrated.
    after : ClassScreen or None
        Calibrated; None where the calibrator leaves no class probabilities.
    where : str
        Name of the set.
    """

    before: ClassScreen
    after: ClassScreen | None
    where: str


@st.cache_resource(show_spinner=False)
def settle_imports() -> None:
    """Take everything imported so far out of the garbage collector's rounds.

    Streamlit collects after every run, and going through the modules is most of that time.
    """
    gc.collect()
    gc.freeze()


@st.cache_resource(max_entries=8, show_spinner="Reading the file")
def _read(
    files: tuple[tuple[str, str], ...], values: ValuesChoice, _sources: Sequence[SourceFile]
) -> Upload:
    del files  # names and digests stand for the sources
    return combine([read(source.name, source.load(), values=values) for source in _sources])


def read_files(sources: Sequence[SourceFile], values: ValuesChoice = "auto") -> Upload:
    """Read files; the same bytes under the same names are read once."""
    files = tuple((source.name, source.digest) for source in sources)
    return _read(files, values, sources)


@st.cache_resource(max_entries=8, show_spinner=False)
def _split(
    key: tuple[str, str, str], share: float, seed: int, _upload: Upload
) -> Split[LogitSet] | Split[EventScores]:
    del key  # stands for the upload
    return _upload.split(calibration_share=share, seed=seed)


@st.cache_resource(show_spinner=False)
def _results() -> OrderedDict[_Key, AuditResult]:
    """Keep the latest results, shared between sessions, the oldest first."""
    return OrderedDict()


@st.cache_resource(show_spinner=False)
def _inferences() -> OrderedDict[tuple[_Key, SetChoice, Plan], Inference]:
    """Keep the latest uncertainties, as `_results`."""
    return OrderedDict()


@st.cache_resource(max_entries=64, show_spinner=False)
def _draw(
    key: _Key, chosen: SetChoice, side: SideChoice, palette: Palette, _result: AuditResult
) -> SideFigures:
    del key  # stands for the result
    judged = _result.test if chosen == "test" else _result.calibration
    shown, beside = judged.before, judged.after
    if side == "after":
        shown, beside = beside, shown
    return SideFigures(
        four_graphs(shown, beside, palette), reliability_diagram(shown, beside, palette)
    )


@st.cache_resource(max_entries=64, show_spinner=False)
def _draw_sweep(
    key: _Key, chosen: SetChoice, n_bins: int, palette: Palette, _result: AuditResult
) -> SweepFigures:
    del key  # stands for the result
    judged = _result.test if chosen == "test" else _result.calibration
    before = sweep_bins(judged.before.counted)
    after = before if judged.after is judged.before else sweep_bins(judged.after.counted)
    return sweep_figures(before, after, n_bins, palette)


@st.cache_resource(max_entries=MOST_RESULTS, show_spinner=False)
def _screen(key: _Key, chosen: SetChoice, _make: Callable[[], ClassScreen]) -> ClassScreen:
    del key, chosen  # stand for what makes it
    return _make()


def _key(upload: Upload, settings: Settings) -> _Key:
    return upload.digest, upload.name, str(upload.values_kind), repr(settings)


@dataclass(frozen=True)
class Estimate:
    """What a fit that is still to be made will take.

    Parameters
    ----------
    seconds, bytes : float
        Time, and memory beyond the logits.
    n_rows, n_classes : int
        Of the calibration set.
    """

    seconds: float
    bytes: float
    n_rows: int
    n_classes: int


@st.cache_resource(show_spinner=False)
def _seconds_per_logit() -> float:
    """Time the exponential of a logit on this machine: the least of a few tries."""
    logits = np.linspace(-20, 0, 1 << 18, dtype=np.float32)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        np.exp(logits)
        times.append(time.perf_counter() - start)
    return min(times) / logits.size


def estimate_contest(upload: Upload, settings: Settings) -> float:
    """Estimate how many seconds it takes to try every method that is not known yet."""
    tried = (replace(settings, method=key, options=()) for key in _contestants(upload))
    found = (estimate(upload, each) for each in tried)
    return sum(each.seconds for each in found if each is not None)


def _contestants(upload: Upload) -> list[str]:
    """List the methods that fit the data; the choice to change nothing comes first."""
    return [NO_METHOD, *(m.key for m in CATALOGUE if upload.class_names or m.acts_on == "event")]


def estimate(upload: Upload, settings: Settings) -> Estimate | None:
    """Estimate a fit; None where the result is known, or nothing but an event's score is fitted."""
    if settings.method == NO_METHOD or _key(upload, settings) in _results():
        return None
    method, classes = method_by_key(settings.method), upload.class_names
    if method.acts_on == "event" or classes is None:
        return None
    rows = upload.rows or upload.calibration
    share = settings.calibration_share if upload.rows is not None else 1.0
    n_rows = round(share * rows.n_samples) if rows is not None else 0
    cost = method.cost_of(**dict(settings.options))
    return Estimate(
        cost.seconds(n_rows, len(classes), _seconds_per_logit()),
        cost.bytes(n_rows, len(classes)),
        n_rows,
        len(classes),
    )


def run_audit(upload: Upload, settings: Settings, progress: Progress) -> AuditResult:
    """Fit and judge, once for each file, reading and settings.

    Not a cached function, because those cannot show how far they are.
    """
    key, kept = _key(upload, settings), _results()
    if (found := kept.get(key)) is not None:
        return found
    share, seed = settings.calibration_share, settings.seed
    result = audit(
        _split(key[:3], share, seed, upload),
        event=settings.event,
        calibrator=settings.calibrator(),
        n_bins=settings.n_bins,
        progress=progress,
    )
    kept[key] = result
    while len(kept) > MOST_RESULTS:
        kept.popitem(last=False)
    return result


def run_inference(
    upload: Upload,
    settings: Settings,
    result: AuditResult,
    chosen: SetChoice,
    plan: Plan,
    progress: Progress,
) -> Inference:
    """Find the uncertainty of an audit's measures on one set, once for each plan."""
    key, kept = (_key(upload, settings), chosen, plan), _inferences()
    if (found := kept.get(key)) is not None:
        return found
    split = _split(_key(upload, settings)[:3], settings.calibration_share, settings.seed, upload)
    test = chosen == "test"
    sides = sides_of(
        split.test if test else split.calibration,
        result.test if test else result.calibration,
        result.fitted,
    )
    kept[key] = infer(*sides, plan, progress=progress)
    while len(kept) > MOST_RESULTS:
        kept.popitem(last=False)
    return kept[key]


def closer_look(
    upload: Upload,
    settings: Settings,
    result: AuditResult,
    chosen: SetChoice,
    n_resamples: int,
) -> Callable[[tuple[Measure, ...], Progress], Inference] | None:
    """Give what finds the uncertainty of listed measures; None where no resamples are wanted."""
    judged = result.test if chosen == "test" else result.calibration
    affordable = max(LEAST_RESAMPLES, MOST_DRAWN // judged.n_samples)

    def look(listed: tuple[Measure, ...], progress: Progress) -> Inference:
        plan = Plan(listed, Options(settings.n_bins), min(n_resamples, affordable))
        return run_inference(upload, settings, result, chosen, plan, progress)

    return look if n_resamples else None


def run_contest(
    upload: Upload,
    settings: Settings,
    chosen: SetChoice,
    progress: Callable[[float, str], None],
) -> list[tuple[str, SetResult]]:
    """Try every method that fits the data, with its default options.

    Parameters
    ----------
    upload, settings
        The data, and the event, bins and split that are chosen.
    chosen : {"calibration", "test"}
        The set that judges.
    progress : callable
        Told the share that is done and the method at work; whatever it raises ends the contest.

    Returns
    -------
    list of (str, SetResult)
        Key of each method, that of the choice to change nothing first, and its judgement.
    """
    keys = _contestants(upload)
    results = []
    for number, key in enumerate(keys):

        def report(share: float, number: int = number, key: str = key) -> None:
            progress((number + share) / len(keys), key)

        report(0.0)
        result = run_audit(upload, replace(settings, method=key, options=()), report)
        results.append((key, result.test if chosen == "test" else result.calibration))
    return results


def draw(
    upload: Upload,
    settings: Settings,
    result: AuditResult,
    *,
    chosen: SetChoice,
    side: SideChoice,
    palette: Palette,
) -> SideFigures:
    """Draw one side of one set, once for each result and theme."""
    return _draw(_key(upload, settings), chosen, side, palette, result)


def draw_sweep(
    upload: Upload, settings: Settings, result: AuditResult, chosen: SetChoice, palette: Palette
) -> SweepFigures:
    """Draw the error against the number of bins on one set, once for each result and theme."""
    return _draw_sweep(_key(upload, settings), chosen, settings.n_bins, palette, result)


def run_screen(
    upload: Upload, settings: Settings, result: AuditResult, chosen: SetChoice
) -> Screening | None:
    """Look at every class of one set before and after, once for each fit of all classes.

    Neither the event nor the number of bins changes what is found; None where there are no classes.
    """
    split = _split(_key(upload, settings)[:3], settings.calibration_share, settings.seed, upload)
    rows, fitted = split.test if chosen == "test" else split.calibration, result.fitted
    if isinstance(rows, EventScores):
        return None
    alike = replace(settings, event=TopR(1), n_bins=15)
    plain = replace(alike, method=NO_METHOD, options=())
    before: ClassScreen = _screen(
        _key(upload, plain), chosen, lambda: screen_classes(rows.probabilities, rows.labels)
    )
    after: ClassScreen | None = before if fitted is None else None
    if isinstance(fitted, FittedVectorMap):
        after = _screen(
            _key(upload, alike),
            chosen,
            lambda: screen_classes(fitted.predict_proba(rows.logits), rows.labels),
        )
    return Screening(before, after, f"{chosen} set")


def forget() -> None:
    """Drop every file and result that is kept in memory."""
    for kept in (_read, _split, _results, _inferences, _draw, _draw_sweep, _screen):
        kept.clear()
