"""The blocks of docs/python.md that need a library that the tests do without."""

import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "python.md"


def run_block(word: str) -> dict[str, Any]:
    """Run the one block that has a word in it; return its names."""
    blocks = re.findall(r"```py\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    (block,) = (one for one in blocks if word in one)
    space: dict[str, Any] = {}
    exec(block, space)  # noqa: S102 - what is tested
    return space
