"""Zip archives of .npy arrays, walked by hand so that nothing they declare is trusted."""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from dashboard.readers.contents import Array, Contents
from dashboard.readers.named import CLASS_NAME_KEYS, contents_of
from dashboard.readers.npy import parse_npy
from dashboard.readers.refusal import FileError, quoted

_MAX_MEMBERS = 256
_SPARE_BYTES = 64 << 20
_END = struct.Struct("<4s4H2LH")
_ENTRY = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")


@dataclass(frozen=True)
class _Member:
    name: str
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    offset: int


def read_npz(data: bytes) -> Contents:
    """Read named arrays: both sets, or one."""
    members = list(_directory(data))
    _check(members, len(data))
    arrays: dict[str, Array] = {}
    for member in members:
        key = member.name.removesuffix(".npy")
        text = key.lower() in CLASS_NAME_KEYS
        if key.lower().startswith("column_"):
            # Slicing columns may hold text; they are read when something can show them.
            _unpack(data, member)
            continue
        arrays[key] = parse_npy(_unpack(data, member), f"array {quoted(key)}", text=text)
    left_out = tuple(m.name[7:-4] for m in members if m.name.lower().startswith("column_"))
    return contents_of(arrays, left_out=left_out)


def _damaged(problem: str) -> FileError:
    return FileError("archive", f"a damaged or truncated zip file ({problem})", "a whole .npz file")


def _directory(data: bytes) -> Iterator[_Member]:
    """List the members that the archive's end declares."""
    if len(data) >= 4 and data[:2] != b"PK":
        raise FileError("archive", "bytes that are not a zip file", "a .npz file")
    end = data.rfind(b"PK\x05\x06", max(0, len(data) - _END.size - 0xFFFF))
    if end < 0 or end + _END.size > len(data):
        raise _damaged("no directory at its end")
    _, disk, start_disk, here, total, size, offset, comment = _END.unpack_from(data, end)
    if end + _END.size + comment != len(data) or disk or start_disk or here != total:
        raise _damaged("its end is not the end of the file")
    if total > _MAX_MEMBERS:
        raise FileError("archive", f"{total:,} members", f"at most {_MAX_MEMBERS} arrays")
    if offset + size != end:
        raise _damaged("its directory is not where it says")
    position = offset
    for _ in range(total):
        if position + _ENTRY.size > end:
            raise _damaged("its directory is cut short")
        entry = _ENTRY.unpack_from(data, position)
        name_size, extra_size, note_size = entry[10:13]
        start = position + _ENTRY.size
        position = start + name_size + extra_size + note_size
        if entry[0] != b"PK\x01\x02" or position > end:
            raise _damaged("a directory entry is wrong")
        name = data[start : start + name_size].decode("utf-8", "replace")
        yield _Member(name, entry[3], entry[4], entry[7], entry[8], entry[9], entry[16])
    if position != end:
        raise _damaged("its directory is longer than its members")


def _check(members: list[_Member], n_bytes: int) -> None:
    """Refuse what is wrong with the members before any of them is unpacked."""
    if not members:
        raise FileError("archive", "no arrays", "logits and labels")
    seen: set[str] = set()
    for member in members:
        place = f"member {quoted(member.name)}"
        if member.flags & 0x41:
            raise FileError(place, "an encrypted member", "an archive without a password")
        if "/" in member.name or "\\" in member.name or ".." in member.name:
            raise FileError(place, "a path for a name", "plain names of arrays")
        if not member.name.endswith(".npy"):
            raise FileError(
                place,
                "something that is not an array",
                "only .npy arrays: no pickle, no inner archive",
            )
        if member.method not in (0, 8):
            raise FileError(place, f"compression method {member.method}", "stored or deflate")
        if member.name.lower() in seen:
            raise FileError(place, "the same name twice", "each array once")
        seen.add(member.name.lower())
    limit = 4 * n_bytes + _SPARE_BYTES
    declared = sum(member.size for member in members)
    if declared > limit:
        raise FileError(
            "archive",
            f"members that expand to {declared >> 20:,} MB from a file of {n_bytes:,} bytes",
            f"at most {limit >> 20:,} MB (size limit); numpy.savez stores without compression",
        )


def _unpack(data: bytes, member: _Member) -> bytes | memoryview:
    """Read one member to its end, and no further than its declared size."""
    place = f"member {quoted(member.name)}"
    if member.offset + _LOCAL.size > len(data):
        raise _damaged("a member lies outside the file")
    local = _LOCAL.unpack_from(data, member.offset)
    start = member.offset + _LOCAL.size + local[9] + local[10]
    name = data[member.offset + _LOCAL.size : start - local[10]]
    if local[0] != b"PK\x03\x04" or name.decode("utf-8", "replace") != member.name:
        raise _damaged("a member is not where the directory says")
    packed = memoryview(data)[start : start + member.packed]
    if len(packed) != member.packed:
        raise _damaged("a member is cut short")
    raw: bytes | memoryview = packed if member.method == 0 else _inflate(packed, member, place)
    if len(raw) != member.size:
        raise FileError(
            place, f"another size than the declared {member.size:,} bytes (damaged)", "a whole file"
        )
    if zlib.crc32(raw) != member.crc:
        raise FileError(place, "a wrong checksum (CRC): the file is damaged", "a whole file")
    return raw


def _inflate(packed: memoryview, member: _Member, place: str) -> bytes:
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        raw = stream.decompress(packed, member.size + 1)
    except zlib.error as error:
        raise FileError(place, "damaged compressed bytes", "a whole file") from error
    if len(raw) == member.size and (not stream.eof or stream.unused_data):
        raise FileError(place, "more bytes than it declares (damaged)", "exactly its declared size")
    return raw
