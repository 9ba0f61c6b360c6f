"""What programs write into the README and the documentation, between marks."""

from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
SECURITY = README.parent / "docs" / "security.md"
SPEED = README.parent / "docs" / "speed.md"


def replace(mark: str, made: str, page: Path = README) -> None:
    """Put text between ``<!-- mark -->`` and ``<!-- /mark -->``."""
    opened, closed = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    before, rest = page.read_text(encoding="utf-8").split(opened)
    after = rest.split(closed)[1]
    page.write_text(f"{before}{opened}\n{made}{closed}{after}", encoding="utf-8")
