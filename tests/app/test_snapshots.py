"""All that every page says of eight scenes, kept as text that is reviewed when it changes.

Written again by ``FRACTILE_SNAPSHOTS=write python -m pytest -m "long or not long" FILE``.
"""

import math
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict

from dashboard.app import PAGES
from dashboard.compute.cache import forget
from tests.app.pages import open_page
from tests.app.scenes import ASKS, SCENES
from tests.reviewed import check_reviewed

FOLDER = Path(__file__).parent / "snapshots"

EACH_TIME = ("crash", "garments_rank")
"""The others are opened before a release."""

_TIMES = re.compile(r"\d+(\.\d+)? (ms|s|seconds?|minutes?)\b|\d{4}-\d\d-\d\d\S*")


@pytest.fixture(autouse=True)
def _on_any_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute what takes long instead of asking first."""
    for name in ASKS:
        monkeypatch.setattr(name, math.inf)
    forget()  # a fit of another test, whose time is forgotten, has none to show


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=[] if one in EACH_TIME else pytest.mark.long) for one in SCENES],
)
def test_pages_say_what_was_reviewed(name: str) -> None:
    shown = [line for _, path, _ in PAGES for line in (f"# {path}", *page_lines(name, path), "")]
    check_reviewed(FOLDER / f"{name}.txt", shown)


def page_lines(name: str, path: str) -> Iterator[str]:
    """Give the texts of a page, the panel on the left left out, a line each."""
    page = open_page(path, **SCENES[name])
    assert not page.exception
    for element in elements(page.main):
        for text in texts_of(element):
            yield from _TIMES.sub("#", text).strip().split("\n")


def elements(block: Any) -> Iterator[dict[str, Any]]:
    """Give what a page sends to the browser, in its order."""
    for child in block.children.values():
        proto = getattr(child, "proto", None)
        if proto is not None and hasattr(proto, "DESCRIPTOR"):
            yield MessageToDict(proto)
        if hasattr(child, "children"):
            yield from elements(child)


def texts_of(element: dict[str, Any]) -> Iterator[str]:
    """Give the texts of one element: of a table its rows, of a picture what it shows."""
    body = str(element.get("body", ""))
    if "<table" in body:
        yield from table_lines(body)
        return
    label = str(element.get("label", ""))
    small = " ".join(str(element[key]) for key in ("delta", "description") if element.get(key))
    text = ": ".join(part for part in (label, body) if part)
    if text and "<style" not in text:
        yield f"{text} ({small})" if small else text
    if element.get("alt"):
        yield f"[{element['alt']}]"


def table_lines(html: str) -> Iterator[str]:
    """Give the rows of a table, small print in brackets."""
    for row in re.findall(r"<tr.*?</tr>", html, re.DOTALL):
        cells = re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)
        named = (re.sub(r"<small>(.*?)</small>", r" (\1)", one) for one in cells)
        plain = (re.sub(r"<p>.*?</p>|<[^>]+>", "", one) for one in named)
        yield "| " + " | ".join(unescape(one).strip() for one in plain)
