"""The verdict, the four figures that matter most, and recommendations."""

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calibcore.events import OneClass
from calibcore.inference import Inference
from dashboard.compute.advice import classes_of, steps_of
from dashboard.compute.verdict import findings_of, groups_of, lines_of
from dashboard.opening import choices
from dashboard.scene import Scene
from dashboard.settings import method_of
from dashboard.texts.advice import BY_GROUP, HEADING, NEXT, Step
from dashboard.texts.badges import FITTED, HELP
from dashboard.texts.classes import opened
from dashboard.texts.design import design_line
from dashboard.texts.glossary import SHORT_NAMES
from dashboard.texts.limits import rounded_note
from dashboard.texts.numbers import NO_BREAK, escape_markdown
from dashboard.texts.opening import of_extremes
from dashboard.texts.rows import say_rows
from dashboard.texts.subgroups import period_name
from dashboard.texts.subject import subject
from dashboard.texts.tiles import mean_gap_line, tiles
from dashboard.texts.verdict import (
    DETAILS,
    FITTED_HERE,
    LOOKING_CLOSER,
    SAME_DATA,
    badge,
    bridge,
    outcome,
    sides_of,
    statistics,
    verdict,
    where_off,
)
from dashboard.widgets import address
from dashboard.widgets import comparison as contest_conclusion
from dashboard.widgets.filter import choose_part
from dashboard.widgets.links import show_link

STEPS_SHOWN = 3
"""Recommendations that are shown at once."""


def show_subject(scene: Scene) -> None:
    """Show in one small line what the page is about."""
    st.markdown(f":small[{subject(scene)}]")
    show_design(scene)


def show_design(scene: Scene) -> None:
    """Show what rows stand for, where each does not stand for itself."""
    if line := design_line(scene):
        st.markdown(f":small[{escape_markdown(line)}]")


def show_headline(scene: Scene, *, notes: bool = False) -> DeltaGenerator:
    """Show the verdict of each side as a heading: what is found, its size, what it rests on.

    ``notes``: whether what may mislead is said too, where no details follow. Return the place
    below, for what is recommended.
    """
    evaluated, words = scene.evaluated, scene.event_words
    sides = sides_of(evaluated)
    with st.container(key="verdict", gap="small"):
        for name, finding in findings_of(scene).items():
            before, called = None, name
            if name == "After":
                before = evaluated.before
                called = f"After {SHORT_NAMES[method_of(scene.settings.method)]}"
            text = verdict(sides[name], words, finding, expert=scene.expert, before=before)
            st.subheader(f"{badge(called, finding)}{text.size.removeprefix(',')}", anchor=False)
        if evaluated.after is evaluated.before:
            st.markdown(f":small[{_outcome(scene)}]")
        place = st.empty()
    if notes:
        with st.container():  # there with or without notes, so that what follows keeps its place
            _show_statistics(scene)
            _show_notes(scene, extremes=[])
    return place


def _show_statistics(scene: Scene) -> None:
    if scene.expert:
        with st.expander("Test statistics"):
            st.markdown(statistics(scene.evaluated))


def _show_notes(scene: Scene, *, extremes: list[str]) -> None:
    """Show what may mislead: a KS error below its limit, rounded scores, rows of the fit."""
    rounded = rounded_note(scene.evaluated.before, certain=not extremes)
    below = bridge(sides_of(scene.evaluated))
    for note in filter(None, (below, rounded, *map(escape_markdown, extremes))):
        st.markdown(f":small[{note}]")
    if scene.chosen == "calibration":
        st.info(say_rows(FITTED_HERE), icon=":material/info:")
    if scene.result.same_data:
        st.warning(say_rows(SAME_DATA), icon=":material/warning:")


def _outcome(scene: Scene) -> str:
    """Return what the calibrator did."""
    return outcome(
        scene.result,
        scene.evaluated,
        scene.settings.method,
        expert=scene.expert,
        prediction=scene.event_words.prediction,
        waiting=scene.waiting,
    )


class Figures:
    """Recommendations, the four figures, and where scores are off; again when more is known."""

    def __init__(self, scene: Scene, first: DeltaGenerator) -> None:
        self._scene, self._first = scene, first
        # Found first, as what an earlier run left in the places is gone once they are made.
        self._classes = classes_of(scene)
        self._groups = groups_of(scene)
        self._steps = st.container(key="next_steps").empty()
        self._tiles = st.container(key="tiles").empty()
        self._gap = self._show_details()
        self.show()
        for text in scene.result.warnings:
            st.markdown(f":small[:material/warning: {escape_markdown(text)}]")

    def _show_details(self) -> DeltaGenerator:
        """Show where scores are off; return the place of the mean gaps."""
        scene = self._scene
        evaluated, findings = scene.evaluated, findings_of(scene)
        st.subheader(DETAILS, anchor=False, help=HELP)
        gap = st.container(key="mean_gap").empty()
        sides = sides_of(evaluated)
        for name, finding in findings.items():
            if finding is not FITTED:
                where = where_off(sides[name], self._groups, after=name == "After")
                st.markdown(f"{name}: {where}" if len(findings) > 1 else where)
        if evaluated.after is not evaluated.before:
            st.markdown(_outcome(scene))
        lines = lines_of(scene)
        with st.container(key="worst_subgroup"):
            if lines:
                st.markdown("  \n".join(lines))
        _show_statistics(scene)
        with st.container():
            _show_notes(scene, extremes=of_extremes(scene.upload.doubts))
        return gap

    def show(self, inference: Inference | None = None) -> None:
        """Show both with what is known of the uncertainty."""
        scene = self._scene
        self._gap.markdown(mean_gap_line(scene.evaluated, inference))
        with self._tiles.container():
            _show_tiles(scene, inference)
        with self._steps.container(gap="small"):
            st.subheader(HEADING, anchor=False)
            if inference is None and scene.n_resamples:  # nothing is concluded without them
                st.markdown(f":small[{LOOKING_CLOSER} \u2026]")
                self._first.markdown(f":small[{LOOKING_CLOSER} \u2026]")
                return
            steps = steps_of(scene, inference, self._classes, self._groups)
            shown = "first" if inference is None else "again"
            self._first.markdown(f":small[{NEXT}: {steps[0].lead}]")
            for step in steps[:STEPS_SHOWN]:
                show_step(scene, step, shown)
            if steps[STEPS_SHOWN:]:
                with st.expander("More"):
                    for step in steps[STEPS_SHOWN:]:
                        show_step(scene, step, shown)


def show_step(scene: Scene, step: Step, shown: str) -> None:
    """Show one recommendation with its way to more, as ``shown`` in one run."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(step.sentence, width="content")
        _show_way(scene, step, shown)


def _show_way(scene: Scene, step: Step, shown: str) -> None:
    """Show the way to the page or class with more; in one run it may be shown twice."""
    if step.page:
        show_link(step.page, step.link)
    if step.opens and scene.class_names is not None:
        _offer(step.link, f"open_next_{shown}", open_class, step.opens)
    if step.method:
        contest_conclusion.offer(scene, step.method, key=f"use_{shown}")
    if step.since:
        _offer(step.link, f"filter_{shown}", choose_part, *step.since)
    if step.split_at:
        _offer(f"Split at {period_name(step.split_at[1])}", f"split_{shown}", _split, step.split_at)
    if step.groups:
        _offer(step.link, f"calibrate_by_{shown}", _calibrate_by, step.groups)


def _offer(label: str, key: str, follow: Callable[..., None], *args: object) -> None:
    """Show a button that does what is advised."""
    icon = ":material/arrow_forward:"
    st.button(label, key=key, type="tertiary", icon=icon, on_click=follow, args=args)


def _split(split_at: tuple[str, ...]) -> None:
    choices.change(split_at=split_at)


def _calibrate_by(column: str) -> None:
    """Choose calibration by group, as the controls on the left do."""
    address.put_values({"method": BY_GROUP, "group": column})


def _show_tiles(scene: Scene, inference: Inference | None) -> None:
    of_class = isinstance(scene.settings.event, OneClass)
    shown = tiles(scene.evaluated, inference, of_class=of_class)
    for column, tile in zip(st.columns(4), shown, strict=True):
        with column.container(border=True, height="stretch", gap=None):
            st.metric(
                tile.name,
                tile.value,
                delta=tile.note or None,
                delta_color=tile.colour,
                delta_arrow="off",
                help=tile.definition,
            )
            if tile.interval or (inference is None and scene.n_resamples):
                # A line breaks between the two intervals, not within one; until they are known,
                # a line is kept free for them.
                interval = tile.interval.replace(" to ", f"{NO_BREAK}to{NO_BREAK}") or "\u2026"
                st.markdown(f":small[95% CI {interval}]")
            if tile.beside:
                st.markdown(f":small[{tile.beside}]")


def open_class(name: str) -> None:
    """Choose a class as the event, as the controls on the left do."""
    address.put_values({"event": "class", "class": name})
    st.toast(opened(name))
