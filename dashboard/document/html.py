"""A report as one HTML file that needs nothing else, and as JSON of the same content."""

import json
from html import escape

from dashboard.document.blocks import (
    Block,
    Cell,
    Picture,
    Pictures,
    Report,
    Row,
    Section,
    Sentences,
    Table,
)
from dashboard.document.style import STYLE
from dashboard.document.svg import svg_of
from dashboard.figures import LIGHT
from dashboard.texts import report as words
from dashboard.texts.numbers import plain

_MUCH = 1_400
"""Letters of one page from which on it is set smaller, so that it stays one page."""


def json_of(report: Report) -> str:
    """Return a report as JSON, see ``dashboard/report/report.schema.json``."""
    return json.dumps(report.as_dict(), ensure_ascii=False, allow_nan=False, indent=1)


def html_of(report: Report, *, brief: bool = False) -> str:
    """Return a report as HTML: no script, no other file, every text with its place in the JSON.

    ``report``: what is written. ``brief``: whether it is the page for a committee alone.
    """
    sections = report.sections[:1] if brief else report.sections
    body = "".join(_section(f"/sections/{k}", one) for k, one in enumerate(sections))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\';'
        " style-src 'unsafe-inline'\">"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(report.title)}</title><style>{STYLE}</style></head>"
        f'<body class="{_kind(report, brief=brief)}">{_head(report)}<main>{body}</main>'
        f"{_foot(report, brief=brief)}</body></html>"
    )


def _kind(report: Report, *, brief: bool) -> str:
    """Return the class of the body: one page with much to say gets smaller pictures and letters."""
    if not brief:
        return "whole"
    texts = [one for one in report.sections[0].blocks if isinstance(one, Sentences)]
    size = len(report.subject) + sum(len(line) for one in texts for line in one.plain_lines)
    return "brief dense" if size > _MUCH else "brief"


def _head(report: Report) -> str:
    typed = "".join(
        f'<div><dt>{escape(label)}</dt><dd data-json="/typed/{key}">{escape(text)}</dd></div>'
        for key, (label, _) in words.FIELDS.items()
        if key != "title" and (text := getattr(report.typed, key))
    )
    return (
        f'<header><h1 data-json="/title">{escape(report.title)}</h1>'
        f'<p data-json="/subject">{escape(report.subject)}</p>'
        f"{f'<dl>{typed}</dl>' if typed else ''}</header>"
    )


def _foot(report: Report, *, brief: bool) -> str:
    practices = "" if brief else f" {escape(words.PRACTICES)}"
    return (
        f'<footer>{words.DATE} <span data-json="/made">{escape(report.made)}</span> \u00b7'
        f' <span data-json="/made_by">Fractile {escape(report.version)}</span> \u00b7'
        f' {words.DIGEST} <span data-json="/sha256">{escape(report.digest)}</span>.{practices}'
        "</footer>"
    )


def _section(at: str, section: Section) -> str:
    blocks = "".join(
        _block(f"{at}/blocks/{k}", one, section.title) for k, one in enumerate(section.blocks)
    )
    practice = (
        f'<p class="practice" data-json="{at}/practice">{escape(section.practice)}</p>'
        if section.practice
        else ""
    )
    title = f'<h2 data-json="{at}/title">{escape(section.title)}</h2>'
    return f'<section class="{escape(section.key)}">{title}{practice}{blocks}</section>'


def _block(at: str, block: Block, of: str) -> str:
    match block:
        case Sentences():
            kind = "large" if block.large else escape(block.key).replace(" ", "-")
            text = "".join(
                f'<p class="{kind}" data-json="{at}/lines/{k}">{escape(line)}</p>'
                for k, line in enumerate(block.plain_lines)
            )
            heading = escape(block.heading)
            head = f'<h3 data-json="{at}/heading">{heading}</h3>' if heading else ""
            return f'<div class="told">{head}{text}</div>'
        case Table():
            return _table(at, block.apart, f"{of}: {block.key}")
        case Pictures():
            name = at.replace("/", "-")
            shown = "".join(
                _picture(f"{at}/pictures/{k}", one, f"{name}-{k}")
                for k, one in enumerate(block.pictures)
            )
            return f'<div class="side-by-side">{shown}</div>'


def _picture(at: str, picture: Picture, name: str) -> str:
    sent, caption = picture.sent(LIGHT), plain(picture.caption)
    alt = f"{sent['layout']['title']['text']}. {caption}"
    return (
        f"<figure>{svg_of(sent, alt=alt, name=name)}"
        f'<figcaption data-json="{at}/caption">{escape(caption)}</figcaption></figure>'
    )


def _table(at: str, table: Table, label: str) -> str:
    heads = "".join(
        f'<th scope="col" data-json="{at}/columns/{k}">{escape(name)}</th>'
        for k, name in enumerate(table.columns)
    )
    rows = "".join(_row(f"{at}/rows/{k}", row) for k, row in enumerate(table.rows))
    pairs, head = "" if table.columns else " pairs", f"<thead><tr>{heads}</tr></thead>"
    return (
        f'<div class="wide{pairs}" role="region" aria-label="{escape(label)}" tabindex="0">'
        f"<table>{head if table.columns else ''}<tbody>{rows}</tbody></table></div>"
    )


def _row(at: str, row: Row) -> str:
    text = escape(row.full_note)
    note = f'<small data-json="{at}/note">{text}</small>' if text else ""
    name = f'<span data-json="{at}/name">{escape(row.name)}</span>{note}'
    cells = "".join(_cell(f"{at}/cells/{k}", cell) for k, cell in enumerate(row.cells))
    return f'<tr><th scope="row">{name}</th>{cells}</tr>'


def _cell(at: str, cell: Cell) -> str:
    text = escape(cell.full_note)
    note = f'<small data-json="{at}/note">{text}</small>' if text else ""
    place = f' class="{cell.place}"' if cell.place else ""
    return f'<td><span{place} data-json="{at}/shown">{escape(cell.shown)}</span>{note}</td>'
