"""Calibration maps: how calibrators change scores, and manual settings."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from calibcore.calibrators.descriptions import DescriptionTable
from calibcore.curves import KnotSweep, TemperatureSweep
from calibcore.data import LogitSet
from calibcore.events import OneClass
from dashboard.compute.fits import fit_seconds
from dashboard.compute.groupings import names_of_groups
from dashboard.document.blocks import Table, plain_rows
from dashboard.figures import reliability_diagram
from dashboard.figures.maps import (
    MOST_CLASSES,
    NamedCurve,
    chosen_rows,
    cloud_graph,
    leaves_bins_out,
    map_graph,
    shift_graph,
    triangle,
    weights_map,
)
from dashboard.figures.sweeps import knot_graphs, temperature_graphs
from dashboard.scene import Scene
from dashboard.settings import NO_METHOD, method_by_key
from dashboard.take_home import page as take_home
from dashboard.texts import fitted_groups
from dashboard.texts.glossary import SHORT_NAMES
from dashboard.texts.methods import SCORE_MAP_KEYS, method_name
from dashboard.texts.reliability import bins_caption
from dashboard.texts.rows import say_rows
from dashboard.texts.summaries import NO_HAND
from dashboard.views.maps import results, words
from dashboard.views.maps.results import AtTemperature
from dashboard.widgets import address, headline
from dashboard.widgets.blocks import write
from dashboard.widgets.graph import show_graph
from dashboard.widgets.long_work import LongWork


def show(scene: Scene) -> None:
    """Show the page."""
    headline.show_subject(scene)
    method, event = scene.settings.method, scene.settings.event
    sentence = words.movement_sentence(
        method, results.moved(scene), scene.where, expert=scene.expert, waiting=scene.waiting
    )
    st.subheader(sentence, anchor=False)
    first = headline.promise_next()
    knows_groups = method != NO_METHOD and method_by_key(method).knows_groups
    curves = _curves_of_groups(scene) if knows_groups else _choose_curves(scene)
    on_classes = method != NO_METHOD and method_by_key(method).acts_on == "classes"
    _show_notes(scene, curves, on_classes=on_classes, knows_groups=knows_groups)
    curve_graph, move_graph, on_odds = results.draw_maps(scene, curves)
    folds = any(one.folds for one in curves)
    caption = words.map_caption(scene.settings.n_bins, folds=folds, of_groups=knows_groups)
    caption = " ".join((caption, *words.shapes(curves)))
    if on_classes:
        _show_cloud(scene, words.row_names(event))
        with st.expander(words.CURVES_OF_SCORES):
            show_graph("Maps curves", curve_graph, caption)
    else:
        show_graph("Maps curves", curve_graph, caption)
        with st.expander(words.SHIFT):
            caption = words.shift_caption(bins_left_out=leaves_bins_out(scene.evaluated.before))
            show_graph("Maps shift", move_graph, caption)
        with st.expander(words.ODDS):
            show_graph("Maps odds", on_odds, words.ODDS_CAPTION)
    _show_triangle(scene)
    show_fitted(scene)
    take_home.show(scene)
    if scene.upload.summary is None:
        show_manual(scene)
    else:
        st.markdown(NO_HAND)
    headline.show_next(scene, first)


def _show_notes(
    scene: Scene, curves: list[NamedCurve], *, on_classes: bool, knows_groups: bool
) -> None:
    """Say where the map is flat, which curves fall, and what the curves are of."""
    falls = words.falls_note(curves, scene.evaluated.n_samples, expert=scene.expert)
    for note in filter(None, (words.flat_note(results.moved(scene)), falls)):
        st.markdown(f":material/warning: {note}")
    if on_classes:
        inside = words.INSIDE if any(one.chosen for one in curves) else words.NO_CURVE
        st.markdown(f":small[{inside.format(name=method_name(scene.settings.method))}]")
    if knows_groups:
        columns = [by for by, _ in names_of_groups(scene)]
        st.markdown(f":small[{words.of_groups(len(curves) - 1, columns)}]")


def _curves_of_groups(scene: Scene) -> list[NamedCurve]:
    """Return the map of all rows, and those of the groups that differ most from it."""
    of_all = results.chosen_curve(scene)
    if of_all is None:
        return []
    own = [
        NamedCurve(words.short_group(name), one) for name, one in results.curves_of_groups(scene)
    ]
    return [NamedCurve(words.ALL_ROWS, of_all, chosen=True), *own]


def _choose_curves(scene: Scene) -> list[NamedCurve]:
    """Let the user add curves to that of the chosen calibrator."""
    added = address.choose_several(
        words.CURVES,
        {key: method_name(key) for key in SCORE_MAP_KEYS},
        key="curves",
        default=words.USUAL_SCORE_MAPS,
        help=words.CURVES_HELP,
    )
    chosen = scene.settings.method
    curves = []
    own = results.chosen_curve(scene)
    if own is not None:
        folds = results.fold_curves(scene)
        curves.append(NamedCurve(SHORT_NAMES[chosen], own, chosen=True, folds=folds))
    refused = []
    for key in added:
        if own is not None and key == chosen:
            continue
        curve = results.curve_of(scene, key)
        if curve is None:
            refused.append(key)
        else:
            curves.append(NamedCurve(SHORT_NAMES[key], curve))
    if refused:
        st.markdown(words.not_drawn(refused))
    return curves


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
    arrows = results.arrows(scene)
    if arrows is None:
        st.markdown(words.no_triangle(scene.settings.method, scene.waiting))
        return
    titles = (words.GRID_TITLE, words.ROWS_TITLE.format(where=scene.where))
    for number, (place, moves, title) in enumerate(
        zip(st.columns(2, gap="medium"), arrows, titles, strict=True)
    ):
        with place:
            caption = words.triangle_caption(len(moves.before), grid=number == 0, where=scene.where)
            figure = triangle(moves, names, title, scene.palette)
            show_graph(f"Triangle {number}", figure, caption)


_KEYS = ("by_hand", "hand_t", "hand_t_wide", "hand_knots")
"""Settings in the address."""


def show_manual(scene: Scene) -> None:
    """Show the settings, closed unless the address holds one."""
    in_address = any(key in st.query_params for key in _KEYS)
    opened = st.session_state.setdefault("by_hand_opened", in_address)
    with st.expander(words.BY_HAND, expanded=opened):
        _show_chosen(scene)


def _show_chosen(scene: Scene) -> None:
    chosen = address.choose_button(
        words.BY_HAND,
        {"temperature": words.TEMPERATURE, "knots": words.KNOTS},
        key="by_hand",
        default="temperature",
        label_visibility="collapsed",
    )
    if chosen == "knots":
        _show_knots(scene)
    else:
        _show_temperature(scene)


# Temperature ----------------------------------------------------------------------------------


def _show_temperature(scene: Scene) -> None:
    rows, fitted = scene.rows, results.fitted_temperature(scene)
    if not isinstance(rows, LogitSet) or fitted is None:
        st.markdown(words.ONLY_SCORES)
        return
    work = LongWork(("temperature", scene.upload.digest, scene.settings.event, scene.chosen))
    what = words.sweep_cost(rows.n_samples, rows.n_classes)
    if not work.agreed(results.sweep_seconds(scene, rows, fitted), what):
        return
    with work.watched() as report, st.spinner(words.SWEEPING_T):
        swept = results.sweep_temperature(
            scene, rows, fitted, lambda share: report(share, words.SWEEPING_T)
        )
    left, right = st.columns(2, gap="medium")
    with left:
        by_hand = _choose_temperature(fitted)
        here, there = (results.at_temperature(scene, rows, t) for t in (by_hand, fitted))
        st.markdown(words.temperature_sentence(fitted, swept.most_likely, scene.where))
        equal = words.entropy_sentence(results.entropy_at(scene, fitted))
        if equal:
            st.markdown(f":small[{equal}]")
    with right:
        write(_temperatures_table(here, there, rows.n_samples))
    _show_sweep(scene, swept, here.measured, there.measured)
    _show_diagrams(scene, here, there)


def _choose_temperature(fitted: float) -> float:
    """Let the user set T; 1 is the uncalibrated model."""
    options = results.temperatures(fitted, fine=True)
    return st.select_slider(
        words.HAND_T,
        options,
        1.0,
        format_func=lambda value: f"{value:.3g}",
        key="hand_t_wide" if results.is_wide(fitted) else "hand_t",
        **address.IN_ADDRESS,
        help=words.HAND_T_HELP,
    )


def _temperatures_table(here: AtTemperature, there: AtTemperature, n_rows: int) -> Table:
    columns = here.measured, there.measured
    accuracies = here.evaluated.compare("accuracy").after, there.evaluated.compare("accuracy").after
    rows = words.temperature_rows(columns, accuracies, n_rows)
    heads = ("Measure", *words.temperature_columns(*(float(at.temperatures[0]) for at in columns)))
    return Table("temperatures", heads, rows, look="measures")


def _show_sweep(
    scene: Scene, swept: TemperatureSweep, here: TemperatureSweep, there: TemperatureSweep
) -> None:
    temperatures = (float(at.temperatures[0]) for at in (there, here))
    names = words.mark_names(*temperatures, expert=scene.expert)
    captions = words.sweep_captions(expert=scene.expert)
    graphs = temperature_graphs(swept, there, here, names, scene.palette)
    for place, (field, figure) in zip(st.columns(3, gap="small"), graphs.items(), strict=True):
        with place:
            show_graph(f"Temperature {field}", figure, captions[field])


def _show_diagrams(scene: Scene, here: AtTemperature, there: AtTemperature) -> None:
    names = words.temperature_columns(*(float(at.measured.temperatures[0]) for at in (here, there)))
    sides = [at.evaluated.after for at in (here, there)]
    drawn = zip(("Hand", "Fitted"), names, sides, reversed(sides), strict=True)
    for place, (key, name, side, other) in zip(st.columns(2, gap="medium"), drawn, strict=True):
        with place:
            st.markdown(f"**{name}**")
            figure = reliability_diagram(side, other, scene.palette)
            show_graph(f"{key} reliability", figure, bins_caption(side))


# Knots ----------------------------------------------------------------------------------------


def _show_knots(scene: Scene) -> None:
    n_rows = scene.split.calibration.n_samples
    if n_rows < results.FIRST_KNOTS:
        st.markdown(say_rows(words.FEW_ROWS).format(n_rows=n_rows, least=results.FIRST_KNOTS))
        return
    work = LongWork(("knots", scene.upload.digest, scene.settings))
    if not work.agreed(results.knots_seconds(scene), words.knots_cost(n_rows)):
        return
    with work.watched() as report, st.spinner(words.SWEEPING_KNOTS):
        swept = results.sweep_knots(scene, lambda share: report(share, words.SWEEPING_KNOTS))
    n_knots = st.slider(
        words.HAND_KNOTS,
        results.FIRST_KNOTS,
        results.LAST_KNOTS,
        6,
        key="hand_knots",
        **address.IN_ADDRESS,
        help=words.HAND_KNOTS_HELP,
    )
    place = swept.place(n_knots)
    by_hand = int(swept.n_knots[place])
    if by_hand != n_knots:
        st.markdown(words.fewer_knots(by_hand, n_rows))
    n_rows, in_folds = scene.evaluated.n_samples, scene.in_folds
    part = scene.settings.only is not None
    sentence = words.knots_sentence(swept, by_hand, n_rows, part=part, in_folds=in_folds)
    st.markdown(sentence)
    _show_knot_graphs(scene, swept, by_hand)


def _show_knot_graphs(scene: Scene, swept: KnotSweep, by_hand: int) -> None:
    marked = [n for n in (results.chosen_knots(scene), by_hand) if n is not None]
    names = {n: words.knots_mark(n, by_hand) for n in marked}
    graphs = knot_graphs(swept, names, scene.palette, in_folds=scene.in_folds)
    captions = words.KNOTS_CROSSED_CAPTIONS if scene.in_folds else words.KNOTS_CAPTIONS
    drawn = zip(st.columns(2, gap="medium"), graphs.items(), captions, strict=True)
    for place, (name, figure), caption in drawn:
        with place:
            show_graph(f"Knots {name}", figure, caption)
    curve = NamedCurve(f"{by_hand} knots", results.spline_curve(scene, by_hand), chosen=True)
    left, right = st.columns(2, gap="medium")
    with left:
        figure = map_graph([curve], scene.evaluated.before, scene.palette)
        show_graph("Knots curve", figure, words.KNOTS_MAP_CAPTIONS[0].format(n_knots=by_hand))
    with right:
        figure = shift_graph([curve], scene.evaluated.before, scene.palette)
        show_graph("Knots shift", figure, words.KNOTS_MAP_CAPTIONS[1])


_TALL = 12
"""Lines from which on a table scrolls in a box of its own."""


def show_fitted(scene: Scene) -> None:
    """Show the fitted numbers; nothing where there is no calibrator."""
    fitted = scene.result.fitted
    if fitted is None:
        return
    with st.expander(words.TITLE):
        seconds = fit_seconds(scene.upload, replace(scene.settings, only=None))
        st.markdown(f":small[{words.fitted_on(scene.split.calibration.n_samples, seconds)}]")
        for place, node in enumerate(words.nodes(fitted)):
            _show_node(scene, node, place)
        names = names_of_groups(scene)
        if names and (how := fitted_groups.how(fitted)):
            st.markdown(how)
            _show_listed("fitted_groups", fitted_groups.listed(fitted, names))


def _show_node(scene: Scene, node: words.Node, place: int) -> None:
    """Show one map of a part: the only one, or that of a class or rank that the user chooses."""
    names = scene.class_names or ()
    if node.title:
        st.markdown(f"**{node.title}**")
    fitted = node.maps[_choose(scene, node, names) if node.choose else 0]
    shown, matrix = fitted.describe(), words.matrix(fitted)
    sign = words.sign_of_knots(fitted, dict(scene.settings.options).get("fit_to"))
    if shown.sentence:
        st.markdown(f"{shown.sentence} {sign}".rstrip())
    if matrix is not None and len(names) <= MOST_CLASSES:
        figure = weights_map(*matrix, names, words.WEIGHTS, scene.palette)
        show_graph(f"Weights {place}", figure, words.WEIGHTS_CAPTION)
    _show_listed(f"fitted_{place}", words.named(shown, names))


def _choose(scene: Scene, node: words.Node, names: Sequence[str]) -> int:
    """Let the user choose a class or a rank; at first that of the event."""
    by_class, event = node.choose == words.CLASS, scene.settings.event
    chosen = st.selectbox(
        node.choose,
        range(len(node.maps)),
        event.k if by_class and isinstance(event, OneClass) else 0,
        format_func=lambda place: names[place] if by_class else f"{place + 1}",
        key="fitted_class" if by_class else "fitted_rank",
        width=280,
    )
    return int(chosen or 0)


def _show_listed(key: str, listed: DescriptionTable | None) -> None:
    if listed is not None:
        with st.container(key=key, height=380 if len(listed.rows) > _TALL else "content"):
            rows = plain_rows(listed.rows)
            write(Table("numbers", tuple(listed.heads), rows, look="measures parameters"))
