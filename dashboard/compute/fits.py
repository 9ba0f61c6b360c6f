"""Calibrators fitted and judged once, and what a fit will take before it starts."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from calibcore.calibrators import CATALOGUE
from calibcore.calibrators.base import Progress
from calibcore.evaluation import AuditResult, SetResult, audit
from dashboard.compute.files import split_of
from dashboard.compute.keep import is_known, key_of, once
from dashboard.readers import Upload
from dashboard.settings import NO_METHOD, SetChoice, Settings, method_by_key

_AUDITS = "audits"


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
    tried = (replace(settings, method=key, options=()) for key in contestants(upload))
    found = (estimate(upload, each) for each in tried)
    return sum(each.seconds for each in found if each is not None)


def contestants(upload: Upload) -> list[str]:
    """List the methods that fit the data; the choice to change nothing comes first."""
    return [NO_METHOD, *(m.key for m in CATALOGUE if upload.class_names or m.acts_on == "event")]


def estimate(upload: Upload, settings: Settings) -> Estimate | None:
    """Estimate a fit; None where the result is known, or nothing but an event's score is fitted."""
    if settings.method == NO_METHOD or is_known(_AUDITS, key_of(upload, settings)):
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
    """Fit and judge, once for each file, reading and settings."""
    return once(
        _AUDITS,
        key_of(upload, settings),
        lambda: audit(
            split_of(upload, settings),
            event=settings.event,
            calibrator=settings.calibrator(),
            n_bins=settings.n_bins,
            progress=progress,
        ),
    )


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
    keys = contestants(upload)
    results = []
    for number, key in enumerate(keys):

        def report(share: float, number: int = number, key: str = key) -> None:
            progress((number + share) / len(keys), key)

        report(0.0)
        result = run_audit(upload, replace(settings, method=key, options=()), report)
        results.append((key, result.test if chosen == "test" else result.calibration))
    return results
