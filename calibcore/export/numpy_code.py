"""A fitted calibrator as a few lines of Python that need nothing but numpy."""

from typing import Any

import numpy as np

from calibcore.errors import CalibrationInputError
from calibcore.export.calibrator_file import CalibratorFile
from calibcore.grouping import Grouping, number


def numpy_code(file: CalibratorFile) -> str:
    """Write Python that applies a calibrator with numpy alone.

    Parameters
    ----------
    file : CalibratorFile
        Of any calibrator of the catalogue.

    Returns
    -------
    str
        A module with one function, ``calibrate``, that refuses what the calibrator does not take
        by a ValueError.

    Raises
    ------
    CalibrationInputError
        Another calibrator.

    Notes
    -----
    Equal to `CalibratorFile.apply` to 1e-12, of classes with a probability of 0 too. Of classes
    that a pooled map leaves equal to the last digit, any may be the largest. Groups are given as
    they are named: numbers where all names are numbers, else texts; of several columns, a row of
    them for each score.
    """
    recipe = file.fitted.recipe()
    if recipe is None:
        kind = type(file.fitted).__name__
        raise CalibrationInputError("calibrator", kind, "one of the catalogue")
    numbers, lines = recipe
    of_scores = file.takes == "scores" or not file.class_names
    head, name = (_OF_SCORES, "scores") if of_scores else (_of_classes(file), file.takes)
    constants = [f"{key.upper()} = {_written(value)}" for key, value in numbers.items()]
    of_groups, group_lines = _of_groups(file) if file.needs_groups else ([], [])
    others = ", groups" if file.needs_groups else "" if of_scores else ", class_names=CLASSES"
    # What a file says stands in constants alone, where it stays text.
    facts = {"made_by": f"Fractile {file.made_by}", "data_sha256": file.data, "rows": file.n_rows}
    gaussian = any("NormalDist" in line for line in lines)
    text = [
        f'"""{type(file.fitted).__name__}: calibrates {name} with numpy alone."""',
        "",
        *(["from statistics import NormalDist", ""] if gaussian else []),
        "import numpy as np",
        "",
        *(f"{key.upper()} = {fact!r}" for key, fact in facts.items()),
        *([] if of_scores else [f"CLASSES = {file.class_names!r}"]),
        *of_groups,
        *constants,
        "",
        "",
        f"def calibrate({name}{others}):",
        f"    x = np.asarray({name}, dtype=float)",
        *(f"    {line}" for line in [*head, *group_lines, *lines]),
        "    return y",
        "",
    ]
    return "\n".join(text)


def _of_groups(file: CalibratorFile) -> tuple[list[str], list[str]]:
    """Return constants, and the lines that find the places of each row's groups in the fit."""
    used, several = file.groups_used, len(file.groups_used) > 1
    columns = file.columns or (None,) * len(used)
    names = [grouping.column if grouping else "" for grouping in columns]
    constants = [f"COLUMNS = {names!r}" if several else f"COLUMN = {names[0]!r}"]
    lines = ["places = []"]
    if several:
        lines += [
            "groups = np.asarray(groups, dtype=object)",
            "if groups.shape != (len(x), len(COLUMNS)):",
            '    raise ValueError("expected a group of every column for each score")',
        ]
    for k, (grouping, fitted) in enumerate(zip(columns, used.values(), strict=True)):
        column = f"groups[:, {k}]" if several else "groups"
        more, added = _of_column(grouping, fitted.tolist(), column, str(k + 1) if several else "")
        constants, lines = constants + more, lines + added
    return constants, lines


def _of_column(
    grouping: Grouping | None, fitted: list[int], column: str, mark: str
) -> tuple[list[str], list[str]]:
    """Return constants and lines of one column; ``mark`` is put after the names of constants."""
    names = {k: grouping.names[k] if grouping else str(k) for k in fitted}
    numbers = {k: number(name) for k, name in names.items()}
    as_numbers = f"g = np.asarray({column}, dtype=float)"
    constants = []
    known: dict[Any, int] = {}
    if grouping is not None and grouping.cuts is not None:
        known = {k if name else None: place for place, (k, name) in enumerate(names.items())}
        constants.append(f"CUTS{mark} = {list(grouping.cuts)!r}")
        ranges = f'np.searchsorted(CUTS{mark}, g, side="right")'
        key_lines = [as_numbers, f"keys = np.where(np.isnan(g), None, {ranges})"]
    elif all(numbers[k] is not None or not name for k, name in names.items()):
        known = {numbers[k]: place for place, k in enumerate(names)}
        key_lines = [as_numbers, "keys = np.where(np.isnan(g), None, g)"]
    else:
        known = {name: place for place, name in enumerate(names.values())}
        blank = '"" if one is None or one != one else str(one)'
        key_lines = [f"keys = [{blank} for one in np.asarray({column}).tolist()]"]
    return [*constants, f"GROUPS{mark} = {known!r}"], [
        *key_lines,
        f"places.append(np.array([GROUPS{mark}.get(key, -1) for key in keys], dtype=int))",
        "if len(places[-1]) != len(x):",
        '    raise ValueError("expected a group for each score")',
    ]


_OF_SCORES = [
    "if x.ndim != 1 or not (x.min() >= 0 and x.max() <= 1):",
    '    raise ValueError("expected scores from 0 to 1, one a row")',
]


def _of_classes(file: CalibratorFile) -> list[str]:
    """Return the checks of a table, and what makes logits of it."""
    lines = [
        "if tuple(class_names) != CLASSES or x.ndim != 2 or x.shape[1] != len(CLASSES):",
        '    raise ValueError(f"expected a column for each of {CLASSES}, in this order")',
        "shares = x.min() >= 0 and np.allclose(x.sum(axis=1), 1, rtol=0, atol=1e-3)",
    ]
    if file.takes == "probabilities":
        lines += [
            "if not shares:",
            '    raise ValueError("expected probabilities, rows of which sum to 1")',
            'with np.errstate(divide="ignore"):',
            "    x = np.log(x / x.sum(axis=1, keepdims=True))",
        ]
    else:
        lines += [
            "percent = x.min() >= 0 and np.allclose(x.sum(axis=1), 100, rtol=0, atol=5)",
            "if shares or percent:",
            '    raise ValueError("expected logits, not probabilities or percentages")',
            "if not np.isfinite(x.max(axis=1)).all():",
            '    raise ValueError("expected the largest logit of each row to be finite")',
        ]
    return lines


def _written(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"np.array({value.tolist()!r})"
    if isinstance(value, list | tuple):
        inside = "".join(f"{_written(one)}, " for one in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    return repr(float(value))
