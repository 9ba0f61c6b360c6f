"""Every number of every page on three samples, to see that a change of words changes no figure.

``python -m benchmarks.page_numbers write FILE`` opens each page, in plain and in expert wording,
and keeps its numbers and the arrays of its graphs; ``compare BEFORE AFTER`` lists those that came
or went. A number that only went was in a sentence that is no longer there.
"""

import argparse
import hashlib
import html
import json
import re
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from tests.app.pages import bodies, charts, open_page

SAMPLES = (
    "fashion_cnn_overconfident",
    "crash_survival",
    "three_garments",
)
PAGES = (
    "overview",
    "ks",
    "reliability",
    "calibrators",
    "maps",
    "data-needed",
    "subgroups",
    "models",
)
WORDINGS = ("plain", "expert")
_NUMBER = re.compile(r"(?<![\w#.])\d[\d,]*(?:\.\d+)?(?![\w#])")
_ARRAYS = ("x", "y", "z", "error_x", "error_y", "customdata")


def numbers(texts: list[str]) -> list[str]:
    """Return the different numbers of texts, without signs, units and markup."""
    plain = (html.unescape(re.sub(r"<[^>]*>", " ", text)).replace("\\", "") for text in texts)
    found = {number.replace(",", "") for text in plain for number in _NUMBER.findall(text)}
    return sorted(found, key=lambda number: (float(number), number))


def traces(specs: list[str]) -> list[str]:
    """Return a digest of each trace's arrays."""
    kept = (
        {key: trace[key] for key in _ARRAYS if key in trace}
        for spec in specs
        for trace in json.loads(spec)["data"]
    )
    dumped = (json.dumps(arrays, sort_keys=True) for arrays in kept)
    return sorted(hashlib.sha256(text.encode()).hexdigest()[:16] for text in dumped)


def _states(titles: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    yield from product(titles, PAGES, WORDINGS)


def write(path: Path) -> None:
    """Open every page and keep what it shows."""
    kept: dict[str, Any] = {}
    for title, page_path, wording in _states(SAMPLES):
        page = open_page(page_path, sample=title, wording=wording, resamples="200")
        found: Any = page.get("html")
        texts = [*bodies(page), *(part.proto.body for part in found)]
        texts += [frame.value.to_csv() for frame in page.dataframe]
        drawn = [chart.spec for chart in charts(page)]
        kept[f"{title} | {page_path} | {wording}"] = {
            "numbers": numbers(texts),
            "traces": traces(drawn),
        }
        sys.stderr.write(f"{title} {page_path} {wording}: {len(texts)} texts\n")
    path.write_text(json.dumps(kept, indent=1), "utf-8")


def compare(before: Path, after: Path) -> None:
    """Print, page by page, what came and what went."""
    was, now = (json.loads(path.read_text("utf-8")) for path in (before, after))
    for state, kept in was.items():
        for kind, values in kept.items():
            came = [value for value in now[state][kind] if value not in values]
            went = [value for value in values if value not in now[state][kind]]
            if came or went:
                sys.stdout.write(f"{state}: {kind} came {came}, went {went}\n")


def main() -> None:
    """Run one of the two commands."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("write").add_argument("file", type=Path)
    both = commands.add_parser("compare")
    both.add_argument("before", type=Path)
    both.add_argument("after", type=Path)
    chosen = parser.parse_args()
    if chosen.command == "write":
        write(chosen.file)
    else:
        compare(chosen.before, chosen.after)


if __name__ == "__main__":
    main()
