"""The report: a button on every page, what is typed into it, and its files."""

from dataclasses import replace

import streamlit as st

from dashboard.report import (
    Report,
    ReportDetails,
    ReportRequest,
    html_of,
    json_of,
    report_of,
    title_of,
)
from dashboard.scene import Scene
from dashboard.texts import report as words
from dashboard.texts.rows import call_rows
from dashboard.views.decisions.document import CHOICES, Choices
from dashboard.widgets import sign_in
from dashboard.widgets.downloads import file_name, offer_file

_TRIED, _REPORT, _AUTHOR = "settings_tried", "report_made", "report_author"


def offer(scene: Scene) -> None:
    """Show on the left the button that opens the report, and remember what was evaluated."""
    settings = replace(scene.settings.in_any_bins, only=None)
    tried: dict[str, set[object]] = st.session_state.setdefault(_TRIED, {})
    tried.setdefault(scene.upload.digest, set()).add(repr(settings))
    if st.sidebar.button(
        words.BUTTON, icon=":material/description:", help=words.HELP, width="stretch"
    ):
        _show(scene)


@st.dialog(words.TITLE, width="medium")
def _show(scene: Scene) -> None:
    """Let the user name the report, make it, and save it."""
    call_rows(scene.rows_are)  # a run of this part alone begins here
    if _AUTHOR not in st.session_state and sign_in.name():
        st.session_state[_AUTHOR] = sign_in.name()
    typed = ReportDetails(
        **{
            key: st.text_input(
                label,
                key=f"report_{key}",
                placeholder=example or title_of(scene),
                persist_state="session",
            ).strip()
            for key, (label, example) in words.FIELDS.items()
        }
    )
    place = st.empty()
    if place.button(words.MAKE, type="primary", key="make_report"):
        bar = place.progress(0.0, words.MAKING)

        def tell(share: float) -> None:
            bar.progress(min(share, 1.0), words.MAKING)

        st.session_state[_REPORT] = _of(scene), report_of(scene, _request(scene, typed), tell)
        place.empty()
    of, report = st.session_state.get(_REPORT, (None, None))
    if report is None or of != _of(scene):
        return
    if report.typed != typed:
        st.markdown(f":small[{words.STALE}]")
    _offer_files(report)


def _request(scene: Scene, typed: ReportDetails) -> ReportRequest:
    session = st.session_state
    n_tried = len(session[_TRIED][scene.upload.digest])
    return ReportRequest(typed, session.get(CHOICES, Choices()), n_tried)


def _of(scene: Scene) -> tuple[object, ...]:
    """Return what decides a report besides what is typed."""
    how = scene.n_resamples, scene.expert, scene.rows_are, st.session_state.get(CHOICES)
    return (scene.upload.digest, scene.upload.options, repr(scene.settings), scene.chosen, *how)


def _offer_files(report: Report) -> None:
    with st.container(horizontal=True):
        for label, name, kind, make in (
            (words.DOWNLOAD_HTML, "report.html", "text/html", lambda: html_of(report)),
            (words.DOWNLOAD_PAGE, "page.html", "text/html", lambda: html_of(report, brief=True)),
            (words.DOWNLOAD_JSON, "report.json", "application/json", lambda: json_of(report)),
        ):
            stem, _, ending = name.partition(".")
            offer_file(make, label=label, name=f"{file_name(stem)}.{ending}", kind=kind)
