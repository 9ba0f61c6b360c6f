"""The curves of contestants, which a contest does not keep, for their diagrams."""

from collections.abc import Sequence

from calibcore.comparison import Contestant, EvaluatedOn
from calibcore.evaluation import Side, evaluate
from calibcore.fitting import prepare
from calibcore.metrics import Options
from dashboard.compute.cache import MOST_RESULTS, key_of, once
from dashboard.compute.contest import Dealt, rows_evaluated
from dashboard.compute.contest_settings import settings_of
from dashboard.scene import Scene

_MANY_ROWS, _OF_MANY_ROWS = 100_000, 9
"""Of more rows than this, so few sides are kept: each holds arrays of all rows."""


def contest_sides(
    scene: Scene, contestants: Sequence[Contestant], dealt: Dealt, evaluated_on: EvaluatedOn
) -> list[Side]:
    """Return each contestant's calibrated side of one set."""
    return [_side(scene, one, dealt, evaluated_on) for one in contestants]


def _side(scene: Scene, contestant: Contestant, dealt: Dealt, evaluated_on: EvaluatedOn) -> Side:
    settings = settings_of(scene, contestant.key)
    fitted, event = contestant.on(evaluated_on).fitted, settings.event

    def make() -> Side:
        prepared = prepare(rows_evaluated(scene, contestant.key, evaluated_on), event)
        return evaluate(prepared, event, fitted, Options(settings.n_bins)).after

    key = key_of(scene.upload, settings), dealt, evaluated_on
    few = contestant.on(evaluated_on).n_samples > _MANY_ROWS
    return once("contest sides", key, make, most=_OF_MANY_ROWS if few else MOST_RESULTS)
