"""Models: several of them on the same rows, before and after calibrating each."""

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calibcore.errors import CalibrationInputError
from calibcore.evaluation import SetResult
from calibcore.inference import Inference
from calibcore.metrics import METRICS, ChangeMeasure, Measure
from calibcore.models import plane_of
from dashboard import controls
from dashboard.compute.files import SourceFile
from dashboard.compute.uncertainty import measures_defined
from dashboard.document.blocks import Cell, Row, Table
from dashboard.figures import class_picture
from dashboard.figures.models import measure_figure, plane_figure
from dashboard.figures.plotly_json import LightFigure
from dashboard.readers import Upload
from dashboard.samples import samples
from dashboard.scene import Scene
from dashboard.settings import NO_METHOD
from dashboard.tables import csv_of, models_table
from dashboard.texts.classes import shortened
from dashboard.texts.measures import NO_RESAMPLES
from dashboard.texts.numbers import escape_markdown
from dashboard.texts.reliability import panel_line
from dashboard.texts.tiles import commonest_class
from dashboard.views.models import series, summaries, table_words, words
from dashboard.views.models import table as model_table
from dashboard.views.models.files import read_further
from dashboard.views.models.results import (
    Model,
    are_named,
    check_differs,
    check_other,
    differences,
    evaluate_model,
    first_model,
    further_scores,
    mates,
    read_sample,
    score_of,
    seconds,
)
from dashboard.widgets import address, diagrams
from dashboard.widgets.blocks import write
from dashboard.widgets.diagrams import Panel, show_panels
from dashboard.widgets.downloads import file_name, offer_table
from dashboard.widgets.graph import choose_columns_on_phones, show_graph
from dashboard.widgets.headline import show_subject
from dashboard.widgets.links import show_link
from dashboard.widgets.long_work import LongWork, ResultPlace

MEASURES = ("ks_error", "ece", "event_nll", "event_brier", "miscalibration")
"""Measures of the table unless others are chosen, by key.

Of discrimination the picture shows one: at equal uncertainty, whose order may be another.
"""

A_LINE = 3
"""Pictures on a line."""

MATES_SHOWN = 2
"""Examples that the first one is compared with unless others are chosen."""

_COLUMNS = "beside_scores"

NamedUpload = tuple[str, Upload]


def show(scene: Scene) -> None:
    """Show the page; of summaries, these one after another."""
    if scene.upload.summary is not None:
        summaries.show(scene)
        return
    view = address.choose_button(
        table_words.VIEW,
        table_words.VIEWS,
        key="models_view",
        default="same",
        help=table_words.VIEW_HELP,
    )
    if view == "table":
        model_table.show(scene)
    elif view == "series":
        series.show(scene)
    else:
        _show_same_rows(scene)


def _show_same_rows(scene: Scene) -> None:
    """Show models on the same rows, each with the chosen calibrator."""
    show_subject(scene)
    top = ResultPlace()
    if scene.sample is not None:
        name, others = scene.sample.title, _sampled(scene)
    else:
        name, others = _brought(scene)
    if not others:
        return
    evaluated = _evaluated(scene, name, others, top)
    if evaluated is None:
        return
    sentence = words.conclusion(
        [one.name for one in evaluated],
        [one.result for one in evaluated],
        scene.settings.method,
        expert=scene.expert,
    )
    certain, which = words.certain_note(
        [one.name for one in evaluated], [one.result for one in evaluated], scene.settings
    )
    with top.container():
        st.subheader(sentence, anchor=False)
        if certain:
            st.markdown(f":material/warning: {certain}", help=which)
    _show_errors(scene, evaluated)
    measures, columns, place = _show_table(scene, evaluated)
    _show_pictures(scene, evaluated)
    _show_plane(scene, evaluated)
    if place is not None and measures:  # last, as they take longest
        with place.container():
            _show_differences(scene, evaluated, measures, columns)


# Which models -------------------------------------------------------------------------------


def _sampled(scene: Scene) -> list[NamedUpload]:
    """Show the choice of further examples of the same rows; return those chosen."""
    with st.container():  # what is seen while files are read moves nothing below
        offered = {} if scene.sample is None else {one.name: one for one in mates(scene.sample)}
    if not offered:
        st.info(words.NO_MATES, icon=":material/info:")
        show_link("models", words.MATES_LINK, sample=samples()[0].name)
        return []
    chosen = address.choose_several(
        words.SAMPLES,
        {name: one.title for name, one in offered.items()},
        key="beside",
        default=list(offered)[:MATES_SHOWN],
        help=words.SAMPLES_HELP,
    )
    if not chosen:
        st.info(words.NO_SAMPLES, icon=":material/info:")
    with st.container():
        return [(offered[name].title, read_sample(offered[name])) for name in chosen]


def _brought(scene: Scene) -> tuple[str, list[NamedUpload]]:
    """Show what may be compared; return the name of the first model, and those that fit.

    Beside further scores of its file, the first model is called by its own column.
    """
    first, models = scene.upload, list[NamedUpload]()
    columns = _choose_scores(first)
    called = (score_of(first) if columns else None) or first.name

    def check(upload: Upload) -> None:
        check_other(first, upload)
        for earlier, other in ((called, first), *models):
            check_differs(upload, earlier, other)

    sources = controls.choose_models(first.name)
    for one in read_further(first, sources, check, columns):
        models.append(one)
    if not columns and not sources:
        st.info(words.NO_FILES, icon=":material/upload_file:")
    elif scene.class_names is None and not all(are_named(first, one) for _, one in models):
        st.warning(words.UNCHECKED, icon=":material/warning:")
    return called, models


def _choose_scores(first: Upload) -> list[tuple[SourceFile, str]]:
    """Show the choice of further scores in the same file; return those chosen with the file."""
    brought: tuple[SourceFile, ...] = st.session_state.get(controls.BROUGHT, ())
    offered = further_scores(first, brought[0]) if len(brought) == 1 else ()
    if not offered:
        return []
    before = st.session_state.get(_COLUMNS, ())
    if any(name not in offered for name in before):  # of another file
        st.session_state[_COLUMNS] = [name for name in before if name in offered]
    chosen = st.multiselect(
        words.COLUMNS,
        offered,
        key="beside_scores",
        **address.IN_ADDRESS,
        help=words.COLUMNS_HELP,
        placeholder=words.COLUMNS_PLACE,
    )
    return [(brought[0], name) for name in chosen]


def _evaluated(
    scene: Scene, name: str, others: Sequence[NamedUpload], top: ResultPlace
) -> list[Model] | None:
    """Fit and evaluate every model, unless that is expensive and was not asked for.

    Meanwhile, the result of an earlier choice is removed from the top.
    """
    settings = scene.settings
    work = LongWork(("models", settings, *(upload.digest for _, upload in others)))
    cost = seconds(scene, [upload for _, upload in others])
    if cost:
        top.clear()
    if not work.agreed(cost, words.fits_cost(len(others), settings.method)):
        return None
    compared = [first_model(scene, name)]
    with work.watched() as report, st.spinner(words.fits_cost(len(others), settings.method)):
        for number, (title, upload) in enumerate(others):

            def tell(share: float, number: int = number, title: str = title) -> None:
                done = (number + share) / len(others)
                report(done, words.working_on(title, settings.method))

            try:
                compared.append(evaluate_model(scene, title, upload, tell))
            except CalibrationInputError as error:
                st.error(words.refused(title, error), icon=":material/block:")
    return compared if len(compared) > 1 else None


# What is shown ------------------------------------------------------------------------------


def _show_table(
    scene: Scene, models: Sequence[Model]
) -> tuple[tuple[Measure, ...], str, DeltaGenerator | None]:
    """Show the measures; return them, the class of tables, and the place for intervals if asked."""
    st.subheader(words.TABLE, anchor=False)
    measures = _choose_measures(scene, models)
    names, evaluated = [one.name for one in models], [one.result for one in models]
    calibrated = scene.settings.method != NO_METHOD
    columns = choose_columns_on_phones("models")
    look = f"measures models {columns}"
    with st.container(key="models_table"):
        write(models_table(names, evaluated, measures, calibrated=calibrated, look=look))
    in_folds = scene.result.in_folds
    note = words.table_note(evaluated[0].n_samples, calibrated=calibrated, in_folds=in_folds)
    note += words.half_note(evaluated)
    note = f"{note} {commonest_class(evaluated[0])}"
    st.markdown(f":small[{note.rstrip()}]", help=words.TABLE_HELP)
    if scene.chosen == "calibration":
        st.markdown(f":small[{words.BOTH_SETS}]")
    offer_table(lambda: models_csv(names, evaluated, measures), name=file_name("table"), facts=True)
    wanted = address.choose_switch(
        words.INTERVALS, key="models_intervals", help=words.INTERVALS_HELP
    )
    if wanted and not scene.n_resamples:
        st.markdown(f":small[{NO_RESAMPLES}]")
    place = st.empty() if wanted and scene.n_resamples else None
    return measures, columns, place


def models_csv(
    names: Sequence[str], evaluated: Sequence[SetResult], measures: Sequence[Measure]
) -> str:
    """Return the models for a spreadsheet, with every digit, before and after calibration."""
    head = [f"{m.name}, {side}" for m in measures for side in words.SIDES]
    compared = [[one.compare(m.key) for m in measures] for one in evaluated]
    values = [[value for row in rows for value in (row.before, row.after)] for rows in compared]
    lines = [(name, *cells) for name, cells in zip(names, values, strict=True)]
    return csv_of(["Model", *head], lines)


def _choose_measures(scene: Scene, models: Sequence[Model]) -> tuple[Measure, ...]:
    """Show the choice of columns, of the measures that are defined here; return those chosen."""
    names = {
        m.key: m.name
        for m in measures_defined(scene)
        if m.key != "accuracy" and not isinstance(m, ChangeMeasure)
    }
    chosen = address.choose_several(
        words.MEASURES,
        names,
        key="models_measures",
        default=[key for key in MEASURES if key in names],
        help=words.MEASURES_HELP,
        label_visibility="collapsed",
    )
    has_accuracy = models[0].result.compare("accuracy").before is not None
    shown = (*chosen, "accuracy") if has_accuracy else tuple(chosen)
    return tuple(measure for measure in METRICS if measure.key in shown)


def _show_differences(
    scene: Scene, models: Sequence[Model], measures: tuple[Measure, ...], columns: str
) -> None:
    """Show the differences from the first model with their intervals."""
    first, *others = models
    bar, pairs = st.empty(), []
    for number, other in enumerate(others):

        def report(share: float, number: int = number, name: str = other.name) -> None:
            bar.progress((number + share) / len(others), words.comparing(name))

        pairs.append(differences(scene, first, other, measures, report))
    bar.empty()
    title = words.DIFFERENCES.format(name=escape_markdown(shortened(first.name)))
    st.markdown(f"**{title}**")
    rows = first.result.n_samples
    with st.container(key="models_table_differences"):
        write(_differences_table(others, pairs, measures, rows, columns))
    note = words.differences_note(pairs[0][0].plan.n_resamples, expert=scene.expert)
    st.markdown(f":small[{note}]")


def _differences_table(
    others: Sequence[Model],
    pairs: Sequence[tuple[Inference, Inference]],
    measures: Sequence[Measure],
    rows: int,
    columns: str,
) -> Table:
    lines = []
    for other, (before, after) in zip(others, pairs, strict=True):
        sides = [(words.SIDES[0], before)]
        if after is not before:
            sides.append((words.SIDES[1], after))
        for side, its in sides:
            cells = (
                # A map of scores leaves no class table, and every predicted class as it was.
                _difference(before if measure.asks_for_order and _lost(its) else its, measure, rows)
                for measure in measures
            )
            lines.append(Row(other.name, shortened(other.name), tuple(cells), side))
    heads = "Model", *(measure.name for measure in measures)
    return Table("differences", heads, tuple(lines), look=f"measures differences {columns}")


def _lost(inference: Inference) -> bool:
    """Return whether the accuracy cannot be computed there."""
    return any(one.key == "accuracy" and one.before is None for one in inference.findings)


def _difference(inference: Inference, measure: Measure, rows: int) -> Cell:
    finding = inference.find(measure.key)
    value, interval, word, kind = words.difference_cell(finding, measure, rows)
    return Cell(value, interval, below=(Cell(word, kind=kind),))


def _show_plane(scene: Scene, models: Sequence[Model]) -> None:
    """Show miscalibration against discrimination, closed at first."""
    plane, names = plane_of([one.result for one in models]), [one.name for one in models]
    calibrated = scene.settings.method != NO_METHOD
    figure = plane_figure(plane, names, scene.palette, calibrated=calibrated)
    caption = words.plane_caption(plane, names, calibrated=calibrated)
    with st.expander(words.PLANE):
        show_graph("Models", figure, caption)
        st.markdown(f":small[{words.plane_help(plane, expert=scene.expert)}]")


def _show_errors(scene: Scene, models: Sequence[Model]) -> None:
    """Show the KS error of every model, which the headline is about."""
    calibrated = scene.settings.method != NO_METHOD
    rows = [
        (one.name, one.result.before.curves.ks_error, one.result.after.curves.ks_error)
        for one in models
    ]
    figure = measure_figure(rows, "KS error", scene.palette, calibrated=calibrated)
    show_graph("KS errors", figure, words.errors_caption(calibrated=calibrated))


def _show_pictures(scene: Scene, models: Sequence[Model]) -> None:
    """Show the reliability diagram of each model: small on both sides, or one over a histogram."""
    st.subheader(words.PICTURES, anchor=False)
    calibrated = scene.settings.method != NO_METHOD
    chosen = address.choose_button(
        words.PICTURES,
        words.picture_choices(calibrated=calibrated),
        key="models_pictures",
        default="small",
        label_visibility="collapsed",
    )
    if chosen == "small":
        _show_small_pictures(scene, models, calibrated=calibrated)
        return
    panels = [
        Panel(
            one.name,
            panel_line(one.result.compare, one.result.n_samples, after=chosen == "after"),
            one.result.after if chosen == "after" else one.result.before,
        )
        for one in models
    ]
    show_panels(scene, panels, diagrams.choose_diagram(), key="model")


def _show_small_pictures(scene: Scene, models: Sequence[Model], *, calibrated: bool) -> None:
    for start in range(0, len(models), A_LINE):
        columns = st.columns(A_LINE, gap="small")
        for column, one in zip(columns, models[start : start + A_LINE], strict=False):
            evaluated = one.result
            after = evaluated.after.binned if calibrated else None
            line = words.picture_line(evaluated, calibrated=calibrated)
            with column:
                st.markdown(f"**{escape_markdown(shortened(one.name))}**  \n:small[{line}]")
                picture = class_picture(evaluated.before.binned, after, scene.palette)
                st.plotly_chart(
                    LightFigure(picture, scene.palette),
                    theme=None,
                    key=f"model_{start}_{one.name}",
                    config={"displayModeBar": False},
                    alt=f"{one.name}: reliability diagram. {line}",
                )
    st.markdown(f":small[{words.PICTURES_NOTE}]")
