"""What a Parquet file declares, checked against its bytes before any value is decoded.

A few bytes may declare billions of rows, or a page that unpacks to gigabytes. The footer and the
header of every page are therefore read here first, and hold each other to account.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from dashboard.readers.binary.thrift import Compact, Fields, damaged
from dashboard.readers.refusal import FileError, quoted

_BYTE_ARRAY = 6
_DELTA_BYTE_ARRAY = 7
_BY_DICTIONARY = 2, 8
_MAX_FOOTER = 16 << 20
_MAX_COLUMNS = 4096
_MAX_CHUNKS = 20_000
_MAX_DEPTH = 8
_MAX_NAME = 10_000
_FOOTER_VALUES = _PAGE_VALUES = 500_000
_SPARE_BYTES, _SPARE_TEXT = 96 << 20, 32 << 20
_MOST_DIFFERENT = 12_000_000
"""As many texts as are compared with each other in about a second, entries counted twice."""


@dataclass(frozen=True)
class Chunk:
    """The pages of one column in one group of rows, known to lie within the file.

    How many of its values are null is what the file says, and may be unknown (0).
    """

    column: int
    n_values: int
    start: int
    end: int
    n_null: int


@dataclass(frozen=True)
class Footer:
    """What the end of a file declares.

    Parameters
    ----------
    n_rows : int
        In all groups of rows together.
    tops : tuple of str
        Names of the columns at the top, some of which may hold others.
    owner : tuple of int
        The column at the top to which each column of values belongs.
    texts : tuple of bool
        Whether each column of values holds bytes of any length, and stands at the top.
    chunks : tuple of Chunk
        All of them.
    """

    n_rows: int
    tops: tuple[str, ...]
    owner: tuple[int, ...]
    texts: tuple[bool, ...]
    chunks: tuple[Chunk, ...]


def read_footer(data: bytes) -> Footer:
    """Read the footer, and refuse what it cannot declare honestly."""
    if data[-4:] == b"PARE" or data[:4] == b"PARE":
        raise FileError("file", "an encrypted Parquet file", "a file without encryption")
    if data[:4] != b"PAR1":
        raise FileError("file", "bytes that are not a Parquet file", "a .parquet file")
    if len(data) < 12 or data[-4:] != b"PAR1":
        raise damaged("no footer at its end")
    size = int.from_bytes(data[-8:-4], "little")
    if size > min(len(data) - 12, _MAX_FOOTER):
        raise damaged(f"a footer of {size:,} bytes")
    end = len(data) - 8 - size
    top = Compact(memoryview(data)[end:-8], budget=_FOOTER_VALUES).struct()
    if 8 in top:
        raise FileError("file", "encrypted columns", "a file without encryption")
    tops, owner, texts = _schema(_records(top, 2))
    groups = [_records(group, 1) for group in _records(top, 4)]
    if sum(map(len, groups)) > _MAX_CHUNKS:
        raise FileError("file", f"{len(groups):,} groups of rows", "fewer and larger groups")
    if any(len(group) != len(owner) for group in groups):
        raise damaged("a group of rows without all columns")
    n_rows = _whole(top, 3)
    if not n_rows:
        raise FileError("file", "no rows", "at least one row")
    if n_rows != sum(_whole(group, 3) for group in _records(top, 4)):
        raise damaged("groups of rows that do not add up")
    chunks = [_chunk(c, chunk, end) for group in groups for c, chunk in enumerate(group)]
    return Footer(n_rows, tops, owner, texts, tuple(chunks))


def check_pages(data: bytes, chunks: list[Chunk], texts: tuple[bool, ...]) -> dict[int, str]:
    """Walk the pages, and refuse what they cannot declare honestly.

    Returns
    -------
    dict of int to str
        Columns of texts that are better not decoded, and why.
    """
    limit, most_text = 3 * len(data) + _SPARE_BYTES, 2 * len(data) + _SPARE_TEXT
    total = 0
    of_texts: Counter[int] = Counter()
    different: Counter[int] = Counter()
    left_out: dict[int, str] = {}
    pages = Compact(memoryview(data), budget=_PAGE_VALUES)
    for chunk in chunks:
        column, seen = chunk.column, 0
        pages.position = chunk.start
        while pages.position < chunk.end:
            header = pages.struct()
            size = _whole(header, 2)
            pages.position += _whole(header, 3)
            n_values, encoding = _page(header)
            seen += n_values
            of_texts[column] += size if texts[column] else 0
            different[column] += _n_compared(header, n_values, encoding) if texts[column] else 0
            if texts[column] and encoding == _DELTA_BYTE_ARRAY:
                left_out[column] = "texts stored as differences (DELTA_BYTE_ARRAY)"
            elif of_texts[column] > most_text:
                left_out[column] = f"texts that expand to more than {most_text >> 20:,} MB"
            else:
                total += size
            if total > limit:
                found = f"pages that expand to more than {limit >> 20:,} MB, too large (size limit)"
                raise FileError("file", found, "a file of fewer rows, or of logits alone")
        if pages.position != chunk.end or seen != chunk.n_values:
            raise damaged("pages that do not add up to their column")
    compared = sum(n for column, n in different.items() if column not in left_out)
    for column, n in different.most_common():
        if compared > _MOST_DIFFERENT and column not in left_out:
            compared -= n
            left_out[column] = "texts of which most are different, in a file of many such"
    return left_out


def _n_compared(header: Fields, n_values: int, encoding: int) -> int:
    """Count the texts of a page that are to be compared with those before."""
    if header.get(1) == 2:
        return 2 * _whole(_record(header, 7), 1)
    return 0 if encoding in _BY_DICTIONARY else n_values


def _page(header: Fields) -> tuple[int, int]:
    """Give how many rows' values a page holds, and their encoding."""
    kind = header.get(1)
    if kind == 2:
        entries = _whole(_record(header, 7), 1)
        # Every entry takes bytes, so that a short page cannot ask for a long dictionary.
        if entries > _whole(header, 2):
            raise damaged("a dictionary of more entries than bytes")
        return 0, int(_record(header, 7).get(2, 0))
    if kind == 0:
        return _whole(_record(header, 5), 1), int(_record(header, 5).get(2, 0))
    if kind == 3:
        return _whole(_record(header, 8), 1), int(_record(header, 8).get(4, 0))
    raise damaged("a page of an unknown kind")


def _schema(elements: list[Fields]) -> tuple[tuple[str, ...], tuple[int, ...], tuple[bool, ...]]:
    """Walk the tree of columns, which is stored as a list with counts of children."""
    if len(elements) > 4 * _MAX_COLUMNS:
        raise _too_many(len(elements))
    tops: list[str] = []
    owner: list[int] = []
    texts: list[bool] = []
    waiting = [1]
    for element in elements:
        while waiting and waiting[-1] == 0:
            waiting.pop()
        if not waiting or len(waiting) > _MAX_DEPTH:
            raise damaged("columns nested too deeply or wrongly")
        waiting[-1] -= 1
        if len(waiting) == 2:
            tops.append(_name(element.get(4), len(tops) + 1))
        children = _whole(element, 5) if 5 in element else 0
        if children or len(waiting) == 1:
            waiting.append(children)
        else:
            owner.append(len(tops) - 1)
            texts.append(len(waiting) == 2 and element.get(1) == _BYTE_ARRAY)
    if any(waiting) or not owner:
        raise damaged("no columns, or fewer than it declares")
    if len(owner) > _MAX_COLUMNS:
        raise _too_many(len(owner))
    twice = next((name for name, count in Counter(tops).items() if count > 1), None)
    if twice is not None:
        raise FileError("footer", f"column {quoted(twice)} twice", "different column names")
    return tuple(tops), tuple(owner), tuple(texts)


def _name(value: object, place: int) -> str:
    if not isinstance(value, memoryview) or len(value) > _MAX_NAME:
        raise damaged("a column without a name of usual length")
    name = bytes(value).decode("utf-8", "replace")
    if not name.strip():
        raise FileError("footer", f"no name for column {place}", "a name for each column")
    return name


def _too_many(count: int) -> FileError:
    wanted = f"at most {_MAX_COLUMNS:,} columns, or the logits as one column of lists"
    return FileError("footer", f"{count:,} columns", wanted)


def _chunk(column: int, chunk: Fields, end: int) -> Chunk:
    if chunk.get(1):
        raise FileError("footer", "columns that are in another file", "one whole file")
    if 8 in chunk or 9 in chunk:
        raise FileError("footer", "an encrypted column", "a file without encryption")
    about = _record(chunk, 3)
    start = _whole(about, 9)
    dictionary = about.get(11)
    if isinstance(dictionary, int) and 0 < dictionary < start:
        start = dictionary
    stop = start + _whole(about, 7)
    if start < 4 or stop > end:
        raise damaged("a column that lies outside the file")
    statistics = about.get(12)
    n_null = statistics.get(3) if isinstance(statistics, dict) else 0
    return Chunk(column, _whole(about, 5), start, stop, n_null if isinstance(n_null, int) else 0)


def _records(fields: Fields, number: int) -> list[Any]:
    """Give a field that must be a list of records."""
    found = fields.get(number)
    if not isinstance(found, list) or not all(isinstance(part, dict) for part in found):
        raise damaged("its footer or a page header lacks a list")
    return found


def _record(fields: Fields, number: int) -> Fields:
    found = fields.get(number)
    if not isinstance(found, dict):
        raise damaged("its footer or a page header lacks a record")
    return found


def _whole(fields: Fields, number: int) -> int:
    """Give a field that must be a count or a place."""
    found = fields.get(number)
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        raise damaged("its footer or a page header lacks a number")
    return found
