"""Every file that the tests of an earlier commit handed to the readers, read then and now.

``python -m benchmarks.captured capture DIR`` runs the tests of `BASELINE` in a worktree of its own
and keeps each file with its outcome; ``python -m benchmarks.captured compare DIR`` reads them with
the present readers. "worse" must be empty. In the worktree this file is a plugin of pytest.
"""

import argparse
import contextlib
import hashlib
import importlib.util
import json
import multiprocessing
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

BASELINE = "93d1ef4"
_PLACE = "FRACTILE_CAPTURED"
"""Variable of the environment that tells the plugin where to keep files."""

_NICE = shutil.which("nice") or "/usr/bin/nice"
_LARGEST = 20_000_000
_MEMORY = 1 << 30
_SECONDS = 120
_QUESTIONS = 4
_NOW: dict[str, str] = {"test": ""}
Json = dict[str, Any]

DROPPED: tuple[tuple[str, str, str], ...] = (
    ("long form", r"test_long_form", r""),
    ("no header, first label taken for one", r"headless|no_header|without_a_header", r""),
    ("lists beside lists", r"test_rank_lists|test_pickle_lists.*ranks", r""),
    ("lists in cells, not as JSON", r"test_text_lists", r"np\.float|\(|array|\[[^],]* [^],]*\]|;"),
    ("words compared with decisions", r"test_top_words|compared|decision", r""),
    ("arrays without names", r"by_shape|unnamed|two_tables|without_names", r""),
    ("headings of Orange, SPSS, SAS", r"", r"\$RP-|\bI_\w+|[mDC]#|^continuous"),
    ("percent signs in some formats only", r"test_(json|xlsx|parquet|layouts)\w*.*percent", r""),
    ("decimal commas other than beside ;", r"comma", r""),
    ("pickled parts, tags", r"test_(pickles|objects|batches).*(tag|part|dict|row|model)", r""),
    ("first label weighed", r"test_first_label", r""),
)  # fmt: skip
"""READERS.md "What to drop": the reason, a pattern of the test's name, a pattern of the bytes.

They excuse a refusal, never another reading.
"""

OTHERWISE: tuple[tuple[str, str], ...] = (
    ("one to five rows, or a single column", r"test_fuzz|any_lists_give|are_as_written"),
    ("one to five rows, or a single column", r"more_classes|many_columns_are|texts_are_bounded"),
    ("as a table of one row per class, which is asked for", r"numbers_with_nulls|names_with_lists"),
    ("a number beside the score is no class", r"that_nothing_tells|is_never_the_label"),
    ("a confidence stands for values without labels", r"logits_stay_classes"),
    ("probabilities, not their logits", r"that_say_the_same|their_softmax|named_scores_beside"),
    ("a first line of data is data", r"first_label_that_looks|first_row_may_be_data"),
    ("scores alone, of no kind yet", r"test_top_one_scores|labels_below_zero"),
    ("labels are found", r"labels_of_an_unknown|label_of_any|names_of_tables|may_be_the_labels"),
    ("rows or classes in another order", r"pandas_that_counts|lists_without_l|words_is_a_list"),
    ("a count is no class", r"a_count_in_another_order"),
    ("classes without names of their own", r"classes_named_by_numbers|classes_named_under_their"),
    ("an outcome of one class alone, as the user says", r"test_one_hot_columns"),
    ("classes in the order of the file", r"columns_in_another_order|the_user_names_columns"),
    ("an array of one set by its whole name", r"another_label_array|choices_of_columns"),
    ("training rows are left out, which is said", r"are_not_told_apart|column_that_names_sets"),
    ("the column called split is followed", r"two_such_columns_tell"),
    ("sheets of like columns are put together, which is said", r"hidden_sheets_come_last"),
    ("scores of the true class, which no reading fits", r"of_the_true_class|class_one_beside"),
    ("labels are few, which is doubted", r"marks_of_labels|numbers_of_names_in_a_list"),
    ("a word of two is a prediction", r"two_words_beside_scores"),
    ("percentages in one set only are refused", r"percentages_of_one_set"),
    ("a cell at the far end of a sheet is refused", r"cells_to_the_right"),
    ("lists in cells, not as JSON", r"test_every_spelling|classes_listed_in_every_row"),
    ("rows to tune on are the calibration set", r"further_words_for_sets\[names4"),
    ("tensors of unsigned numbers", r"test_torch\.py::test_both_sets\[types"),
    ("class names beside records are typed by the user", r"list_of_class_names_beside_records"),
    ("labels from one are shifted, which is said", r"labels_from_one_without_the_last_class"),
    ("headings that number classes are matched with the labels", r"order_than_the_labels"),
    ("columns that are all the same are the outcome, which is said", r"none_beside_labels"),
)  # fmt: skip
"""What is read otherwise, or refused, for a reason that was looked at file by file: by test."""


def _array(values: Any) -> Json:
    """Sum up an array so that rounding does not matter and the order does."""
    with np.errstate(all="ignore"):
        array = np.nan_to_num(np.asarray(values, float)).ravel()
        sums = [float(array.sum()), float(array @ np.sin(np.arange(1, array.size + 1)))]
    return {"shape": list(np.shape(values)), "sums": sums}


def _summary(upload: Any) -> Json:
    """Say what became of a file that was accepted."""
    sets: Json = {}
    for role, rows in upload.sets.items():
        names = ("logits", "labels") if hasattr(rows, "logits") else ("scores", "hits")
        sets[role] = {name: _array(getattr(rows, name)) for name in names}
    if (piece := upload.piece) is not None:
        parts = {"table": piece.table, "labels": piece.labels}
        sets["piece"] = {name: _array(part) for name, part in parts.items() if part is not None}
    kept = sorted({name for columns in upload.columns.values() for name in columns})
    classes = None if upload.class_names is None else list(upload.class_names)
    return {"sets": sets, "classes": classes, "kind": upload.values_kind, "columns": kept}


def _outcome(read: Callable[[], Any], refusal: type[Exception]) -> tuple[Json, Any]:
    """Read, and say what came of it; the second is the upload or the refusal."""
    try:
        upload = read()
    except refusal as error:
        expected = "wanted" if hasattr(error, "wanted") else "expected"  # its name at the baseline
        return {"refused": [getattr(error, name) for name in ("field", "found", expected)]}, error
    return _summary(upload), upload


class _Capture:
    """Wraps the baseline's functions, and keeps what is handed to them."""

    def __init__(self, place: Path, readers: Any) -> None:
        self.place, self.readers, self.inside, self.seen = place, readers, False, set[str]()
        (place / "files").mkdir(parents=True, exist_ok=True)
        self.read, self.parse, self.join = readers.read, readers.parse, readers.combine
        readers.read = self._read
        readers.parse = self._parse
        readers.combine = self._combine

    def _kept(self, name: str, data: bytes, choices: Mapping[str, Any]) -> Json | None:
        """Keep a file, of which another of the same name and options was not kept before."""
        data = bytes(data)
        if len(data) > _LARGEST or not isinstance(name, str):
            return None
        sha = hashlib.sha256(data).hexdigest()[:24]
        (self.place / "files" / sha).write_bytes(data)
        return {"name": name, "file": sha, "options": dict(choices)}

    def _write(self, files: list[Json], outcome: Json) -> None:
        key = json.dumps(files, sort_keys=True)
        if _NOW["test"] and key not in self.seen:
            self.seen.add(key)
            with (self.place / "index.jsonl").open("a") as index:
                index.write(json.dumps({"files": files, "test": _NOW["test"], **outcome}) + "\n")

    def _read(self, name: str, data: bytes, **choices: Any) -> Any:
        before, self.inside = self.inside, True
        try:
            upload = self.read(name, data, **choices)
        except self.readers.FileError as error:
            if not before and (kept := self._kept(name, data, choices)):
                self._write([kept], {"refused": [error.field, error.actual, error.expected]})
            raise
        finally:
            self.inside = before
        if not before and (kept := self._kept(name, data, choices)):
            object.__setattr__(upload, "captured", kept)
            self._write([kept], _summary(upload))
        return upload

    def _parse(self, name: str, data: bytes, options: Any) -> Any:
        if not self.inside:
            changed = {
                key: value for key, value in asdict(options).items()
                if value != getattr(type(options)(), key)
            }  # fmt: skip
            with contextlib.suppress(self.readers.FileError):
                self._read(name, data, **changed)
        return self.parse(name, data, options)

    def _combine(self, uploads: Any) -> Any:
        files = [getattr(upload, "captured", None) for upload in uploads]
        outcome, result = _outcome(lambda: self.join(uploads), self.readers.FileError)
        if len(files) > 1 and None not in files:
            self._write([file for file in files if file is not None], outcome)
        if isinstance(result, Exception):
            raise result
        return result


def pytest_configure() -> None:
    """Wrap the readers before any test imports them."""
    from dashboard import readers  # noqa: PLC0415 - the worktree's own, once it is first

    if not Path(readers.__file__).is_relative_to(Path.cwd()):
        raise RuntimeError(readers.__file__)
    _Capture(Path(os.environ[_PLACE]), readers)


def pytest_runtest_setup(item: Any) -> None:
    """Note which test runs; one that alters the readers does not count."""
    _NOW["test"] = "" if "monkeypatch" in item.fixturenames else item.nodeid


def capture(place: Path) -> None:
    """Run the tests of the baseline, and keep what they hand to the readers."""
    place.mkdir(parents=True)
    root = Path(__file__).parents[1]
    with tempfile.TemporaryDirectory() as folder:
        tree, plugins = Path(folder) / "tree", Path(folder) / "plugins"
        plugins.mkdir()
        shutil.copy(__file__, plugins / "captured_plugin.py")
        git = ["git", "-C", str(root), "worktree"]
        subprocess.run([*git, "add", "--detach", str(tree), BASELINE], check=True)  # noqa: S603
        try:
            command = [sys.executable, "-m", "pytest", "-p", "captured_plugin", "-p", "no:xdist"]
            command += ["-q", "-p", "no:cacheprovider", "tests/readers"]
            paths = {"PYTHONPATH": str(plugins), _PLACE: str(place.resolve())}
            subprocess.run([_NICE, *command], cwd=tree, env=os.environ | paths, check=False)  # noqa: S603
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)  # noqa: S603
    print(sum(1 for _ in _index(place)), "files and groups in", place)


def _index(place: Path) -> Iterator[Json]:
    with (place / "index.jsonl").open() as lines:
        yield from map(json.loads, lines)


def _translated(options: Json) -> Json:
    """Say the baseline's options in those of today."""
    options = {key: tuple(v) if isinstance(v, list) else v for key, v in options.items()}
    if importlib.util.find_spec("dashboard.readers.columns") is not None:
        return options
    label, classes = options.pop("label_column", None), options.pop("class_columns", ())
    roles = [] if label is None else [(label, "outcome")]
    roles += [(name, "score" if len(classes) == 1 else "class") for name in classes]
    return options | ({"roles": tuple(roles)} if roles else {})


def _close(before: Any, now: Any) -> bool:
    """Compare outcomes; sums may differ in rounding."""
    if isinstance(before, float) and isinstance(now, float):
        return bool(np.isclose(before, now, rtol=1e-5, atol=1e-5, equal_nan=True))
    if isinstance(before, dict) and isinstance(now, dict):
        return before.keys() == now.keys() and all(_close(before[k], now[k]) for k in before)
    if isinstance(before, list) and isinstance(now, list):
        return len(before) == len(now) and all(map(_close, before, now))
    return bool(before == now)


def _alike(before: Json, now: Json, result: Any) -> bool:
    """Compare outcomes; classes may stand in another order, each with its column and labels."""
    classes, names = before.get("classes"), now.get("classes")
    if classes != names and classes and names and sorted(classes) == sorted(names):
        places = [names.index(name) for name in classes]
        moved = np.argsort(places)
        sets = {
            role: {"logits": _array(rows.logits[:, places]), "labels": _array(moved[rows.labels])}
            for role, rows in result.sets.items()
        }
        now = now | {"classes": classes, "sets": sets}
    return _close(before, now)


def _present(files: list[tuple[str, bytes, Json]]) -> tuple[Json, Any]:
    """Read a file, or a group, with the present readers."""
    from dashboard.readers import (  # noqa: PLC0415 - not the plugin's
        FileError,
        ParsedFile,
        ReadingOptions,
        parse,
        understand,
    )

    def joined() -> Any:
        options = ReadingOptions(**files[0][2])
        held = [
            ParsedFile(name, "", parse(name, data, header=options.header))
            for name, data, _ in files
        ]
        return understand(held, options)

    signal.alarm(_SECONDS)
    try:
        return _outcome(joined, FileError)
    finally:
        signal.alarm(0)


def _answered(files: list[tuple[str, bytes, Json]], result: Any) -> tuple[Json, Any]:
    """Give the first answer to each question, and say what comes of it as `_outcome`."""
    outcome: Json = {}
    for _ in range(_QUESTIONS):
        change = dict(result.answers[0].change)
        roles = tuple((dict(files[0][2].get("roles", ())) | dict(change.get("roles", ()))).items())
        change |= {"roles": roles} if roles else {}
        files = [(name, data, options | change) for name, data, options in files]
        outcome, result = _present(files)
        if not hasattr(result, "answers"):
            break
    return outcome, result


def difference(record: Json, place: Path) -> tuple[str, str]:  # noqa: PLR0911 - one a kind
    """Read a record's files again, and say what has changed and how."""
    files = [
        (file["name"], (place / "files" / file["file"]).read_bytes(), _translated(file["options"]))
        for file in record["files"]
    ]
    before = {key: value for key, value in record.items() if key not in ("files", "test")}
    now, result = _present(files)
    said = str(result) if "refused" in now else json.dumps(now)
    if hasattr(result, "answers"):
        if "refused" in before:
            return "refused before, asks", said
        alike = _alike(before, *_answered(files, result))
        return ("asks, what was read first" if alike else "asks, another first"), said
    if "refused" in before:
        if "refused" not in now:
            return "refused before, read", said
        return ("same" if before == now else "refused in other words"), said
    if _alike(before, now, result):
        return "same", said
    otherwise = (why for why, test in OTHERWISE if re.search(test, record["test"]))
    if "refused" in now:
        start = b"\n".join(data[:4000] for _, data, _ in files).decode("utf-8", "replace")
        for reason, test, content in DROPPED:
            if re.search(test, record["test"]) and re.search(content, start, re.MULTILINE):
                return f"dropped: {reason}", said
        why = next(otherwise, None)
        return ("worse: refused" if why is None else f"listed: {why}"), said
    named = before | {"columns": now["columns"]}
    same = all(_close(before[key], now[key]) for key in ("sets", "kind"))
    if same or _alike(named, now, result):
        return "read alike, other names or columns", said
    why = next(otherwise, None)
    return ("worse: read otherwise" if why is None else f"listed: {why}"), said


def compare(place: Path, *, listed: str) -> int:
    """Print a table of the differences, and those of a kind; return how many are worse.

    Records are read in a process that is started again where a file ends it.
    """
    records, found = list(_index(place)), dict[int, tuple[str, str]]()
    context = multiprocessing.get_context("fork")
    start = 0
    while start < len(records):
        answers: Any = context.SimpleQueue()
        process = context.Process(target=_differences, args=(records, start, place, answers))
        process.start()
        at = start
        while process.is_alive() or not answers.empty():
            if answers.empty():
                process.join(0.01)
                continue
            at, kind, said = answers.get()
            found[at] = kind, said
        start = max(found, default=-1) + 1
        if start < len(records):
            found[start] = "worse: ended the process", ""
            start += 1
    counts = Counter(kind for kind, _ in found.values())
    for k, (kind, said) in found.items():
        if re.search(listed, kind):
            names = " + ".join(f"{file['name']}:{file['file'][:8]}" for file in records[k]["files"])
            print(f"{kind:24} {records[k]['test']} {names}\n    {said[:300]}")
    print(*(f"{count:6}  {kind}" for kind, count in counts.most_common()), sep="\n")
    return sum(count for kind, count in counts.items() if kind.startswith("worse"))


def _differences(records: list[Json], start: int, place: Path, answers: Any) -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))  # as the worker's, but wider
    for k in range(start, len(records)):
        try:
            kind, said = difference(records[k], place)
        except MemoryError:  # which the worker says in a sentence
            kind = "refused in other words" if "refused" in records[k] else "worse: memory"
            said = ""
        answers.put((k, kind, said))


def main() -> None:
    """Capture or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("capture", "compare"))
    parser.add_argument("place", type=Path, help="a folder outside the checkout")
    parser.add_argument("--list", default="^worse", help="a pattern of the kinds to list")
    chosen = parser.parse_args()
    if chosen.what == "capture":
        capture(chosen.place)
    else:
        sys.exit(bool(compare(chosen.place, listed=chosen.list)))


if __name__ == "__main__":
    main()
