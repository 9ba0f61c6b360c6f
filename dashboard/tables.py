"""Result objects as tables of words and numbers, ready to be shown."""

import pandas as pd

from calibcore.evaluation import SetResult
from dashboard.wording import measured, measured_change


def measure_table(judged: SetResult) -> pd.DataFrame:
    """List every measure before, after and its change, as text.

    Parameters
    ----------
    judged : SetResult
        The judgement on one set.

    Returns
    -------
    pandas.DataFrame
        Columns Measure, Before, After, Change; one row a measure.
    """
    n_samples = judged.n_samples
    rows = [
        {
            "Measure": row.measure.name,
            "Before": measured(row, row.before, n_samples),
            "After": measured(row, row.after, n_samples),
            "Change": measured_change(row, n_samples),
        }
        for row in judged.comparisons
    ]
    return pd.DataFrame(rows)
