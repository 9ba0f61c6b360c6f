"""Zip archives of .npy arrays."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from dashboard.readers.binary.archive import open_archive
from dashboard.readers.binary.arrays import contents_of
from dashboard.readers.binary.npy import parse_npy, unfit
from dashboard.readers.columns.named import (
    CLASS_NAME_KEYS,
    LABEL_KEYS,
    TABLE_KEYS,
    WEAK_LABEL_KEYS,
)
from dashboard.readers.columns.roles import role_of
from dashboard.readers.contents import DEFAULTS, Array, Contents, Options
from dashboard.readers.refusal import FileError, plain, quoted

_TEXT_ROOM = 32 << 20


def read_npz(data: bytes, options: Options = DEFAULTS) -> Contents:
    """Read named arrays: both sets, or one.

    Notes
    -----
    Arrays of Python objects, dates and other things that are neither numbers nor names are left
    out unread where they are neither the values nor the labels. Names may have groups, as in
    ``val/logits``; nothing is ever written by them.
    """
    archive = open_archive(data, ".npz", folders=True)
    for name in archive.members:
        if not name.endswith(".npy"):
            raise FileError(
                f"member {quoted(name)}",
                "something that is not an array",
                "only .npy arrays: no pickle, no inner archive",
            )
    arrays: dict[str, Array] = {}
    odd: dict[str, FileError] = {}
    room = _TEXT_ROOM
    for name in archive.members:
        key = name.removesuffix(".npy")
        raw, place = archive.read(name), f"array {quoted(key)}"
        wanted = key == options.label_column or role_of(key)[1] in LABEL_KEYS
        problem = unfit(raw, place, text_room=len(raw) if wanted else room)
        if problem is not None:
            odd[key] = problem
            continue
        arrays[key] = parse_npy(raw, place, text=True)
        if arrays[key].dtype.kind == "U" and not wanted:
            room -= len(raw)
    named = {role_of(key)[1] for key in arrays}
    if not named & (LABEL_KEYS | TABLE_KEYS | WEAK_LABEL_KEYS) and options.label_column is None:
        texts = (key for key, array in arrays.items() if array.dtype.kind == "U")
        odd = {key: _text(key) for key in texts if key.lower() not in CLASS_NAME_KEYS} | odd
    _refuse_needed(odd, named, options)
    contents = contents_of(arrays, options=options)
    return replace(contents, found=(*contents.found, *_unread(odd)))


def _text(key: str) -> FileError:
    wanted = "numbers, or a name that tells what it is, such as labels"
    return FileError(f"array {quoted(key)}", "text", wanted)


def _refuse_needed(odd: Mapping[str, FileError], read: Collection[str], options: Options) -> None:
    """Refuse what cannot be read where it may be the values or the labels.

    Parameters
    ----------
    odd : mapping of str to FileError
        Arrays that cannot be read.
    read : set of str
        Names of those that can, without the set that they are of.
    options : Options
        ``label_column`` names the array of the labels.
    """
    with_labels = bool(LABEL_KEYS.intersection(read)) or options.label_column is not None
    with_values = bool(TABLE_KEYS.intersection(read))
    untold = not with_labels and not with_values
    for name, problem in odd.items():
        rest = role_of(name)[1]
        labels = rest in LABEL_KEYS or (rest in WEAK_LABEL_KEYS and not with_labels)
        values = rest in TABLE_KEYS or TABLE_KEYS.intersection(rest.split("_"))
        if name == options.label_column or labels or untold or (values and not with_values):
            raise problem


def _unread(odd: Mapping[str, FileError]) -> tuple[str, ...]:
    """Name the arrays that were left out, and what they hold."""
    said = tuple(
        f"Array {plain(name, 40)} was left out unread: {problem.found}."
        for name, problem in list(odd.items())[:8]
    )
    return (*said, f"{len(odd) - 8} more arrays were left out unread.") if len(odd) > 8 else said
