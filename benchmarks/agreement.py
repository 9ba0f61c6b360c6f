"""calibcore's measures beside the peers', as a table.

``python -m benchmarks.agreement`` reads what the peers found (``make peers``), computes the same
with calibcore, and writes ``docs/agreement.md``. The tests hold every line of it.
"""

from pathlib import Path

from benchmarks.report import line
from calibcore.metrics import METRICS
from tests.peers.agreement import ALONE, ASKED, EXACT, KEYED, SIZE, PeerQuestion, Tolerance, records
from tests.peers.cases import NAMES

FILE = Path(__file__).parents[1] / "docs" / "agreement.md"

_HEAD = f"""# Agreement with other libraries

Each measure was computed by calibcore and by other libraries on the test set of each of the
{len(NAMES)} samples: of the top-1 event, and of class 1 against the others where a measure is of
one event. All have 15 bins. "Same": at most {EXACT:.0e} apart on every sample and event.
Where a library does otherwise, what it does is in **bold** and the difference is held: to a bound
or, on so many samples and events as the number in brackets says, to its size, within {SIZE:.0%}. A
measure that differs for its convention alone is compared once more where the conventions agree: on
as many of the first rows as fill 15 bins evenly, in the same bins, or at the same points.

"Reimplemented": a paper's program or definition, written again slowly and apart from calibcore,
because no library of it can be installed or none follows it. Run `make peers` to let the libraries
compute again; `python -m benchmarks.agreement` writes this file.

## Measures of the tables
"""

_COLUMNS = ("measure", "peer", "version", "convention", "largest difference", "at", "held to")


def text() -> str:
    """Give what the file holds."""
    listed = [row for measure in METRICS for row in _rows(measure.key)]
    others = [row for asked in ASKED if asked.name not in KEYED for row in _compared(asked)]
    parts = _HEAD, _table(listed), "\n## Other functions and options\n", _table(others), ""
    return "\n".join(parts)


def _table(rows: list[list[str]]) -> str:
    marks = ["---", "---", "---", "---", "---:", "---", "---"]
    return "\n".join(line(row) for row in (_COLUMNS, marks, *rows))


def _rows(key: str) -> list[list[str]]:
    if key in ALONE:
        return [[KEYED[key].name, "no peer", "", ALONE[key], "", "", ""]]
    return [row for asked in ASKED if asked.name == key for row in _compared(asked)]


def _compared(asked: PeerQuestion) -> list[list[str]]:
    """Give one line a peer."""
    name = KEYED[asked.name].name if asked.name in KEYED else f"`{asked.name}`"
    return [[name, *_cells(asked, peer, held)] for peer, held in asked.peers.items()]


def _cells(asked: PeerQuestion, peer: str, held: Tolerance) -> list[str]:
    found = asked.differences(peer)
    place = max(found, key=lambda one: found[one])
    known = [records()[sample, asked.job, peer] for sample in NAMES]
    words = [known[0]["convention"]]
    if held.why:
        words.append(f"**{held.why}**")
    if asked.job.endswith("first 15 n rows"):
        words.append("first 15 n rows")
    words += [f"left out of {r['sample']}: {r['left_out']}" for r in known if "left_out" in r]
    same = found[place] <= EXACT
    largest, at = ("same", "any") if same else (f"{found[place]:.1e}", place)
    limit = f"{held.within:.1e}".replace(".0e", "e")
    if held.apart:
        limit += f", or its size ({len(held.apart)})"
    named = ["reimplemented", ""] if peer == "numpy" else [peer, known[0]["version"]]
    return [*named, "; ".join(words), largest, at, limit]


def main() -> None:
    """Write the file."""
    FILE.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
