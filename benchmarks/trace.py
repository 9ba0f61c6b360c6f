"""What a reader of the code has to follow: files entered and functions called, by journey.

Run by ``python -m benchmarks.trace [--functions]``. A journey is called twice, so that what is
imported on the way is not counted; each function counts once, however often it is called.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from calibcore import audit, load_sample
from dashboard.compute.cache import forget
from dashboard.compute.subgroups import find_groups
from dashboard.compute.verdict import badges_of, verdict_blocks
from dashboard.headless import event_of, scene_of
from dashboard.readers import ParsedFile, digest_of, parse, understand
from dashboard.readers.records import DEFAULTS
from dashboard.report.library import write
from dashboard.texts.verdict import where_off

ROOT = Path(__file__).parents[1]
OURS = tuple(str(ROOT / name) for name in ("calibcore", "dashboard"))


def table_of_loans() -> bytes:
    """Return a CSV of four columns: an id, a category, a score and an outcome."""
    rng = np.random.default_rng(1)
    score = rng.beta(2, 4, 400).round(3)
    defaulted = np.where(rng.random(400) < score, "Yes", "No")
    branch = rng.choice(["North", "South", "West"], 400)
    lines = zip(range(1000, 1400), branch, score, defaulted, strict=True)
    rows = (f"L{row},{where},{value},{came}" for row, where, value, came in lines)
    return "\n".join(["loan,branch,pd,defaulted", *rows]).encode()


def verdict_of_a_table() -> object:
    """Read a table, evaluate it, and say the verdict with the worst subgroup."""
    forget()
    data = table_of_loans()
    held = parse("loans.csv", data, header=DEFAULTS.header)
    upload = understand([ParsedFile("loans.csv", digest_of(["loans"]), held)], DEFAULTS)
    event = event_of(upload, None)
    scene = scene_of(upload, event=event, n_resamples=0, progress=lambda _: None)
    return verdict_blocks(scene), where_off(scene.evaluated, badges_of(scene), find_groups(scene))


def audit_of_logits() -> object:
    """Audit a sample's test set by the library."""
    data = load_sample("crash_survival")
    return audit(data["logits_test"], data["labels_test"], calibrator="temperature")


def report_of_an_audit(path: Path) -> None:
    """Write the library's report."""
    forget()
    data = load_sample("crash_survival")
    write(audit(data["logits_test"], data["labels_test"]), path)


def traced(journey: Callable[[], object]) -> Counter[tuple[str, str]]:
    """Return the functions of the product that a journey calls, by file and name."""
    seen: Counter[tuple[str, str]] = Counter()

    def note(frame: FrameType, what: str, _: Any) -> None:
        code = frame.f_code
        if what == "call" and code.co_filename.startswith(OURS) and code.co_name[0] != "<":
            seen[code.co_filename, code.co_qualname] += 1

    journey()
    sys.setprofile(note)
    try:
        journey()
    finally:
        sys.setprofile(None)
    return seen


def main() -> None:
    """Print what each journey enters."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--functions", action="store_true", help="list every function")
    functions = asked.parse_args().functions
    report = partial(report_of_an_audit, ROOT / "build" / "traced.html")
    (ROOT / "build").mkdir(exist_ok=True)
    journeys: dict[str, Callable[[], object]] = {
        "a CSV of four columns to the verdict": verdict_of_a_table,
        "audit() of logits": audit_of_logits,
        "its .report()": report,
    }
    for name, journey in journeys.items():
        seen = traced(journey)
        files = Counter(file for file, _ in seen)
        readers = sum("/readers/" in file for file in files)
        print(f"{name}: {len(seen)} functions in {len(files)} files ({readers} of readers)")
        if functions:
            for file, count in sorted(files.items()):
                print(f"  {Path(file).relative_to(ROOT)}: {count}")
                print(*(f"      {what}" for where, what in sorted(seen) if where == file), sep="\n")


if __name__ == "__main__":
    main()
