"""Which columns score and outcome are, and how a file was read, in one line."""

import numpy as np

from calibcore.data import LogitSet
from dashboard.readers import Upload
from dashboard.wording.imports import outcome_column, score_column, summary


def event_of(upload: Upload) -> str | None:
    """Return which of two outcomes the score is of; None where there is no such choice."""
    names, preview = upload.class_names, upload.preview
    if names is None or len(names) != 2 or "score" not in preview.roles:
        return None
    return upload.options.event if upload.options.event in names else names[1]


def outcome_counts(upload: Upload) -> dict[str, int]:
    """Return how many rows of all sets have each of the outcomes."""
    sets = [rows for rows in upload.sets.values() if isinstance(rows, LogitSet)]
    names = sets[0].class_names if sets else ()
    counts = sum(
        (np.bincount(rows.labels, minlength=len(names)) for rows in sets),
        np.zeros(len(names), dtype=np.int64),
    )
    return dict(zip(names, counts.tolist(), strict=True))


def columns_read(upload: Upload) -> tuple[str, ...]:
    """Return which columns score and outcome are, where the score is of one of two outcomes."""
    event, preview = event_of(upload), upload.preview
    if event is None or "outcome" not in preview.roles:
        return ()
    score, outcome = (preview.headings[preview.roles.index(role)] for role in ("score", "outcome"))
    percent = any(one.startswith("Percentages") for one in upload.repairs)
    return (
        score_column(score, percent=percent),
        outcome_column(outcome, event, outcome_counts(upload)[event]),
    )


def as_read(upload: Upload) -> tuple[str, ...]:
    """Return how a file was read: in one line, with what was changed; then what is to be checked.

    ``upload``: with at least one set.

    Markdown.
    """
    line = "Read: " + summary(upload, columns_read(upload), n_checks=0)
    if upload.repairs:
        line = " ".join((f"{line}.", *upload.repairs))
    return line, *(f"Check: {doubt}" for doubt in upload.doubts)
