"""Damaged files by the hundred thousand: what comes out of the readers, and what happens meanwhile.

``python -m benchmarks.fuzz --mutants 1000000`` prints a line for each good file, of which there are
mutants, and for each kind of `any_files`. File i of a line is always the same, so that what is
found can be looked at again (``--only NAME --from i --mutants 1``); ``--keep DIR`` saves it.

Files are parsed in a process of the fuzz's own, not in the worker: what ends the process, such as a
C++ library that aborts, the worker refuses. It is counted, and only `_ABORT` is no fault.
"""

import argparse
import importlib
import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from traceback import extract_tb
from typing import Any

from benchmarks.any_files import MAKERS, NAMES, any_file, seeds, zipped
from dashboard.readers import FileError, Question, Upload, read
from dashboard.readers.formats import prepare
from dashboard.readers.records import ROLES
from dashboard.readers.refusal import UnforeseenError

BATCH = 10_000
HARMLESS = frozenset(
    {"array.__new__", "builtins.id", "compile", "cpython.run_interactivehook", "object.__getattr__"}
)
"""Of what Python reports to its audit hooks, what reading may do; all else is a side effect.

NumPy compiles the header of an array to a syntax tree; to run one would be another event.
"""

_LATE = (
    "ast", "encodings.cp1252", "encodings.latin_1", "encodings.raw_unicode_escape",
    "encodings.unicode_escape", "encodings.utf_16", "encodings.utf_8_sig", "numpy.lib.format",
    "scipy.optimize", "scipy.special", "scipy.stats", "tokenize", "unicodedata",
)  # fmt: skip
"""What is else imported when a file first needs it."""

_DIGITS = re.compile(r"\d+")
_ABORT = "ended by signal 6"
_SECONDS = 60
_MOST_QUESTIONS = 3

_TOKENS = (
    b"\x00", b"\xff", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b".", b",", b"(", b")", b"R", b"b",
    b"N", b"e", b"E9999", b"\n", b'"', b"'", b"0", b"-1", b"9" * 19, b"nan", b"-inf", b"<", b"&",
    b"[", b"]", b"{", b"}", b"PK\x03\x04", b"cos\nsystem\n", b"\x80\x05", b"=1+1", b"\xe2\x80\xae",
)  # fmt: skip


def _damaged(data: bytes, dice: random.Random) -> bytes:
    """Cut, flip, overwrite, repeat or insert in one to four places."""
    out = bytearray(data)
    for _ in range(dice.choice((1, 1, 1, 2, 4))):
        place = dice.randrange(len(out) + 1)
        match dice.randrange(6):
            case 0 if dice.random() < 0.3:
                del out[place:]
            case 1:
                out[place : place + 1] = bytes([dice.randrange(256)])
            case 2:
                token = dice.choice(_TOKENS)
                out[place : place + len(token)] = token
            case 3:
                del out[place : place + dice.randint(1, 9)]
            case 4:
                out[place:place] = dice.choice(_TOKENS)
            case _:
                other = dice.randrange(len(out) + 1)
                out[place:place] = out[other : other + dice.randint(1, 40)]
    return bytes(out)


def mutant(data: bytes, number: int) -> bytes:
    """Give a file's mutant; of half of those of an archive, a member is damaged inside."""
    dice = random.Random(number)  # noqa: S311 - only the variety matters
    if not data.startswith(b"PK") or dice.random() < 0.5:
        return _damaged(data, dice)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = dice.choice(sorted(members))
    members[name] = _damaged(members[name], dice)
    return zipped(members)


@dataclass
class Tally:
    """What came of some mutants of one file.

    Parameters
    ----------
    read, asked, refused, ended : int
        How many were read, asked about, and refused in words, and how many ended the process.
    faults : dict of str to int
        What else came out, and every side effect, with the first mutant that had it.
    slowest, weight : float
        Seconds of the slowest mutant; growth of the most memory ever in use, in MB.
    """

    read: int = 0
    asked: int = 0
    refused: int = 0
    ended: int = 0
    faults: dict[str, int] = field(default_factory=dict)
    slowest: float = 0.0
    weight: float = 0.0

    @property
    def tried(self) -> int:
        """How many there were."""
        return self.read + self.asked + self.refused + self.ended

    def add(self, other: "Tally") -> None:
        """Take in another tally."""
        self.read += other.read
        self.asked += other.asked
        self.refused += other.refused
        self.ended += other.ended
        self.faults = other.faults | self.faults
        self.slowest = max(self.slowest, other.slowest)
        self.weight = max(self.weight, other.weight)


class Watch:
    """Records what Python reports to audit hooks while it is on."""

    def __init__(self) -> None:
        self.on = False
        self.seen: Counter[str] = Counter()
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.on and event not in HARMLESS:
            self.seen[f"{event} {str(arguments)[:80]}"] += 1

    @contextmanager
    def watching(self) -> Iterator[Counter[str]]:
        """Record for a while."""
        self.seen.clear()
        self.on = True
        try:
            yield self.seen
        finally:
            self.on = False


def _choices(dice: random.Random) -> dict[str, Any]:
    """Overrule one file in six, as a user may."""
    if dice.random() < 5 / 6:
        return {}
    names = dice.sample([*NAMES, "logit_0", "label", "p0", "column 1"], 2)
    return dice.choice((
        {"header": dice.random() < 0.5},
        {"first_label": dice.choice((0, 1))},
        {"values": dice.choice(("logits", "probabilities", "percentages"))},
        {"sets": "one"},
        {"leave_out": True},
        {"event": dice.choice(("0", "1", "cat", "yes")), "prevalence": 0.3},
        {"class_names": ("cat", "dog", "fox")[: dice.randint(1, 3)]},
        {"roles": tuple((name, dice.choice(ROLES)) for name in names)},
    ))  # fmt: skip


def understood(name: str, data: bytes, dice: random.Random) -> Upload:
    """Read a file, overrule it, answer a few of its questions, and split what it holds."""
    choices = _choices(dice)
    for left in range(_MOST_QUESTIONS, -1, -1):
        try:
            upload = read(name, data, **choices)
            break
        except Question as question:
            said = [question.ask, *(text for a in question.answers for text in (a.label, a.why))]
            _check_texts(said)
            if not left or dice.random() < 0.7:
                raise
            change = dict(dice.choice(question.answers).change)
            roles = dict(choices.get("roles", ())) | dict(change.get("roles", ()))
            choices |= change | {"roles": tuple(roles.items())}
    _check_texts([*upload.notes, *upload.repairs, *upload.missing, *upload.doubts])
    _check_texts([*upload.preview.headings, *(c for row in upload.preview.rows for c in row)])
    with suppress(FileError):
        split, columns = upload.split(), upload.split_columns()
        for role, part in (("calibration", split.calibration), ("test", split.test)):
            if any(len(column.values) != part.n_samples for column in columns[role].values()):
                raise AssertionError("columns of another length than their set")
    return upload


def _check_texts(texts: list[str]) -> None:
    if not all(text.isprintable() for text in texts):
        raise AssertionError("a text that is not plain")


def attempt(name: str, data: bytes, tally: Tally, number: int, watch: Watch) -> None:
    """Read one mutant and note what comes of it."""
    start = time.perf_counter()
    fault: BaseException | str | None = None
    with watch.watching() as seen:
        try:
            understood(name, data, random.Random(number))  # noqa: S311 - not for secrets
        except FileError as error:
            said = str(error)
            tally.asked += isinstance(error, Question)
            tally.refused += not isinstance(error, Question)
            if isinstance(error, UnforeseenError):
                fault = error.__cause__
            elif len(said) > 600 or not said.isprintable() or "<" in said:
                fault = "a message that is too long or no plain text"
        except BaseException as error:  # noqa: BLE001 - this is what is looked for
            tally.refused += 1
            fault = error
        else:
            tally.read += 1
        effects = list(seen)
    tally.slowest = max(tally.slowest, time.perf_counter() - start)
    told = _told(fault) if isinstance(fault, BaseException) else fault
    for what in ([told] if told else []) + effects:
        tally.faults.setdefault(what, number)


def _told(error: BaseException) -> str:
    """Say what was raised, and by which line of ours."""
    ours = [f for f in extract_tb(error.__traceback__) if "dashboard" in f.filename]
    place = f" at {Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else ""
    return f"{type(error).__name__}{place}: {_DIGITS.sub('#', str(error))[:120]}"


def _peak() -> float:
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def numbered(name: str) -> Callable[[int], bytes]:
    """Give what makes the files of a name: mutants of a good one, or files of any layout."""
    return partial(any_file, name) if name in MAKERS else partial(mutant, seeds()[name])


def warm_up() -> None:
    """Import now what is otherwise imported when it is first needed."""
    prepare()
    for module in _LATE:
        importlib.import_module(module)
    for name, data in seeds().items():
        with suppress(FileError):
            read(name, data)


def run_here(starts: Mapping[str, int], end: int, place: int | None = None) -> dict[str, Tally]:
    """Try mutants one after another, in this process.

    Parameters
    ----------
    starts : mapping of str to int
        The first mutant of each good file, or kind of files.
    end : int
        Before which mutant of each to end.
    place : int, optional
        File descriptor that always holds the mutant at work and the tallies before it, for a
        process that dies.
    """
    tallies, watch = {name: Tally() for name in starts}, Watch()
    warm_up()
    for name, first in starts.items():
        made, tally, before = numbered(name), tallies[name], _peak()
        for number in range(first, end):
            data = made(number)
            if place is not None:
                told = {one: asdict(found) for one, found in tallies.items()}
                os.pwrite(place, json.dumps([name, number, told]).encode() + b"\n", 0)
                signal.setitimer(signal.ITIMER_PROF, _SECONDS)  # of work; then the process ends
            attempt(name, data, tally, number, watch)
        tally.weight = _peak() - before
    return tallies


def run_apart(starts: Mapping[str, int], end: int) -> dict[str, Tally]:
    """Do what `run_here` does in another process; after one that ends it, go on in the next."""
    tallies, left = {name: Tally() for name in starts}, dict(starts)
    while left:
        asked = [str(end), *(f"{name}:{first}" for name, first in left.items())]
        command = [sys.executable, "-m", "benchmarks.fuzz", "--batch", *asked]
        with tempfile.TemporaryFile() as last:
            done = subprocess.run(command, check=False, stdin=last, capture_output=True)  # noqa: S603
            last.seek(0)
            noted = last.readline()
        name, number, told = next(iter(left)), left[next(iter(left))], {}
        if done.returncode == 0:
            left, told = {}, json.loads(done.stdout)
        elif noted:
            name, number, told = json.loads(noted)
            tallies[name].add(
                Tally(ended=1, faults={f"ended by signal {-done.returncode}": number})
            )
            left = dict(list(left.items())[list(left).index(name) :]) | {name: number + 1}
        else:
            why = f"no start: {done.stderr[-200:].decode(errors='replace')}"
            tallies[name].add(Tally(faults={why: number}))
            left = {}
        for one, found in told.items():
            tallies[one].add(Tally(**found))
    return tallies


def main() -> None:
    """Read the command line, try the mutants and print what came of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--only", default="", help="files whose name contains this")
    parser.add_argument("--keep", type=Path, help="a folder for the files that show a fault")
    parser.add_argument("--batch", nargs="+", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.batch:
        end, *pairs = asked.batch
        starts = {name: int(first) for name, _, first in (pair.rpartition(":") for pair in pairs)}
        found = run_here(starts, int(end), place=0)
        print(json.dumps({name: asdict(tally) for name, tally in found.items()}))
        return
    names = [name for name in (*seeds(), *MAKERS) if asked.only in name]
    share = -(-asked.mutants // len(names))
    jobs = [
        (name, asked.first + start, min(BATCH, share - start))
        for start in range(0, share, BATCH)
        for name in names
    ]
    tallies = {name: Tally() for name in names}
    with ThreadPoolExecutor(asked.workers) as pool:
        for (name, _, count), made in zip(
            jobs, pool.map(lambda job: run_apart({job[0]: job[1]}, sum(job[1:])), jobs), strict=True
        ):
            tally = made[name]
            new = {what: n for what, n in tally.faults.items() if what not in tallies[name].faults}
            tallies[name].add(tally)
            said = f"{time.strftime('%H:%M:%S')} {name}: {tallies[name].tried:,} tried"
            print(f"{said}, {len(tally.faults)} faults in the last {count:,}", flush=True)
            for what, number in new.items():
                print(f"    {name}, mutant {number}: {what}", flush=True)
                if asked.keep is not None:
                    asked.keep.mkdir(parents=True, exist_ok=True)
                    (asked.keep / f"fuzz.{number}.{name}").write_bytes(numbered(name)(number))
    report(tallies)


def report(tallies: dict[str, Tally]) -> None:
    """Print a line for each file, and below them every fault with a mutant that has it."""
    heads = ("read", "asked", "refused", "ended", "faults", "slowest", "memory")
    print(f"\n{'file':18}" + "".join(f"{head:>10}" for head in heads))
    total = Tally()
    for name, tally in tallies.items():
        total.add(tally)
        print(_line(name, tally))
    print(_line("all", total))
    for name, tally in tallies.items():
        for what, number in tally.faults.items():
            print(f"{name}, mutant {number}: {what}")
    if {*total.faults} - {_ABORT}:
        sys.exit(1)


def _line(name: str, tally: Tally) -> str:
    counts = (tally.read, tally.asked, tally.refused, tally.ended, len(tally.faults))
    numbers = "".join(f"{count:>10,}" for count in counts)
    return f"{name:18}{numbers}{tally.slowest:>8.2f} s{tally.weight:>7.0f} MB"


if __name__ == "__main__":
    main()
