"""Text that is not UTF-8 but says what it is, brought to UTF-8."""

import codecs
from io import BytesIO

from dashboard.readers.refusal import FileError

_PIECE = 1 << 20
_MOST = 100_000_000
"""Bytes, of which a second copy in memory is still small."""

_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def as_utf8(data: bytes) -> tuple[bytes, bool]:
    """Bring UTF-16 that begins with its byte order mark to UTF-8, a piece at a time.

    Returns
    -------
    bytes
        The text, or what was given where there is no such mark.
    bool
        Whether it was UTF-16.

    Examples
    --------
    >>> as_utf8("a,1".encode("utf-16"))
    (b'a,1', True)
    """
    encoding = _MARKS.get(data[:2])
    if encoding is None:
        return data, False
    decoder = codecs.getincrementaldecoder(encoding)()
    out = BytesIO()
    try:
        for start in range(2, len(data), _PIECE):
            out.write(decoder.decode(data[start : start + _PIECE]).encode("utf-8"))
            if out.tell() > _MOST:
                found = f"more than {_MOST:,} bytes of UTF-16, counted in UTF-8"
                raise FileError("file", found, "a smaller file, or one in UTF-8")
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        before = bytes(error.object[: error.start]).decode(encoding)
        row = out.getvalue().count(b"\n") + before.count("\n") + 1
        raise FileError(
            f"row {row:,}", "bytes that are not UTF-16, as its first two say it is",
            "whole text in UTF-8 or UTF-16",
        ) from None  # fmt: skip
    return out.getvalue(), True
