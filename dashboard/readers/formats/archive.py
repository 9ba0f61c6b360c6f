"""Zip archives, whose declarations are checked before a member is unpacked."""

import io
import zipfile
import zlib

from dashboard.readers.limits import MAX_MEMBERS, SPARE, TIMES, megabytes
from dashboard.readers.refusal import FileError, quoted

_ENCRYPTED = 0x2041
"""Flags of a member that is encrypted, strongly so, or whose directory is."""
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError)
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def open_archive(
    data: bytes, ending: str, *, most: int = MAX_MEMBERS, times: int = TIMES
) -> zipfile.ZipFile:
    """List the members of an archive; refuse one that is damaged, locked or would swell."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        members = archive.infolist()
    except _DAMAGED as error:
        text = "a damaged or truncated zip file" if data[:2] == b"PK" else "no zip file"
        raise FileError("archive", text, f"a whole {ending} file") from error
    size, limit = sum(member.file_size for member in members), times * len(data) + SPARE
    if len(members) > most:
        raise FileError("archive", f"{len(members):,} members", f"at most {most:,}")
    if size > limit:
        text = f"members that expand to {megabytes(size)} from a file of {len(data):,} bytes"
        raise FileError("archive", text, f"at most {megabytes(limit)} (size limit)")
    seen: set[str] = set()
    for member in members:
        place = f"member {quoted(member.filename)}"
        if member.filename in seen:
            raise FileError(place, "the same name twice", "one member of a name")
        if member.flag_bits & _ENCRYPTED:
            raise FileError(place, "a password", "a file without one")
        if member.compress_type not in _METHODS:
            raise FileError(place, "an unusual compression", "members that are stored or deflated")
        seen.add(member.filename)
    return archive


def member_bytes(archive: zipfile.ZipFile, name: str) -> bytes:
    """Unpack a member, no further than the size that it declares."""
    size = archive.getinfo(name).file_size
    try:
        with archive.open(name) as stream:
            raw = stream.read(size + 1)
    except _DAMAGED as error:
        raise FileError(f"member {quoted(name)}", f"damage ({error})", "a whole file") from error
    if len(raw) != size:
        text = f"another size than the declared {size:,} bytes (damaged)"
        raise FileError(f"member {quoted(name)}", text, "a whole file")
    return raw
