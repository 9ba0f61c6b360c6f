"""Zip archives, whose declarations are checked before a member is unpacked."""

import io
import zipfile
import zlib
from itertools import pairwise

from dashboard.readers.refusal import FileError, quoted

_SPARE_BYTES = 256 << 20
_ENCRYPTED = 0x2041
"""Flags of a member that is encrypted, strongly so, or whose directory is."""
_ODD = (ValueError, NotImplementedError)
"""What `zipfile` raises besides at archives it cannot read."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def open_archive(data: bytes, ending: str, *, most: int = 256, times: int = 4) -> zipfile.ZipFile:
    """List the members of an archive.

    Parameters
    ----------
    data : bytes
        The whole file.
    ending : str
        What a refusal calls such a file.
    most : int
        Largest number of members.
    times : int
        How many times the size of the file, and 256 MB more, all members may take unpacked.

    Raises
    ------
    FileError
        A damaged archive, one that would swell, and members that are locked, share a name, overlap,
        lead out of the archive or are packed by other means than deflation.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        members = archive.infolist()
    except (zipfile.BadZipFile, EOFError, *_ODD) as error:
        found = "a damaged or truncated zip file" if data[:2] == b"PK" else "no zip file"
        raise FileError("archive", found, f"a whole {ending} file") from error
    size, limit = sum(member.file_size for member in members), times * len(data) + _SPARE_BYTES
    if len(members) > most:
        raise FileError("archive", f"{len(members):,} members", f"at most {most:,}")
    if size > limit:
        found = f"members that expand to {size >> 20:,} MB from a file of {len(data):,} bytes"
        raise FileError("archive", found, f"at most {limit >> 20:,} MB (size limit)")
    seen: set[str] = set()
    for member in members:
        _check(member, seen)
        seen.add(member.filename)
    for one, other in pairwise(sorted(members, key=lambda member: member.header_offset)):
        if one.header_offset + one.compress_size > other.header_offset:
            place = f"member {quoted(other.filename)}"
            raise FileError(place, "overlap with another", "members apart")
    return archive


def _check(member: zipfile.ZipInfo, seen: set[str]) -> None:
    name = member.filename
    place = f"member {quoted(name)}"
    if name in seen:
        raise FileError(place, "the same name twice", "one member of a name")
    if name.startswith(("/", "\\")) or ".." in name.replace("\\", "/").split("/") or ":" in name:
        raise FileError(place, "a name that leads out of the archive", "a plain name")
    if member.flag_bits & _ENCRYPTED:
        raise FileError(place, "a password", "a file without one")
    if member.compress_type not in _METHODS:
        raise FileError(place, "an unusual compression", "members that are stored or deflated")


def member_bytes(archive: zipfile.ZipFile, name: str) -> bytes:
    """Unpack a member, no further than the size that it declares.

    Raises
    ------
    FileError
        Damaged bytes, another size than declared, or a wrong checksum.
    """
    size = archive.getinfo(name).file_size
    try:
        with archive.open(name) as stream:
            raw = stream.read(size + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, *_ODD) as error:
        raise FileError(f"member {quoted(name)}", f"damage ({error})", "a whole file") from error
    if len(raw) != size:
        found = f"another size than the declared {size:,} bytes (damaged)"
        raise FileError(f"member {quoted(name)}", found, "a whole file")
    return raw
