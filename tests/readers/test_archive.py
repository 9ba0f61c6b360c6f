"""Zip archives that lie: refused before, or while, a member is unpacked."""

import io
import struct
import tracemalloc
import zipfile
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.readers.binary.archive import Archive, open_archive
from dashboard.readers.refusal import FileError
from tests.readers.files import archive, zip_end, zip_of_one, zip_parts
from tests.readers.torch_files import GENUINE

DATA = b"some bytes " * 40


def contents(data: bytes, **rules: int) -> dict[str, bytes]:
    opened = open_archive(data, ".zip", folders=True, **rules)
    return {name: bytes(opened.read(name)) for name in opened.members}


@given(
    members=st.dictionaries(
        st.lists(st.text("abé.", min_size=3), min_size=1, max_size=3).map("/".join),
        st.binary(max_size=200) | st.integers(0, 300).map(bytes),
        max_size=6,
    ),
    method=st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]),
)
def test_what_was_written_is_read(members: dict[str, bytes], method: int) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as zipped:
        for name, data in members.items():
            zipped.writestr(name, data)
    assert contents(buffer.getvalue()) == members


@pytest.mark.parametrize("size", [0, 1, 1 << 18, (1 << 18) + 1, 3_000_000])
def test_members_of_many_pieces(size: int) -> None:
    even, odd = b"\x07" * size, bytes(i * i % 251 for i in range(size // 100)) * 100
    assert contents(archive(even=even, odd=odd)) == {"even": even, "odd": odd}


class Stream(io.BytesIO):
    """A file that cannot go back, behind whose members zipfile writes the sizes."""

    def seekable(self) -> bool:
        return False

    def seek(self, *_: int) -> int:
        raise io.UnsupportedOperation


def test_sizes_that_stand_behind_the_member() -> None:
    buffer = Stream()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("a", DATA)
    assert zlib.crc32(DATA).to_bytes(4, "little") not in buffer.getvalue()[:20]
    assert contents(buffer.getvalue()) == {"a": DATA}


def test_both_ends_of_pytorch() -> None:
    data = GENUINE["lists"]
    with zipfile.ZipFile(io.BytesIO(data)) as zipped:
        assert contents(data) == {name: zipped.read(name) for name in zipped.namelist()}
    record = data.rfind(b"PK\x06\x06")
    for place in (0, 4, 16, 20, 24, 32, 40, 48, 56 + 4, 56 + 8, 56 + 16):
        damaged = bytearray(data)
        damaged[record + place] ^= 1
        if place in (60, 64, 72):
            # The locator's own words are not needed: the record stands right before it.
            assert contents(bytes(damaged)) == contents(data)
            continue
        with pytest.raises(FileError, match="two ends contradict"):
            contents(bytes(damaged))
    with pytest.raises(FileError, match="two ends contradict"):
        contents(b"PK\x06\x07" + bytes(16) + zip_end(0, 0, 0))


def joined(*parts: tuple[bytes, bytes]) -> bytes:
    bodies, entries = (b"".join(part) for part in zip(*parts, strict=True))
    return bodies + entries + zip_end(len(parts), len(entries), len(bodies))


def nested() -> bytes:
    inner, entry = zip_parts(b"b", DATA, offset=31)
    return joined(zip_parts(b"a", inner, method=0), (b"", entry))


def same_bytes() -> bytes:
    body, entry = zip_parts(b"a", DATA)
    return joined((body, entry), (b"", zip_parts(b"A", DATA)[1]))


def not_deflate() -> tuple[bytes, bytes]:
    raw = b"\xff" * 50
    return zip_parts(b"a", raw, method=0)[0], zip_parts(b"a", raw, packed=50)[1]


LIES: list[tuple[str, bytes, str]] = [
    ("inside another", nested(), 'member "b": found overlap with another'),
    ("the same bytes", same_bytes(), "not where the directory says"),
    ("one and the same", joined(zip_parts(b"a", DATA), (b"", zip_parts(b"a", DATA)[1])), "twice"),
    ("up to case", archive(**{"a/b": DATA, "A/b": DATA}), "twice"),
    ("into the directory", zip_of_one(b"a", DATA, packed=441, method=0), "cut short"),
    ("directory for a header", zip_of_one(b"a", DATA, offset=60), "outside the file"),
    ("fewer than declared", zip_of_one(b"a", DATA, size=500), "another size"),
    ("more than declared", zip_of_one(b"a", DATA, size=100), "another size"),
    ("no end of deflate", zip_of_one(b"a", DATA, keep=12), "of another size"),
    ("no deflate", zip_of_one(b"a", DATA, keep=0), "another size"),
    ("no entry", archive(a=DATA).replace(b"PK\x01\x02", b"PK\x01\x07"), "entry is wrong"),
    ("no entries", zip_of_one(b"a", DATA, entries=0), "longer than its members"),
    ("more entries", zip_of_one(b"a", DATA, entries=2), "cut short"),
    ("stored of two sizes", zip_of_one(b"a", DATA, method=0, size=9), "another size"),
    ("checksum", zip_of_one(b"a", DATA, crc=7), "CRC"),
    ("stored checksum", zip_of_one(b"a", DATA, crc=7, method=0), "CRC"),
    ("not deflate", joined(not_deflate()), "damaged compressed bytes"),
    *(("password", zip_of_one(b"a", DATA, flags=flag), "encrypted") for flag in (1, 64, 8192)),
    ("zip64 size", zip_of_one(b"a", DATA, size=0xFFFFFFFF), "expand to 4,095 MB"),
    ("zip64 packed", zip_of_one(b"a", DATA, packed=0xFFFFFFFF), "cut short"),
    ("zip64 place", zip_of_one(b"a", DATA, offset=0xFFFFFFFF), "outside the file"),
    ("lzma", zip_of_one(b"a", DATA, method=14), "method 14"),
    ("many members", archive(**{str(k): b"" for k in range(9)}), "9 members"),
    ("half", archive(a=DATA)[:60], "no directory"),
    ("second disk", archive(a=DATA)[:-18] + b"\1\0" + archive(a=DATA)[-16:], "end of the file"),
    ("moved", b"x" + archive(a=DATA), "not a zip"),
    ("moved too", b"PK" + archive(a=DATA), "not where it says"),
]


@pytest.mark.parametrize(("data", "message"), [r[1:] for r in LIES], ids=[r[0] for r in LIES])
def test_lies(data: bytes, message: str) -> None:
    with pytest.raises(FileError, match=message):
        contents(data, most=8)


def unpackable(size: int) -> bytes:
    """Deflate without making smaller, so that the length can be chosen."""
    stream = zlib.compressobj(0, zlib.DEFLATED, -15)
    return stream.compress(bytes(size)) + stream.flush()


def test_what_follows_where_a_piece_ends() -> None:
    piece = 1 << 18
    size = next(n for n in range(piece - 200, piece) if len(unpackable(n)) == piece)
    _, entry = zip_parts(b"a", bytes(size), packed=piece + 5)
    body = zip_parts(b"a", b"")[0][:31] + unpackable(size)
    with pytest.raises(FileError, match="of another size"):
        contents(joined((body + b"extra", entry)))


def test_what_follows_the_end_of_deflate() -> None:
    body, _ = zip_parts(b"a", DATA)
    _, entry = zip_parts(b"a", DATA, packed=len(body) - 31 + 5)
    with pytest.raises(FileError, match="of another size"):
        contents(joined((body + b"extra", entry)))


@pytest.mark.parametrize(
    "name",
    [
        "../a",
        "a/../b",
        "..",
        "/a",
        "//a",
        "a//b",
        "./a",
        "a\\b",
        "C:\\a",
        "/",
        "",
        "a\nb",
        "a\x7fb",
    ],
)
def test_names_that_lead_somewhere(name: str) -> None:
    with pytest.raises(FileError, match="path for a name"):
        contents(zip_of_one(name.encode(), DATA))


@pytest.mark.parametrize("name", ["a/b", "a/.data/b", "a/b/", "é", "[Content_Types].xml", "..a"])
def test_folders_only_where_they_belong(name: str) -> None:
    data = zip_of_one(name.encode(), b"")
    assert contents(data) == {name: b""}
    if "/" in name:
        with pytest.raises(FileError, match="path for a name"):
            open_archive(data, ".npz")


def test_little_memory_for_a_bomb() -> None:
    bomb = zip_of_one(b"a", bytes(1 << 27), size=1000)
    opened = open_archive(bomb, ".zip")
    tracemalloc.start()
    with pytest.raises(FileError, match="another size"):
        opened.read("a")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 << 20


def test_the_sum_of_the_members_is_bounded() -> None:
    parts = {str(k): bytes(1 << 20) for k in range(70)}
    with pytest.raises(FileError, match="expand to 70 MB"):
        contents(archive(**parts))
    assert len(contents(archive(**parts), times=1000)) == 70


def test_stored_members_are_not_copied() -> None:
    data = zip_of_one(b"a", DATA, method=0)
    view = Archive(data, open_archive(data, ".zip").members).read("a")
    assert isinstance(view, memoryview)
    assert view.obj is data


@given(st.binary(max_size=200), st.integers(0, 250), st.integers(0, 255))
def test_any_bytes(data: bytes, place: int, value: int) -> None:
    good = bytearray(archive(**{"a/b": data[:50], "c": b"x"}))
    good[place % len(good)] = value
    for tried in (data, bytes(good), struct.pack("<4s", b"PK\x05\x06") + data):
        try:
            contents(tried)
        except FileError as error:
            assert len(str(error)) <= 600  # noqa: PT017 - either outcome is right
