"""The import step: what to upload, how a file was read, and how to change that."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import streamlit as st

from calibcore.errors import CalibrationInputError
from dashboard import controls, folder
from dashboard.compute import files
from dashboard.compute.cache import once
from dashboard.compute.files import SourceFile, parsed
from dashboard.document.blocks import Table, plain_rows
from dashboard.many_rows import ask_of_many
from dashboard.opening import choices, roles
from dashboard.readers import FileError, ReadingOptions, Upload
from dashboard.readers.preview import preview_of
from dashboard.readers.recognition import recognise
from dashboard.readers.recognition.refused import usable_rows
from dashboard.readers.records import Arrays, Contents, FileTable, Preview, cell_of
from dashboard.readers.refusal import Question, visible
from dashboard.samples import Sample
from dashboard.take_home import page as take_home
from dashboard.texts import opening as words
from dashboard.texts import summaries
from dashboard.texts.numbers import escape_markdown
from dashboard.texts.refusal import LABELS_ALONE, REFUSED
from dashboard.widgets import panel
from dashboard.widgets.blocks import write

_VISIT = "import_visit"
"""Files and page that were shown last."""


def show_empty(within: Path | None = None) -> None:
    """Show what to upload while no file is there, or which summaries a folder has to choose."""
    files.prepare()
    choices.current()
    panel.await_choice()
    if within is not None:
        _show_folder(within)
        return
    st.header(words.BRING, anchor=False)
    with st.container(key="phone_panel"):
        st.markdown(words.PANEL_ON_PHONES)
    if set(st.query_params) - {"data"}:
        st.markdown(f":material/link: {words.SETTINGS_STAY}")
    st.markdown(f"{words.WHAT} {words.OR_SAMPLE}")
    st.markdown(f"**{words.TEMPLATES_HEAD}**")
    with st.container(horizontal=True, key="templates"):
        for label, name in words.TEMPLATES.items():
            st.download_button(
                label,
                words.template(name),
                file_name=name,
                mime="text/csv",
                icon=":material/download:",
                on_click="ignore",
            )
    tabs = st.tabs(list(words.EXAMPLES))
    for tab, code in zip(tabs, words.EXAMPLES.values(), strict=True):
        tab.code(code, language=None, wrap_lines=True)
    with st.expander(words.ACCEPTED):
        st.markdown(f"{words.ways_to_bring()}\n\n{words.most()}")


def _show_folder(within: Path) -> None:
    """Show which summaries are in the server's folder."""
    st.header(summaries.CHOOSE, anchor=False)
    listed = folder.listed(within)
    st.markdown(summaries.HOW if listed else summaries.NONE_THERE)
    rows = (
        (visible(one.name, 60), f"{one.rows:,}", summaries.dated(one.changed)) for one in listed
    )
    if listed:
        write(Table("folder", summaries.HEAD, plain_rows(rows), look="measures"))


def show_sample(upload: Upload, sample: Sample) -> None:
    """Show one line with an example's name and size, which opens what more is known of it."""
    label = words.line(sample.title, words.size(upload), words.ABOUT_SAMPLE)
    with st.expander(label, key="about_sample"):
        st.markdown(sample.teaches)
        st.text(
            f"Model: {sample.model}\nTraining: {sample.training}\n"
            f"Data: {sample.source}\nLicence: {sample.licence}"
        )
        st.markdown(words.bullets((*upload.notes, *upload.missing, *files.set_sentences(upload))))
    _show_checks(upload)


def import_files(sources: Sequence[SourceFile], *, page: str, headed: bool) -> Upload | None:
    """Read files, and show in one line how; it opens what can be changed.

    ``sources``: at least one. ``page``: the page that is shown; the details open on it only where
    the files need a choice. ``headed``: whether their name and size are at the head of the page.

    None where the files are refused, or where their other half is missing, which is shown.
    """
    choices.start_anew(sources)
    options, dropped = choices.current(), tuple[str, ...]()
    with st.container():  # widgets below that move from run to run fall out of the address
        if choices.are_from_elsewhere(sources):
            options, others = files.fitting(sources, options)
            dropped = choices.keep(options, others)
        outcome = _read(sources, options)
    if isinstance(outcome, Upload) and outcome.summary is not None:
        with st.expander(_line(outcome, headed=headed), key="about_summary"):
            _show_reading(outcome, checks=())
            if outcome.options.many == "counted":
                choices.show_every_row()
        return outcome
    if isinstance(outcome, Upload):
        outcome = ask_of_many(outcome) or outcome
    above = st.container()
    with above:
        upload = _show_top(outcome, sources)
        if upload is None and len(sources) > 1 and sources[0] in controls.brought():
            _offer_removal(sources)
    visit = _visit(sources, page, needed=upload is None)
    label = words.HOW_READ if upload is None else _line(upload, headed=headed)
    with st.expander(label, expanded=visit.is_open, key=f"import_step_{visit.number}"):
        _show_details(sources, outcome, visit.number, headed=headed)
    with above if upload is None else st.container():
        _show_address(dropped)
        if upload is not None and headed:
            _show_checks(upload)
        if upload is not None:
            _show_left_out(upload)
    return upload


def _line(upload: Upload, *, headed: bool) -> str:
    checks = 0 if headed else len(upload.doubts)
    about = words.summary(upload, words.columns_read(upload), n_checks=checks)
    return words.line(upload.name if headed else "", about, words.DETAILS)


def _read(sources: Sequence[SourceFile], options: ReadingOptions) -> Upload | CalibrationInputError:
    try:
        return files.read_files(sources, options)
    except CalibrationInputError as error:
        return error


class _Visit(NamedTuple):
    """Files on a page, until other ones come or another page is shown."""

    of: tuple[tuple[str, ...], str]
    number: int
    is_open: bool


def _visit(sources: Sequence[SourceFile], page: str, *, needed: bool) -> _Visit:
    """Open the details where the files need a choice when they are first seen on a page.

    During a visit nothing of that changes, so that the details do not close while they are used;
    the answer to a question, which is asked above them, ends it.
    """
    now = tuple(source.digest for source in sources), page
    last: _Visit = st.session_state.get(_VISIT, _Visit(((), ""), 0, is_open=False))
    answered = choices.was_answered()
    if last.of != now or answered or (needed and not last.is_open):
        last = st.session_state[_VISIT] = _Visit(now, last.number + 1, needed)
    return last


def _show_top(
    outcome: Upload | CalibrationInputError, sources: Sequence[SourceFile]
) -> Upload | None:
    """Show why there is nothing to evaluate; return the upload where there is."""
    if isinstance(outcome, Question):
        choices.show_question(outcome)
        return None
    if not isinstance(outcome, Upload):
        st.error(
            f"{escape_markdown(str(outcome))}\n\n{words.FIX_STEP}",
            title=REFUSED,
            icon=":material/block:",
        )
        return None
    if outcome.piece is not None:
        st.header(escape_markdown(outcome.name), anchor=False)
        alone = outcome.piece.table is not None
        if alone and isinstance(lacks := outcome.lacks, Question):
            choices.show_question(lacks)
        else:
            ask = words.WITHOUT_LABELS if alone else LABELS_ALONE
            st.info(ask, icon=":material/upload_file:")
        _show_checks(outcome)
        if alone:
            take_home.offer_saved(outcome, lambda options: files.read_files(sources, options))
        return None
    return outcome


def _show_checks(upload: Upload) -> None:
    for place, one in enumerate(upload.proposals):
        choices.show_proposal(one, of=f"proposed{place}")
    if checks := _checks(upload):
        st.warning(words.first_checks(checks), icon=":material/warning:")


def _checks(upload: Upload) -> list[str]:
    """Return what may be wrong with the file; the rest is shown below the verdict."""
    below = (*words.of_extremes(upload.doubts), *(one.doubt for one in upload.proposals))
    return [doubt for doubt in upload.doubts if doubt not in below]


def _show_left_out(upload: Upload) -> None:
    """Show on every page that rows were left out, and which."""
    if not upload.options.leave_out:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="left_out"):
        line = escape_markdown(" ".join(upload.left_out) or words.LEFT_OUT)
        st.markdown(f":material/filter_alt_off: {line}", width="content")
        st.button(words.PUT_BACK, key="put_back", on_click=_put_back, type="tertiary")


def _put_back() -> None:
    choices.change(leave_out=False)


def _offer_removal(sources: Sequence[SourceFile]) -> None:
    """Show a button for each of several files that takes it away."""
    with st.container(key="remove_one"):
        st.markdown(words.REMOVE_ONE)
        for place, source in enumerate(sources):
            st.button(
                words.remove(source.name),
                key=f"remove_one_{place}",
                on_click=controls.remove_file,
                args=(source,),
                icon=":material/close:",
            )


def _show_address(dropped: Sequence[str]) -> None:
    """Show what of the choices of an address or of other files is followed, and what is not."""
    wrong = (*choices.wrong_in_address(), *dropped)
    if wrong:
        st.warning(words.warning(wrong), icon=":material/link_off:")
    elif choices.by_address():
        st.info(words.BY_ADDRESS, icon=":material/link:")


def _show_details(
    sources: Sequence[SourceFile],
    outcome: Upload | CalibrationInputError,
    visit: int,
    *,
    headed: bool,
) -> None:
    """Show the roles of the columns, what was found and fixed, and what else can be chosen."""
    upload = outcome if isinstance(outcome, Upload) else None
    if upload is not None:
        choices.choose_event(upload)
    preview, uses = _known(outcome)
    if isinstance(outcome, Question) and len(sources) == 1:
        preview = unusable_rows(sources[0], choices.current(), outcome) or preview
    roles.show_roles(
        preview,
        files.parsed(sources, choices.current()),
        uses=uses,
        taken=() if upload is None or upload.piece is not None else files.taken_as(upload),
        visit=visit,
    )
    report, change = st.columns([3, 2], gap="large")
    with change:
        st.markdown(f"**{words.OTHERWISE}**")
        choices.choose(sources, upload)
    with report:
        if upload is not None:
            shown = words.MOST_CHECKS if headed else 0
            _show_reading(upload, checks=upload.doubts if len(_checks(upload)) > shown else ())
        else:
            _show_parsed(sources)


def _known(outcome: Upload | CalibrationInputError) -> tuple[Preview, dict[str, str]]:
    """Return the first rows and the uses of columns, of a refused file too as far as known."""
    if isinstance(outcome, Upload):
        return outcome.preview, dict(outcome.uses)
    known = getattr(outcome, "known", None)
    if not isinstance(known, Contents):
        return Preview(), {}
    return known.preview or Preview(), dict(known.uses)


def _show_reading(upload: Upload, checks: Sequence[str]) -> None:
    """Show what was detected and fixed, and the warnings that are not shown above."""
    here = (words.split_here(upload),) if upload.rows is not None else ()
    sizes = () if upload.piece is not None else files.set_sentences(upload)
    for heading, sentences in (
        (words.DETECTED, (*upload.notes, *sizes, *here)),
        (words.FIXED, upload.repairs),
        (words.CHECK, checks),
        (words.MISSING, upload.missing),
    ):
        if sentences:
            st.markdown(f"**{heading}**\n\n{words.bullets(sentences)}")


def _show_parsed(sources: Sequence[SourceFile]) -> None:
    """Show how the bytes of refused files were read."""
    for source, part in zip(sources, files.parsed(sources, choices.current()), strict=False):
        sentences = (*part.notes, *part.repairs, *part.doubts)
        if isinstance(part, FileTable) and len(sources) > 1:
            size = words.table_of(part.n_rows, [one.name for one in part.columns])
            sentences = (size, *sentences)
        if isinstance(part, Arrays):
            sentences += tuple(
                f"{visible(one.name, 40) or 'array'}: "
                + words.array_of(one.values.shape, one.unread or one.values.dtype.name)
                for one in part.arrays[:12]
            )
        if sentences:
            name = f" in {escape_markdown(visible(source.name, 40))}" if len(sources) > 1 else ""
            st.markdown(f"**{words.DETECTED}{name}**\n\n{words.bullets(sentences)}")


_MOST = 10


def unusable_rows(
    source: SourceFile, options: ReadingOptions, question: Question
) -> Preview | None:
    """Return the rows that a question offers to leave out; None where it is about something else.

    ``source``: the only file. ``options``: how it is read. ``question``: what is asked about it.
    """
    parts = parsed((source,), options)
    table = parts[0] if parts else None
    offered = any(answer.change.get("leave_out") for answer in question.answers)
    if not offered or not isinstance(table, FileTable):
        return None
    key = source.name, source.digest, options
    return once("unusable rows", key, lambda: _preview_of_unusable(table, options))


def _preview_of_unusable(table: FileTable, options: ReadingOptions) -> Preview | None:
    """Compare the table with what is left of it once rows are left out."""
    try:
        reading = recognise(table, options)
        rest, _ = usable_rows(table, reading, replace(options, leave_out=True))
    except FileError:
        return None
    if rest.among is None:
        return None
    of_file = np.arange(table.n_rows) if table.among is None else np.flatnonzero(table.among)
    places = np.flatnonzero(~rest.among[of_file])[:_MOST]
    if not len(places):
        return None
    among = np.zeros(len(rest.among), dtype=np.bool_)
    among[of_file[places]] = True
    cells = tuple(
        tuple(cell_of(column, place) for column in table.columns) for place in places.tolist()
    )
    return replace(preview_of(replace(table, shown=cells, among=among), reading), refused=True)
