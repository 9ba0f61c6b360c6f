"""The table of several models by several calibrators, in the papers' form."""

from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version

import streamlit as st

from calibcore.metrics.measure import ChangeMeasure
from dashboard import controls
from dashboard.compute.uncertainty import measures_defined
from dashboard.document.blocks import Cell, Row, Table
from dashboard.readers import Upload
from dashboard.samples import samples
from dashboard.scene import Scene
from dashboard.settings import NO_METHOD
from dashboard.texts.classes import shortened
from dashboard.texts.measures import NO_RESAMPLES
from dashboard.views.models import table_words as words
from dashboard.views.models.as_printed import (
    LEVEL,
    PaperCell,
    PaperTable,
    paper_csv,
    paper_latex,
    paper_markdown,
)
from dashboard.views.models.document import best_line, paper_table
from dashboard.views.models.files import read_further
from dashboard.views.models.results import check_piece, read_sample
from dashboard.views.models.table_results import (
    ModelTable,
    TableModel,
    TableRequest,
    model_of,
    run_table,
    table_seconds,
)
from dashboard.widgets import address
from dashboard.widgets.blocks import write
from dashboard.widgets.calibrator_choice import choose_calibrators, warn_of_overfitting
from dashboard.widgets.downloads import file_name, offer_file, offer_table
from dashboard.widgets.graph import choose_columns_on_phones
from dashboard.widgets.long_work import LongWork, ResultPlace

ASK_FROM = 10.0
"""Seconds from which on the work waits for a click."""

MOST_SPLITS = 1_000

_USUAL_MODELS = 5
"""Examples beside the first that are chosen until others are."""


def show(scene: Scene) -> None:
    """Show the choice of models, calibrators and measure, and the table."""
    top = ResultPlace()
    models = _choose_models(scene)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        keys = choose_calibrators(scene)
        request = _choose_request(scene)
    if isinstance(request.measure, ChangeMeasure):  # of no change it is 0 in every row
        keys = [key for key in keys if key != NO_METHOD]
    body = ResultPlace()
    computed, seconds = _computed(scene, models, keys, request, [top, body])
    table = paper_table(scene, computed)
    with body.container():
        _show_cells(scene, computed, table, seconds)
    sentence = best_line(computed, table)
    with top.container():
        if sentence:
            st.subheader(sentence, anchor=False)


# Controls -----------------------------------------------------------------------------------


def _choose_models(scene: Scene) -> list[TableModel]:
    """Show the choice of further models; return the rows, the model of the other pages first."""
    name = scene.sample.title if scene.sample is not None else scene.upload.name
    models = [model_of(scene, name, scene.upload)]
    with st.container():  # what is seen while files are read moves nothing below
        if scene.sample is not None:
            return models + _sampled(scene)
        return models + _brought(scene)


def _sampled(scene: Scene) -> list[TableModel]:
    others = {one.name: one for one in samples() if one != scene.sample}
    chosen = address.choose_several(
        words.SAMPLES,
        {name: one.title for name, one in others.items()},
        key="table_models",
        default=[name for name in others if name != "perfect_synthetic"][:_USUAL_MODELS],
        help=words.SAMPLES_HELP,
    )
    return [model_of(scene, others[name].title, read_sample(others[name])) for name in chosen]


def _brought(scene: Scene) -> list[TableModel]:
    def check(upload: Upload) -> None:
        check_piece(upload)
        model_of(scene, "", upload)

    sources = controls.choose_models(scene.upload.name, words.FILES_HELP)
    further = read_further(scene.upload, sources, check, same=False)
    return [model_of(scene, name, upload) for name, upload in further]


def _choose_request(scene: Scene) -> TableRequest:
    by_key = {one.key: one for one in measures_defined(scene)}
    chosen = address.choose_box(
        words.MEASURE,
        {key: one.name for key, one in by_key.items()},
        key="table_measure",
        default="ks_error",
        help=words.MEASURE_HELP,
        width=260,
    )
    n_splits = address.choose_number(
        words.SPLITS, 0, MOST_SPLITS, 0, key="table_splits", help=words.SPLITS_HELP, width=150
    )
    intervals = address.choose_switch(
        words.INTERVALS,
        key="table_intervals",
        help=words.INTERVALS_HELP,
        disabled=n_splits > 0,
    )
    wanted = intervals and not n_splits
    if wanted and not scene.n_resamples:
        st.markdown(f":small[{NO_RESAMPLES}]")
    # One split has no spread.
    n_splits = max(int(n_splits), 2) if n_splits else 0
    return TableRequest(by_key[chosen], scene.n_resamples if wanted else 0, n_splits)


# The work -----------------------------------------------------------------------------------


def _computed(
    scene: Scene,
    models: Sequence[TableModel],
    keys: Sequence[str],
    request: TableRequest,
    results: Sequence[ResultPlace],
) -> tuple[ModelTable, float]:
    """Compute what is not known, unless it takes long and was not asked for; and its cost."""
    digests = tuple(one.upload.digest for one in models)
    settings = scene.settings
    work = LongWork(("model_table", settings, digests, tuple(keys), repr(request)))
    seconds = table_seconds(scene, models, keys, request)
    what = words.cost(len(models), sum(key != NO_METHOD for key in keys))
    if not work.agreed(seconds, what, ask_from=ASK_FROM):
        warn_of_overfitting(scene, keys)
        return _known(scene, models, keys, request), seconds
    if seconds > ASK_FROM:
        for result in results:
            result.clear()
    with work.watched() as report:

        def tell(share: float, model: str, key: str) -> None:
            report(share, words.working_on(model, key))

        return run_table(scene, models, keys, request, tell, go=True), seconds


def _known(
    scene: Scene, models: Sequence[TableModel], keys: Sequence[str], request: TableRequest
) -> ModelTable:
    """Return what is known without long work: values, while their intervals are not."""

    def tell(share: float, model: str, key: str) -> None:
        del share, model, key

    known = run_table(scene, models, keys, request, tell, go=False)
    if not request.n_resamples:
        return known
    plain = replace(request, n_resamples=0)
    quick = table_seconds(scene, models, keys, plain) < ASK_FROM
    values = run_table(scene, models, keys, plain, tell, go=quick)
    return replace(values, request=request, cells={**values.cells, **known.cells})


# What is shown ------------------------------------------------------------------------------


def _show_cells(scene: Scene, computed: ModelTable, table: PaperTable, seconds: float) -> None:
    if set(computed.keys) <= {NO_METHOD}:
        st.info(words.NO_COMPARISON, icon=":material/info:")
    st.text(table.heading)
    columns = choose_columns_on_phones("model_table")
    with st.container(key="models_table_methods"):
        write(_table(table, columns))
    st.markdown(f":small[{table.note}]", help=words.TABLE_HELP)
    if seconds and computed.n_missing:
        st.markdown(f":small[{words.incomplete(computed.n_missing, seconds)}]")
    if scene.settings.only is not None:
        st.markdown(f":small[{words.FILTERED}]")
    _offer(scene, computed, table)
    if computed.refused:
        with st.expander(words.refused_title(len(computed.refused))):
            for place, key, reason in computed.refused:
                st.markdown(f":small[{words.refused(computed.models[place].name, key, reason)}]")


def _offer(scene: Scene, computed: ModelTable, table: PaperTable) -> None:
    name = file_name(f"{computed.request.measure.name} by calibrator")

    def as_csv() -> str:
        cells = [
            [computed.cells.get((place, key)) for key in computed.keys]
            for place in range(len(computed.models))
        ]
        facts = [
            ("measure", computed.request.measure.name),
            ("event", scene.event_words.plain),
            ("splits", str(computed.request.n_splits or "")),
            ("version", f"Fractile {version('fractile')}"),
        ]
        names = [model.name for model in computed.models]
        return paper_csv(names, table.columns, cells, facts)

    with st.container(horizontal=True, vertical_alignment="center"):
        offer_table(as_csv, name=name)
        offer_file(
            lambda: paper_markdown(table), label="Markdown", name=f"{name}.md", kind="text/markdown"
        )
        offer_file(lambda: paper_latex(table), label="LaTeX", name=f"{name}.tex", kind="text/x-tex")


def _table(shown: PaperTable, columns: str) -> Table:
    rows = (
        Row(name, shortened(name), tuple(map(_cell, cells)), size)
        for name, size, cells in shown.rows
    )
    look = f"measures models {columns}"
    return Table("methods", ("Model", *shown.columns), tuple(rows), look=look)


def _cell(one: PaperCell) -> Cell:
    return Cell(f"{one.text}{LEVEL if one.level else ''}", one.note, place=one.place)
