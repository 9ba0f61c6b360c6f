"""Calibrators compared by cross-validation: which to use, the picture, and the table."""

from collections.abc import Sequence

from calibcore.comparison import Contestant, pick, ranked
from calibcore.metrics import Measure
from dashboard.compute.comparison import (
    RANKED_BY,
    ComparisonResults,
    Conclusion,
    FoldPlan,
    conclusion_of,
)
from dashboard.document.blocks import Block, Picture, Pictures, Sentences
from dashboard.figures.comparison import Changes, dot_plot
from dashboard.scene import Scene
from dashboard.tables import comparison_table, measures_shown
from dashboard.texts import comparison as words
from dashboard.texts.methods import method_name
from dashboard.texts.tiles import commonest_class


def document(scene: Scene, results: ComparisonResults, fold_plan: FoldPlan) -> tuple[Block, ...]:
    """Return which calibrator to use by the NLL of the event, those refused, picture and table."""
    among = ranked(results.contestants, RANKED_BY, "crossed")
    picks = pick(among, RANKED_BY)
    conclusion = Conclusion() if picks is None else conclusion_of(scene, picks, among, fold_plan)
    measures = measures_shown(("ks_error", "ece"), RANKED_BY)
    return (
        *conclusion.blocks,
        Sentences("refused", tuple(words.refusal(*one) for one in results.refused)),
        picture_of(scene, among, RANKED_BY, advised=conclusion.advised, ranks=picks is not None),
        comparison_table(among, measures, advised=conclusion.advised),
        note_of(scene, among, fold_plan),
    )


def picture_of(
    scene: Scene,
    among: Sequence[Contestant],
    measure: Measure,
    changes: Changes | None = None,
    *,
    advised: str = "",
    ranks: bool = True,
) -> Pictures:
    """Return one measure of every calibrator, the advised one marked.

    ``changes``: the intervals of the changes from uncalibrated, where they are known. ``ranks``:
    whether one of them is the best.
    """
    names = [words.marked(method_name(one.key), advised=one.key == advised) for one in among]
    figure = dot_plot(among, names, measure, scene.palette, changes)
    caption = words.dots_caption(measure, among, ranks=ranks, intervals=bool(changes))
    key = "calibrators with intervals" if changes else "calibrators"
    return Pictures("compared", (Picture(key, caption, figure),))


def note_of(scene: Scene, among: Sequence[Contestant], fold_plan: FoldPlan) -> Sentences:
    """Return what the figures of the table are."""
    n_folds = min(fold_plan.n_folds, scene.split.calibration.n_samples)
    note = words.table_note(among, n_folds, commonest_class(scene.evaluated))
    return Sentences("how", (note,), help=words.TABLE_HELP, small=True)
