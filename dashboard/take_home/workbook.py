"""A calibrator of scores as a workbook (.xlsx) in which scores are typed or pasted."""

import io
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from calibcore.calibrators.base import FittedScoreMap
from calibcore.calibrators.by_group import FittedByGroup
from calibcore.errors import CalibrationInputError
from calibcore.export.calibrator_file import CalibratorFile
from calibcore.export.score_table import TABLE_ACCURACY, ScoreTable, score_table
from calibcore.probabilities import log_odds, sigmoid
from dashboard.take_home.words import in_percent

N_ROWS = 1000
"""Rows with formulas."""

_HEAD, _FIRST = 3, 4
"""Rows of the heads and of the first score, from 0."""

_EXAMPLE = 0.5
"""The score that is there at first."""

_LOWEST = -1e300
"""Where the first range of a number begins."""

_VALUE = 'IF(ISNUMBER({score}),{score},_xlfn.NUMBERVALUE(SUBSTITUTE({score},",","."),"."," "))'
"""A cell as a number: text with a decimal point or comma, and with or without a percent sign."""

_IS_PERCENT = (
    'IF(ISNUMBER({score}),IFERROR(LEFT(CELL("format",{score}),1)="P",FALSE),'
    'RIGHT(TRIM({score}),1)="%")'
)
"""Whether a cell has a percent sign, by its text or by its format, so that its value is a share."""

_READ = {
    1: '=IF({score}="","",IFERROR(IF(OR(LEN(TRIM({score}))=0,{value}<0,{value}>1),"{no_score}",'
    '{value}),"{no_score}"))',
    100: '=IF({score}="","",IFERROR(IF(OR(LEN(TRIM({score}))=0,{value}<0,'
    '{value}*IF({is_percent},100,1)>100),"{no_score}",'
    "IF(OR({is_percent},{value}=0,{value}>1),{value}*IF({is_percent},100,1),"
    'IF({chosen}="{shares}",100*{value},IF({chosen}="{percent}",{value},"{which}")))),'
    '"{no_score}"))',
}
"""What a cell is read as, by the highest score. In percent, 0.5 may be meant as 50."""

_ALL = (
    "=IF(ISNUMBER({read}),LOOKUP({read},table_score,table_calibrated)"
    "+LOOKUP({read},table_score,table_slope)*({read}-LOOKUP({read},table_score)),{read})"
)

_MOVED = (
    "=IF(ISNUMBER({all}),{unit}/(1+EXP(-({shift}+{slope}*LN(MAX({all}{per_unit},2^-52)"
    "/MAX(1-{all}{per_unit},2^-52))))),{all})"
)


class _Column(NamedTuple):
    """A column of the sheet: how formulas call it, its head, its first value, and its formula."""

    name: str
    head: str
    first: str | float
    formula: str = ""


def workbook_of(file: CalibratorFile, name: str, event: str, *, in_percent: bool = False) -> bytes:
    """Write a workbook whose formulas calibrate a score, in any spreadsheet program.

    ``file``: of a calibrator of scores, or by group. ``name``, ``event``: how the calibrator and
    the event are called. ``in_percent``: whether scores are typed and calibrated in percent.

    An xlsx file. Sheet "Calibrator" has a column of scores, with one to start with, and formulas
    beside it, which look them up in sheet "Table"; by group, in "Groups" too. Values of the
    formulas are written along, for programs that do not compute.

    Raises `CalibrationInputError` for a calibrator of all classes, or of the groups of several
    columns.
    """
    from xlsxwriter import Workbook  # noqa: PLC0415 - only for who asks for it

    fitted = file.fitted
    if not isinstance(fitted, FittedScoreMap):
        wanted = "one of scores, such as platt or spline"
        raise CalibrationInputError("calibrator", type(fitted).__name__, wanted)
    if not has_table(file):
        wanted = "one of scores or by_group; corrections by group and range are JSON or NumPy code"
        raise CalibrationInputError("calibrator", type(fitted).__name__, wanted)
    table = score_table(fitted, TABLE_ACCURACY - file.accuracy)
    written, unit = io.BytesIO(), 100 if in_percent else 1
    with Workbook(written, {"in_memory": True}) as book:
        sheet = book.add_worksheet(SHEET)
        lines = np.column_stack([unit * table.score, unit * table.calibrated, table.slope])
        heads = [in_unit(head, unit) for head in TABLE_HEAD[:2]]
        _listed(book, TABLE, [*heads, *TABLE_HEAD[2:]], lines.tolist())
        if isinstance(fitted, FittedByGroup) and file.needs_groups:
            columns, how = _of_groups(book, file, fitted, table, unit), TYPE_GROUPS
        else:
            first = unit * table.at([_EXAMPLE]).item()
            columns = [_Column("calibrated", heads[1], first, _ALL)]
            how = TYPE
        columns = [_Column("score", heads[0], unit * _EXAMPLE), *columns]
        read = in_unit(READ, unit)
        columns.append(_Column("read", read, unit * _EXAMPLE, _READ[unit]))
        sheet.write_string(0, 0, title(name), book.add_format({"bold": True}))
        sheet.write_string(1, 0, f"{how.format(SCORES[unit])} {MORE}")
        lines_beside, text_format = facts(file, event, TABLE_ACCURACY, unit), _text_format(book)
        for row, (head, text) in enumerate(lines_beside, start=_HEAD):
            sheet.write_string(row, len(columns) + 1, head)
            sheet.write_string(row, len(columns) + 2, text, text_format)
        chosen = _HEAD + len(lines_beside), len(columns) + 2
        _filled(book, sheet, columns, unit, chosen)
    return written.getvalue()


def has_table(file: CalibratorFile) -> bool:
    """Return whether a table of scores can tell a calibrator: not one by group and range."""
    return isinstance(file.fitted, FittedByGroup) or not file.needs_groups


def _text_format(book: Any, **more: Any) -> Any:
    """Return the format of text from a file: a text it stays, also where a program edits it."""
    return book.add_format({"quote_prefix": True, **more})


def _filled(
    book: Any, sheet: Any, columns: Sequence[_Column], unit: int, chosen: tuple[int, int]
) -> None:
    """Write heads, the first row, and the formulas of all rows; what is chosen, where it counts."""
    from xlsxwriter.utility import xl_rowcol_to_cell  # noqa: PLC0415 - see above

    per_unit = "" if unit == 1 else f"/{unit}"
    cell = xl_rowcol_to_cell(*chosen, row_abs=True, col_abs=True)
    same = {"unit": unit, "per_unit": per_unit, "no_score": NO_SCORE[unit], "chosen": cell}
    same |= {"percent": UNITS[0], "shares": UNITS[1], "which": which(cell)}
    head = _text_format(book, bold=True, bottom=1, align="right")
    typed = book.add_format({"bg_color": "#FFF4CC"})
    if unit != 1:
        sheet.write_string(chosen[0], chosen[1] - 1, UP_TO_1)
        sheet.write_blank(*chosen, None, typed)
        sheet.data_validation(*chosen, *chosen, {"validate": "list", "source": [*UNITS]})
    number = book.add_format({"num_format": "0.0000"})
    for k, column in enumerate(columns):
        sheet.write_string(_HEAD, k, column.head, head)
        if column.name == "group" and isinstance(column.first, str):
            offered = {"validate": "list", "source": "=groups_group", "show_error": False}
            sheet.data_validation(_FIRST, k, _FIRST + N_ROWS - 1, k, offered)
        for row in range(_FIRST, _FIRST + N_ROWS):
            value = column.first if row == _FIRST else ""
            if column.formula:
                cells = {one.name: f"{'ABCDEFG'[at]}{row + 1}" for at, one in enumerate(columns)}
                parts = {"value": _VALUE.format(**cells), "is_percent": _IS_PERCENT.format(**cells)}
                formula = column.formula.format(**cells, **parts, **same)
                sheet.write_formula(row, k, formula, number, value)
            elif value == "":
                sheet.write_blank(row, k, None, typed)
            else:
                write = sheet.write_string if isinstance(value, str) else sheet.write_number
                write(row, k, value, typed)
    sheet.set_column(0, len(columns) - 1, 14)
    sheet.set_column(len(columns) + 1, len(columns) + 1, 16)
    sheet.freeze_panes(_FIRST, 0)


def _listed(book: Any, name: str, heads: Sequence[str], lines: Sequence[Sequence[Any]]) -> None:
    """Write a sheet of columns, each with a name for formulas such as ``table_score``."""
    sheet, text_format = book.add_worksheet(name), _text_format(book)
    for k, head in enumerate(heads):
        sheet.write_string(0, k, head, book.add_format({"bold": True, "bottom": 1}))
        column = "ABCD"[k]
        place = f"={name}!${column}$2:${column}${len(lines) + 1}"
        book.define_name(f"{name.lower()}_{head.split()[0].lower()}", place)
    for row, line in enumerate(lines, start=1):
        for k, value in enumerate(line):
            if isinstance(value, str):
                sheet.write_string(row, k, value, text_format)
            else:
                sheet.write_number(row, k, value)
    sheet.set_column(0, len(heads) - 1, 18)
    sheet.freeze_panes(1, 0)


def _of_groups(
    book: Any, file: CalibratorFile, fitted: FittedByGroup, table: ScoreTable, unit: int
) -> list[_Column]:
    """Write the sheet of groups, and return the columns that calibrate by them."""
    pairs = zip(fitted.shift.tolist(), fitted.slope.tolist(), strict=True)
    added = dict(zip(fitted.groups.tolist(), pairs, strict=True))
    grouping, like_all = file.groups[0] if file.groups else None, (0.0, 1.0)
    if grouping is None or grouping.cuts is None:
        names = {k: str(k) if grouping is None else grouping.names[k] for k in added}
        lines = [[names[k], *pair] for k, pair in added.items()]
        lines.sort(key=lambda line: line[0] == "")
        shift = "SUMPRODUCT(EXACT(groups_group,{group})*groups_shift)"
        slope = "1+SUMPRODUCT(EXACT(groups_group,{group})*(groups_slope-1))"
        first = lines[0][0]
    else:
        starts = [_LOWEST, *grouping.cuts]
        lines = [[grouping.names[k], *added.get(k, like_all), at] for k, at in enumerate(starts)]
        blank = added.get(len(starts), like_all)
        shift, slope = (
            f"IF(ISNUMBER({{group}}),LOOKUP({{group}},groups_from,groups_{one}),{value!r})"
            for one, value in zip(("shift", "slope"), blank, strict=True)
        )
        first = min([*grouping.cuts, 1.0]) - 1
    _listed(book, GROUPS, GROUPS_HEAD[: len(lines[0])], lines)
    of_all, (own_shift, own_slope) = table.at([_EXAMPLE]), lines[0][1:3]
    moved = unit * sigmoid(own_shift + own_slope * log_odds(of_all)).item()
    head = GROUPS_HEAD[0] if grouping is None else grouping.column
    return [
        _Column("group", head or GROUPS_HEAD[0], first),
        _Column("calibrated", in_unit(CALIBRATED, unit), moved, _MOVED),
        _Column("all", in_unit(OF_ALL, unit), unit * of_all.item(), _ALL),
        _Column("shift", SHIFT, own_shift, f'=IF(ISNUMBER({{all}}),{shift},"")'),
        _Column("slope", SLOPE, own_slope, f'=IF(ISNUMBER({{all}}),{slope},"")'),
    ]


SHEET, TABLE, GROUPS = "Calibrator", "Table", "Groups"

SCORE, CALIBRATED, OF_ALL, SHIFT, SLOPE = "Score", "Calibrated", "All groups", "Shift", "Slope"
TABLE_HEAD = (SCORE, CALIBRATED, "Slope up to the next row")
GROUPS_HEAD = ("Group", SHIFT, SLOPE, "From")

READ = "Read as"
UP_TO_1, UNITS = "Scores up to 1 are", ("percent", "shares")
"""Of a sheet in percent, where a cell without a percent sign may be either."""

NO_SCORE = {1: "Not a score from 0 to 1", 100: "Not a score from 0 to 100"}
SCORES = {
    1: "scores from 0 to 1, or with a percent sign,",
    100: "scores in percent, from 0 to 100 or with a percent sign,",
}
"""By what the highest score is, 1 or 100."""

TYPE = "Type or paste {} in column A; column B shows them calibrated."
TYPE_GROUPS = (
    "Type or paste {} in column A and groups in column B; column C shows the scores calibrated."
    " Another group gets the map of all groups."
)
MORE = (
    "The last of these columns shows what each was read as. For more rows, copy the formulas of the"
    " last row down."
)


def which(cell: str) -> str:
    """Return what is asked of a score that may be percent or a share."""
    return f"Percent or a share? Choose in {cell.replace('$', '')}"


def title(name: str) -> str:
    """Return what the workbook is."""
    return f"{name}: scores calibrated"


def in_unit(head: str, unit: int) -> str:
    """Return the head of a column of scores up to 1 or, in percent, to 100."""
    return head if unit == 1 else in_percent(head)


def facts(file: CalibratorFile, event: str, accuracy: float, unit: int) -> list[tuple[str, str]]:
    """Return what is known of the calibrator."""
    within = f"{accuracy:.4f}" if unit == 1 else f"{100 * accuracy:.2f} percentage points"
    return [
        ("Event", event),
        ("Accuracy", f"Within {within} of the calibrator, at every score"),
        ("Equal scores", "Scores that agree to 12 digits count as equal"),
        ("Fitted on", f"{file.n_rows:,} rows"),
        ("Data (SHA-256)", file.data),
        ("Made by", f"Fractile {file.made_by}"),
    ]
