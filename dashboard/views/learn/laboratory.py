"""The laboratory: a model made by hand, its rows, and its truth."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from calibcore.synthetic import EstimatorStudy
from dashboard import style
from dashboard.compute.learn import TURNS, finished_study, study_of, study_seconds
from dashboard.figures.estimators import error_graph
from dashboard.learn import lab_pictures
from dashboard.learn.laboratory import (
    CLASSES,
    EVENT,
    LIMITS,
    N_HANDLES,
    PRESETS,
    ROWS,
    LaboratoryModel,
    chosen_of,
    preset_of,
    redraws_of,
    result_of,
)
from dashboard.learn.lesson import LessonPicture
from dashboard.texts import laboratory as words
from dashboard.texts import learn
from dashboard.texts.laboratory import PRESETS as NAMES
from dashboard.views.learn.picture import show_picture, show_table
from dashboard.widgets.links import show_teaching
from dashboard.widgets.long_work import LongWork, is_agreed
from dashboard.widgets.slides import offer_slides

_MODEL, _WRITTEN, _MANY, _PRESET = "lab_model", "lab_written", "lab_many", "lab_preset"
_MAPS = "lab_maps"
_OPENING = ("spline", "isotonic")
_MOST_MAPS = 4


def show() -> None:
    """Show the controls on the left, pictures and tables beside them."""
    show_teaching("laboratory")
    st.markdown(words.INTRO)
    code = st.query_params.get("model")
    if code is not None and code != st.session_state.get(_WRITTEN):
        model = chosen_of(code)
        _hold(model or next(iter(PRESETS.values())))
        if model is None:
            st.warning(words.UNUSABLE, icon=":material/link:")
    if is_computing(st.session_state.setdefault(_MODEL, next(iter(PRESETS.values())))):
        _show_bench(whole=True)
    else:
        _show_bench_alone()


@st.fragment
def _show_bench_alone() -> None:
    """Show all of it, without the rest of the page, as nothing above changes with a control."""
    with TURNS:
        _show_bench(whole=False)


def _show_bench(*, whole: bool) -> None:
    """Show all of it; in a run of the whole page long work can be stopped."""
    controls, results = st.columns([1, 3], gap="medium")
    with controls:
        chosen = _choose(st.session_state[_MODEL])
    st.session_state[_MODEL] = chosen
    if st.query_params.to_dict() != {"model": chosen.code}:
        st.query_params.from_dict({"model": chosen.code})
    st.session_state[_WRITTEN] = chosen.code
    with results:
        _show_results(chosen)
        show_study(chosen, lambda name: _take(name, chosen), whole=whole)


def _hold(chosen: LaboratoryModel) -> None:
    """Put a model in place of the one that is shown, with all its controls."""
    for key in [key for key in st.session_state if str(key).startswith("lab_at_")]:
        del st.session_state[key]
    st.session_state[_MODEL] = chosen


# Controls -----------------------------------------------------------------------------------


def _choose(model: LaboratoryModel) -> LaboratoryModel:
    """Show the controls of a model; return what they stand at."""
    presets = st.container()
    with st.container(key="lab_curve"):
        chosen = _choose_curve(model)
    with st.container(horizontal=True, gap="small"):
        st.button(
            words.DRAW, icon=":material/casino:", on_click=_draw, shortcut="D", key="lab_draw"
        )
        st.toggle(words.DRAW_MANY, key=_MANY)
    with st.expander(words.MORE), st.container(key="lab_numbers"):
        chosen = _choose_more(chosen)
    with presets:
        _choose_preset(chosen)
    return chosen


def _choose_preset(chosen: LaboratoryModel) -> None:
    """Show the name of the model that the controls stand at, and the others to begin with."""
    alike, key = preset_of(chosen), f"{_PRESET}_{chosen.code}"
    st.selectbox(
        words.PRESET,
        list(PRESETS),
        index=None if alike is None else list(PRESETS).index(alike),
        format_func=words.PRESETS.__getitem__,
        key=key,
        placeholder=words.OWN,
        on_change=_take_preset,
        args=(key, chosen),
    )


def _choose_curve(model: LaboratoryModel) -> LaboratoryModel:
    """Show the two controls that give the true curve."""
    match model.form:
        case "zhang":
            return replace(model, **_numbers(model, ("beta0", "beta1")))
        case "hand":
            return replace(model, handles=_move_handle(model.handles))
        case _:
            return replace(model, **_numbers(model, ("slope", "shift")))


def _choose_more(model: LaboratoryModel) -> LaboratoryModel:
    """Show all that is not needed at first sight."""
    names: tuple[str, ...] = ("seed",)
    chosen = replace(model, rows=_step(words.ROWS, "rows", model.rows, ROWS))
    if model.form != "zhang":
        classes = _step(words.CLASSES, "classes", model.classes, CLASSES)
        wave = ("wave",) if model.form == "curve" else ()
        names = (*wave, "sharpness", "rate", "groups", "seed")
        chosen = replace(chosen, classes=classes)
    return replace(chosen, **_numbers(model, names))


def _take_preset(key: str, model: LaboratoryModel) -> None:
    _take(st.session_state[key], model)


def _take(name: str, model: LaboratoryModel) -> None:
    """Put a model to begin with in place of the one that is shown; what is drawn stays."""
    _hold(replace(PRESETS[name], rows=model.rows, seed=model.seed, draw=model.draw))


def _draw() -> None:
    model: LaboratoryModel = st.session_state[_MODEL]
    st.session_state[_MODEL] = replace(model, draw=model.draw % LIMITS["draw"][1] + 1)


def _step(label: str, name: str, value: int, values: tuple[int, ...]) -> int:
    return int(
        st.select_slider(
            label,
            values,
            key=_at(name, value),
            format_func=lambda one: f"{one:,}",
            help=words.HELP.get(name),
        )
    )


def _at(name: str, value: float) -> str:
    """Return the key of a control, which stands at a value until it is moved.

    The value is written to the session, as a browser keeps where a control of the same key stood.
    """
    key = f"lab_at_{name}"
    st.session_state.setdefault(key, value)
    return key


def _numbers(model: LaboratoryModel, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: _number(model, name) for name in names}


def _number(model: LaboratoryModel, name: str) -> int:
    """Show one number, in its own unit; return it as `LaboratoryModel` holds it."""
    low, high = LIMITS[name]
    label, scale = words.NUMBERS[name]
    if name == "seed":
        key = _at(name, model.seed)
        return int(st.number_input(label, low, high, key=key, help=words.HELP[name]))
    if scale == 1:
        key = _at(name, getattr(model, name))
        return int(st.slider(label, low, high, key=key, help=words.HELP.get(name)))
    value = st.slider(
        label, low / scale, high / scale, step=max(1, scale // 20) / scale,
        key=_at(name, getattr(model, name) / scale), help=words.HELP.get(name),
    )  # fmt: skip
    return round(float(value) * scale)


def _move_handle(handles: tuple[int, ...]) -> tuple[int, ...]:
    """Let one handle of the true curve be moved."""
    scores = [round(100 * k / (N_HANDLES - 1)) for k in range(N_HANDLES)]
    score = st.select_slider(
        words.HANDLE, scores, key=_at("handle", scores[N_HANDLES // 2]), help=words.HELP["hand"]
    )
    place = scores.index(score)
    key = _at(f"handle_{place}", handles[place])
    height = st.slider(words.HEIGHT, 0, 100, step=5, key=key)
    return (*handles[:place], int(height), *handles[place + 1 :])


def _clicked(key: str) -> None:
    """Move the handle below the place that was clicked to it."""
    points = st.session_state[key]["selection"]["points"]
    if points:
        model: LaboratoryModel = st.session_state[_MODEL]
        place, height = round(points[0]["x"] * (N_HANDLES - 1)), round(100 * points[0]["y"])
        moved = (*model.handles[:place], height, *model.handles[place + 1 :])
        _hold(replace(model, handles=moved))


# Results ------------------------------------------------------------------------------------


def _show_results(chosen: LaboratoryModel) -> None:
    """Show what the rows show, what is true, and the calibrators."""
    result, palette = result_of(chosen), style.palette()
    many = redraws_of(chosen) if st.session_state.get(_MANY) else None
    st.markdown(words.conclusion(result))
    left, right = st.columns(2, gap="medium")
    with left:
        _show_picture(
            lab_pictures.diagram(result, chosen, palette), clickable=chosen.form == "hand"
        )
        offered = [one.key for one in result.calibrators]
        keys = st.multiselect(
            words.COMPARED,
            offered,
            [key for key in _OPENING if key in offered],
            format_func=words.calibrator_name,
            key=_MAPS,
            max_selections=_MOST_MAPS,
        )
        _show_picture(lab_pictures.maps(result, keys, palette))
        st.markdown(words.nearest(result.calibrators, result.truth))
    with right:
        _show_picture(lab_pictures.gap(result, palette))
        if many is not None:
            _show_picture(lab_pictures.spread(many, result, palette))
            st.markdown(words.spread(many))
        else:
            show_table(words.ESTIMATES, words.ESTIMATE_HEAD, words.estimate_rows(result, None))
            st.markdown(f":small[{words.ESTIMATES_NOTE}]")
    if many is not None:
        show_table(words.ESTIMATES, words.MANY_HEAD, words.estimate_rows(result, many))
        st.markdown(f":small[{words.ESTIMATES_NOTE}]")
    offer_slides(learn.SLIDES, f"{words.TITLE} (Fractile)", "laboratory")
    rows = words.calibrator_rows(result.calibrators, result.truth)
    show_table(words.CALIBRATORS, words.CALIBRATOR_HEAD, rows)
    st.markdown(f":small[{words.CALIBRATORS_NOTE}]")
    query = {"data": "laboratory", "model": chosen.code, "method": "none"}
    event = {"event": "class", "class": EVENT} if chosen.classes == 2 else {"event": "top"}
    st.link_button(
        words.OPEN, f"reliability?{urlencode(query | event)}", icon=":material/open_in_new:"
    )


def _show_picture(picture: LessonPicture, *, clickable: bool = False) -> None:
    key = f"lab_picture_{picture.name}"
    show_picture(picture, key, partial(_clicked, key) if clickable else None)


_ZHANG = ("zhang", "zhang_better")
_KEY, _DRAWS = "lab_study_draws", (30, 100, 300, 1_000)


def is_computing(chosen: LaboratoryModel) -> bool:
    """Return whether the study of a model was started and is not finished."""
    n_draws = int(st.session_state.get(_KEY, _DRAWS[1]))
    return is_agreed(_work(chosen, n_draws)) and study_seconds(chosen, n_draws) > 0


def show_study(chosen: LaboratoryModel, take: Callable[[str], None], *, whole: bool) -> None:
    """Show how far estimates are from their own truths, by number of rows.

    ``chosen``: the model of the laboratory. ``take``: puts a model to begin with, by its word, in
    its place. ``whole``: whether the whole page is run. Work that is started in a fragment starts
    such a run, as no click would end it before its end otherwise.
    """
    st.subheader(words.ESTIMATORS, anchor=False)
    st.markdown(words.ESTIMATORS_INTRO)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        n_draws = st.segmented_control(
            words.DRAWS, _DRAWS, default=_DRAWS[1], required=True, key=_KEY,
            format_func=lambda one: f"{one:,}", help=words.DRAWS_HELP,
        ) or _DRAWS[1]  # fmt: skip
        for name in _ZHANG:
            if name != preset_of(chosen):
                st.button(NAMES[name], key=f"lab_take_{name}", on_click=take, args=(name,))
    study = _study(chosen, n_draws, whole=whole)
    if study is not None and len(study.sizes) > 1:
        figure = error_graph(study, words.SHORT_NAMES, words.GRAPH, words.AXIS, style.palette())
        show_picture(LessonPicture("errors", figure, words.caption(study)), "lab_picture_errors")
        show_table(words.AXIS, words.heads(study), words.rows(study))
        st.markdown(f":small[{words.NOTE}]")


def _work(chosen: LaboratoryModel, n_draws: int) -> tuple[object, ...]:
    return "estimators", chosen.model, chosen.seed, n_draws


def _study(chosen: LaboratoryModel, n_draws: int, *, whole: bool) -> EstimatorStudy | None:
    """Return the study, computed after a click; or what there is of it."""
    seconds = study_seconds(chosen, n_draws)
    if not seconds:
        return finished_study(chosen, n_draws)
    work = LongWork(_work(chosen, n_draws))
    if not work.agreed(seconds, words.WHAT, ask_from=0):
        study = finished_study(chosen, n_draws)
        if study is not None:
            st.markdown(words.STOPPED)
        return study
    if not whole:
        st.rerun()
    with work.watched() as report:
        return study_of(
            chosen, n_draws, lambda share, n_rows: report(share, words.step(n_rows, n_draws))
        )
