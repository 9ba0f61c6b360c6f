"""Damaged files by the hundred thousand: what comes out of the readers, and what happens meanwhile.

``python -m benchmarks.fuzz --mutants 1000000 --workers 2`` prints a line for each good file, of
which there are mutants, and for each kind of `any_files`. File i of a line is always the same, so
that what is found can be looked at again (``--only NAME --from i --mutants 1``).
"""

import argparse
import codecs
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import partial

from benchmarks.any_files import MAKERS, any_file
from dashboard.readers import FileError, read
from dashboard.readers.refusal import UnforeseenError
from tests.readers.files import GOOD, LABELS, LOGITS, PROBABILITIES

BATCH = 20_000
HARMLESS = frozenset({"array.__new__", "cpython.run_interactivehook"})
"""Of what Python reports to its audit hooks, what reading may do; all else is a side effect."""

_TOKENS = (
    b"\x00", b"\xff", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b".", b",", b"(", b")", b"R", b"b",
    b"N", b"e", b"E9999", b"\n", b'"', b"'", b"0", b"-1", b"9" * 19, b"nan", b"-inf", b"<", b"&",
    b"[", b"]", b"{", b"}", b"PK\x03\x04", b"cos\nsystem\n", b"\x80\x05", b"=1+1", b"\xe2\x80\xae",
)  # fmt: skip


def parquet_file() -> bytes:
    """Write a table of classes, labels and one column of text."""
    import pyarrow as pa  # noqa: PLC0415 - a sixth of a second to import
    import pyarrow.parquet as pq  # noqa: PLC0415 - as above

    columns = {f"p{k}": PROBABILITIES[:, k] for k in range(PROBABILITIES.shape[1])}
    places = ["town", "sea"] * (len(LABELS) // 2)
    buffer = io.BytesIO()
    pq.write_table(pa.table({**columns, "label": LABELS, "place": places}), buffer)
    return buffer.getvalue()


def workbook() -> bytes:
    """Write one sheet of numbers and texts, as small as a spreadsheet program would take it."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    heads = [*(f"logit_{k}" for k in range(LOGITS.shape[1])), "label"]
    texts = "".join(f"<si><t>{head}</t></si>" for head in heads)
    rows = ["".join(f'<c t="s"><v>{k}</v></c>' for k in range(len(heads)))]
    rows += [
        "".join(f"<c><v>{value:.6g}</v></c>" for value in (*row, label))
        for row, label in zip(LOGITS.tolist(), LABELS.tolist(), strict=True)
    ]
    sheet = "".join(f'<row r="{place}">{row}</row>' for place, row in enumerate(rows, 1))
    parts = {
        "_rels/.rels": f'<Relationships xmlns="{package}"><Relationship Id="r1"'
        f' Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}"><Relationship Id="r1"'
        f' Type="{office}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2"'
        f' Type="{office}/sharedStrings" Target="sharedStrings.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        '<sheet name="Sheet1" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/sharedStrings.xml": f'<sst xmlns="{main}">{texts}</sst>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{sheet}</sheetData>'
        "</worksheet>",
    }
    return _zipped({name: text.encode() for name, text in parts.items()})


def seeds() -> dict[str, bytes]:
    """Give one good file or more of each format."""
    rows = [
        {**{f"p{k}": p for k, p in enumerate(row)}, "label": label, "place": "town"}
        for row, label in zip(PROBABILITIES.round(4).tolist(), LABELS.tolist(), strict=True)
    ]
    arrays = {"logits": LOGITS.tolist(), "labels": LABELS.tolist()}
    return {
        **GOOD,
        "good.parquet": parquet_file(),
        "good.xlsx": workbook(),
        "good.json": json.dumps(arrays).encode(),
        "good.jsonl": "\n".join(map(json.dumps, rows)).encode(),
    }


def _zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


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
    return _zipped(members)


@dataclass
class Tally:
    """What came of some mutants of one file.

    Parameters
    ----------
    read, refused : int
        How many were read, and how many refused in words.
    faults : dict of str to int
        What else came out, and every side effect, with the first mutant that had it.
    slowest, weight : float
        Seconds of the slowest mutant; growth of the most memory ever in use, in MB.
    """

    read: int = 0
    refused: int = 0
    faults: dict[str, int] = field(default_factory=dict)
    slowest: float = 0.0
    weight: float = 0.0

    def add(self, other: "Tally") -> None:
        """Take in another tally."""
        self.read += other.read
        self.refused += other.refused
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


def attempt(name: str, data: bytes, tally: Tally, number: int, watch: Watch) -> None:
    """Read one mutant and note what comes of it."""
    start = time.perf_counter()
    fault = ""
    with watch.watching() as seen:
        try:
            read(name, data)
        except FileError as error:
            said = str(error)
            tally.refused += 1
            if isinstance(error, UnforeseenError):
                fault = repr(error.__cause__)[:120]
            elif len(said) > 600 or not said.isprintable() or "<" in said:
                fault = "a message that is too long or no plain text"
        except BaseException as error:  # noqa: BLE001 - this is what is looked for
            fault = f"{type(error).__name__}: {str(error)[:120]}"
        else:
            tally.read += 1
        effects = list(seen)
    tally.slowest = max(tally.slowest, time.perf_counter() - start)
    for what in ([fault] if fault else []) + effects:
        tally.faults.setdefault(what, number)


def _peak() -> float:
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ImportError:
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def numbered(name: str) -> Callable[[int], bytes]:
    """Give what makes the files of a name: mutants of a good one, or files of any layout."""
    return partial(any_file, name) if name in MAKERS else partial(mutant, seeds()[name])


def warm_up(name: str, made: Callable[[int], bytes]) -> None:
    """Import now what is otherwise imported when it is first needed."""
    codecs.lookup("raw_unicode_escape")  # of the oldest pickles
    for number in range(-200, 0):
        with suppress(FileError):
            read(name, made(number))


def run_batch(name: str, first: int, count: int, place: int | None = None) -> Tally:
    """Try mutants one after another, in this process.

    Parameters
    ----------
    name : str
        Of the good file, or of the kind of files.
    first, count : int
        Their numbers.
    place : int, optional
        File descriptor that always holds the number of the mutant, for a process that dies.
    """
    made, tally, watch = numbered(name), Tally(), Watch()
    warm_up(name, made)
    before = _peak()
    for number in range(first, first + count):
        data = made(number)
        if place is not None:
            os.lseek(place, 0, os.SEEK_SET)
            os.write(place, b"%20d" % number)
        attempt(name, data, tally, number, watch)
    tally.weight = _peak() - before
    return tally


def run_apart(name: str, first: int, count: int) -> Tally:
    """Try mutants in a process of their own, which may die."""
    command = [sys.executable, "-m", "benchmarks.fuzz", "--batch", name, str(first), str(count)]
    with tempfile.TemporaryFile() as last:
        done = subprocess.run(command, check=False, stdin=last, capture_output=True)  # noqa: S603
        if done.returncode == 0:
            return Tally(**json.loads(done.stdout))
        last.seek(0)
        died_at = int(last.read() or b"-1")
    return Tally(faults={f"the process died ({done.returncode})": died_at})


def _child(name: str, first: int, count: int) -> None:
    print(json.dumps(asdict(run_batch(name, first, count, place=0))))


def main() -> None:
    """Read the command line, try the mutants and print what came of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--only", default="", help="files whose name contains this")
    parser.add_argument("--batch", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.batch:
        name, first, count = asked.batch
        _child(name, int(first), int(count))
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
        for (name, _, count), tally in zip(
            jobs, pool.map(lambda job: run_apart(*job), jobs), strict=True
        ):
            tallies[name].add(tally)
            tried = tallies[name].read + tallies[name].refused
            print(f"{name}: {tried:,} tried, {len(tally.faults)} faults in the last {count:,}")
    report(tallies)


def report(tallies: dict[str, Tally]) -> None:
    """Print a line for each file, and below them every fault with a mutant that has it."""
    print(f"\n{'file':18}{'read':>10}{'refused':>10}{'faults':>8}{'slowest':>10}{'memory':>10}")
    total = Tally()
    for name, tally in tallies.items():
        total.add(tally)
        print(_line(name, tally))
    print(_line("all", total))
    for name, tally in tallies.items():
        for what, number in tally.faults.items():
            print(f"{name}, mutant {number}: {what}")
    if any(tally.faults for tally in tallies.values()):
        sys.exit(1)


def _line(name: str, tally: Tally) -> str:
    return (
        f"{name:18}{tally.read:>10,}{tally.refused:>10,}{len(tally.faults):>8}"
        f"{tally.slowest:>8.2f} s{tally.weight:>7.0f} MB"
    )


if __name__ == "__main__":
    main()
