"""What every page, the report and the command say, as JSON, to be compared with another commit's.

``python -m benchmarks.frozen write DIR`` opens each page on each scene and keeps what it shows, in
order; ``python -m benchmarks.frozen compare OLD NEW`` lists what differs. A change of the structure
leaves nothing to list.
"""

import argparse
import difflib
import json
import math
import re
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from click.testing import CliRunner
from google.protobuf.json_format import MessageToDict
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from calibcore.samples import SAMPLES_FOLDER
from dashboard.app import PAGES
from dashboard.cli.main import main
from tests.app.scenes import ASKS, SCENES

for name in ASKS:  # what takes long is computed, not asked about
    module, _, constant = name.rpartition(".")
    setattr(import_module(module), constant, math.inf)

APP = Path(__file__).parents[1] / "dashboard" / "app.py"
CASES = Path(__file__).parents[2] / "shared" / "cases"

UPLOADS = ("U03-visits.csv", "N01-rf-votes.csv", "S00-third.csv", "M09-merged.xlsx")
"""Of `CASES`: read, read with a doubt, and asked about."""

_NOISE = re.compile(
    r"(?i)^(id|deferredFileId|formId|elementId|widgetId|scriptHash|url|hash|queryString)$"
)
_TIMES = re.compile(
    r"\d+(\.\d+)? (ms|s|seconds?|minutes?)\b|\d{4}-\d\d-\d\d[T ]\d\d:\d\d\S*"
    r"|_\d{4}_\d\d_\d\d_|/media/\S+"
)


def _plain(value: Any) -> Any:
    """Drop what differs from run to run: ids, times, addresses of files."""
    if isinstance(value, dict):
        return {key: _plain(its) for key, its in value.items() if not _NOISE.match(key)}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if not isinstance(value, str):
        return value
    if value[:1] in "{[" and value[1:2]:
        try:
            return _plain(json.loads(value))
        except ValueError:
            pass
    return _TIMES.sub("#", value)


def _elements(block: Any) -> Iterator[Any]:
    for child in block.children.values():
        proto = getattr(child, "proto", None)
        if proto is not None and hasattr(proto, "DESCRIPTOR"):
            yield {child.type: _plain(MessageToDict(proto))}
        if hasattr(child, "children"):
            yield from _elements(child)


def _page(path: str, query: dict[str, str], upload: Path | None = None) -> Any:
    page = AppTest.from_file(str(APP), default_timeout=600)
    page._page_hash = calc_hash(path)  # noqa: SLF001 - `switch_page` knows pages in files only
    page.query_params.update(query)
    page.run()
    if upload is not None:
        part = (upload.name, upload.read_bytes(), "application/octet-stream")
        page.file_uploader(key="upload_0").set_value([part]).run()
    return {
        "shown": list(_elements(page._tree)),  # noqa: SLF001 - all of it, in order
        "address": urlencode(
            {k: page.query_params[k] for k in sorted(page.query_params)}, doseq=True
        ),
    }


def _report(arguments: list[str]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        made = {kind: Path(folder) / f"report.{kind}" for kind in ("json", "html")}
        done = CliRunner().invoke(
            main, ["audit", *arguments, "--json", str(made["json"]), "--report", str(made["html"])]
        )
        written = {k: p.read_text("utf-8") if p.exists() else "" for k, p in made.items()}
    lines = [_TIMES.sub("#", line) for line in written["html"].split("\n")]
    return {"printed": _TIMES.sub("#", done.output).split("\n"), "html": lines,
            "json": _plain(json.loads(written["json"] or "{}"))}  # fmt: skip


def write(folder: Path, only: str) -> None:
    """Keep what is shown of every page on every scene."""
    jobs: dict[str, Any] = {}
    for name, query in SCENES.items():
        for _, path, _ in PAGES:
            jobs[f"{name}-{path}"] = (_page, path, query)
    for name in UPLOADS:
        for path in ("overview", "reliability", "subgroups"):
            query = {"data": "file", "resamples": "0"}
            jobs[f"{name}-{path}"] = (_page, path, query, CASES / name)
    for name in ("crash_survival", "three_garments", "city_country_100"):
        file = str(SAMPLES_FOLDER / f"{name}.npz")
        jobs[f"report-{name}"] = (_report, [file, "--resamples", "200"])
        jobs[f"report-{name}-c"] = (_report, [file, "--resamples", "0", "--calibrator", "spline"])
    for name in sorted(path.name for path in CASES.iterdir()):
        jobs[f"case-{name}"] = (_report, [str(CASES / name), "--resamples", "0"])
    folder.mkdir(parents=True, exist_ok=True)
    for name, (make, *given) in jobs.items():
        if re.search(only, name):
            text = json.dumps(make(*given), indent=1, ensure_ascii=False, sort_keys=True)
            (folder / f"{name}.json").write_text(text, encoding="utf-8")


def compare(old: Path, new: Path) -> int:
    """List what differs; return how many files do."""
    names = sorted({path.name for folder in (old, new) for path in folder.glob("*.json")})
    n_other = 0
    for name in names:
        was, now = (
            (folder / name).read_text("utf-8").split("\n") if (folder / name).exists() else []
            for folder in (old, new)
        )
        if was != now:
            n_other += 1
            print(f"== {name}")
            lines = list(difflib.unified_diff(was, now, n=0, lineterm=""))
            print(*(line[:300] for line in lines[2:42]), sep="\n")
    print(f"{n_other} of {len(names)} differ")
    return n_other


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["write", "compare"])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--only", default="", help="a pattern of the names")
    asked = parser.parse_args()
    if asked.what == "write":
        write(asked.folders[0], asked.only)
    else:
        raise SystemExit(bool(compare(*asked.folders)))
