"""Data needed: the error of each calibrator with fewer calibration rows."""

import streamlit as st

from calibcore.data_needed import LearningCurves, LearningPlan, LearningProgress
from dashboard.compute.comparison import settings_of
from dashboard.document.blocks import Table, plain_rows
from dashboard.figures.data_needed import learning_graph, leaves
from dashboard.scene import Scene
from dashboard.settings import NO_METHOD, is_variant, method_of
from dashboard.texts.glossary import SHORT_NAMES
from dashboard.texts.methods import SCORE_MAP_KEYS, method_name
from dashboard.texts.numbers import escape_markdown
from dashboard.texts.rows import say_rows
from dashboard.texts.summaries import NEEDS_ROWS
from dashboard.views.data_needed import results, words
from dashboard.widgets import address, headline
from dashboard.widgets import comparison as comparison_widgets
from dashboard.widgets.blocks import write
from dashboard.widgets.graph import show_graph
from dashboard.widgets.long_work import LongWork

ASK_FROM = 4.0
"""Estimated seconds from which on the curves wait for a click; it may take twice as long."""


def show(scene: Scene) -> None:
    """Show the page."""
    headline.show_subject(scene)
    if scene.upload.summary is not None:
        st.info(NEEDS_ROWS, icon=":material/info:")
        return
    place = st.container()
    keys = _choose_methods(scene)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        measure = _choose_error()
        with st.popover(words.SETTINGS):
            n_draws = _choose_draws()
    plan = results.plan_of(scene, n_draws)
    n_rows = results.learning_split(scene).calibration.n_samples
    if len(plan.sizes) < 2:
        place.markdown(words.too_small(n_rows))
        return
    if not keys:
        place.markdown(words.NO_METHODS)
        return
    curves = _learn(scene, keys, plan)
    if len(curves.curves) < 2:
        place.markdown(say_rows(words.NOTHING_YET))
        return
    n_test = _n_test(scene)
    if scene.in_folds:
        st.markdown(f":small[{say_rows(words.HALVED)}]")
    first, *rest = map(say_rows, words.conclusion(curves, measure, n_test))
    place.subheader(first, anchor=False)
    with place:
        st.markdown(" ".join(rest))
        comparison_widgets.show_recommended(scene)
    _show_graphs(scene, curves, measure)


def _choose_methods(scene: Scene) -> list[str]:
    """Let the user choose what is fitted."""
    chosen = scene.settings.method
    with_classes = scene.class_names is not None
    offered = words.ALL if with_classes else SCORE_MAP_KEYS
    usual = words.USUAL if len(scene.class_names or ()) > 2 else words.USUAL_SCORES
    place = "learners" if with_classes else "score_learners"
    choices = address.several(place, usual)
    variants = [key for key in choices if is_variant(key) and method_of(key) in offered]
    keys = address.choose_several(
        words.METHODS,
        {key: method_name(key) for key in (*offered, *variants)},
        key=place,
        default=usual,
        help=words.METHODS_HELP,
    )
    if chosen == NO_METHOD or any(settings_of(scene, key) == scene.settings for key in keys):
        return keys
    st.markdown(f":small[{words.with_chosen(chosen)}]")
    return [chosen, *keys]


def _choose_draws() -> int:
    """Let the user choose the number of subsamples per size."""
    chosen = st.segmented_control(
        words.DRAWS,
        [5, 10, 30],
        default=10,
        required=True,
        key="draws",
        **address.IN_ADDRESS,
        help=words.DRAWS_HELP,
    )
    return int(chosen or 10)


def _choose_error() -> str:
    """Let the user choose by which error calibrators are compared."""
    return address.choose_button(
        words.ERROR, words.SHORT_MEASURES, key="data_needed_error", default="event_nll"
    )


def _learn(scene: Scene, keys: list[str], plan: LearningPlan) -> LearningCurves:
    """Return the curves, computed after a click; or what there is of them."""
    work = LongWork(("data needed", scene.upload.digest, scene.settings, tuple(keys), plan))
    curves = results.finished(scene, keys, plan)
    if results.is_complete(curves, keys):
        return curves
    if not work.agreed(results.seconds(scene, keys, plan), words.WHAT, ask_from=ASK_FROM):
        if len(curves.curves) > 1:
            st.markdown(words.STOPPED)
        return curves
    with work.watched() as report:

        def say(step: LearningProgress) -> None:
            report(step.share, words.step_words(step))

        return results.learn(scene, keys, plan, say)


def _show_graphs(scene: Scene, curves: LearningCurves, measure: str) -> None:
    """Show the chosen error beside the rows needed, and other measures closed at first."""
    nll = words.comparable_nll(curves)
    lines: list[str] = []
    left, right = st.columns(2, gap="medium")
    with left:
        _show_graph(scene, curves, measure, lines)
    with right:
        needs = plain_rows(words.need_rows(curves, measure, _n_test(scene)))
        write(Table("rows needed", words.need_heads(curves), needs, look="measures all-columns"))
        st.markdown(f":small[{words.need_note(measure)}]")
        if scene.expert:
            st.markdown(f":small[{words.draws_note(curves)}]")
    with st.expander(words.OTHERS):
        for place, key in zip(
            st.columns(2, gap="medium"),
            (nll if nll != measure else "ks_error", "accuracy"),
            strict=True,
        ):
            with place:
                _show_graph(scene, curves, key, lines)


def _show_graph(scene: Scene, curves: LearningCurves, measure: str, lines: list[str]) -> None:
    """Show one graph; what was told of an earlier one stands in its description alone."""
    title = words.measure_name(measure)
    names = {one.key: SHORT_NAMES[method_of(one.key)] for one in curves.curves}
    chosen = next(
        (one.key for one in curves.curves if settings_of(scene, one.key) == scene.settings), ""
    )
    figure = learning_graph(curves, measure, title, names, scene.palette, chosen)
    notes = [words.marks_note(curves), *([words.LEAVES] if leaves(curves, measure) else [])]
    shown = [words.caption(measure), *(note for note in notes if note not in lines)]
    again = [note for note in notes if note in lines]
    lines += shown
    show_graph(f"Learning {measure}", figure, " ".join(shown), " ".join(again))
    missing = words.missing_note(curves, measure)
    if missing:
        st.markdown(f":small[{escape_markdown(missing)}]")


def _n_test(scene: Scene) -> int:
    return results.learning_split(scene).test.n_samples
