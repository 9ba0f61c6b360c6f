"""Files parsed in the process of the tests, in the words that the bounded process answers in.

That process takes a third of a second of the processor for every file. `test_worker` of the readers
compares it with `parse`; the browser and the installed command read by it.
"""

import io
from collections.abc import Callable, Iterator

import pytest

from dashboard.readers import parse
from dashboard.readers.formats import ending_of
from dashboard.readers.limits import Limits, check_size, limits_for
from dashboard.readers.records import Body
from dashboard.readers.refusal import FileError
from dashboard.readers.worker import read_parsed, write_parsed, write_refusal


def parse_here(
    name: str,
    data: bytes,
    *,
    header: bool | None = None,
    limits: Limits | None = None,
    waiting: Callable[[float], None] = lambda _: None,
) -> Body:
    """Do what `dashboard.readers.worker.parse_apart` does, without its process."""
    check_size(len(data))
    answer = io.BytesIO()
    try:
        write_parsed(answer, parse(name, data, header=header))
    except FileError as error:
        write_refusal(answer, error)
    answer.seek(0)
    waiting(0.0)

    def fill(buffer: memoryview) -> None:
        if answer.readinto(buffer) < len(buffer):
            raise EOFError

    return read_parsed(fill, (limits or limits_for(ending_of(name), len(data))).memory)


@pytest.fixture(scope="package", autouse=True)
def parsed_here() -> Iterator[None]:
    """Read all files of a folder's tests so, by its ``conftest``."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("dashboard.compute.files.parse_apart", parse_here)
        patched.setattr("dashboard.headless.parse_apart", parse_here)
        yield
