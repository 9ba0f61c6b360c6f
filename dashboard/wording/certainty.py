"""Predictions that became certain and wrong, and the NLL that rises with them."""

from calibcore.evaluation import SetResult
from calibcore.inference import Mark
from dashboard.wording.measures import MARKS
from dashboard.wording.numbers import measured
from dashboard.wording.tiles import nll_key


def new_misses(evaluated: SetResult) -> float:
    """Return how many wrong scores of 0% or 100% calibration has added."""
    misses = evaluated.compare("certain_misses")
    return (misses.after or 0) - (misses.before or 0)


def in_the_nll(evaluated: SetResult, *, calibrated: bool) -> str:
    """Return how many wrong scores of 0% or 100% weigh on the NLL; "" where none does."""
    misses = evaluated.compare("certain_misses")
    sides = {"Before": misses.before, "After": misses.after if calibrated else None}
    told = "; ".join(f"{name}: {now_certain(n)}" for name, n in sides.items() if n)
    return told and f"{told}. In the NLL each counts 37 to 708 nats, divided by the number of rows."


def now_certain(n_misses: float) -> str:
    """Return how many predictions are wrong with a score of 0% or 100%."""
    rows = "prediction has" if n_misses == 1 else "predictions have"
    return f"{n_misses:,.0f} wrong {rows} a score of exactly 0% or 100%"


def raised_nll(evaluated: SetResult, mark: Mark | None = None) -> str:
    """Return that there are new wrong scores of 0% or 100% and a higher NLL; "" where not both.

    ``mark`` is that of the change of the NLL, as far as it is known.
    """
    row, n_samples, new = (
        evaluated.compare(nll_key(evaluated)),
        evaluated.n_samples,
        new_misses(evaluated),
    )
    was, now = measured(row, row.before, n_samples), measured(row, row.after, n_samples)
    if new <= 0 or was == now or (row.change or 0) <= 0:
        return ""
    clear = "" if mark is None else f", {MARKS[mark][1]}"
    return f"{now_certain(new)} ({row.measure.name} {was} \u2192 {now}{clear})"
