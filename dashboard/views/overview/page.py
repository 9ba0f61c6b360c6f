"""Overview: the verdict, its picture, what calibration changed, recommendations, measures."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calibcore.events import OneClass
from calibcore.inference import Inference
from calibcore.metrics import Measure
from dashboard.compute.advice import classes_of, steps_of
from dashboard.compute.uncertainty import closer_look, measures_of
from dashboard.scene import Scene
from dashboard.texts.advice import HEADING
from dashboard.texts.measures import DEFINED
from dashboard.texts.numbers import NO_BREAK, escape_markdown
from dashboard.texts.power import power_sentence
from dashboard.texts.refusal import capitalised
from dashboard.texts.subject import scene_set
from dashboard.texts.tiles import tiles
from dashboard.texts.verdict import LOOKING_CLOSER
from dashboard.views.overview.document import (
    details_of,
    measure_notes,
    measures_csv,
    measures_table,
)
from dashboard.widgets import address, diagrams, graph, headline, terms
from dashboard.widgets.blocks import write
from dashboard.widgets.downloads import file_name, offer_table

STEPS_SHOWN = 3
"""Recommendations that are shown at once."""

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
    first = headline.show_headline(scene)
    graph.choose_side_on_phones(scene.evaluated)
    diagrams.show_diagrams(scene)
    figures = _Figures(scene, first)
    inference = show_measures(scene)
    if inference is not None:
        figures.show(inference)
    terms.show_terms(TERMS)


def show_measures(scene: Scene) -> Inference | None:
    """Show the measures at once, their uncertainty as soon as it is known, and return it."""
    evaluated = scene.evaluated
    st.subheader("Measures", anchor=False)
    full = _choose_list()
    st.markdown(f":small[{capitalised(scene_set(scene))}]")
    measures = measures_of(scene, full=full)
    place = st.empty()
    with place.container():
        # The columns of the uncertainty have their place before it is known.
        _show_table(scene, None, measures, grouped=full, closer=scene.n_resamples > 0)
    # The file is of the table, to hold no result: the one below, once intervals are known.
    table = measures_table(evaluated, None, measures)
    offer_table(lambda: measures_csv(table), name=file_name("measures"), facts=True)
    if not scene.n_resamples:
        return None
    bar = st.empty()

    def report(share: float) -> None:
        bar.progress(share, LOOKING_CLOSER)

    look = closer_look(scene, measures, report)
    table = measures_table(evaluated, look, measures)
    bar.empty()
    with place.container():
        _show_table(scene, look, measures, grouped=full, closer=True)
    return look


def _choose_list() -> bool:
    """Show the choice between the short and the full list of measures; return True if full."""
    chosen = address.choose_button(
        "Measures",
        {"short": "Short list", "all": "All"},
        key="measures",
        default="short",
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
    evaluated, expert = scene.evaluated, scene.expert
    write(
        measures_table(
            evaluated, inference, measures, closer=closer, grouped=grouped, expert=expert
        )
    )
    first, *more = measure_notes(scene, inference, measures).lines
    power = power_sentence(evaluated.before, evaluated.n_samples, expert=expert)
    with st.expander("About these numbers"):
        st.markdown("\n".join(f"- {note}" for note in (first, DEFINED, *more, power) if note))


class _Figures:
    """Recommendations, the four figures, and where scores are off; again when more is known."""

    def __init__(self, scene: Scene, first: DeltaGenerator) -> None:
        self._scene, self._first = scene, first
        # Found first, as what an earlier run left in the places is gone once they are made.
        self._classes = classes_of(scene)
        self._steps = st.container(key="next_steps").empty()
        self._tiles = st.container(key="tiles").empty()
        self._gap = st.container(key="mean_gap").empty()
        _, where, notes = details_of(scene)
        write(where)
        headline.show_notes(scene, notes)
        self.show()
        for text in scene.result.warnings:
            st.markdown(f":small[:material/warning: {escape_markdown(text)}]")

    def show(self, inference: Inference | None = None) -> None:
        """Show all with what is known of the uncertainty."""
        scene = self._scene
        with self._gap.container():
            write(details_of(scene, inference)[0])
        with self._tiles.container():
            _show_tiles(scene, inference)
        with self._steps.container(gap="small"):
            st.subheader(HEADING, anchor=False)
            if inference is None and scene.n_resamples:  # nothing is concluded without them
                st.markdown(f":small[{LOOKING_CLOSER} \u2026]")
                return
            steps = steps_of(scene, inference, self._classes)
            shown = "first" if inference is None else "again"
            self._first.markdown(f":small[{steps[0].as_next}]")
            for step in steps[:STEPS_SHOWN]:
                headline.show_step(scene, step, shown)
            if steps[STEPS_SHOWN:]:
                with st.expander("More"):
                    for step in steps[STEPS_SHOWN:]:
                        headline.show_step(scene, step, shown)


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
