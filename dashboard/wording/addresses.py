"""Sentences on settings in the address of a page."""

from collections.abc import Sequence

from dashboard.wording.numbers import escape_markdown


def unusable(asked: Sequence[tuple[str, str]]) -> str:
    """Return a sentence on settings of the address that could not be used, for Markdown."""
    names = ", ".join(f"{key}={value[:60]}" for key, value in asked)
    which, shown = ("which is", "default is") if len(asked) == 1 else ("which are", "defaults are")
    return escape_markdown(
        f"The address asks for {names}, {which} not available. The {shown} shown."
    )
