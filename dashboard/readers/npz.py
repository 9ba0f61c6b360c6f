"""Zip archives of .npy arrays."""

from dashboard.readers.archive import open_archive
from dashboard.readers.arrays import contents_of
from dashboard.readers.contents import DEFAULTS, Array, Contents, Options
from dashboard.readers.named import CLASS_NAME_KEYS, LABEL_KEYS, role_of
from dashboard.readers.npy import parse_npy
from dashboard.readers.refusal import FileError, quoted


def read_npz(data: bytes, options: Options = DEFAULTS) -> Contents:
    """Read named arrays: both sets, or one."""
    archive = open_archive(data, ".npz")
    for name in archive.members:
        if not name.endswith(".npy"):
            raise FileError(
                f"member {quoted(name)}",
                "something that is not an array",
                "only .npy arrays: no pickle, no inner archive",
            )
    arrays: dict[str, Array] = {}
    for name in archive.members:
        key = name.removesuffix(".npy")
        raw = archive.read(name)
        text = key.lower() in CLASS_NAME_KEYS or key.lower().startswith("column_")
        text |= role_of(key)[1] in LABEL_KEYS or key == options.label_column
        arrays[key] = parse_npy(raw, f"array {quoted(key)}", text=text)
    return contents_of(arrays, options=options)
