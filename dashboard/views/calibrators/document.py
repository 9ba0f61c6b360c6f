"""Calibrators compared by cross-validation: which to use, and the table."""

from collections.abc import Sequence

from calibcore.comparison import Contestant, pick, ranked
from dashboard.compute.comparison import (
    RANKED_BY,
    ComparisonResults,
    Conclusion,
    Dealt,
    conclusion_of,
)
from dashboard.document.blocks import Block, Sentences
from dashboard.scene import Scene
from dashboard.tables import contest_table, measures_shown
from dashboard.texts import comparison as words
from dashboard.texts.tiles import commonest_class


def document(scene: Scene, results: ComparisonResults, dealt: Dealt) -> tuple[Block, ...]:
    """Return which calibrator to use by the NLL of the event, those refused, and the table."""
    among = ranked(results.contestants, RANKED_BY, "crossed")
    picks = pick(among, RANKED_BY)
    conclusion = Conclusion() if picks is None else conclusion_of(scene, picks, among, dealt)
    measures = measures_shown(("ks_error", "ece"), RANKED_BY)
    return (
        *conclusion.blocks,
        Sentences("refused", tuple(words.refusal(*one) for one in results.refused)),
        contest_table(among, measures, advised=conclusion.advised),
        note_of(scene, among, dealt),
    )


def note_of(scene: Scene, among: Sequence[Contestant], dealt: Dealt) -> Sentences:
    """Return what the figures of the table are."""
    n_folds = min(dealt.n_folds, scene.split.calibration.n_samples)
    note = words.table_note(among, n_folds, commonest_class(scene.evaluated))
    return Sentences("how", (note,), help=words.TABLE_HELP, small=True)
