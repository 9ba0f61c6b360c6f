"""The exercises as one HTML file to print: exercises first, solutions on a sheet of their own."""

from html import escape

from dashboard.document.style import STYLE
from dashboard.learn.exercises import Exercise, exercises
from dashboard.texts import learn as words

_OWN = """
.exercise { break-inside: avoid; margin: 1.2em 0; } .solutions { break-before: page; }
.exercise table { width: auto; } .exercise td, .exercise th { padding: 2px 14px 2px 0; }
"""


def sheet(seed: int, *, solutions: bool = True) -> str:
    """Write the exercises of a seed.

    ``seed``: of the exercises. ``solutions``: whether their solutions follow.

    HTML that needs nothing else: no script, no other file.

    Examples
    --------
    >>> sheet(3).count("<table") >= 4, "<script" in sheet(3)
    (True, False)
    """
    drawn = exercises(seed)
    asked = "".join(_asked(number, one) for number, one in enumerate(drawn, start=1))
    solved = "".join(_solved(number, one) for number, one in enumerate(drawn, start=1))
    of_seed = f"<p>{escape(words.of_seed(seed))}</p>" if solutions else ""  # it is the key
    behind = f'<section class="solutions"><h2>{words.SOLUTIONS}</h2>{solved}</section>'
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{words.SHEET}</title><style>{STYLE}{_OWN}</style></head><body>"
        f"<header><h1>{words.SHEET}</h1>{of_seed}</header>"
        f"<main><section>{asked}</section>{behind if solutions else ''}</main></body></html>"
    )


def _asked(number: int, exercise: Exercise) -> str:
    told = f"<p><b>{number}.</b> {escape(exercise.task)}</p>"
    return f'<div class="exercise">{told}{_table(exercise)}</div>'


def _table(exercise: Exercise) -> str:
    """Write the data along the page, one row of the table per quantity."""
    columns = zip(*exercise.table, strict=True)
    rows = (
        f'<tr><th scope="row">{escape(head)}</th>'
        f"{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
        for head, *cells in columns
    )
    return f"<table>{''.join(rows)}</table>" if exercise.table else ""


def _solved(number: int, exercise: Exercise) -> str:
    lines = "".join(f"<p>{escape(line)}</p>" for line in exercise.solution)
    return f'<div class="exercise"><p><b>{number}.</b></p>{lines}</div>'
