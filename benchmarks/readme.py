"""What programs write into the README, between marks."""

from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def replace(mark: str, made: str) -> None:
    """Put text between ``<!-- mark -->`` and ``<!-- /mark -->``."""
    opened, closed = f"<!-- {mark} -->", f"<!-- /{mark} -->"
    before, rest = README.read_text(encoding="utf-8").split(opened)
    after = rest.split(closed)[1]
    README.write_text(f"{before}{opened}\n{made}{closed}{after}", encoding="utf-8")
