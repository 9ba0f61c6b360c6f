"""What is known of single measures."""

from calibcore import EventScores
from calibcore.inference import Finding, Inference, Interval, Plan, SideRows, infer
from calibcore.inference.findings import Uncertainty
from calibcore.metrics import METRICS

Rows = EventScores | SideRows


def plan_of(*keys: str, n_resamples: int = 200, seed: int = 0) -> Plan:
    measures = tuple(one for one in METRICS if one.key in keys)
    return Plan(measures, n_resamples=n_resamples, seed=seed)


def side_of(rows: Rows) -> SideRows:
    return rows if isinstance(rows, SideRows) else SideRows(rows)


def finding_of(key: str, before: Rows, after: Rows, n_resamples: int = 200) -> Finding:
    plan = plan_of(key, n_resamples=n_resamples)
    return infer(side_of(before), side_of(after), plan).find(key)


def before_of(result: Finding) -> Uncertainty:
    assert result.before is not None
    return result.before


def after_of(result: Finding) -> Uncertainty:
    assert result.after is not None
    return result.after


def change_of(result: Finding) -> Interval:
    assert result.change is not None
    return result.change


def uncertainty_of(key: str, rows: Rows, n_resamples: int = 200, seed: int = 0) -> Uncertainty:
    """Give what is known of one measure of rows that no calibrator changes."""
    side = side_of(rows)
    result: Inference = infer(side, side, plan_of(key, n_resamples=n_resamples, seed=seed))
    return before_of(result.find(key))
