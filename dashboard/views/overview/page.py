"""Overview: the verdict, its picture, what calibration changed, recommendations, measures."""

import streamlit as st

from calibcore.inference import Inference
from calibcore.metrics import Measure
from dashboard.compute.uncertainty import closer_look
from dashboard.scene import Scene
from dashboard.texts.limits import power_sentence
from dashboard.texts.measures import (
    DEFINED,
    listed,
    narrow_note,
)
from dashboard.texts.subject import scene_set
from dashboard.texts.tiles import below_tiles, table_note, uncertainty_note
from dashboard.texts.verdict import LOOKING_CLOSER, capitalised
from dashboard.views.overview.document import measures_csv, measures_table
from dashboard.widgets import address, diagrams, graph, headline, terms
from dashboard.widgets.blocks import write
from dashboard.widgets.downloads import file_name, offer_table

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
    graph.choose_side_on_phones()
    diagrams.show_diagrams(scene)
    figures = headline.Figures(scene, first)
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
    n_classes = None if scene.class_names is None else len(scene.class_names)
    measures = listed(full=full, n_classes=n_classes, event=scene.settings.event)
    place = st.empty()
    with place.container():
        # The columns of the uncertainty have their place before it is known.
        _show_table(scene, None, measures, grouped=full, closer=scene.n_resamples > 0)
    look = None
    offer_table(
        lambda: measures_csv(evaluated, measures, look), name=file_name("measures"), facts=True
    )
    if not scene.n_resamples:
        return None
    bar = st.empty()

    def report(share: float) -> None:
        bar.progress(share, LOOKING_CLOSER)

    look = closer_look(scene, measures, report)
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
    notes = [table_note(evaluated, measures), DEFINED]
    if inference is not None:
        notes += [uncertainty_note(inference, expert=expert), narrow_note(measures)]
    notes += [
        below_tiles(evaluated, expert=expert),
        power_sentence(evaluated.before, evaluated.n_samples, expert=expert),
    ]
    with st.expander("About these numbers"):
        st.markdown("\n".join(f"- {note}" for note in notes if note))
