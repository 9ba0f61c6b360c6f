"""What the service logs: requests, sessions, files and fits, by kinds, sizes and times alone.

Nothing is logged unless ``FRACTILE_LOG`` names a level, such as ``info``. No line holds a value, a
name of a file, a column or a class, the settings of an address, or the number of a session by which
it could be entered.
"""

import hashlib
import logging
import os
import re
from collections.abc import Callable
from contextvars import ContextVar
from uuid import uuid4

from calibcore.errors import CalibrationInputError

LOG = logging.getLogger("dashboard")
"""As ``calibcore`` for the library: a program that embeds either sets its level by that name."""

LEVEL = "FRACTILE_LOG"
"""Variable of the environment that names the level."""

LOG.addHandler(logging.NullHandler())

LEVELS = "DEBUG", "INFO", "WARNING", "ERROR"

REQUEST: ContextVar[str] = ContextVar("request", default="-")
"""Number of the request that is answered."""

FORMAT = "%(asctime)s %(levelname)s %(name)s request=%(request)s session=%(session)s %(message)s"

_GIVEN = re.compile(r"[A-Za-z0-9-]{1,64}")
_PLAIN = re.compile(r"[^A-Za-z0-9_./-]")
_DEEPEST, _LONGEST = 3, 60


def begin(session: Callable[[], str]) -> None:
    """Write to the standard error from the level that the environment names; quiet without one.

    ``session``: returns the number of the session that a line is of, by which it could be entered;
    what is logged is a digest of it.
    """
    level = level_named()
    if not level:
        return

    def add_ids(record: logging.LogRecord) -> bool:
        number = session()
        record.session = hashlib.sha256(number.encode()).hexdigest()[:8] if number else "-"
        record.request = REQUEST.get()
        return True

    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter(FORMAT))
    handler.addFilter(add_ids)
    for name in ("dashboard", "calibcore"):
        logger = logging.getLogger(name)
        logger.setLevel(level)
        logger.propagate = False
        logger.handlers = [handler]


def level_named() -> str:
    """Return the level that the environment names; empty for none.

    Raises `CalibrationInputError` for no such level.
    """
    level = os.environ.get(LEVEL, "").upper()
    if level and level not in LEVELS:
        raise CalibrationInputError(LEVEL, repr(level.lower()), "debug, info, warning or error")
    return level


def request_id(given: str | None) -> str:
    """Return the number that a proxy gave a request, if it is one, or a new one.

    >>> request_id("7f-12"), len(request_id("a b")), len(request_id(None))
    ('7f-12', 12, 12)
    """
    return given if given is not None and _GIVEN.fullmatch(given) else uuid4().hex[:12]


def route(path: str) -> str:
    r"""Return what of a path is logged: no number of a session, no file.

    >>> route("/subgroups"), route("/_stcore/upload_file/3f/9a"), route("/a\nb")
    ('/subgroups', '/_stcore/upload_file', '/a?b')
    """
    parts = path[:1000].split("/")
    path = "/".join(parts[:_DEEPEST] if "_stcore" in parts[:_DEEPEST] else parts[:2])
    return _PLAIN.sub("?", path)[:_LONGEST]
