"""A spreadsheet program of the few functions that a calibrator's workbook uses."""

import ast
import io
import math
import re
import zipfile
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

_SPACE = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_TOKEN = re.compile(r'"[^"]*"|[<>]=|=|\^|\b[A-Z]\d+\b|\b[a-z]+_[a-z]+\b')


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
        found = re.fullmatch(r"(\w+)!\$([A-Z])\$(\d+):\$\2\$(\d+)", text)
        assert found is not None
        sheet, column, first, last = found.groups()
        rows = range(int(first), int(last) + 1)
        cells = [self.kept.get((sheet, f"{column}{row}"), "") for row in rows]
        return cells if any(isinstance(one, str) for one in cells) else np.array(cells)

    def typed(self, cell: str, value: Any) -> None:
        """Type into a cell of the first sheet, "" for nothing."""
        self.kept["Calibrator", cell] = value

    def value(self, cell: str) -> Any:
        """Return what the first sheet shows in a cell."""
        formula = self.formulas.get(("Calibrator", cell))
        if formula is None:
            return self.kept.get(("Calibrator", cell), "")
        tree = ast.parse(_TOKEN.sub(_as_python, formula), mode="eval")
        lazy = ast.fix_missing_locations(_Lazy().visit(tree))
        known = {**_FUNCTIONS, **self.names, "cell": self.value}
        return eval(compile(lazy, cell, "eval"), {"__builtins__": {}}, known)  # noqa: S307 - our own


def _as_python(token: re.Match[str]) -> str:
    text = token[0]
    if re.fullmatch(r"[A-Z]\d+", text):
        return f'cell("{text}")'
    return {"=": "==", "^": "**"}.get(text, text)


class _Lazy(ast.NodeTransformer):
    """Compute of IF and AND no more than is needed, as text is no number."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node.func:
            case ast.Name(id="IF"):
                test, yes, no = node.args
                return ast.IfExp(test, yes, no)
            case ast.Name(id="AND"):
                return ast.BoolOp(ast.And(), node.args)
        return node


def _lookup(value: float, keys: Any, values: Any = None) -> float:
    place = int(np.searchsorted(keys, value, side="right")) - 1
    return float((keys if values is None else values)[place])


def _text(value: Any) -> str:
    return f"{value:.15g}" if isinstance(value, float) else str(value)


_FUNCTIONS: dict[str, Any] = {
    "ISNUMBER": lambda value: isinstance(value, int | float),
    "LOOKUP": _lookup,
    "EXACT": lambda texts, value: np.array([_text(one) == _text(value) for one in texts]),
    "SUMPRODUCT": lambda values: float(np.sum(values)),
    "EXP": math.exp,
    "LN": math.log,
    "MAX": max,
    "MIN": min,
}
