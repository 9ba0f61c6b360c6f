"""What cannot be used, and what to do then."""

import re

from calibcore.errors import CalibrationInputError
from dashboard.texts.numbers import escape_markdown

REFUSED = "File not usable"
NOT_FITTING = "Settings do not fit this file"
LABELS_ALONE = (
    "This file holds labels alone. Add the file with their logits or class probabilities in the"
    " panel on the left."
)
NOT_FITTED = "Until then, all pages show uncalibrated scores."
NEXT_STEP = "Change the file or the settings on the left, or choose another file or an example."


def capitalised(text: str) -> str:
    """Return a text with a capital at its head."""
    return f"{text[:1].upper()}{text[1:]}"


def refusal(error: CalibrationInputError) -> str:
    """Return a refusal for Markdown, with a capital where it begins with a word."""
    text = str(error)
    return escape_markdown(capitalised(text) if re.match(r"[a-z]{2,}[: ]", text) else text)
