"""Write docs/papers.md, where Fractile has what four papers hold: ``python docs/papers.py``."""

import tomllib
from pathlib import Path
from typing import Any

from calibcore.calibrators import CATALOGUE
from calibcore.metrics import METRICS
from dashboard.app import LEARN, PAGES

DOCS = Path(__file__).parent

OPENING = """# The papers in Fractile

Every method, measure, figure and table of the four papers that Fractile implements, and where it
is. An address follows that of the dashboard: `ks?event=top&rank=2` is
`http://localhost:8501/ks?event=top&rank=2`. Measures and calibrators can be chosen on every page by
their names, and in code by their keys. "Checked in" names a test that compares with slow code from
the paper's equation, with other programs or with published figures. **Settings of a paper**, under
Settings, sets event, calibrators with their options, measures and splits of a table at once.

Written by `docs/papers.py` from `docs/papers.toml`; a test checks each address, computes each
measure, fits each calibrator, and finds each function and each test.
"""


def page() -> str:
    """Write the page."""
    listed = tomllib.loads((DOCS / "papers.toml").read_text("utf-8"))
    parts = [OPENING]
    for paper in listed["paper"]:
        parts += [f"## {paper['short']}", "", paper["title"] + ".", ""]
        parts += ["| In the paper | What | In Fractile |", "|---|---|---|"]
        parts += [_row(entry, listed["shared"]) for entry in paper["entries"]]
        parts += [""]
    return "\n".join(parts)


def _row(entry: dict[str, Any], shared: dict[str, str]) -> str:
    return f"| {entry['at']} | {entry['what']} | {'. '.join(_places(entry, shared))}. |"


def _places(entry: dict[str, Any], shared: dict[str, str]) -> list[str]:
    """Return where it is, in words; what cannot be had with the reason."""
    parts = []
    address = shared.get(entry.get("page", ""), entry.get("page"))
    for kind, known in (("measure", METRICS), ("method", CATALOGUE)):
        if kind in entry:
            (one,) = (one for one in known if one.key == entry[kind])
            parts.append(
                f"{'Measure' if kind == 'measure' else 'Calibrator'} *{one.name}* (`{one.key}`)"
            )
    if address:
        titles = {path: title for title, path, _ in (*PAGES, *LEARN)}
        parts.append(f"{titles[address.partition('?')[0]]}: `{address}`")
    if "call" in entry:
        parts.append(f"`{entry['call']}`")
    if "test" in entry:
        file, name = entry["test"].split("::")
        parts.append(f"Checked in `{file.rpartition('/')[2]}`, `{name}`")
    if "out" in entry:
        parts.append(f"Not to be had: {entry['out'].rstrip('.')}")
    return parts


if __name__ == "__main__":
    (DOCS / "papers.md").write_text(page(), encoding="utf-8")
