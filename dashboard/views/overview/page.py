"""Overview: the verdict, its picture, what calibration changed, recommendations, measures."""

from collections.abc import Sequence
from html import escape

import streamlit as st

from calibcore.evaluation import SetResult
from calibcore.inference import Inference, Interval
from calibcore.metrics import Measure
from dashboard import compute, texts
from dashboard.scene import Scene
from dashboard.tables import csv_of
from dashboard.texts.limits import power_sentence
from dashboard.texts.measures import (
    DEFINED,
    GROUPS,
    MARKS,
    MeasureRow,
    Shown,
    finding_of,
    listed,
    measure_rows,
    narrow_note,
)
from dashboard.texts.rows import say_rows
from dashboard.texts.sentences import capitalised
from dashboard.texts.subject import scene_set
from dashboard.widgets import address, diagrams, graph, headline, terms
from dashboard.widgets.downloads import file_name, offer_table
from dashboard.widgets.tables import Part, cell, coloured, explained, table

TERMS = (
    "score",
    "observed_frequency",
    "calibrator",
    "calibration_set",
    "test_set",
    "decision",
    "null_band",
)


def show(scene: Scene) -> None:
    """Show the page."""
    headline.show_subject(scene)
    headline.show_verdict(scene)
    gap = st.container(key="mean_gap").empty()
    worst = st.container(key="worst_subgroup").empty()
    graph.choose_side_on_phones()
    diagrams.show_diagrams(scene)
    figures = headline.Figures(scene, gap, worst)
    inference = show_measures(scene)
    if inference is not None:
        figures.show(inference)
    terms.show_terms(TERMS)


_HEAD = ("Measure", "Before", "After", "Change")
_CLOSER = ("", "95% limit if perfectly calibrated")
"""Columns of what is known of the uncertainty."""


def show_measures(scene: Scene) -> Inference | None:
    """Show the measures at once, their uncertainty as soon as it is known, and return it."""
    evaluated = scene.evaluated
    st.subheader("Measures", anchor=False)
    full = _choose_list()
    st.markdown(f":small[{capitalised(scene_set(scene))}]")
    n_classes = None if scene.class_names is None else len(scene.class_names)
    measures = listed(full=full, n_classes=n_classes, event=scene.settings.event)
    place = st.empty()
    with place.container():
        # The columns of the uncertainty have their place before it is known.
        _show_table(scene, None, measures, grouped=full, closer=scene.n_resamples > 0)
    found = None
    offer_table(
        lambda: measures_csv(evaluated, measures, found), name=file_name("measures"), facts=True
    )
    if not scene.n_resamples:
        return None
    bar = st.empty()

    def report(share: float) -> None:
        bar.progress(share, texts.LOOKING_CLOSER)

    found = compute.closer_look(scene, measures, report)
    bar.empty()
    with place.container():
        _show_table(scene, found, measures, grouped=full, closer=True)
    return found


def measures_csv(
    evaluated: SetResult, measures: tuple[Measure, ...], inference: Inference | None
) -> str:
    """Return the measures for a spreadsheet, with every digit; empty where one is not defined.

    Each value is followed by the ends of its interval, as far as they are known.
    """
    head = [_HEAD[0]]
    for name in _HEAD[1:]:
        head += [name, f"{name}, from", f"{name}, to"]
    lines = []
    marks = (shown.mark for shown in measure_rows(evaluated, inference, measures))
    for measure, mark in zip(measures, marks, strict=True):
        row, known = evaluated.compare(measure.key), finding_of(inference, measure.key)
        before, after, change = (known.before, known.after, known.change) if known else [None] * 3
        lines.append((
            measure.name,
            *(row.before, *_ends(before.interval if before else None)),
            *(row.after, *_ends(after.interval if after else None)),
            *(row.change, *_ends(change)),
            MARKS[mark][1] if mark else "",
        ))  # fmt: skip
    return csv_of([*head, "In words"], lines)


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else (interval.low, interval.high)


def _choose_list() -> bool:
    """Show the choice between the short and the full list of measures; return True if full."""
    chosen = address.choose(
        st.segmented_control,
        "Measures",
        {"short": "Short list", "all": "All"},
        key="measures",
        default="short",
        required=True,
        label_visibility="collapsed",
    )
    return chosen == "all"


def _show_table(
    scene: Scene,
    inference: Inference | None,
    measures: tuple[Measure, ...],
    *,
    grouped: bool,
    closer: bool,
) -> None:
    rows = measure_rows(scene.evaluated, inference, measures, expert=scene.expert)
    groups = [measure.group if grouped else "" for measure in measures]
    st.html(_table(rows, groups, closer=closer))
    evaluated, expert = scene.evaluated, scene.expert
    notes = [texts.table_note(evaluated, measures), DEFINED]
    if inference is not None:
        notes += [texts.uncertainty_note(inference, expert=expert), narrow_note(measures)]
    notes += [
        texts.below_tiles(evaluated, expert=expert),
        power_sentence(evaluated.before, evaluated.n_samples, expert=expert),
    ]
    with st.expander("About these numbers"):
        st.markdown("\n".join(f"- {note}" for note in notes if note))


def _table(rows: list[MeasureRow], groups: list[str], *, closer: bool) -> str:
    lines, last = list[Sequence[Part]](), ""
    for row, group in zip(rows, groups, strict=True):
        if group != last:
            lines.append((cell(GROUPS[group]),))
            last = group
        lines.append(_line(row, closer=closer))
    heads = [cell(name) for name in (*_HEAD, *(_CLOSER if closer else ()))]
    return table("measures", heads, lines, scrolls=False)


def _line(row: MeasureRow, *, closer: bool) -> Sequence[Part]:
    what = f"{escape(say_rows(row.definition))} <cite>{escape(row.source)}</cite>"
    name = explained(row.name, what)
    cells = [_cell(shown) for shown in (row.before, row.after, row.change)]
    if not closer:
        return name, *cells
    sign = ""
    if row.mark is not None:
        sign = coloured(" ".join(MARKS[row.mark]), row.mark.replace(" ", "-"))
    return name, *cells, ("mark", sign), _cell(row.perfect)


def _cell(shown: Shown) -> str:
    return cell(shown.value, shown.note)
