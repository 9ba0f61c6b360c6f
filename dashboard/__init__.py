"""Fractile's browser front end, file readers, figures and the ``fractile`` command."""

import os
import sys

_OWN = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - imports pathlib
_NEEDED = os.path.dirname(_OWN), os.path.dirname(os.__file__)  # noqa: PTH120 - the same


def leave_working_folder() -> None:
    """Import nothing from the working folder any more, nor in processes that are started from now.

    Whatever starts Fractile calls it; a program that imports Fractile keeps its path as it is. What
    lies there may come from anywhere, and need not be called as a package that nobody has.
    """
    try:
        left = {_OWN, os.path.realpath(os.getcwd())}  # noqa: PTH109 - the same
    except OSError:  # there is no such folder any more
        left = {_OWN}

    def without(folders: list[str]) -> list[str]:
        return [one for one in folders if one and os.path.realpath(one) not in left]

    path = without(sys.path)
    sys.path[:] = [*path, *(one for one in _NEEDED if one not in path)]
    os.environ["PYTHONSAFEPATH"] = "1"
    if "PYTHONPATH" in os.environ:
        folders = os.environ["PYTHONPATH"].split(os.pathsep)
        os.environ["PYTHONPATH"] = os.pathsep.join(without(folders))
