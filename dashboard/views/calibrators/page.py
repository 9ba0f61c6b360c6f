"""Compare calibrators by cross-validation, with their values on the test set."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calibcore.comparison import Contestant, EvaluatedOn, Picks, can_rank, pick, ranked, sides_shown
from calibcore.inference import Finding
from calibcore.metrics import Measure
from calibcore.splits import N_FOLDS
from dashboard.compute import comparison
from dashboard.compute.comparison import (
    ComparisonResults,
    FoldPlan,
    comparison_closer,
    comparison_sides,
    estimate_comparison,
    run_comparison,
    seconds_of,
    settings_of,
)
from dashboard.compute.groupings import subgroupings_for
from dashboard.compute.processes import MOST_RESTARTS
from dashboard.compute.uncertainty import measures_defined
from dashboard.document.blocks import Cell, Row, Table
from dashboard.scene import Scene
from dashboard.settings import NO_METHOD
from dashboard.tables import comparison_csv, comparison_table, measures_shown
from dashboard.texts import choosing as choosing_words
from dashboard.texts import comparison as words
from dashboard.texts.measures import NO_RESAMPLES
from dashboard.texts.methods import method_name
from dashboard.texts.reliability import panel_line
from dashboard.texts.rows import say_rows
from dashboard.texts.subject import data_subject
from dashboard.views.calibrators.document import note_of, picture_of
from dashboard.widgets import address, calibrator_choice, diagrams
from dashboard.widgets import comparison as comparison_widgets
from dashboard.widgets.blocks import write
from dashboard.widgets.diagrams import Panel, show_panels
from dashboard.widgets.downloads import file_name, offer_table
from dashboard.widgets.graph import choose_columns_on_phones
from dashboard.widgets.headline import show_design
from dashboard.widgets.links import show_link
from dashboard.widgets.long_work import STOP, ResultPlace, stoppable

ASK_FROM = 20.0
"""Seconds from which on fits wait for a click."""

MEASURES = ("event_nll", "ks_error", "ece", "event_brier", "nll")
"""Columns of the table unless others are chosen, by key."""

_RUN = "calibrators_run"

Findings = dict[tuple[str, EvaluatedOn], Finding]
"""How sure a change is, by calibrator and by where it is evaluated."""


def show(scene: Scene) -> None:
    """Show the best calibrator, the measure by which all are ranked, and the table."""
    st.markdown(f":small[{data_subject(scene)}]")
    show_design(scene)
    top = ResultPlace()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        keys = calibrator_choice.choose_calibrators(scene)
        measure = _choose_measure(scene)
        intervals = address.choose_switch(
            words.INTERVALS, key="calibrators_intervals", help=words.INTERVALS_HELP
        )
        fold_plan = _choose_folds(scene)
    if intervals and not scene.n_resamples:
        st.markdown(f":small[{NO_RESAMPLES}]")
    working, body = st.empty(), ResultPlace()
    if scene.split.calibration.n_samples < 2:
        with body.container():
            st.info(words.NOT_CROSSED, icon=":material/info:")
        return
    compared = _run(scene, keys, fold_plan, working, [top, body])
    contestants = ranked(compared.contestants, measure, "crossed")
    picks = pick(contestants, measure) if len(contestants) > 1 else None
    advised = ""
    with top.container():
        if picks is not None:
            advised = comparison_widgets.show(scene, picks, contestants, fold_plan)
    with body.container():
        if contestants:
            shown = _View(compared, contestants, picks, measure, fold_plan, advised)
            _show_comparison(scene, shown, intervals=intervals and scene.n_resamples > 0)
        else:
            _show_refused(compared)
        show_choosing(scene, comparison.contestants(scene.upload), contestants)


# Controls -----------------------------------------------------------------------------------


def _choose_measure(scene: Scene) -> Measure:
    """Let the user choose the measure by which calibrators are ranked."""
    by_key = {m.key: m for m in _measures(scene) if can_rank(m)}
    chosen = address.choose_box(
        words.RANK_BY,
        {key: m.name for key, m in by_key.items()},
        key="by",
        default="event_nll",
        help=words.RANK_BY_HELP,
        width=280,
    )
    return by_key[chosen]


def _choose_folds(scene: Scene) -> FoldPlan:
    """Explain the comparison, and let the user choose its folds where no page else has any."""
    with st.popover(words.HOW, type="tertiary", icon=":material/info:"):
        if scene.in_folds:
            st.markdown(say_rows(words.HOW_IN_FOLDS))
            return FoldPlan(N_FOLDS, scene.settings.seed)
        st.markdown(say_rows(words.HOW_IT_WORKS))
        with st.container(horizontal=True):
            n_folds = address.choose_number("Folds", 2, 20, 5, key="folds", width=160)
            seed = address.choose_number(
                "Seed of the folds", 0, 2**31 - 1, 0, key="folds_seed", width=160
            )
    return FoldPlan(n_folds, seed)


def _measures(scene: Scene) -> list[Measure]:
    return [m for m in measures_defined(scene) if not m.compares_pairs]


def _choose_columns(scene: Scene) -> list[str]:
    names = {m.key: m.name for m in _measures(scene) if m.key != "accuracy"}
    return address.choose_several(
        words.MEASURES,
        names,
        key="calibrators_measures",
        default=[key for key in MEASURES if key in names],
        help=words.MEASURES_HELP,
        label_visibility="collapsed",
    )


# The run ------------------------------------------------------------------------------------


def _run(
    scene: Scene,
    keys: list[str],
    fold_plan: FoldPlan,
    place: DeltaGenerator,
    results: list[ResultPlace],
) -> ComparisonResults:
    """Fit the calibrators, unless that is expensive and was not asked for, or was stopped.

    Meanwhile, the results of an earlier choice are removed from their places.
    """
    wanted = (scene.upload.digest, replace(scene.settings, only=None), fold_plan, tuple(keys))
    seconds = estimate_comparison(scene, keys, fold_plan)
    n_folds = min(fold_plan.n_folds, scene.split.calibration.n_samples)

    def decide(go: bool) -> None:  # noqa: FBT001 - a callback's arguments have no names
        st.session_state[_RUN] = (wanted, go)

    was, go = st.session_state.get(_RUN, (None, False))
    is_same = was == wanted
    if not is_same:
        go = seconds < ASK_FROM

    def begin() -> None:
        for result in results:
            result.clear()
        st.button(STOP, on_click=decide, args=(False,))

    tell = stoppable(place, begin)

    def report(share: float, key: str, fold: int) -> None:
        tell(share, words.working_on(key, fold, n_folds))  # what was finished is kept

    compared = run_comparison(scene, keys, fold_plan, report, go=go)
    place.empty()
    if compared.ends:
        text = words.ended(compared.ends, alone=compared.ends > MOST_RESTARTS)
        st.warning(text, icon=":material/restart_alt:")
    if compared.missing:
        with place.container():
            n_missing = sum(key != NO_METHOD for key in compared.missing)
            stop = f"{words.STOPPED} " if is_same else ""
            calibrator_choice.warn_of_overfitting(scene, compared.missing)
            text = stop + words.fit_cost_sentence(n_missing, seconds, n_folds)
            st.info(text, icon=":material/hourglass_top:")
            name = "Go on" if is_same else "Start"
            st.button(name, on_click=decide, args=(True,), type="primary")
    return compared


# What is shown ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _View:
    """What is drawn."""

    compared: ComparisonResults
    """The comparison."""
    contestants: list[Contestant]
    """Sorted by the measure."""
    picks: Picks | None
    """The best ones."""
    measure: Measure
    """By which they are ranked."""
    fold_plan: FoldPlan
    """The folds."""
    advised: str
    """Key of the calibrator that is advised; "" for none."""


def _show_refused(results: ComparisonResults) -> None:
    for key, reason in results.refused:
        st.info(words.refusal(key, reason), icon=":material/block:")


def _show_comparison(scene: Scene, shown: _View, *, intervals: bool) -> None:
    place = st.empty()
    with place.container():
        _show_dots(scene, shown, {})
    bar = st.empty()
    _show_refused(shown.compared)
    for one in shown.contestants:
        columns = [way.by for way in subgroupings_for(scene.upload, settings_of(scene, one.key))]
        if columns:
            st.markdown(f":small[{words.grouped_by(one.key, columns)}]")
    _show_table(scene, shown)
    _show_diagrams(scene, shown)
    show_link("models", words.TABLE_LINK, models_view="table")
    if intervals:
        findings = _look_closer(scene, shown, bar)
        with place.container():
            _show_dots(scene, shown, findings)


def _show_dots(scene: Scene, shown: _View, findings: Findings) -> None:
    changes = {place: one.change for place, one in findings.items() if one.change is not None}
    among, measure = shown.contestants, shown.measure
    ranks, advised = shown.picks is not None, shown.advised
    write(picture_of(scene, among, measure, changes, advised=advised, ranks=ranks))
    if findings:
        write(_changes_table(shown, findings))


def _look_closer(scene: Scene, shown: _View, bar: DeltaGenerator) -> Findings:
    """Compute the intervals of the changes from uncalibrated."""
    others = [one for one in shown.contestants if one.key != NO_METHOD]
    findings, sides = {}, sides_shown(shown.contestants)
    for number, one in enumerate(others):
        for half, side in enumerate(sides):
            bar.progress((number + half / len(sides)) / len(others), words.looking_at(one.key))
            closer = comparison_closer(scene, one, shown.fold_plan, side, shown.measure)
            findings[one.key, side] = closer.find(shown.measure.key)
    bar.empty()
    return findings


def _show_table(scene: Scene, shown: _View) -> None:
    st.subheader(words.MEASURES, anchor=False)
    measures = measures_shown(_choose_columns(scene), shown.measure)
    columns = choose_columns_on_phones("calibrators")
    seconds = _seconds(scene, shown.contestants)
    with st.container(key="calibrators_table"):
        look, advised = f"measures {columns}", shown.advised
        write(comparison_table(shown.contestants, measures, seconds, look=look, advised=advised))
    write(note_of(scene, shown.contestants, shown.fold_plan))
    offer_table(
        lambda: comparison_csv(shown.contestants, measures, seconds),
        name=file_name("calibrators"),
        facts=True,
    )
    fits = [(one.key, one.test.fitted) for one in shown.contestants]
    warnings = [
        words.warning(key, text) for key, fitted in fits if fitted for text in fitted.warnings
    ]
    if warnings:
        with st.expander(words.warnings_title(len(warnings))):
            for text in warnings:
                st.markdown(f":small[:material/warning: {text}]")


def _seconds(scene: Scene, contestants: list[Contestant]) -> dict[str, float]:
    """Return how long each fit to the calibration set took, where it was made here."""
    seconds = {one.key: seconds_of(scene, one.key) for one in contestants}
    return {key: took for key, took in seconds.items() if took is not None and key != NO_METHOD}


def _show_diagrams(scene: Scene, shown: _View) -> None:
    """Show the reliability diagrams of all calibrators, if asked for."""
    st.subheader(words.DIAGRAMS, anchor=False)
    wanted = address.choose_switch(
        words.SHOW_DIAGRAMS, key="calibrators_diagrams", help=words.DIAGRAMS_HELP
    )
    if not wanted:
        return
    diagram, among = diagrams.choose_diagram(), shown.contestants
    where = sides_shown(among)[-1]
    # Uncalibrated first, as in the papers; then the best.
    among = sorted(among, key=lambda one: one.key != NO_METHOD)
    sides = comparison_sides(scene, among, shown.fold_plan, where)
    panels = []
    for one, side in zip(among, sides, strict=True):
        standing = one.on(where)
        line = panel_line(standing.compare, standing.n_samples)
        panels.append(Panel(method_name(one.key), line, side))
    show_panels(scene, panels, diagram, key="calibrators diagram")
    st.markdown(f":small[{words.diagrams_note(where)}]")


def _changes_table(shown: _View, findings: Findings) -> Table:
    """Return the table of the changes from uncalibrated with their intervals."""
    sides = sides_shown(shown.contestants)
    rows = (
        Row(
            one.key,
            method_name(one.key),
            tuple(_change(shown, one, findings[one.key, side], side) for side in sides),
        )
        for one in shown.contestants
        if one.key != NO_METHOD
    )
    heads = f"Change in {shown.measure.name}", *(words.CROSSED, words.TEST)[: len(sides)]
    return Table("changes", heads, tuple(rows), look="measures changes")


def _change(shown: _View, one: Contestant, finding: Finding, side: EvaluatedOn) -> Cell:
    standing = one.on(side)
    row = standing.compare(shown.measure.key)
    change, interval, sign, kind = words.change_words(finding, row, standing.n_samples)
    return Cell(change, below=(Cell(f"{interval} "), Cell(sign, kind=kind)))


def show_choosing(scene: Scene, offered: Sequence[str], contestants: Sequence[Contestant]) -> None:
    """Show the guideline with what holds for the data shown, and the table of calibrators.

    ``scene``: the data. ``offered``: keys of the calibrators that fit the data. ``contestants``:
    those that were compared.
    """
    n_rows, n_classes = scene.split.calibration.n_samples, len(scene.class_names or ())
    with st.expander(choosing_words.TITLE):
        st.markdown(f"**{choosing_words.GUIDELINE}**")
        if n_classes:
            steps = choosing_words.path(contestants, n_rows, n_classes)
            numbered = (f"{place}. {step}" for place, step in enumerate(steps, 1))
            st.markdown(say_rows("\n".join(numbered)))
            chosen = [one.key for one in contestants]
            if not set(choosing_words.PATH) <= set(chosen):
                missing = [key for key in offered if key in {*choosing_words.PATH} - {*chosen}]
                keys = [*(key for key in chosen if key != NO_METHOD), *missing]
                st.button(choosing_words.ADD, on_click=address.put, args=("methods", keys))
        else:
            st.markdown(choosing_words.ONE_SCORE)
        write(_choosing_table(choosing_words.table(offered, n_classes or 2, n_rows)))
        st.markdown(f":small[{say_rows(choosing_words.TABLE_NOTE)}]")


def _choosing_table(lines: Sequence[choosing_words.Line]) -> Table:
    rows = (
        Row(one.name, one.name, (Cell(one.keeps), Cell(one.fits, say_rows(one.each))), one.acts_on)
        for one in lines
    )
    heads = tuple(map(say_rows, choosing_words.HEADS))
    return Table("choosing", heads, tuple(rows), look="measures choosing")
