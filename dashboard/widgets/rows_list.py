"""The rows of a range of scores: a page of them, and all of them as a file."""

from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
import streamlit as st

from calibcore.binning import BinTable
from calibcore.subgroups import RowOrder
from dashboard.compute.listed_rows import ListedRows, ScoreRange, cells_of, rows_of_range
from dashboard.scene import Scene
from dashboard.tables import csv_of
from dashboard.take_home.calibrated import percents
from dashboard.take_home.words import in_percent as as_percent
from dashboard.texts import listed
from dashboard.texts.classes import shortened
from dashboard.texts.opening import sideways
from dashboard.texts.rows import say_rows
from dashboard.widgets import address
from dashboard.widgets.downloads import file_name, offer_table
from dashboard.widgets.paging import choose_page
from dashboard.widgets.tables import cell, table

PAGE = 100
"""Rows that are shown at once."""

MOST_ON_PHONES = 5
"""Columns of the list that a phone shows at once."""

_RANGE = "scores_listed"
_BIN = "bin_listed"
"""The bin that was clicked, with the data and the number of bins it is of."""


def choose_range() -> ScoreRange:
    """Let the user set a range of scores before calibration."""
    ends = st.slider(
        listed.RANGE, 0, 100, (0, 100), key=_RANGE, **address.IN_ADDRESS, on_change=_forget_bin
    )
    low, high = sorted(ends)  # an address may hold them the other way round
    return ScoreRange(low / 100, high / 100)


def _forget_bin() -> None:
    st.session_state.pop(_BIN, None)


def on_click(scene: Scene, key: str, bins: BinTable, *, after: bool) -> Any:
    """Return what is called when a bin of a diagram with this key is clicked."""
    filled = np.flatnonzero(bins.counts).tolist()
    return partial(_keep_bin, key, _whose(scene), filled, after=after)


def _keep_bin(key: str, whose: object, filled: list[int], *, after: bool) -> None:
    """Keep which bin was clicked; each trace that can be has a point per bin that holds rows."""
    points = st.session_state[key]["selection"]["points"]
    places = [point["point_index"] for point in points if point["point_index"] < len(filled)]
    if places:
        st.session_state[_BIN] = whose, filled[places[0]], after
    else:
        _forget_bin()


def _whose(scene: Scene) -> tuple[object, ...]:
    return scene.upload.digest, scene.chosen, repr(scene.settings.event), scene.settings.n_bins


def clicked(scene: Scene) -> ScoreRange | None:
    """Return the range of the bin that was clicked; None where none was of what is shown."""
    whose, place, after = st.session_state.get(_BIN, (None, 0, False))
    if whose != _whose(scene):
        return None
    side = scene.evaluated.after if after else scene.evaluated.before
    low, high = (float(side.bins.edges[place + end]) for end in (0, 1))
    return ScoreRange(low, high, above=place > 0, after=after)


def show_chosen(scene: Scene) -> None:
    """Show the rows of the bin that was clicked, or of a range; none until one is chosen."""
    st.subheader(say_rows(listed.HEADING), anchor=False)
    left, right = st.columns([1, 2], gap="medium")
    with left:
        chosen = choose_range()
        st.markdown(f":small[{listed.HOW}]")
    one_bin = clicked(scene)
    if one_bin is None and chosen == ScoreRange(0, 1):
        return
    with right:
        show_rows(scene, one_bin or chosen, key="bin_rows", first="file")


def show_rows(scene: Scene, chosen: ScoreRange, *, key: str, first: RowOrder = "errors") -> None:
    """Show the rows of a range of scores, a page of them, with a file of all.

    ``scene``: the rows that are looked at. ``chosen``: which of them. ``key``: of the controls.
    ``first``: order until one is chosen.
    """
    words = scene.event_words
    top, controls = st.container(), st.container(horizontal=True, vertical_alignment="bottom")
    with controls:
        order = cast(
            "RowOrder",
            address.choose_box(
                listed.ORDER, listed.ORDERS, key=f"{key}_order", default=first, width=220
            ),
        )
        places = rows_of_range(scene, chosen, order)
        start = choose_page(places.size, PAGE, f"{key}_page")
    misses = int(np.count_nonzero(scene.evaluated.before.event.hits[places] == 0))
    between, when = (100 * chosen.low, 100 * chosen.high), listed.AFTER_SCORE * chosen.after
    top.markdown(listed.range_sentence(between, places.size, misses, words, when))
    if not places.size:
        return
    cells = cells_of(scene)
    shown_rows = cells(places[start : start + PAGE])
    # Of the prediction itself, the two classes say already whether it was right.
    classes = shown_rows.predicted is not None
    hit = "" if classes and words.top else words.plain if words.named else listed.HIT
    head = listed.list_head(shown_rows.columns, classes=classes, hit=hit, names=shown_rows.names)
    _show_table(head, lines_of(shown_rows, hits=bool(hit)))
    numbered = listed.numbered(scene.upload.contents, scene.where)
    note = listed.list_note((start, len(shown_rows.numbers)), places.size, words, numbered, order)
    decided = listed.decided_note(scene.evaluated) if classes else ""
    st.markdown(f":small[{note} {decided}]")
    offer_table(
        lambda: _saved(head, cells(places), hits=bool(hit), in_percent=scene.upload.in_percent),
        label=say_rows(listed.DOWNLOAD),
        name=file_name("rows"),
    )


def lines_of(rows: ListedRows, *, hits: bool) -> list[list[str | float]]:
    """Return the listed rows' cells in the order of their heading, which may have the outcome."""
    classes = [part for part in (rows.true, rows.predicted) if part is not None]
    came_true = [listed.CAME_TRUE[bool(hit)] for hit in rows.hits]
    parts = (
        rows.numbers,
        *rows.names.values(),
        *classes,
        *([came_true] if hits else []),
        rows.before.tolist(),
        rows.after.tolist(),
        *rows.columns.values(),
    )
    return [list(line) for line in zip(*parts, strict=True)]


def _saved(head: list[str], rows: ListedRows, *, hits: bool, in_percent: bool) -> str:
    """Write the listed rows as a file, with scores as the data have them."""
    if in_percent:
        scores = listed.BEFORE, listed.AFTER
        head = [as_percent(name) if name in scores else name for name in head]
        rows = replace(rows, before=percents(rows.before), after=percents(rows.after))
    return csv_of(head, lines_of(rows, hits=hits))


def _show_table(head: list[str], lines: list[list[str | float]]) -> None:
    if len(head) > MOST_ON_PHONES:
        with st.container(key="phone_rows_hint"):
            st.markdown(f":small[{sideways(len(head))}]")
    scores = {head.index(listed.BEFORE), head.index(listed.AFTER)}
    rows = [
        [cell(_text(one, share=place in scores)) for place, one in enumerate(line)]
        for line in lines
    ]
    heads = [cell(name) for name in head]
    with st.container(key="rows_table"):
        st.html(table("measures listed all-columns", heads, rows, named=False))


def _text(content: str | float, *, share: bool) -> str:
    if isinstance(content, str):
        return shortened(content)
    return listed.score(content) if share else listed.number(content)
