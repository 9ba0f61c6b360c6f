"""The temperature and the knots of the spline, set by hand."""

from html import escape

import streamlit as st

from calibcore.curves import KnotSweep, TemperatureSweep
from calibcore.data import LogitSet
from dashboard.compute import maps as compute
from dashboard.compute.maps import AtTemperature
from dashboard.figures import reliability_diagram
from dashboard.figures.maps import NamedCurve, map_graph, shift_graph
from dashboard.figures.sweeps import knot_graphs, temperature_graphs
from dashboard.parts import address
from dashboard.parts.graph import show_graph
from dashboard.parts.long_work import LongWork
from dashboard.parts.tables import cell, explained, table
from dashboard.scene import Scene
from dashboard.wording import maps as words
from dashboard.wording.reliability import bins_caption
from dashboard.wording.rows import say_rows

_KEYS = ("by_hand", "hand_t", "hand_t_wide", "hand_knots")
"""Settings in the address."""


def show(scene: Scene) -> None:
    """Show the settings, closed unless the address holds one."""
    held = any(key in st.query_params for key in _KEYS)
    opened = st.session_state.setdefault("by_hand_opened", held)
    with st.expander(words.BY_HAND, expanded=opened):
        _show_chosen(scene)


def _show_chosen(scene: Scene) -> None:
    chosen = address.choose(
        st.segmented_control,
        words.BY_HAND,
        {"temperature": words.TEMPERATURE, "knots": words.KNOTS},
        key="by_hand",
        default="temperature",
        required=True,
        label_visibility="collapsed",
    )
    if chosen == "knots":
        _show_knots(scene)
    else:
        _show_temperature(scene)


# Temperature ----------------------------------------------------------------------------------


def _show_temperature(scene: Scene) -> None:
    rows, fitted = scene.rows, compute.fitted_temperature(scene)
    if not isinstance(rows, LogitSet) or fitted is None:
        st.markdown(words.ONLY_SCORES)
        return
    work = LongWork(("temperature", scene.upload.digest, scene.settings.event, scene.chosen))
    what = words.sweep_cost(rows.n_samples, rows.n_classes)
    if not work.agreed(compute.sweep_seconds(scene, rows, fitted), what):
        return
    with work.watched() as report, st.spinner(words.SWEEPING_T):
        swept = compute.sweep_temperature(
            scene, rows, fitted, lambda share: report(share, words.SWEEPING_T)
        )
    left, right = st.columns(2, gap="medium")
    with left:
        by_hand = _choose_temperature(fitted)
        here, there = (compute.at_temperature(scene, rows, t) for t in (by_hand, fitted))
        st.markdown(words.temperature_sentence(fitted, swept.most_likely, scene.where))
        equal = words.entropy_sentence(compute.entropy_at(scene, fitted))
        if equal:
            st.markdown(f":small[{equal}]")
    with right:
        st.html(_table(here, there, rows.n_samples))
    _show_sweep(scene, swept, here.measured, there.measured)
    _show_diagrams(scene, here, there)


def _choose_temperature(fitted: float) -> float:
    """Let the user set T; 1 is the uncalibrated model."""
    options = compute.temperatures(fitted, fine=True)
    return st.select_slider(
        words.HAND_T,
        options,
        1.0,
        format_func=lambda value: f"{value:.3g}",
        key="hand_t_wide" if compute.is_wide(fitted) else "hand_t",
        bind="query-params",
        persist_state="session",
        help=words.HAND_T_HELP,
    )


def _table(here: AtTemperature, there: AtTemperature, n_rows: int) -> str:
    columns = here.measured, there.measured
    accuracies = here.evaluated.compare("accuracy").after, there.evaluated.compare("accuracy").after
    rows = words.temperature_rows(columns, accuracies, n_rows)
    heads = ("Measure", *words.temperature_columns(*(float(at.temperatures[0]) for at in columns)))
    return table("measures", [cell(name) for name in heads], map(_line, rows), scrolls=False)


def _line(row: words.TableRow) -> tuple[str, ...]:
    name = explained(row.name, escape(say_rows(row.definition)))
    return name, cell(row.by_hand), cell(row.fitted)


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
    if n_rows < compute.FIRST_KNOTS:
        st.markdown(say_rows(words.FEW_ROWS).format(n_rows=n_rows, least=compute.FIRST_KNOTS))
        return
    work = LongWork(("knots", scene.upload.digest, scene.settings))
    if not work.agreed(compute.knots_seconds(scene), words.knots_cost(n_rows)):
        return
    with work.watched() as report, st.spinner(words.SWEEPING_KNOTS):
        swept = compute.sweep_knots(scene, lambda share: report(share, words.SWEEPING_KNOTS))
    asked = st.slider(
        words.HAND_KNOTS,
        compute.FIRST_KNOTS,
        compute.LAST_KNOTS,
        6,
        key="hand_knots",
        bind="query-params",
        persist_state="session",
        help=words.HAND_KNOTS_HELP,
    )
    place = swept.place(asked)
    by_hand = int(swept.n_knots[place])
    if by_hand != asked:
        st.markdown(words.fewer_knots(by_hand, n_rows))
    n_rows, crossed = scene.evaluated.n_samples, scene.crossed
    part = scene.settings.only is not None
    sentence = words.knots_sentence(swept, by_hand, n_rows, part=part, crossed=crossed)
    st.markdown(sentence)
    _show_knot_graphs(scene, swept, by_hand)


def _show_knot_graphs(scene: Scene, swept: KnotSweep, by_hand: int) -> None:
    marked = [n for n in (compute.chosen_knots(scene), by_hand) if n is not None]
    names = {n: words.knots_mark(n, by_hand) for n in marked}
    graphs = knot_graphs(swept, names, scene.palette, crossed=scene.crossed)
    captions = words.KNOTS_CROSSED_CAPTIONS if scene.crossed else words.KNOTS_CAPTIONS
    drawn = zip(st.columns(2, gap="medium"), graphs.items(), captions, strict=True)
    for place, (name, figure), caption in drawn:
        with place:
            show_graph(f"Knots {name}", figure, caption)
    curve = NamedCurve(f"{by_hand} knots", compute.spline_curve(scene, by_hand), chosen=True)
    left, right = st.columns(2, gap="medium")
    with left:
        figure = map_graph([curve], scene.evaluated.before, scene.palette)
        show_graph("Knots curve", figure, words.KNOTS_MAP_CAPTIONS[0].format(n_knots=by_hand))
    with right:
        figure = shift_graph([curve], scene.evaluated.before, scene.palette)
        show_graph("Knots shift", figure, words.KNOTS_MAP_CAPTIONS[1])
