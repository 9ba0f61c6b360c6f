"""Ordinary tables, as different people export them, to see how they are read."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dashboard.readers.formats.text import read_text
from dashboard.readers.recognition import recognise
from dashboard.readers.records import FileTable, Reading, ReadingOptions
from dashboard.readers.refusal import FileError, Question
from tests.readers.ordinary_making import Ordinary, make_table

_HEADINGS = ("outcome", "score", "class", "ranked class", "ranked score")
_ANSWERS = 4
"""How many questions in a row a person would answer."""

_SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t"}


def _table(block: str) -> Ordinary:
    """Make the table of a block: a line of settings, and its columns."""
    first, _, columns = block.partition("\n")
    name, *settings = first.removeprefix("# ").split("  ")
    texts = dict(setting.split("=", 1) for setting in settings)
    table = make_table(
        name, " ".join(columns.split("\n")), int(texts["rows"]),
        sep=_SEPARATORS[texts.get("sep", "comma")], comma="comma" in texts,
        classes=texts.get("classes", ""), blanks=texts.get("blanks", ""), ask=texts.get("ask", ""),
        event=texts.get("event"), weak=float(texts.get("weak", "0")),
        odd="" if texts.get("odd") == "blank" else texts.get("odd"),
    )  # fmt: skip
    return replace(table, roles={}) if texts.get("outcome") == "none" else table


def ordinary() -> tuple[Ordinary, ...]:
    """Return the tables that were written down."""
    text = Path(__file__).with_name("ordinary.txt").read_text(encoding="utf-8")
    return tuple(_table(block.strip()) for block in text.split("\n\n")[1:])


@dataclass(frozen=True)
class Verdict:
    """How a table was read.

    Parameters
    ----------
    table : Ordinary
        Which.
    said : {"right", "asks", "asks otherwise", "refused", "wrong"}
        ``asks`` where the first answers lead to what is right, or one is as good as another.
    why : str
        What was read or asked instead.
    """

    table: Ordinary
    said: str
    why: str = ""


def _alike(one: str, other: str) -> bool:
    """Compare values as a reader may write them."""
    words = {"true": "1", "false": "0", "1.0": "1", "0.0": "0"}
    first, second = one.strip().lower(), other.strip().lower()
    return first == second or words.get(first, first) == words.get(second, second)


def fault_of(table: Ordinary, parsed: FileTable, reading: Reading) -> str:
    """Say what a reading took for something else, "" where it is right."""
    taken = {c.name: role for c, role in zip(parsed.columns, reading.roles, strict=True)}
    faults = [
        f"{name}: {taken.get(name)}" for name, role in table.roles.items()
        if taken.get(name) != role and not (name == "" and role in taken.values())
    ]  # fmt: skip
    named = _HEADINGS if table.roles else ("outcome", "correct")
    faults += [
        f"{name}: {role}" for name, role in taken.items()
        if role in named and name not in table.roles and table.perhaps.get(name) != role
    ]  # fmt: skip
    faults += [
        f"{name}: {role}" for name, role in taken.items()
        if table.roles and role in ("prediction", "correct") and table.roles.get(name) != role
        and table.perhaps.get(name) != role
    ]  # fmt: skip
    event = reading.event if reading.event is not None else "1"
    scored = "score" in table.roles.values() and table.event is not None
    if scored and not faults and not _alike(event, table.event or ""):
        faults.append(f"event {reading.event}")
    return ", ".join(faults)


def _with(options: ReadingOptions, change: Mapping[str, Any]) -> ReadingOptions:
    """Add an answer to what was answered before."""
    roles = dict(options.roles) | dict(change.get("roles", ()))
    return replace(options, **{**change, "roles": tuple(roles.items())})


def _names(question: Question, first: tuple[str, ...]) -> bool:
    """Tell whether the first answer names one of some columns or values."""
    answer = question.answers[0]
    touched = [str(name) for name, _ in answer.change.get("roles", ())]
    touched.append(str(answer.change.get("event")))
    return any(name in touched or name in answer.label for name in first)


def evaluated(table: Ordinary) -> Verdict:
    """Read a table, answer questions with the first answer, and evaluate what comes of it."""
    options, asked = ReadingOptions(), ""
    for _ in range(_ANSWERS):
        try:
            parsed = read_text(table.text.encode(), None)
            reading = recognise(parsed, options)
        except Question as question:
            if not asked and table.ask:
                text = "asks" if _names(question, table.first) else "asks otherwise"
                return Verdict(table, text, f"{question.ask} {question.answers[0].label}")
            asked = asked or f"{question.ask} {question.answers[0].label}"
            options = _with(options, question.answers[0].change)
            continue
        except FileError as error:
            text = "refused" if table.roles else "right"
            return Verdict(table, text, str(error))
        fault = fault_of(table, parsed, reading)
        if asked:
            text = "asks otherwise" if fault or not table.roles else "asks"
            return Verdict(table, text, f"{asked} ({fault})" if fault else asked)
        if table.ask:
            return Verdict(table, "wrong", f"not asked; {fault or 'read as expected'}")
        return Verdict(table, "wrong" if fault else "right", fault)
    return Verdict(table, "asks otherwise", asked)
