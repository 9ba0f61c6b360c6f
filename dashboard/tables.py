"""Result objects as tables of words and numbers, ready to be shown."""

import pandas as pd

from calibcore.evaluation import SetResult
from dashboard.wording import measured, method_name

CONTEST_MEASURES = (
    "ks_error",
    "ece",
    "mce",
    "event_nll",
    "event_brier",
    "classwise_ece",
    "nll",
    "brier",
    "accuracy",
)
"""Measures by which methods are compared, by key."""


def contest_table(contest: list[tuple[str, SetResult]]) -> pd.DataFrame:
    """List methods by measures; the best of a column between **, the second best between __.

    Parameters
    ----------
    contest : list of (str, SetResult)
        Key of each method, and its judgement on one set.

    Returns
    -------
    pandas.DataFrame
        One row a method. Values that are written alike count as equal.
    """
    columns: dict[str, list[str]] = {"Method": [method_name(key) for key, _ in contest]}
    for key in CONTEST_MEASURES:
        rows = [(judged.compare(key), judged.n_samples) for _, judged in contest]
        values = {measured(row, row.after, n): row.after for row, n in rows}
        defined = {text: value for text, value in values.items() if value is not None}
        measure = rows[0][0].measure
        ranked = sorted(defined, key=defined.__getitem__, reverse=measure.better == "higher")
        marks = dict(zip(ranked, ("**", "__"), strict=False))
        texts = [measured(row, row.after, n) for row, n in rows]
        columns[measure.name] = [f"{marks.get(t, '')}{t}{marks.get(t, '')}" for t in texts]
    columns["Decisions changed"] = [f"{judged.changed_decisions:,}" for _, judged in contest]
    return pd.DataFrame(columns)
