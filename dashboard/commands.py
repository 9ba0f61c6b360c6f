"""What all commands share: codes, keys in their help, completion, files read and written."""

import errno
import os
import sys
import traceback
from itertools import combinations
from pathlib import Path
from typing import Any

import click
import click.shell_completion

from calibcore.errors import CalibrationInputError

HOLDS, CANNOT, BROKEN, STOPPED, UNREAD = 1, 2, 3, 130, 141
"""Codes: a condition holds; what cannot be read, written, or was asked for in vain; a fault of the
program; stopped from the keyboard; nobody reads the output, as in ``fractile audit x.csv | head``.
"""


class Commands(click.Group):
    """All commands; whatever happens to them, code 1 says that a condition holds."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, and end with a code that says what happened."""
        from dashboard import output  # noqa: PLC0415 - for those that print

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
        from dashboard.conditions import SUBGROUP  # noqa: PLC0415 - the same
        from dashboard.readers.records import ROLES  # noqa: PLC0415 - the same

        super().format_options(ctx, formatter)
        own = {option.name for option in self.params}
        keys: dict[str, list[str]] = {
            "calibrator": [one.key for one in CATALOGUE],
            "columns": list(ROLES),
            "fail_if": [SUBGROUP, *(one.key for one in METRICS)],
        }
        heads = {"calibrator": "Calibrators", "columns": "Roles", "fail_if": "Figures"}
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


class Written(click.Path):
    """A file that a command writes, of one of some kinds; every other path is one that it reads."""

    def __init__(self, *endings: str) -> None:
        super().__init__(path_type=Path)
        self.endings = endings


def check_outputs(command: click.Context) -> None:
    """Refuse to write over what the command reads or writes too, in no folder, or another kind.

    So no file of a foreign kind is replaced. Devices and pipes take anything.
    """
    from dashboard.output import are_one_file, is_stream  # noqa: PLC0415 - rich takes a while

    of_files = [one for one in command.command.params if isinstance(one.type, click.Path)]
    named = [
        (option, path)
        for option in sorted(of_files, key=lambda one: isinstance(one.type, Written))
        for path in _paths(command.params[option.name or ""])
    ]
    for (_, other), (option, out) in combinations(named, 2):
        if isinstance(option.type, Written) and are_one_file(out, other):
            found = f"{out}, the same file as {other}"
            raise CalibrationInputError(option.name or "", found, "another file")
    for option, out in named:
        if not isinstance(option.type, Written) or is_stream(out):
            continue
        if out.suffix.lower() not in option.type.endings:
            wanted = f"a name ending in {', '.join(option.type.endings)}"
            raise CalibrationInputError(option.name or "", f"the ending {out.suffix!r}", wanted)
        if out.is_dir() or not out.parent.is_dir():
            why = os.strerror(errno.EISDIR if out.is_dir() else errno.ENOENT)
            raise CalibrationInputError(option.name or "", f"{out} ({why})", "a place to write to")


def _paths(given: Path | tuple[Path, ...] | None) -> tuple[Path, ...]:
    return given if isinstance(given, tuple) else () if given is None else (given,)
