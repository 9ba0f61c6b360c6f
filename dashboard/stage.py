"""From the controls to the scene that every page is drawn from."""

import traceback
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calibcore.auditing import AuditResult
from calibcore.errors import CalibrationInputError
from dashboard import controls, style
from dashboard.compute import fits
from dashboard.compute.files import read_files
from dashboard.compute.fits import run_audit
from dashboard.compute.split import evaluated_split, part_of, split_of
from dashboard.opening import step as import_step
from dashboard.readers import FileError, Upload
from dashboard.scene import Scene
from dashboard.settings import NO_METHOD, SetChoice, Settings
from dashboard.texts.refusal import NEXT_STEP, NOT_FITTING, REFUSED, refusal
from dashboard.widgets import downloads, fit_progress, graph, panel
from dashboard.widgets import filter as row_filter
from dashboard.widgets import papers as paper_settings


def scene_for(page: str, *, first: bool) -> Scene | None:
    """Read, choose, fit and evaluate; None where something is still missing.

    What a run does not draw leaves the address, so what needs no file is drawn for any.

    ``page``: name of the page that is shown. ``first``: whether it is the first one, which has the
    data at its head.
    """
    with st.sidebar:
        st.title("Fractile", anchor=False)
        source = controls.choose_source()
    if not source.files:
        import_step.show_empty(source.folder)
        return None
    with st.sidebar:
        of_the_file = st.container(gap="small")
        place_of_set = st.container()
        settings_of_the_file, n_resamples, expert = _choose_how_shown()
    upload = _read(source, page, first=first)
    if upload is None:
        with place_of_set:
            controls.choose_set()
        return None
    with of_the_file:
        settings = _choose(upload, settings_of_the_file, expert=expert)
    with place_of_set:
        chosen = _choose_set(upload, settings)
    panel.close_on_phones(
        page, upload.digest, settings.event, settings.method, settings.only, chosen
    )
    settings, result, waiting = _fit(upload, settings)
    evaluated = evaluated_split(upload, settings)
    part = part_of(upload, settings, chosen)
    row_filter.show_part(part)
    return Scene(
        upload=upload,
        sample=source.sample,
        split=split_of(upload, settings),
        rows=evaluated.test if chosen == "test" else evaluated.calibration,
        settings=settings,
        result=result,
        chosen=chosen,
        n_resamples=n_resamples,
        expert=expert,
        palette=style.palette(),
        waiting=waiting,
        part=part,
    )


def _choose_how_shown() -> tuple[DeltaGenerator, int, bool]:
    """Show the settings; return the place of the file's, the resamples, and True for experts."""
    with st.expander("Settings"):
        of_the_file = st.container()
        n_resamples = controls.choose_resamples()
        graph.choose_picture_format()
        expert = controls.choose_wording()
        row_filter.choose()
    return of_the_file, n_resamples, expert


def _fit(upload: Upload, settings: Settings) -> tuple[Settings, AuditResult, str | None]:
    """Fit and evaluate; or nothing but evaluate, and name the calibrator that waits for a click."""
    estimate = fits.estimate(upload, settings)
    waiting = None if fit_progress.agreed(estimate, settings) else settings.method
    if waiting is not None:
        settings, estimate = replace(settings, method=NO_METHOD, options=(), group=None), None
    with fit_progress.watched(settings, estimate) as progress:
        return settings, run_audit(upload, settings, progress), waiting


def _choose_set(upload: Upload, settings: Settings) -> SetChoice:
    """Let the user choose a set, unless one serves both ends."""
    in_folds = upload.rows is not None and settings.calibration_share is None
    return "test" if in_folds else controls.choose_set()


def _choose(upload: Upload, further: DeltaGenerator, *, expert: bool) -> Settings:
    """Show what is chosen of a file, the filter last; return the settings."""
    with further:
        paper_settings.choose(upload)
    settings = controls.choose_settings(upload, further, expert=expert)
    group = row_filter.choose_group(upload, settings)
    return replace(settings, group=group, only=row_filter.choose_only(upload, settings))


def _read(source: controls.Source, page: str, *, first: bool) -> Upload | None:
    downloads.name_files([file.name for file in source.files], page)
    if source.sample is None:
        return import_step.import_files(source.files, page=page, headed=first)
    with st.container():  # widgets below that move from run to run fall out of the address
        upload = read_files(source.files)
    if first:
        import_step.show_sample(upload, source.sample)
    return upload


# Faults -------------------------------------------------------------------------------------


def show_refusal(error: CalibrationInputError) -> NoReturn:
    """Show why data or settings are not taken, and end the run."""
    st.error(
        f"{refusal(error)}\n\n{NEXT_STEP}",
        title=REFUSED if isinstance(error, FileError) else NOT_FITTING,
        icon=":material/block:",
    )
    st.stop()


def is_of_a_run_that_ends(error: RuntimeError) -> bool:
    """Return whether Streamlit failed as the run that this one replaces has not ended yet.

    A click ends a run and begins the next at once, in another thread. For a moment both change the
    state of the session, which Streamlit goes through without a lock that both know.
    """
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    where = Path(frame.f_code.co_filename).name
    return where == "session_state.py" and "changed size during iteration" in str(error)
