"""Text that is not UTF-8 but says what it is, brought to UTF-8."""

import codecs

from dashboard.readers.refusal import FileError

_PIECE = 1 << 20
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
    out = bytearray()
    try:
        for start in range(2, len(data), _PIECE):
            out += decoder.decode(data[start : start + _PIECE]).encode("utf-8")
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        before = bytes(error.object[: error.start]).decode(encoding)
        row = out.count(b"\n") + before.count("\n") + 1
        raise FileError(
            f"row {row:,}", "bytes that are not UTF-16, as its first two say it is",
            "whole text in UTF-8 or UTF-16",
        ) from None  # fmt: skip
    return bytes(out), True
