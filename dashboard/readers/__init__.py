"""Untrusted bytes to sets of logits or probabilities with their labels.

    bytes -> formats (in the worker) -> FileTable | Arrays
          -> recognition -> sets -> meaning -> Upload

No step looks back, and no file runs code, whatever its ending says.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dashboard.readers.formats import FORMATS, ending_of, parse
from dashboard.readers.interpret import interpret
from dashboard.readers.recognition.outcomes import blank_as_other
from dashboard.readers.records import Body, GroupingColumn, ReadingOptions
from dashboard.readers.refusal import FileError, Question, only_refusals, visible
from dashboard.readers.together import contents_together
from dashboard.readers.upload import Upload

__all__ = [
    "FORMATS",
    "FileError",
    "GroupingColumn",
    "ParsedFile",
    "Question",
    "ReadingOptions",
    "Upload",
    "digest_of",
    "parse",
    "read",
    "understand",
]


@dataclass(frozen=True, eq=False)
class ParsedFile:
    """A file as its format handed it over, with the SHA-256 of its bytes."""

    name: str
    digest: str
    body: Body


def read(name: str, data: bytes, **choices: Any) -> Upload:
    """Read a file of logits or probabilities with their labels, in this process.

    The name's ending picks the format; ``choices`` are the parameters of `ReadingOptions`. Raises
    nothing but `FileError`: the file cannot be used, or not before a `Question` is answered. The
    dashboard parses in `dashboard.readers.worker` instead, which bounds memory and time.
    """
    options = ReadingOptions(**choices)
    body = parse(name, data, header=options.header)
    return understand([ParsedFile(name, hashlib.sha256(data).hexdigest(), body)], options)


@only_refusals()
def understand(files: Sequence[ParsedFile], options: ReadingOptions) -> Upload:
    """Take what files hold for logits, probabilities or labels, several files together."""
    endings = [ending_of(file.name) for file in files]
    bodies = [(file.name, blank_as_other(file.body, options)) for file in files]
    contents = contents_together(bodies, options)
    try:
        return interpret(
            contents,
            options,
            name=visible(" + ".join(file.name for file in files), 120),
            kind=" + ".join(dict.fromkeys(FORMATS[ending] for ending in endings)),
            digest=digest_of([file.digest for file in files]),
        )
    except FileError as error:
        error.known = error.known or contents
        raise


def digest_of(digests: Sequence[str]) -> str:
    """Return what stands for the bytes of several files: of one, its own digest."""
    if len(digests) == 1:
        return digests[0]
    return hashlib.sha256("".join(digests).encode("ascii")).hexdigest()
