"""The record of one number, or a few, that a peer computed."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[1] / "core" / "peer_figures.json"

Values = float | list[float]


@dataclass(frozen=True)
class Figure:
    """What a peer says of a job on one sample.

    Attributes
    ----------
    job : str
        What was asked.
    peer : str
        Distribution that answered; numpy for what the peers were given and for programs
        reimplemented.
    convention : str
        How the peer understands the job.
    values : dict of str to float or list of float
        Its answer; empty if it gave none.
    left_out : str
        Why there is no answer.
    """

    job: str
    peer: str
    convention: str
    values: dict[str, Values]
    left_out: str = ""


def as_record(sample: str, figure: Figure) -> dict[str, Any]:
    """Give the figure as it is written, with its sample and its peer's version."""
    record: dict[str, Any] = {
        "sample": sample,
        "job": figure.job,
        "peer": figure.peer,
        "version": version(figure.peer),
        "convention": figure.convention,
    }
    return record | (
        {"left_out": figure.left_out} if figure.left_out else {"values": figure.values}
    )


def write(records: Iterable[dict[str, Any]]) -> None:
    """Write the records in a fixed order, one a line, each float by its shortest exact form."""
    ordered = sorted(records, key=lambda r: (r["sample"], r["job"], r["peer"], r["convention"]))
    lines = ",\n".join(json.dumps(record, allow_nan=False) for record in ordered)
    FILE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def read() -> list[dict[str, Any]]:
    """Read the records."""
    records: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return records
