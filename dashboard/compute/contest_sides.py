"""The curves of contestants, which a contest does not keep, for their diagrams."""

from collections.abc import Sequence

from calibcore.contest import Contestant, EvaluatedOn
from calibcore.evaluation import Side, evaluate
from calibcore.fitting import prepare
from calibcore.metrics import Options
from dashboard.compute.cache import key_of, once
from dashboard.compute.contest import Dealt, rows_evaluated
from dashboard.compute.contest_settings import settings_of
from dashboard.scene import Scene


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
    return once("contest sides", key, make)
