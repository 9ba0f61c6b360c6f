"""What several files may be of one another, as choices."""

from collections.abc import Sequence

from dashboard.readers.refusal import visible

LABEL = "Files are"
HELP = (
    "What several files are of one another: one table, a calibration and a test set, or models of"
    " the same rows, of which one is read here. The page Models compares models."
)


def way_said(way: Sequence[str], files: Sequence[str]) -> str:
    """Return what files may be of one another, as a choice.

    Examples
    --------
    >>> way_said((), ("a.csv", "b.csv")), way_said(("rows",), ("a.csv", "b.csv"))
    ('Auto', 'One table')
    >>> way_said(("sets", "a.csv"), ("a.csv", "b.csv"))
    'Calibration set a.csv, test set b.csv'
    >>> way_said(("without", "b.csv"), ("a.csv", "b.csv"))
    'Only a.csv'
    """
    named = way[1:]
    here = [visible(file, 40) for file in files if file in named]
    others = [visible(file, 40) for file in files if file not in named]
    if way[:1] in ((), ("rows",), ("models",)):
        return {(): "Auto", ("rows",): "One table"}.get(tuple(way[:1]), f"Only {others[0]}")
    if way[0] == "sets":
        here, others = (here, others) if here else (others[:1], others[1:])
        return f"Calibration set {' + '.join(here)}, test set {' + '.join(others)}"
    return f"Only {' + '.join(others)}"
