"""What programs write into the documentation, between marks."""

from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
SOURCES, SECURITY, SPEED = (DOCS / f"{name}.md" for name in ("sources", "security", "speed"))


def replace(mark: str, made: str, page: Path = SOURCES) -> None:
    """Put text between ``<!-- mark -->`` and ``<!-- /mark -->``."""
    opened, closed = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    before, rest = page.read_text(encoding="utf-8").split(opened)
    after = rest.split(closed)[1]
    page.write_text(f"{before}{opened}\n{made}{closed}{after}", encoding="utf-8")
