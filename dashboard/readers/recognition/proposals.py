"""What columns may say of rows that changes figures: weights, and whom rows belong to."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from dashboard.readers.recognition.features import Feature, may_weigh
from dashboard.readers.recognition.vocabulary import are_counts
from dashboard.readers.records import ColumnRole, Proposal, ReadingOptions
from dashboard.readers.refusal import Answer, Question, quoted


def proposals_of(
    features: Sequence[Feature], roles: Sequence[ColumnRole], options: ReadingOptions
) -> Iterator[Proposal]:
    """Propose what columns that are called as weights may say, as far as nobody has told."""
    by_user = dict(options.roles)
    if {"count", "weight"} & {*by_user.values()}:
        return  # one of them says it
    for f, role in zip(features, roles, strict=True):
        if f.name in by_user or role not in {"group", "left out"} or not may_weigh(f):
            continue
        values = f.column.values
        whole = bool((values == np.rint(values)).all())
        counts = Answer("Number of rows", "Each row stands for so many equal rows.",
                        options.with_roles((f.name, "count")))  # fmt: skip
        weighs = Answer("Sampling weight", "Rows were drawn with unequal chances, as in a survey.",
                        options.with_roles((f.name, "weight")))  # fmt: skip
        plain: ColumnRole = role if f.kind == "weight" else "group"
        neither = Answer("No weight", "Each row counts once.",
                         options.with_roles((f.name, plain)))  # fmt: skip
        likely = (counts, weighs) if whole and are_counts(f.words) else (weighs, counts)
        low = int((values < 0).sum())
        why = f", as {low:,} values are below 0" if low else ""
        yield Proposal(
            f"Column {quoted(f.name)} is not used as a weight{why}: each row counts once.",
            Question(
                f"column {quoted(f.name)}", "may say how much each row counts",
                f"What does {quoted(f.name, 30)} say of each row?",
                tuple(one for one in (*likely * (not low), neither) if whole or one is not counts),
            ),
        )  # fmt: skip


def belonging(doubt: str, columns: Mapping[str, str], options: ReadingOptions) -> Proposal:
    """Propose that rows belong together. ``columns``: by name, what the same rows are of."""
    answers = [
        Answer(f"Those of one {noun}", f"Tests and intervals then count {noun}s, not rows.",
               options.with_roles((name, "cluster")))
        for name, noun in columns.items()
    ]  # fmt: skip
    change = options.with_roles(*((name, "id") for name in columns))
    none = Answer("No, each row by itself", "Rows were drawn one by one.", change)
    names = " and ".join(quoted(name, 30) for name in columns)
    text = "values that repeat from row to row"
    ask = "Which rows belong together?"
    if len(columns) == 1:
        ask = f"Do rows of the same {names} belong together?"
    field = f"column{'s' if len(columns) > 1 else ''} {names}"
    return Proposal(doubt, Question(field, text, ask, (*answers, none)))
