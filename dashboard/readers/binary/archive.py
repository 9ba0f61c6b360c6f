"""Zip archives, walked by hand so that nothing they declare is trusted.

Every check on the directory is made before any member is unpacked, and a member is unpacked no
further than the size it declares.
"""

import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from dashboard.readers.refusal import FileError, quoted

MOST_DEFLATED = 200 << 20
"""As much as is unpacked in a second, or in two where it was made to take long."""

_SPARE_BYTES = 64 << 20
_PIECE = 1 << 18
_STORED, _DEFLATED = 0, 8
_ENCRYPTED = 0x2041
_END = struct.Struct("<4s4H2LH")
_END_ZIP64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR = struct.Struct("<4sLQL")
_ENTRY = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")


@dataclass(frozen=True)
class Member:
    """One member, whose packed bytes are known to be there.

    Parameters
    ----------
    packed, size : int
        Number of bytes in the archive, and once unpacked.
    header, start : int
        Where its own header begins, and its packed bytes.
    """

    name: str
    method: int
    crc: int
    packed: int
    size: int
    header: int
    start: int


@dataclass(frozen=True)
class Archive:
    """The bytes of an archive, and its members by name in the order of its directory."""

    data: bytes
    members: Mapping[str, Member]

    def read(self, name: str) -> bytes | memoryview:
        """Unpack a member, or lay a view over one that is only stored."""
        if self.members[name].method == _STORED:
            (whole,) = self.pieces(name)
            return whole
        raw = bytearray()
        for piece in self.pieces(name):
            raw += piece
        return memoryview(raw).toreadonly()

    def pieces(self, name: str) -> Iterator[bytes | memoryview]:
        """Unpack a member piece by piece.

        Raises
        ------
        FileError
            Damaged bytes, more or fewer than declared, or a wrong checksum, which is known at the
            end only.
        """
        member = self.members[name]
        packed = memoryview(self.data)[member.start : member.start + member.packed]
        place, size, crc = f"member {quoted(name)}", 0, 0
        for piece in [packed] if member.method == _STORED else _inflate(packed, place):
            size += len(piece)
            if size > member.size:
                break
            crc = zlib.crc32(piece, crc)
            yield piece
        if size != member.size:
            found = f"another size than the declared {member.size:,} bytes (damaged)"
            raise FileError(place, found, "a whole file")
        if crc != member.crc:
            raise FileError(place, "a wrong checksum (CRC): the file is damaged", "a whole file")


def open_archive(
    data: bytes,
    ending: str,
    *,
    folders: bool = False,
    most: int = 256,
    times: int = 4,
    most_deflated: int | None = MOST_DEFLATED,
) -> Archive:
    """List the members of an archive, once all that it declares has been checked.

    Parameters
    ----------
    data : bytes
        The whole file.
    ending : str
        What a refusal calls such a file.
    folders : bool, default False
        Allow names such as ``a/b``; never those that lead out of the archive.
    most : int, default 256
        Largest number of members.
    times : int, default 4
        How many times the size of the file, and 64 MB more, all members may take unpacked.
    most_deflated : int, optional
        How many bytes the members that are not merely stored may take unpacked.

    Returns
    -------
    Archive
        Of members that lie apart from each other, are stored or deflated, and have one name each.
    """
    members = list(_Directory(data, ending).members(most))
    _check_names([member.name for member in members], folders=folders)
    for one, other in pairwise(sorted(members, key=lambda member: member.header)):
        if one.start + one.packed > other.header:
            raise FileError(f"member {quoted(other.name)}", "overlap with another", "members apart")
    limit = times * len(data) + _SPARE_BYTES
    declared = sum(member.size for member in members)
    if declared > limit:
        raise FileError(
            "archive",
            f"members that expand to {declared >> 20:,} MB from a file of {len(data):,} bytes",
            f"at most {limit >> 20:,} MB (size limit)",
        )
    deflated = sum(member.size for member in members if member.method == _DEFLATED)
    if most_deflated is not None and deflated > most_deflated:
        raise FileError(
            "archive",
            f"compressed members that expand to {deflated >> 20:,} MB",
            f"at most {most_deflated >> 20:,} MB, or members that are stored uncompressed, as"
            " numpy.savez does",
        )
    return Archive(data, {member.name: member for member in members})


@dataclass(frozen=True)
class _Directory:
    """Walks the directory of an archive."""

    data: bytes
    ending: str

    def damaged(self, problem: str) -> FileError:
        found = f"a damaged or truncated zip file ({problem})"
        return FileError("archive", found, f"a whole {self.ending} file")

    def members(self, most: int) -> Iterator[Member]:
        """Give the members that the end of the archive declares."""
        first, total, end = self.place()
        if total > most:
            raise FileError("archive", f"{total:,} members", f"at most {most:,}")
        position = first
        for _ in range(total):
            if position + _ENTRY.size > end:
                raise self.damaged("its directory is cut short")
            entry = _ENTRY.unpack_from(self.data, position)
            start = position + _ENTRY.size
            position = start + sum(entry[10:13])
            if entry[0] != b"PK\x01\x02" or position > end:
                raise self.damaged("a directory entry is wrong")
            yield self.member(entry, self.data[start : start + entry[10]], first)
        if position != end:
            raise self.damaged("its directory is longer than its members")

    def place(self) -> tuple[int, int, int]:
        """Give where the directory begins, how many entries it has, and where it ends."""
        data = self.data
        if len(data) >= 4 and data[:2] != b"PK":
            raise FileError("archive", "bytes that are not a zip file", f"a {self.ending} file")
        end = data.rfind(b"PK\x05\x06", max(0, len(data) - _END.size - 0xFFFF))
        if end < 0 or end + _END.size > len(data):
            raise self.damaged("no directory at its end")
        _, disk, start_disk, here, total, size, offset, note = _END.unpack_from(data, end)
        if end + _END.size + note != len(data) or disk or start_disk or here != total:
            raise self.damaged("its end is not the end of the file")
        second = end - _LOCATOR.size
        if data[max(0, second) : end].startswith(b"PK\x06\x07"):
            # PyTorch writes both ends, whatever the size.
            end = second - _END_ZIP64.size
            record = _END_ZIP64.unpack_from(data, end) if end >= 0 else ()
            same = (0, 0, total, total, size, offset)
            if record[:2] != (b"PK\x06\x06", 44) or record[4:] != same:
                raise self.damaged("its two ends contradict each other")
        if offset + size != end:
            raise self.damaged("its directory is not where it says")
        return offset, total, end

    def member(self, entry: Sequence[Any], raw_name: bytes, first: int) -> Member:
        """Check one entry against the member's own header."""
        flags, method, crc, packed, size, header = (entry[i] for i in (3, 4, 7, 8, 9, 16))
        name = raw_name.decode("utf-8", "replace")
        place = f"member {quoted(name)}"
        if flags & _ENCRYPTED:
            raise FileError(place, "an encrypted member", "an archive without a password")
        if method not in (_STORED, _DEFLATED):
            raise FileError(place, f"compression method {method}", "stored or deflate")
        if header + _LOCAL.size > first:
            raise self.damaged("a member lies outside the file")
        local = _LOCAL.unpack_from(self.data, header)
        name_start = header + _LOCAL.size
        start = name_start + local[9] + local[10]
        if local[0] != b"PK\x03\x04" or self.data[name_start : start - local[10]] != raw_name:
            raise self.damaged("a member is not where the directory says")
        if start + packed > first:
            raise self.damaged("a member is cut short")
        return Member(name, method, crc, packed, size, header, start)


def _check_names(names: list[str], *, folders: bool) -> None:
    """Refuse names that lead somewhere, and names that could be taken for each other."""
    seen: set[str] = set()
    for name in names:
        place = f"member {quoted(name)}"
        parts = name.removesuffix("/").split("/")
        if not name.isprintable() or "\\" in name or {"", ".", ".."}.intersection(parts):
            raise FileError(place, "a path for a name", "names that stay inside the archive")
        if "/" in name and not folders:
            raise FileError(place, "a path for a name", "plain names of arrays")
        if name.lower() in seen:
            raise FileError(place, "the same name twice", "each name once")
        seen.add(name.lower())


def _inflate(packed: memoryview, place: str) -> Iterator[bytes]:
    """Unpack the deflate format, feeding and taking a little at a time."""
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    used = 0
    while not stream.eof:
        fed = stream.unconsumed_tail or packed[used : used + _PIECE]
        used += 0 if stream.unconsumed_tail else len(fed)
        try:
            piece = stream.decompress(fed, _PIECE)
        except zlib.error as error:
            raise FileError(place, "damaged compressed bytes", "a whole file") from error
        if not piece and not fed:
            break
        yield piece
    if not stream.eof or stream.unused_data or used < len(packed):
        raise FileError(place, "compressed bytes of another size than declared", "a whole file")
