r"""The table of models by calibrators in the papers' form: on the page, CSV, Markdown and LaTeX."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from calibcore.metrics import Measure
from calibcore.models import TableCell
from dashboard.document.blocks import Cell, Place
from dashboard.tables import csv_of, ranked_cells
from dashboard.texts.numbers import DASH, MINUS, MORE_DECIMALS_FROM, amount, span
from dashboard.views.models.table_words import in_percent

LEVEL = "\u00b0"
"""Sign of a value that a perfectly calibrated model may well show."""

PENDING = "\u2026"
"""What stands where a value is not computed yet."""


@dataclass(frozen=True)
class PaperCell:
    """One number of the table."""

    text: str
    """As it is written, without the unit, which the head of the table has."""
    place: Place = ""
    """Among the calibrators of the model."""
    note: str = ""
    """What is known of its uncertainty: its interval, or the deviation over splits."""
    level: bool = False
    """Whether a perfectly calibrated model may well show it."""


@dataclass(frozen=True)
class PaperTable:
    """A table of models by calibrators, ready to be shown."""

    heading: str
    """Measure with its unit, and event, as plain text."""
    columns: tuple[str, ...]
    """Calibrators."""
    rows: tuple[tuple[str, str, tuple[PaperCell, ...]], ...]
    """Name of each model, what its test set is, and its cells; plain text."""
    note: str
    """What the figures are and what the marks mean, as plain text."""
    printed: tuple[str, ...] = ()
    """Short names of the calibrators, for print; without them the columns."""
    printed_note: str = ""
    """What of the calibrators the short names leave out."""


def paper_cells(
    cells: Sequence[TableCell | None], measure: Measure, n_samples: int, *, pending: bool = False
) -> tuple[PaperCell, ...]:
    """Write the cells of one model, the best and the second best marked.

    ``cells``: one a calibrator; None where it is not known. ``measure``: decides what is better.
    ``n_samples``: rows of the test set, by which the number of decimals is chosen; one more than
    elsewhere, as values of one row are close to each other, and as many as the papers have.
    ``pending``: whether some cells are not computed yet, so that none can be marked as the best.
    """
    values = [None if one is None else one.value for one in cells]
    blank = PENDING if pending else DASH
    texts = [blank if value is None else _written(value, measure, n_samples) for value in values]
    marked = [Cell(text) for text in texts] if pending else ranked_cells(texts, values, measure)
    return tuple(
        _with_note(cell, one, measure, n_samples) for cell, one in zip(marked, cells, strict=True)
    )


def _with_note(cell: Cell, one: TableCell | None, measure: Measure, n_samples: int) -> PaperCell:
    shown = PaperCell(cell.shown, cell.place)
    if one is None or one.value is None:
        return shown
    note = ""
    if one.deviation is not None:
        note = f"\u00b1{_written(one.deviation, measure, n_samples)}"
    elif one.interval is not None:
        ends = one.interval.low, one.interval.high
        note = span(*(_written(end, measure, n_samples) for end in ends))
    return replace(shown, note=note, level=bool(one.level))


_THREE_DECIMALS = ("ks_error", "classwise", "calibration_gain")
"""Words in the keys of measures that Gupta 2021, Vasilev 2023 and Zhang 2020 print so."""


def _written(value: float, measure: Measure, n_samples: int) -> str:
    if measure.unit == "rows":
        return amount(value, measure.unit, n_samples)
    unit = "share" if in_percent(measure) else measure.unit
    finer = 1
    if unit == "share" and any(word in measure.key for word in _THREE_DECIMALS):
        finer = 2 if n_samples < MORE_DECIMALS_FROM else 1
    return amount(value, unit, n_samples, finer=finer)


def paper_csv(
    names: Sequence[str],
    columns: Sequence[str],
    cells: Sequence[Sequence[TableCell | None]],
    facts: Sequence[tuple[str, str]],
) -> str:
    """Write the table for a spreadsheet: every digit, shares from 0 to 1.

    ``names``, ``columns``: models, and calibrators. ``cells``: one a model and calibrator.
    ``facts``: what the table is about: head and text of columns that are the same in every line.

    Of each calibrator its value, followed by the ends of its interval, the standard deviation over
    splits, and whether it is level, as far as any cell has them.
    """
    every = [one for row in cells for one in row if one is not None]
    has_ends = any(one.interval is not None for one in every)
    has_deviation = any(one.deviation is not None for one in every)
    has_level = any(one.level is not None for one in every)
    head = ["Model"]
    for name in columns:
        head.append(name)
        head += [f"{name}, from", f"{name}, to"] if has_ends else []
        head += [f"{name}, standard deviation"] if has_deviation else []
        head += [f"{name}, as if perfectly calibrated"] if has_level else []
    lines: list[list[str | float | None]] = []
    for name, row in zip(names, cells, strict=True):
        line: list[str | float | None] = [name]
        for one in row:
            cell = one or TableCell(None)
            line.append(cell.value)
            line += list(_ends(cell)) if has_ends else []
            line += [cell.deviation] if has_deviation else []
            line += [_LEVELS[cell.level]] if has_level else []
        lines.append([*line, *(text for _, text in facts)])
    return csv_of([*head, *(name for name, _ in facts)], lines)


def _ends(cell: TableCell) -> tuple[float | None, float | None]:
    return (None, None) if cell.interval is None else (cell.interval.low, cell.interval.high)


_LEVELS = {True: "yes", False: "no", None: ""}


def paper_markdown(table: PaperTable) -> str:
    """Write the table as Markdown: the best bold, the second best underlined."""
    heads = ["Model", *(_markdown_text(name) for name in table.columns)]
    lines = [
        f"**{_markdown_text(table.heading)}**",
        "",
        f"| {' | '.join(heads)} |",
        f"| :--- |{' ---: |' * len(table.columns)}",
    ]
    signs = {"best": ("**", "**"), "second": ("<ins>", "</ins>"), "": ("", "")}
    for name, _, cells in table.rows:
        written = [_markdown_text(name)]
        for cell in cells:
            opening, closing = signs[cell.place]
            note = f" {_bracketed(cell.note)}" if cell.note else ""
            level = LEVEL if cell.level else ""
            written.append(f"{opening}{cell.text}{closing}{level}{note}")
        lines.append(f"| {' | '.join(written)} |")
    return "\n".join([*lines, "", _markdown_text(table.note), ""])


def _markdown_text(text: str) -> str:
    """Write text so that Markdown shows it as it is, but for addresses, which may become links."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", " ".join(text.split()))


def _bracketed(note: str) -> str:
    return note if note.startswith("\u00b1") else f"({note})"


_LATEX = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\u2013": "--",
    "\u2026": r"\ldots{}",
    "\u00b0": r"$^\circ$",
    "\u00b1": r"$\pm$",
    "\u00d7": r"$\times$",
    "\u221e": r"$\infty$",
    "\u2265": r"$\geq$",
    "\u2264": r"$\leq$",
    MINUS: "$-$",
}
"""What stands for a sign that LaTeX would take for a command, or does not know."""


def latex_text(text: str) -> str:
    """Write text so that LaTeX shows it as it is."""
    return "".join(_LATEX.get(sign, sign) for sign in " ".join(text.split()))


def paper_latex(table: PaperTable) -> str:
    """Write the table as LaTeX that needs booktabs and graphicx; it is never wider than a line."""
    signs = {"best": r"\textbf{%s}", "second": r"\underline{%s}", "": "%s"}
    body = []
    for name, _, cells in table.rows:
        written, below = [latex_text(name)], [""]
        for cell in cells:
            written.append(
                signs[cell.place] % latex_text(cell.text) + (latex_text(LEVEL) * cell.level)
            )
            note = latex_text(_bracketed(cell.note))
            below.append(rf"{{\scriptsize {note}}}" if cell.note else "")
        body.append(rf"    {' & '.join(written)} \\")
        if any(below):  # below the values, as beside them a page is too narrow
            body.append(rf"    {' & '.join(below)} \\")
    heads = " & ".join(["Model", *map(latex_text, table.printed or table.columns)])
    lines = [f"{table.heading}.", table.printed_note, table.note]
    caption = latex_text(" ".join(filter(None, lines)))
    narrowed = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}"
    return "\n".join([
        r"% \usepackage{booktabs,graphicx}",
        r"\begin{table}",
        r"  \centering",
        r"  \footnotesize",
        r"  \setlength{\tabcolsep}{3pt}",
        rf"  \caption{{{caption}}}",
        rf"  {narrowed}{{\begin{{tabular}}{{l{'r' * len(table.columns)}}}",
        r"    \toprule",
        rf"    {heads} \\",
        r"    \midrule",
        *body,
        r"    \bottomrule",
        r"  \end{tabular}}",
        r"\end{table}",
        "",
    ])  # fmt: skip
