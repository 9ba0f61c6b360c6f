"""The table of models by calibrators, and summaries in time, as the page and the command show."""

from collections import Counter
from collections.abc import Sequence

from calibcore.comparison import can_rank
from calibcore.inference import Drift
from calibcore.summary import Period
from dashboard.document.blocks import Cell, Row, Sentences, Table
from dashboard.scene import Scene
from dashboard.texts import summaries
from dashboard.texts.advice import drift_line
from dashboard.texts.methods import method_name
from dashboard.texts.numbers import amount, percent
from dashboard.views.models import table_words as words
from dashboard.views.models.as_printed import PaperTable, paper_cells
from dashboard.views.models.table_results import ModelTable


def paper_table(scene: Scene, computed: ModelTable) -> PaperTable:
    """Write what is known of a table; ``scene``: whose event it is of."""
    measure, rows = computed.request.measure, []
    for place, model in enumerate(computed.models):
        cells = [computed.cells.get((place, key)) for key in computed.keys]
        size = words.row_size(
            model.n_fit,
            model.n_test,
            model.n_classes,
            in_folds=model.in_folds,
            again=computed.request.n_splits > 0,
        )
        written = paper_cells(cells, measure, model.n_test, pending=computed.missing(place) > 0)
        rows.append((model.name, size, written))
    every = computed.cells.values()
    printed, printed_note = words.short_names(computed.keys)
    least = min((one.n_splits for one in every if one.value is not None), default=0)
    note = words.note(
        measure,
        splits=(computed.request.n_splits, least),
        in_folds=any(one.in_folds for one in computed.models),
        intervals=any(one.interval is not None for one in every),
        level=any(one.level for one in every),
        marked=can_rank(measure),
    )
    return PaperTable(
        words.heading(measure, scene.event_words.plain),
        tuple(method_name(key) for key in computed.keys),
        tuple(rows),
        f"{note} {words.gain_note(measure, computed.keys)}".rstrip(),
        printed,
        printed_note,
    )


def best_line(computed: ModelTable, table: PaperTable) -> str:
    """Return which calibrators are best for how many models."""
    wins: Counter[str] = Counter()
    ranked = 0
    for _, _, cells in table.rows:
        best = [key for key, one in zip(computed.keys, cells, strict=True) if one.place == "best"]
        wins.update(best)
        ranked += bool(best)
    return words.best_sentence(list(wins.items()), ranked, computed.request.measure)


# Summaries one after another ------------------------------------------------------------------


def series_blocks(
    periods: Sequence[Period], drift: Drift | None, *, expert: bool = False
) -> tuple[Sentences, Table]:
    """Return whether summaries drift, and a table with a row each.

    ``periods``, ``drift``: of `calibcore.summary.in_time`. ``expert``: whether p-values are said.
    """
    names = [one.name for one in periods]
    line = summaries.NOT_TESTED
    if drift is not None:
        line = drift_line("the files", names, (drift, None), expert=expert)
    rows = tuple(Row(one.name, one.name, _cells(one)) for one in periods)
    table = Table("series", summaries.SERIES, rows, look="measures")
    return Sentences("drift", (line.replace("**", ""),), headline=True), table


def _cells(one: Period) -> tuple[Cell, ...]:
    n_rows = one.n_samples
    gap, low, high = (
        amount(value, "share", n_rows, signed=True)
        for value in (one.mean_gap, one.interval.low, one.interval.high)
    )
    return (
        Cell(gap, f"{low} to {high}", one.mean_gap, one.interval.low, one.interval.high),
        Cell(percent(one.ks_error, n_rows), value=one.ks_error),
        Cell(percent(one.hit_rate, n_rows), value=one.hit_rate),
        Cell(f"{n_rows:,}", value=float(n_rows)),
    )
