"""What axe-core finds on a page."""

import re
from importlib.resources import files

from playwright.sync_api import Page

from tests.browser.settled import settle

STREAMLITS = (
    # Captions are drawn at 60 % of the text's colour.
    ("color-contrast", re.compile(r"stCaptionContainer")),
    # The number over a slider's handle, in the dark theme.
    ("color-contrast", re.compile(r"stSliderThumbValue")),
    # The uploader's field has no role, but a label and a place in the order of focus.
    ("presentation-role-conflict", re.compile(r"stFileUploaderDropzone")),
)
"""Streamlit's own findings, by rule and element, which no option of it changes."""


_OPEN_ALL = """
document.querySelectorAll('details:not([open]) > summary').forEach(closed => closed.click())
"""


def open_all(page: Page) -> None:
    """Open everything on a page that a click opens."""
    page.evaluate(_OPEN_ALL)
    settle(page)


def findings(page: Page) -> list[str]:
    """List what axe-core finds beyond what is Streamlit's own."""
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8"))
    response = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{rule['id']}: {node['html']}"
        for rule in response["violations"]
        for node in rule["nodes"]
        if not any(
            known == rule["id"] and element.search(node["html"]) for known, element in STREAMLITS
        )
    ]
