"""Calibration maps: how calibrators change scores, and manual settings."""

import streamlit as st

from dashboard.compute import maps as compute
from dashboard.figures.maps import NamedCurve, chosen_rows, cloud_graph, leaves_bins_out
from dashboard.figures.triangle import triangle
from dashboard.parts import address, fitted, headline, manual, take_home
from dashboard.parts.graph import show_graph
from dashboard.scene import Scene
from dashboard.settings import NO_METHOD, method_by_key
from dashboard.wording import maps as words
from dashboard.wording import method_name


def show(scene: Scene) -> None:
    """Show the page."""
    headline.show_subject(scene)
    method, event = scene.settings.method, scene.settings.event
    sentence = words.movement_sentence(
        method,
        compute.moved(scene),
        scene.where,
        expert=scene.expert,
        waiting=scene.waiting,
    )
    st.subheader(sentence, anchor=False)
    knows_groups = method != NO_METHOD and method_by_key(method).knows_groups
    curves = _curves_of_groups(scene) if knows_groups else _choose_curves(scene)
    note = words.falls_note([c.name for c in curves if c.curve.falls], expert=scene.expert)
    if note:
        st.markdown(note)
    own = any(curve.chosen for curve in curves)
    on_classes = method != NO_METHOD and method_by_key(method).acts_on == "classes"
    if on_classes:
        inside = words.INSIDE if own else words.NO_CURVE
        st.markdown(f":small[{inside.format(name=method_name(method))}]")
    if knows_groups:
        st.markdown(f":small[{words.of_groups(len(curves) - 1, scene.settings.group or '')}]")
    curve_graph, move_graph = compute.draw_maps(scene, curves)
    left, right = st.columns(2, gap="medium")
    if on_classes:
        with left:
            _show_cloud(scene, words.row_names(event))
    with right if on_classes else left:
        caption = words.map_caption(scene.settings.n_bins, folds=any(one.folds for one in curves))
        show_graph("Maps curves", curve_graph, caption)
    if not on_classes:
        with right:
            caption = words.shift_caption(bins_left_out=leaves_bins_out(scene.evaluated.before))
            show_graph("Maps shift", move_graph, caption)
    _show_triangle(scene)
    fitted.show(scene)
    take_home.show(scene)
    manual.show(scene)


def _curves_of_groups(scene: Scene) -> list[NamedCurve]:
    """Return the map of all rows, and those of the groups that differ most from it."""
    of_all = compute.chosen_curve(scene)
    if of_all is None:
        return []
    own = [
        NamedCurve(words.short_group(name), one) for name, one in compute.curves_of_groups(scene)
    ]
    return [NamedCurve(words.ALL_ROWS, of_all, chosen=True), *own]


def _choose_curves(scene: Scene) -> list[NamedCurve]:
    """Let the user add curves to that of the chosen calibrator."""
    added = address.choose_several(
        words.CURVES,
        {key: method_name(key) for key in words.SCORE_MAPS},
        key="curves",
        default=words.USUAL_SCORE_MAPS,
        help=words.CURVES_HELP,
    )
    chosen = scene.settings.method
    found = []
    own = compute.chosen_curve(scene)
    if own is not None:
        folds = compute.fold_curves(scene)
        found.append(NamedCurve(words.SHORT_NAMES[chosen], own, chosen=True, folds=folds))
    refused = []
    for key in added:
        if own is not None and key == chosen:
            continue
        curve = compute.curve_of(scene, key)
        if curve is None:
            refused.append(key)
        else:
            found.append(NamedCurve(words.SHORT_NAMES[key], curve))
    if refused:
        st.markdown(words.not_drawn(refused))
    return found


def _show_cloud(scene: Scene, names: tuple[str, str]) -> None:
    evaluated = scene.evaluated
    before, after = evaluated.before.event, evaluated.after.event
    figure = cloud_graph(before, after, evaluated.before, names, scene.palette)
    n_shown = chosen_rows(before.scores, after.scores).size
    show_graph("Maps cloud", figure, words.cloud_caption(evaluated.n_samples, n_shown, scene.where))


def _show_triangle(scene: Scene) -> None:
    """Show three classes in a triangle, or why there are no arrows."""
    names = scene.class_names
    if names is None or len(names) != 3:
        return
    st.subheader(words.TRIANGLE, anchor=False)
    found = compute.arrows(scene)
    if found is None:
        st.markdown(words.no_triangle(scene.settings.method, scene.waiting))
        return
    titles = (words.GRID_TITLE, words.ROWS_TITLE.format(where=scene.where))
    for number, (place, moves, title) in enumerate(
        zip(st.columns(2, gap="medium"), found, titles, strict=True)
    ):
        with place:
            caption = words.triangle_caption(len(moves.before), grid=number == 0, where=scene.where)
            figure = triangle(moves, names, title, scene.palette)
            show_graph(f"Triangle {number}", figure, caption)
