"""The import step: what was read, what it was taken for, and how to read it otherwise."""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import streamlit as st

from calibcore.errors import CalibrationInputError
from dashboard import compute, wording
from dashboard.compute import SourceFile
from dashboard.parts import overrule
from dashboard.readers import Options, Upload
from dashboard.readers.contents import Preview
from dashboard.readers.upload import first_rows
from dashboard.samples import Sample
from dashboard.wording import escape_markdown
from dashboard.wording import imports as words
from dashboard.wording.classes import shortened

_REFUSED_BEFORE = "import_refused"

_VISIT = "import_visit"
"""Files and page that were shown last."""

_FIT = 8
"""Columns of first rows that are in sight at once."""


def show_empty() -> None:
    """Say what to bring while no file is there."""
    st.header(words.BRING, anchor=False)
    with st.container(key="phone_panel"):
        st.markdown(words.PANEL_ON_PHONES)
    if set(st.query_params) - {"data"}:
        st.markdown(f":material/link: {words.SETTINGS_KEPT}")
    st.markdown(f"{words.WHAT}\n\n{words.ways_to_bring()}\n\n{words.most()} {words.OR_SAMPLE}")
    st.download_button(
        words.TEMPLATE_LABEL,
        words.template(),
        file_name=words.TEMPLATE_NAME,
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
    )
    for tab, (language, code) in zip(
        st.tabs(list(words.EXAMPLES)), words.EXAMPLES.values(), strict=True
    ):
        tab.code(code, language=language, wrap_lines=True)


def show_sample(upload: Upload, sample: Sample) -> None:
    """Show a sample's name and size, and in one line what more is known of it."""
    st.header(escape_markdown(sample.title), anchor=False)
    st.markdown(words.size(upload))
    with st.expander(words.ABOUT_SAMPLE):
        st.markdown(sample.teaches)
        st.text(
            f"Model: {sample.model}\nTraining: {sample.training}\n"
            f"Data: {sample.source}\nLicence: {sample.licence}"
        )
        st.markdown(words.bullets((*upload.found, *upload.missing, *compute.sets_said(upload))))
    _show_doubts(upload)


def import_files(sources: Sequence[SourceFile], *, page: str, headed: bool) -> Upload | None:
    """Read files, show what they were taken for, and let the user overrule it.

    Parameters
    ----------
    sources : sequence of SourceFile
        At least one.
    page : str
        The page that is shown; the step is open on the first one that shows the files.
    headed : bool
        Whether their name and size are at the head of the page.

    Returns
    -------
    Upload or None
        None where the files are refused, or where their other half is missing, which is said.
    """
    overrule.start_anew(sources)
    with st.container():  # widgets below that move from run to run fall out of the address
        compute.parsed(sources)
    top, options = st.container(), Options()
    if not overrule.anything(sources):
        with top:
            return _show_top(_read(sources, options), wording.NEXT_STEP, headed=headed)
    visit = _visit(sources, page)
    key = f"import_step_{visit.number}"
    with st.expander(words.WHAT_WAS_READ, expanded=visit.is_open, key=key):
        # Where nothing can be shown, its place is not left empty.
        left, right = st.columns([3, 2], gap="large")
        shown, choices = (left, right) if compute.parsed(sources) else (right, left)
        with choices:
            st.markdown(f"**{words.OTHERWISE}**")
            options = overrule.choose(sources)
        outcome = _read(sources, options)
        with shown:
            if isinstance(outcome, Upload):
                _show_reading(outcome, doubted=() if headed else outcome.doubts)
            else:
                _show_parsed(sources, options)
    with top:
        upload = _show_top(outcome, words.MEND_STEP, headed=headed)
        if overrule.of_address(options):
            st.info(words.BY_ADDRESS, icon=":material/link:")
        return upload


def _read(sources: Sequence[SourceFile], options: Options) -> Upload | CalibrationInputError:
    try:
        return compute.read_files(sources, options)
    except CalibrationInputError as error:
        return error


class _Visit(NamedTuple):
    """Files on a page, until other ones come or another page is shown."""

    of: tuple[tuple[str, ...], str]
    number: int
    is_open: bool


def _visit(sources: Sequence[SourceFile], page: str) -> _Visit:
    """Open the step where files are seen first, and on another page where they were refused.

    During a visit nothing of that changes, so that the step never closes under the hand.
    """
    digests = tuple(source.digest for source in sources)
    seen: set[tuple[str, ...]] = st.session_state.setdefault("imported", set())
    last: _Visit = st.session_state.get(_VISIT, _Visit(((), ""), 0, is_open=False))
    now = digests, page
    if last.of != now:
        is_open = digests not in seen or bool(st.session_state.get(_REFUSED_BEFORE))
        last = st.session_state[_VISIT] = _Visit(now, last.number + 1, is_open)
        seen.add(digests)
    return last


def _show_top(outcome: Upload | CalibrationInputError, step: str, *, headed: bool) -> Upload | None:
    """Show what must be seen although the step is closed."""
    st.session_state[_REFUSED_BEFORE] = not isinstance(outcome, Upload)
    if not isinstance(outcome, Upload):
        st.error(
            f"{escape_markdown(str(outcome))}\n\n{step}",
            title=wording.REFUSED,
            icon=":material/block:",
        )
        return None
    if headed or outcome.piece is not None:
        st.header(escape_markdown(outcome.name), anchor=False)
    if outcome.piece is not None:
        alone = outcome.piece.table is not None
        ask = words.without_labels(outcome.perhaps_labels) if alone else wording.LABELS_ALONE
        st.info(ask, icon=":material/upload_file:")
        return None
    if headed:
        st.markdown(words.size(outcome))
        _show_doubts(outcome)
    doubts = () if headed else outcome.doubts
    if doubts or outcome.repairs:
        st.markdown(f":small[:material/warning: {words.counted(doubts, outcome.repairs)}]")
    return outcome


def _show_doubts(upload: Upload) -> None:
    if upload.doubts:
        st.warning(words.warning(upload.doubts), icon=":material/warning:")


def _show_reading(upload: Upload, doubted: Sequence[str]) -> None:
    """Show what was found, mended, and doubted where that is not above, and the first rows."""
    here = (words.split_here(upload),) if upload.rows is not None else ()
    parts = (
        (words.FOUND, (*upload.found, *compute.sets_said(upload), *here)),
        (words.MENDED, upload.repairs),
        (words.DOUBTED, doubted),
        (words.MISSING, upload.missing),
    )
    for heading, sentences in parts:
        if sentences:
            st.markdown(f"**{heading}**\n\n{words.bullets(sentences)}")
    heading = words.UNMENDED if upload.repairs else words.FIRST_ROWS
    _show_preview(upload.preview, heading, taken=compute.taken_as(upload))


def _show_parsed(sources: Sequence[SourceFile], options: Options) -> None:
    """Show what refused files hold."""
    for place, contents in enumerate(compute.parsed(sources, options)):
        name = sources[place].name if len(sources) > 1 else ""
        if contents.found:
            st.markdown(f"**{words.found_in(name)}**\n\n{words.bullets(contents.found)}")
        preview = first_rows(contents, options)
        heading = words.first_rows_of("" if contents.found else name, refused=preview.refused)
        _show_preview(preview, heading, place)


def _show_preview(
    preview: Preview, heading: str, place: int = 0, *, taken: Sequence[str] = ()
) -> None:
    if preview.rows:
        st.markdown(f"**{heading}**")
        with st.container(key=f"preview_table_{place}"):
            st.html(_table(preview, taken))


def _table(preview: Preview, taken: Sequence[str]) -> str:
    """Write the first rows, and where it is known what the label of each was taken as."""
    places: Sequence[int] = range(len(preview.headings))
    if len(places) > _FIT:
        # The label would be out of sight behind the classes.
        places = sorted(places, key=lambda place: preview.uses[place] != "label")
    heads = "".join(
        f"<th scope='col'>{escape(preview.headings[place])}"
        f"<small>{words.USES[preview.uses[place]]}</small></th>"
        for place in places
    )
    numbers = preview.numbers or range(1, len(preview.rows) + 1)
    shown = [f"<td>{escape(shortened(name))}</td>" for name in taken] or [""] * len(preview.rows)
    rows = "".join(
        f"<tr><th scope='row'>{number}</th>{last}"
        + "".join(f"<td>{escape(row[place])}</td>" for place in places)
        + "</tr>"
        for number, row, last in zip(numbers, preview.rows, shown, strict=True)
    )
    taken_head = f"<th scope='col'>{words.TAKEN_AS}</th>" if taken else ""
    heads = f"<th scope='col'>{words.ROW}</th>{taken_head}{heads}"
    return (
        f"<table class='measures rows all-columns' tabindex='0'><thead><tr>{heads}</tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )
