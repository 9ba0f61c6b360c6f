"""Tables for people, as HTML: the one place where a page's are written."""

from collections.abc import Iterable, Sequence
from html import escape

Part = str | tuple[str, str]
"""HTML of a cell, perhaps after the class of its element."""

_SIGNS = {"best": "b", "second": "u"}


def cell(text: str, note: str = "", *, place: str = "") -> str:
    """Return what a cell holds: a text, the best bold and the second underlined; small print.

    Both are escaped; each line of the note is its own.

    >>> cell("5 < 6", "of 9", place="best")
    '<b>5 &lt; 6</b><small>of 9</small>'
    """
    sign, shown = _SIGNS.get(place), escape(text)
    small = "".join(f"<small>{escape(line)}</small>" for line in note.splitlines())
    return f"{f'<{sign}>{shown}</{sign}>' if sign else shown}{small}"


def coloured(text: str, kind: str) -> str:
    """Return a text in the colour of its kind."""
    return f"<span class='{kind}'>{escape(text)}</span>"


def explained(name: str, what: str) -> str:
    """Return a name that opens what it means, which is HTML."""
    return f"<details><summary>{escape(name)}</summary><p>{what}</p></details>"


def table(
    kind: str,
    heads: Sequence[Part],
    rows: Iterable[Sequence[Part]],
    *,
    named: bool = True,
    scrolls: bool = True,
) -> str:
    """Return a table.

    ``kind``: its classes. ``heads``: HTML, "" for none, each perhaps after its class. ``rows``:
    their cells; of a row of one cell among several columns, the heading of a group. ``named``:
    whether the first cell of a row is its name. ``scrolls``: whether it is
    reached by the keyboard, to be moved sideways.
    """
    head = "".join(map(_head, heads))
    body = "".join(_row(row, len(heads), named=named) for row in rows)
    reached = " tabindex='0'" if scrolls else ""
    return (
        f"<table class='{kind}'{reached}><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def _head(part: Part) -> str:
    if isinstance(part, tuple):
        return f"<th class='{part[0]}' scope='col'>{part[1]}</th>"
    return f"<th scope='col'>{part}</th>" if part else "<td></td>"


def _row(parts: Sequence[Part], n_columns: int, *, named: bool) -> str:
    if len(parts) == 1 < n_columns:
        return f"<tr class='group'><th colspan='{n_columns}' scope='rowgroup'>{parts[0]}</th></tr>"
    name = f"<th scope='row'>{parts[0]}</th>" if named else ""
    return f"<tr>{name}{''.join(map(_cell, parts[1:] if named else parts))}</tr>"


def _cell(part: Part) -> str:
    if isinstance(part, str):
        return f"<td>{part}</td>"
    kind, text = part
    return f"<td class='{kind}'>{text}</td>"
