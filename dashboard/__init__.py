"""Fractile's browser front end, file readers, figures and the ``fractile`` command."""

import os
import sys

_OWN = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - imports pathlib
_HOME, _PYTHON = os.path.dirname(_OWN), os.path.dirname(os.__file__)  # noqa: PTH120 - the same
_FIRST = {_PYTHON, os.path.join(_PYTHON, "lib-dynload")}  # noqa: PTH118 - the same


def leave_working_folder() -> None:
    """Import nothing from the working folder any more, nor in processes that are started from now.

    Whatever starts Fractile calls it; a program that imports Fractile keeps its path as it is. What
    lies there may come from anywhere, and be called as any module. Where it is the folder of
    Fractile itself, Python's own modules come before it.

    Streamlit puts its script's folder first at the beginning of each run and takes one away at the
    end, unless it is there. So two stay at the end: a thread that goes through the path while
    others begin and end would miss a folder, and what it imports would not be found.
    """
    try:
        left = {_OWN, os.path.realpath(os.getcwd())}  # noqa: PTH109 - the same
    except OSError:  # there is no such folder any more
        left = {_OWN}

    def without(folders: list[str]) -> list[str]:
        return [
            one for one in folders if one == _HOME or (one and os.path.realpath(one) not in left)
        ]

    path = without([*sys.path])  # at once, as others change it meanwhile
    path += [one for one in (_PYTHON, _HOME) if one not in path]
    path = [*sorted(path, key=lambda one: one not in _FIRST), _OWN, _OWN]
    if sys.path != path:
        sys.path[:] = path
    os.environ["PYTHONSAFEPATH"] = "1"
    if "PYTHONPATH" in os.environ:
        folders = os.environ["PYTHONPATH"].split(os.pathsep)
        os.environ["PYTHONPATH"] = os.pathsep.join(without(folders))
