"""Words that are retired: what the field calls otherwise, and what misled readers."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

RETIRED = {
    "evaluate, test": r"\bjudg\w+",
    "fix": r"\bmend(s|ed|ing)?\b",
    "score, mean score": r"\bclaim(s|ed|ing)?\b",
    "perfectly calibrated": r"\bperfect models?\b",
    "unbiased": r"\b(dis)?honest(ly)?\b",
    "group by, filter by": r"\b(tells?|told|telling) (\w+ ){0,2}apart\b",
    "a percentage": r"(?<![,\d])\d+ of 100\b|\bof 100 (sets|cases|rows|bins)",
    "overconfident, scores too high": r"\btoo sure\b|\bnot sure\b|(?<!cut-)\boff, ",
    "uncalibrated": r"\b(do|does|doing) nothing\b|as it is\)|no calibrator is",
    "95% CI": r"\blies there in\b",
    "expensive": r"\bdear(er|est)?\b",
    "again": r"\banew\b",
    "compared with": r"\b(is|are|be) set beside\b",
    "error bar": r"\bwhiskers?\b",
    "detected, read as": r"\btaken as\b",
    "compute": r"\bwork(ed|s)? it out\b",
    "percentage points, pp": r"(?<!percentage )\bpoints (too|apart|on average)\b",
    "95%, without a space": r"\d[ \u00a0]%(?![\w{(])",
}

FROM_OUTSIDE = ("dashboard/readers/recognition/vocabulary.py",)
"""Words of users' files, and of links that were printed before."""


@cache
def texts(path: Path) -> list[str]:
    """Return what a reader reads: a page whole, of a module its strings and docstrings."""
    content = path.read_text("utf-8")
    if path.suffix == ".md":
        return [content]
    nodes = ast.walk(ast.parse(content))
    return [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def pages() -> list[Path]:
    """List every page of documentation and every module of the product."""
    modules = [path for name in ("dashboard", "calibcore") for path in (ROOT / name).rglob("*.py")]
    modules = [path for path in modules if path.relative_to(ROOT).as_posix() not in FROM_OUTSIDE]
    return [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *(ROOT / "docs").glob("*.md"), *modules]


@pytest.mark.parametrize("better", RETIRED)
def test_a_retired_word_is_found_nowhere(better: str) -> None:
    retired = re.compile(RETIRED[better], re.IGNORECASE)
    results = [
        f"{path.relative_to(ROOT)}: ...{text[max(0, match.start() - 30) : match.end() + 20]!r}"
        for path in pages()
        for text in texts(path)
        for match in retired.finditer(text)
    ]
    assert not results, f"{better}:\n" + "\n".join(results)
