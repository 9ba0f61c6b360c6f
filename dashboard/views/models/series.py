"""A series of networks by epoch, capacity or another number: part of the page Models."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from calibcore.data import LogitSet
from calibcore.errors import CalibrationInputError
from calibcore.series import Checkpoint
from dashboard import controls
from dashboard.compute.files import SourceFile
from dashboard.document.blocks import Cell, Row, Table
from dashboard.figures.models import PANELS, series_graph, values_of
from dashboard.readers import Upload
from dashboard.samples import sample_series
from dashboard.scene import Scene
from dashboard.tables import csv_of
from dashboard.texts.classes import shortened
from dashboard.texts.numbers import percent
from dashboard.views.models import series_words as words
from dashboard.views.models.files import read_further
from dashboard.views.models.results import (
    Member,
    check_other,
    follow,
    numbers_in,
    read_series,
    seconds_of,
)
from dashboard.widgets import address
from dashboard.widgets.blocks import write
from dashboard.widgets.downloads import file_name, offer_table
from dashboard.widgets.graph import choose_columns_on_phones, show_graph
from dashboard.widgets.long_work import LongWork

A_LINE = 3
"""Pictures on a line."""

NUMBER_WIDTH = 200
"""Pixels of the number of a file."""


def show(scene: Scene) -> None:
    """Show a series of examples, or of files that are brought."""
    members, along = _of_examples(scene) if scene.sample is not None else _brought(scene)
    if len(members) < 2:
        return
    checkpoints = _followed(scene, members)
    if checkpoints is None:
        return
    shaded = words.overfit(checkpoints)
    st.subheader(words.conclusion(checkpoints, along), anchor=False)
    for start in range(0, len(PANELS), A_LINE):
        columns = st.columns(A_LINE, gap="small")
        for column, panel in zip(columns, PANELS[start : start + A_LINE], strict=False):
            with column:
                figure = series_graph(panel, checkpoints, along, scene.palette, shaded)
                text = words.caption(panel.field, checkpoints, along)
                show_graph(f"Series {panel.field}", figure, text)
    st.markdown(f":small[{words.legend(shaded, along)}]")
    _show_table(scene, checkpoints, along)


# Which networks -----------------------------------------------------------------------------


def _of_examples(scene: Scene) -> tuple[list[Member], str]:
    """Show the choice of a series that comes with Fractile; nothing if it has other classes."""
    offered = {one.name: one for one in sample_series()}
    with st.container():
        (sample,) = read_series(next(iter(offered.values())), most=1)
    if scene.class_names != sample.upload.class_names:
        st.info(words.NO_SERIES, icon=":material/info:")
        return [], ""
    name = address.choose_box(
        words.SERIES,
        {key: one.title for key, one in offered.items()},
        key="series",
        default=next(iter(offered)),
    )
    st.markdown(f":small[{offered[name].about}]")
    with st.container():
        return read_series(offered[name]), offered[name].along


def _brought(scene: Scene) -> tuple[list[Member], str]:
    """Show the uploader for further files, and the numbers of all; return those that fit."""
    if not isinstance(scene.rows, LogitSet):
        st.info(words.NOT_ALL_CLASSES, icon=":material/info:")
        return [], ""
    name, beside = _left_out(scene.upload)
    uploads = {name: scene.upload}
    first, sources = scene.upload, (*beside, *controls.choose_models(name))
    for called, upload in read_further(first, sources, lambda one: check_other(first, one)):
        if upload.digest not in {one.digest for one in uploads.values()}:
            uploads[called] = upload
    if len(uploads) < 2:
        st.info(words.NO_FILES, icon=":material/upload_file:")
        return [], ""
    return _numbered(uploads)


def _left_out(first: Upload) -> tuple[str, tuple[SourceFile, ...]]:
    """Return the name of the first model's own file, and files left out as other models."""
    names = first.options.together[1:] if first.options.together[:1] == ("without",) else ()
    brought = st.session_state.get(controls.BROUGHT, ()) if names else ()
    own = " + ".join(one.name for one in brought if one.name not in names)
    return own or first.name, tuple(one for one in brought if one.name in names)


def _numbered(uploads: dict[str, Upload]) -> tuple[list[Member], str]:
    """Show the number of each file, to be changed; return the series and what its axis is."""
    read, word = numbers_in(list(uploads))
    members, by_number = list[Member](), defaultdict[float, list[str]](list)
    with st.expander(words.PLACES):
        st.markdown(f":small[{words.PLACES_HELP}]")
        default = word.capitalize() or words.ALONG_NUMBER
        along = st.text_input(
            words.ALONG, default, key=f"series_along_{default}", max_chars=30, width=420
        )
        inputs = st.container(horizontal=True)
        for (name, upload), number in zip(uploads.items(), read, strict=True):
            key = f"series_number_{upload.digest}_{number:g}"
            at = inputs.number_input(
                shortened(name), value=number, format="%g", key=key, width=NUMBER_WIDTH
            )
            members.append(Member(float(at), name, upload))
            by_number[float(at)].append(name)
    for number, names in by_number.items():
        if len(names) > 1:
            st.warning(words.twice(number, names), icon=":material/warning:")
    return members, along or words.ALONG_NUMBER


def _followed(scene: Scene, members: Sequence[Member]) -> list[Checkpoint] | None:
    """Fit and evaluate every network, unless that is expensive and was not asked for."""
    settings = replace(scene.settings, method="temperature", options=())
    work = LongWork(("series", settings, *(one.upload.digest for one in members)))
    text = words.working_on(len(members))
    if not work.agreed(seconds_of(scene, members), text):
        return None
    try:
        with work.watched() as report, st.spinner(text):
            return follow(scene, members, lambda share: report(share, text))
    except CalibrationInputError as error:
        st.error(words.refused(error.field, error), icon=":material/block:")
        return None


# What is shown ------------------------------------------------------------------------------


def _show_table(scene: Scene, checkpoints: Sequence[Checkpoint], along: str) -> None:
    st.subheader(words.TABLE, anchor=False)
    columns = choose_columns_on_phones("series")
    with st.container(key="models_table_series"):
        write(_table(checkpoints, along, columns))
    note = words.table_note(checkpoints, scene.event_words.in_sentence, scene.settings.n_bins)
    st.markdown(f":small[{note}]")
    offer_table(lambda: series_csv(checkpoints, along), name=file_name("series"))


def _table(checkpoints: Sequence[Checkpoint], along: str, columns: str) -> Table:
    lines = []
    for one in checkpoints:
        pairs = [[f"{value:.3f}" for value in pair] for pair in (one.nll, one.entropy)]
        pairs += [
            [percent(value, one.n_samples) for value in pair] for pair in (one.ece, one.ks_error)
        ]
        pairs.append([words.per_class(value, one.n_samples) for value in one.classwise_ece])
        plain = f"{one.temperature:.2f}", percent(one.error, one.n_samples)
        cells = *map(Cell, plain), *(Cell(was, below=(Cell(now),)) for was, now in pairs)
        lines.append(Row(f"{one.number:g}", f"{one.number:g}", cells))
    heads = shortened(along), *words.HEAD
    return Table("series", heads, tuple(lines), look=f"measures models {columns}")


def series_csv(checkpoints: Sequence[Checkpoint], along: str) -> str:
    """Return the series for a spreadsheet, with every digit, before and after."""
    head, lines = [along], [[one.number] for one in checkpoints]
    for panel in PANELS:
        values = values_of(panel, checkpoints)
        sides = [""] if len(values) == 1 else [", before", ", after"]
        head += [f"{panel.title}{side}" for side in sides]
        for line, more in zip(lines, values.T, strict=True):
            line += [float(value) for value in more]
    return csv_of(head, lines)
