"""A spreadsheet program of the few functions that a calibrator's workbook uses."""

import ast
import io
import math
import re
import zipfile
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

_SPACE = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_TOKEN = re.compile(r'"[^"]*"|[<>]=|=|\^|\$?\b[A-Z]\$?\d+\b|\bFALSE\b|\b[a-z]+_[a-z]+\b')


class Workbook:
    """The cells of a workbook: constants, and formulas that are computed when asked for."""

    def __init__(self, data: bytes) -> None:
        with zipfile.ZipFile(io.BytesIO(data)) as held:
            parts = {name: held.read(name) for name in held.namelist()}
        shared = ET.fromstring(parts["xl/sharedStrings.xml"])  # noqa: S314 - our own
        self._texts = ["".join(one.itertext()) for one in shared.iter(f"{_SPACE}si")]
        book = ET.fromstring(parts["xl/workbook.xml"])  # noqa: S314 - our own
        names = [str(one.get("name")) for one in book.iter(f"{_SPACE}sheet")]
        self.formulas: dict[tuple[str, str], str] = {}
        self.kept: dict[tuple[str, str], Any] = {}
        self.in_percent: set[str] = set()
        self.has_cell_formats = True
        for k, sheet in enumerate(names, start=1):
            self._read(sheet, parts[f"xl/worksheets/sheet{k}.xml"])
        self.names = {
            str(one.get("name")): self._range(str(one.text))
            for one in book.iter(f"{_SPACE}definedName")
        }

    def _read(self, sheet: str, content: bytes) -> None:
        for cell in ET.fromstring(content).iter(f"{_SPACE}c"):  # noqa: S314 - our own
            place = sheet, str(cell.get("r"))
            formula, value = cell.find(f"{_SPACE}f"), cell.find(f"{_SPACE}v")
            if formula is not None:
                self.formulas[place] = str(formula.text)
            text = "" if value is None or value.text is None else value.text
            if cell.get("t") == "s":
                self.kept[place] = self._texts[int(text)]
            else:
                self.kept[place] = text if cell.get("t") == "str" or not text else float(text)

    def _range(self, text: str) -> Any:
        result = re.fullmatch(r"(\w+)!\$([A-Z])\$(\d+):\$\2\$(\d+)", text)
        assert result is not None
        sheet, column, first, last = result.groups()
        rows = range(int(first), int(last) + 1)
        cells = [self.kept.get((sheet, f"{column}{row}"), "") for row in rows]
        return cells if any(isinstance(one, str) for one in cells) else np.array(cells)

    def typed(self, cell: str, value: Any, *, in_percent: bool = False) -> None:
        """Type into a cell of the first sheet, "" for nothing; or a number in percent format."""
        self.kept["Calibrator", cell] = value
        (self.in_percent.add if in_percent else self.in_percent.discard)(cell)

    def _format(self, asked: str, cell: str) -> str:
        if not self.has_cell_formats:
            raise ValueError(asked)
        return "P2" if cell in self.in_percent else "G"

    def value(self, cell: str) -> Any:
        """Return what the first sheet shows in a cell."""
        formula = self.formulas.get(("Calibrator", cell))
        if formula is None:
            return self.kept.get(("Calibrator", cell), "")
        tree = ast.parse(_TOKEN.sub(_as_python, formula), mode="eval")
        lazy = ast.fix_missing_locations(_Lazy().visit(tree))
        known = {**_FUNCTIONS, **self.names, "cell": self.value, "CELL": self._format}
        return eval(compile(lazy, cell, "eval"), {"__builtins__": {}, **known})  # noqa: S307 - our own


def _as_python(token: re.Match[str]) -> str:
    text = token[0]
    if re.fullmatch(r"\$?[A-Z]\$?\d+", text):
        return f'cell("{text.replace("$", "")}")'
    return {"=": "==", "^": "**", "FALSE": "False"}.get(text, text)


class _Lazy(ast.NodeTransformer):
    """Compute of IF and AND no more than is needed, as text is no number."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node.func:
            case ast.Name(id="IF"):
                test, yes, no = node.args
                return ast.IfExp(test, yes, no)
            case ast.Name(id="OR"):
                return ast.BoolOp(ast.Or(), node.args)
            case ast.Name(id="IFERROR"):
                none = ast.arguments([], [], kwonlyargs=[], kw_defaults=[], defaults=[])
                return ast.Call(node.func, [ast.Lambda(none, one) for one in node.args], [])
            case ast.Name(id="CELL"):  # of the cell itself, not of its value
                (asked, cell) = node.args
                assert isinstance(cell, ast.Call)
                return ast.Call(node.func, [asked, cell.args[0]], [])
        return node


def _lookup(value: float, keys: Any, values: Any = None) -> float:
    place = int(np.searchsorted(keys, value, side="right")) - 1
    return float((keys if values is None else values)[place])


def _or_else(first: Callable[[], Any], then: Callable[[], Any]) -> Any:
    try:
        return first()
    except (TypeError, ValueError):
        return then()


def _number_value(text: Any, point: str, between: str) -> float:
    """Return a text as a number, as NUMBERVALUE: blanks are nothing, each percent sign a 100th."""
    plain = str(text).replace(" ", "").replace(between, "").replace(point, ".")
    bare = plain.rstrip("%")
    return float(bare or 0) / 100.0 ** (len(plain) - len(bare))


def _text(value: Any) -> str:
    return f"{value:.15g}" if isinstance(value, float) else str(value)


_FUNCTIONS: dict[str, Any] = {
    "ISNUMBER": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "LOOKUP": _lookup,
    "EXACT": lambda texts, value: np.array([_text(one) == _text(value) for one in texts]),
    "SUMPRODUCT": lambda values: float(np.sum(values)),
    "IFERROR": _or_else,
    "_xlfn": SimpleNamespace(NUMBERVALUE=_number_value),
    "SUBSTITUTE": lambda text, old, new: _text(text).replace(old, new),
    "TRIM": lambda text: _text(text).strip(),
    "LEN": lambda text: len(_text(text)),
    "LEFT": lambda text, n: _text(text)[:n],
    "RIGHT": lambda text, n: _text(text)[-n:],
    "EXP": math.exp,
    "LN": math.log,
    "MAX": max,
    "MIN": min,
}
