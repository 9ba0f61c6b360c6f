"""What all commands share: codes, keys in their help, completion, files read and written."""

import errno
import math
import operator
import os
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from glob import glob, has_magic
from itertools import chain, combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import click.shell_completion

from calibcore.errors import CalibrationInputError
from calibcore.metrics import METRICS

if TYPE_CHECKING:
    from dashboard.remote import InputFile, RemoteFile

HOLDS, CANNOT, BROKEN, STOPPED, UNREAD = 1, 2, 3, 130, 141
"""Codes: a condition holds; what cannot be read, written, or was asked for in vain; a fault of the
program; stopped from the keyboard; nobody reads the output, as in ``fractile audit x.csv | head``.
"""


class Commands(click.Group):
    """All commands; whatever happens to them, code 1 says that a condition holds."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, and end with a code that says what happened."""
        from dashboard.cli import output  # noqa: PLC0415 - for those that print

        output.prepare()
        try:
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()
        except (click.ClickException, click.exceptions.Exit):
            raise
        except KeyboardInterrupt:
            click.echo("Stopped.", err=True)
            code = STOPPED
        except BrokenPipeError:
            code = UNREAD
        except OSError as error:
            click.echo(f"Error: {error.strerror or error}", err=True)
            code = CANNOT
        except Exception:  # noqa: BLE001 - is shown whole
            traceback.print_exc()
            code = BROKEN
        output.discard()
        sys.exit(code)


class WithKeys(click.Command):
    """A command whose help lists what its options may be."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, then the keys."""
        from calibcore.calibrators import CATALOGUE  # noqa: PLC0415 - takes a second
        from calibcore.metrics import METRICS  # noqa: PLC0415 - the same
        from dashboard.readers.records import ROLES  # noqa: PLC0415 - the same

        super().format_options(ctx, formatter)
        own = {option.name for option in self.params}
        keys: dict[str, list[str]] = {
            "calibrator": [one.key for one in CATALOGUE],
            "calibrators": [one.key for one in CATALOGUE],
            "columns": list(ROLES),
            "fail_if": [SUBGROUP, *(one.key for one in METRICS)],
            "measure": [one.key for one in METRICS],
        }
        heads = {
            "calibrator": "Calibrators", "calibrators": "Calibrators", "columns": "Roles",
            "fail_if": "Figures", "measure": "Measures",
        }  # fmt: skip
        with formatter.section("Keys"):
            formatter.write_dl([
                (heads[name], ", ".join(known)) for name, known in keys.items() if name in own
            ])  # fmt: skip


class Key(click.ParamType[str]):
    """Key of a calibrator, which a shell can complete."""

    name = "key"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[click.shell_completion.CompletionItem]:
        """List the keys that begin so."""
        from calibcore.calibrators import CATALOGUE  # noqa: PLC0415 - takes a second

        del ctx, param
        keys = (one.key for one in CATALOGUE)
        return [
            click.shell_completion.CompletionItem(key) for key in keys if key.startswith(incomplete)
        ]


def resamples(ctx: click.Context, param: click.Parameter, value: int) -> int:
    """Check how many draws are asked for."""
    del ctx, param
    if value and value < _FEWEST_RESAMPLES:
        raise click.BadParameter(f"{value}. Expected 0, or from {_FEWEST_RESAMPLES} to 10000.")
    return value


_FEWEST_RESAMPLES = 20


def splits(ctx: click.Context, param: click.Parameter, value: int) -> int:
    """Check how many random splits are asked for: one has no spread."""
    del ctx, param
    if value == 1:
        raise click.BadParameter("1. Expected 0, or from 2 to 1000.")
    return value


class InputPath(click.Path):
    """A file that a command reads, a folder or a pattern, or the address of one elsewhere."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Leave an address as it is."""
        from dashboard.remote import is_address  # noqa: PLC0415 - for commands that read

        is_elsewhere = isinstance(value, str) and is_address(value)
        return value if is_elsewhere else super().convert(value, param, ctx)


def named_files(
    ctx: click.Context, param: click.Parameter, value: "tuple[Path | str, ...]"
) -> "tuple[InputFile, ...]":
    """Return the files that are named: those of a folder, or of a pattern that is no file itself.

    Both in the order of their names; a folder without those within it, hidden or of other kinds,
    but with its partitions, such as region=eu.
    """
    del ctx, param
    paths: list[InputFile] = []
    for path in value:
        files, named = (_files_of(path), path) if isinstance(path, Path) else _files_at(path)
        if not files:
            raise click.BadParameter(f"{named}, where no file is. Expected files to read.")
        paths += files
    return tuple(paths)


def _files_at(address: str) -> "tuple[list[RemoteFile], str]":
    """Return the files at an address, and what it is called."""
    from dashboard.readers.formats import FORMATS  # noqa: PLC0415 - takes a while
    from dashboard.remote import remote_files, shown  # noqa: PLC0415 - the same

    try:
        return remote_files(address, FORMATS), shown(address)
    except CalibrationInputError as error:
        raise click.BadParameter(f"{error.actual}. Expected {error.expected}.") from error


def _files_of(path: Path) -> list[Path]:
    if path.is_dir():
        from dashboard.readers.formats import FORMATS  # noqa: PLC0415 - takes a while

        within = [one for one in path.iterdir() if not one.name.startswith(".")]
        files = [one for one in within if one.is_file() and one.suffix.lower() in FORMATS]
        parts = (_files_of(one) for one in within if one.is_dir() and "=" in one.name)
        return sorted([*files, *chain.from_iterable(parts)])
    if has_magic(str(path)) and not path.exists():
        matching = map(Path, glob(str(path), recursive=True))  # noqa: PTH207 - may be absolute
        return sorted(one for one in matching if one.is_file())
    return [path]


class OutputPath(click.Path):
    """A file that a command writes, of one of some kinds; every other path is one that it reads."""

    def __init__(self, *endings: str) -> None:
        super().__init__(path_type=Path)
        self.endings = endings


STDOUT = Path("-")
"""The output, where an option names it that else names a file to write."""


def is_output_taken() -> bool:
    """Return whether an option writes to the output, which is then free of all else."""
    command = click.get_current_context(silent=True)
    return command is not None and any(
        isinstance(option.type, OutputPath) and command.params[option.name or ""] == STDOUT
        for option in command.command.params
    )


def say(text: str) -> None:
    """Print a sentence; beside the output where that is taken."""
    click.echo(text, err=is_output_taken())


def check_outputs(command: click.Context) -> None:
    """Refuse to write over what the command reads or writes too, in no folder, or another kind.

    So no file of a foreign kind is replaced. Devices and pipes take anything.
    """
    from dashboard.cli.output import are_one_file, is_stream  # noqa: PLC0415 - rich takes a while

    of_files = [one for one in command.command.params if isinstance(one.type, click.Path)]
    named = [
        (option, path)
        for option in sorted(of_files, key=lambda one: isinstance(one.type, OutputPath))
        for path in _paths(command.params[option.name or ""])
    ]
    for (with_, other), (option, out) in combinations(named, 2):
        reads_input = out == STDOUT and not isinstance(with_.type, OutputPath)
        if isinstance(option.type, OutputPath) and not reads_input and are_one_file(out, other):
            text = f"{out}, the same file as {other}"
            raise CalibrationInputError(option.name or "", text, "another file")
    for option, out in named:
        if not isinstance(option.type, OutputPath) or is_stream(out):
            continue
        if out.suffix.lower() not in option.type.endings:
            wanted = f"a name ending in {', '.join(option.type.endings)}"
            raise CalibrationInputError(option.name or "", f"the ending {out.suffix!r}", wanted)
        if out.is_dir() or not out.parent.is_dir():
            why = os.strerror(errno.EISDIR if out.is_dir() else errno.ENOENT)
            raise CalibrationInputError(option.name or "", f"{out} ({why})", "a place to write to")


def _paths(given: Any) -> tuple[Path, ...]:
    """Return which files of this machine an option names."""
    several = given if isinstance(given, tuple) else (given,)
    return tuple(one for one in several if isinstance(one, Path))


SUBGROUP = "subgroup.gap"
"""Largest mean gap of a subgroup that chance does not explain, without its sign; 0 without one."""

_SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}

_DIGITS = 12
"""How many digits are compared: those after them may be rounding."""

_WRITTEN = re.compile(r"\s*([\w.]+)\s*(>=|<=|>|<)\s*([^\s%]+)(\s*%)?\s*")


@dataclass(frozen=True)
class Condition:
    """One figure compared with a limit, such as ``ks_error > 3%``."""

    name: str
    """Key of a measure, or `SUBGROUP`."""
    sign: str
    """How it is compared."""
    limit: float
    """With what."""

    @classmethod
    def parse(cls, text: str) -> "Condition":
        """Read a condition.

        Raises `CalibrationInputError` for another form, no such measure, a limit that is no number,
        and one that the measure never reaches: ``ks_error>3`` is 3% mistyped, and would never hold.
        """
        match = _WRITTEN.fullmatch(text)
        if match is None:
            raise CalibrationInputError("condition", repr(text), 'one such as "ks_error>0.03"')
        name, sign, number, percent = match.groups()
        known = [measure.key for measure in METRICS]
        if name not in {*known, SUBGROUP}:
            wanted = f"{SUBGROUP} or one of {', '.join(known)}"
            raise CalibrationInputError("condition", repr(name), wanted)
        try:
            limit = float(number) / (100 if percent else 1)
        except ValueError:
            limit = math.nan
        if math.isnan(limit):
            raise CalibrationInputError("condition", repr(number), "a number after the sign")
        low, high = _range_of(name)
        if not (low <= limit <= high and math.isfinite(limit)):
            raise CalibrationInputError(
                "condition", f"{name} {sign} {number}{percent or ''}", _expected(low, high)
            )
        return cls(name, sign, limit)

    def holds(self, figures: Mapping[str, float | None]) -> bool:
        """Return whether it holds, to 12 digits.

        Raises `CalibrationInputError` where the data leave the figure undefined.
        """
        return self._compares(self._value(figures), _DIGITS)

    def with_value(self, figures: Mapping[str, float | None]) -> str:
        """Write it with the figure of which it holds, in as many digits as show that."""
        value = self._value(figures)
        digits = next((n for n in range(4, _DIGITS) if self._compares(value, n)), _DIGITS)
        return f"{self} ({value:.{digits}g})"

    def _value(self, figures: Mapping[str, float | None]) -> float:
        value = figures.get(self.name)
        if value is None or math.isnan(value):
            raise CalibrationInputError(
                "condition", f"{self.name}, which these data leave undefined", "another measure"
            )
        return value

    def _compares(self, value: float, digits: int) -> bool:
        """Return whether it holds of a value of so many digits."""
        return _SIGNS[self.sign](float(f"{value:.{digits}g}"), float(f"{self.limit:.{_DIGITS}g}"))

    def __str__(self) -> str:
        """Write it as it was read."""
        return f"{self.name} {self.sign} {self.limit:.{_DIGITS}g}"


def _range_of(name: str) -> tuple[float, float]:
    """Return the least and the largest value of a figure."""
    return next((one.range for one in METRICS if one.key == name), (0.0, 1.0))


def _expected(low: float, high: float) -> str:
    if math.isfinite(high):
        return f"a limit from {low:g} to {high:g}, or a percentage such as 3%"
    return "a finite limit" if math.isinf(low) else f"a finite limit from {low:g}"
