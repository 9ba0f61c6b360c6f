"""Zip archives that lie: refused before, or while, a member is unpacked."""

import io
import struct
import tracemalloc
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.readers.formats.archive import member_bytes, open_archive
from dashboard.readers.refusal import FileError
from tests.readers.files import archive, zip_end, zip_of_one, zip_parts
from tests.readers.torch_files import GENUINE

DATA = b"some bytes " * 40
NAMES = st.lists(st.text("abé.", min_size=3).filter(lambda name: ".." not in name), min_size=1)


def contents(data: bytes, *, most: int = 256) -> dict[str, bytes]:
    opened = open_archive(data, ".zip", most=most)
    return {name: member_bytes(opened, name) for name in opened.namelist()}


@given(
    members=st.dictionaries(
        NAMES.map("/".join), st.binary(max_size=200) | st.integers(0, 300).map(bytes), max_size=6
    ),
    method=st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]),
)
def test_what_was_written_is_read(members: dict[str, bytes], method: int) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as zipped:
        for name, data in members.items():
            zipped.writestr(name, data)
    assert contents(buffer.getvalue()) == members


def test_archives_of_pytorch() -> None:
    """They have two ends, and members that begin at multiples of 64 bytes."""
    data = GENUINE["lists"]
    with zipfile.ZipFile(io.BytesIO(data)) as zipped:
        assert contents(data) == {name: zipped.read(name) for name in zipped.namelist()}


def joined(*parts: tuple[bytes, bytes]) -> bytes:
    bodies, entries = (b"".join(part) for part in zip(*parts, strict=True))
    return bodies + entries + zip_end(len(parts), len(entries), len(bodies))


def again(name: bytes) -> bytes:
    """Name the bytes of one member twice."""
    return joined(zip_parts(b"a", DATA), (b"", zip_parts(name, DATA)[1]))


NOISE = b"\xff" * 50
LIES: list[tuple[str, bytes, str]] = [
    ("one and the same", again(b"a"), "same name twice"),
    ("directory for a header", zip_of_one(b"a", DATA, offset=60), "damage"),
    ("outside the file", zip_of_one(b"a", DATA, offset=0xFFFFFFFF), "damage"),
    ("fewer than declared", zip_of_one(b"a", DATA, size=500), "another size than the declared 500"),
    ("more than declared", zip_of_one(b"a", DATA, size=100), "CRC|another size"),
    ("no end of deflate", zip_of_one(b"a", DATA, keep=12), "CRC|another size"),
    ("no deflate", zip_of_one(b"a", DATA, keep=0), "CRC|another size"),
    ("no entry", archive(a=DATA).replace(b"PK\x01\x02", b"PK\x01\x07"), "damaged or truncated"),
    ("checksum", zip_of_one(b"a", DATA, crc=7), "CRC"),
    ("stored checksum", zip_of_one(b"a", DATA, crc=7, method=0), "CRC"),
    (
        "not deflate",
        joined((zip_parts(b"a", NOISE, method=0)[0], zip_parts(b"a", NOISE, packed=50)[1])),
        "damage",
    ),
    *(("password", zip_of_one(b"a", DATA, flags=flag), "a password") for flag in (1, 64, 8192)),
    ("a patch", zip_of_one(b"a", DATA, flags=32), "damage"),
    ("zip64 size", zip_of_one(b"a", DATA, size=0xFFFFFFFF), "expand to 4,096 MB"),
    ("lzma", zip_of_one(b"a", DATA, method=14), "unusual compression"),
    ("many members", archive(**{str(k): b"" for k in range(9)}), "9 members"),
    ("half", archive(a=DATA)[:60], "damaged or truncated"),
    ("no zip", b"hello", "no zip file"),
]


@pytest.mark.parametrize(("data", "message"), [r[1:] for r in LIES], ids=[r[0] for r in LIES])
def test_lies(data: bytes, message: str) -> None:
    with pytest.raises(FileError, match=message):
        contents(data, most=8)


def test_little_memory_for_a_bomb() -> None:
    opened = open_archive(zip_of_one(b"a", bytes(1 << 27), size=1000), ".zip")
    tracemalloc.start()
    with pytest.raises(FileError, match=r"CRC|another size"):
        member_bytes(opened, "a")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 << 20


@given(st.binary(max_size=200), st.integers(0, 250), st.integers(0, 255))
def test_any_bytes(data: bytes, place: int, value: int) -> None:
    good = bytearray(archive(**{"a/b": data[:50], "c": b"x"}))
    good[place % len(good)] = value
    for tried in (data, bytes(good), struct.pack("<4s", b"PK\x05\x06") + data):
        try:
            contents(tried)
        except FileError as error:
            assert len(str(error)) <= 600  # noqa: PT017 - either outcome is right
