"""Predictions that became certain and wrong, and the NLL that rises with them."""

from calibcore.evaluation import SetResult
from dashboard.wording.numbers import measured
from dashboard.wording.tiles import nll_key


def new_misses(judged: SetResult) -> float:
    """Count the certain misses that calibration has added."""
    misses = judged.compare("certain_misses")
    return (misses.after or 0) - (misses.before or 0)


def now_certain(n_misses: float) -> str:
    """Say how many predictions are certain and wrong."""
    rows = "prediction is" if n_misses == 1 else "predictions are"
    return f"{n_misses:,.0f} {rows} now certain (0% or 100%) and wrong"


def raised_nll(judged: SetResult) -> str:
    """Say that there are new certain misses and a higher NLL; nothing where one is missing."""
    row, n_samples, new = judged.compare(nll_key(judged)), judged.n_samples, new_misses(judged)
    was, now = measured(row, row.before, n_samples), measured(row, row.after, n_samples)
    if new <= 0 or was == now or (row.change or 0) <= 0:
        return ""
    return f"{now_certain(new)}, and the {row.measure.name} rises from {was} to {now}"
