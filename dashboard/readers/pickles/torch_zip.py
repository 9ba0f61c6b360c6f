"""Files of torch.save, which are zip archives of one pickle and the bytes of its tensors."""

from functools import cache
from typing import Literal

from dashboard.readers.binary.archive import Archive, open_archive
from dashboard.readers.binary.tensors import refuse_weights
from dashboard.readers.contents import DEFAULTS, Contents, Options
from dashboard.readers.pickles.arrays import name_of
from dashboard.readers.pickles.layouts import sets_of
from dashboard.readers.pickles.machine import Surroundings, run
from dashboard.readers.pickles.nodes import Items, Node
from dashboard.readers.pickles.tensors import TORCH, storage_of
from dashboard.readers.refusal import FileError, quoted

_MAX_MEMBERS = 4096
_BEFORE_1_6 = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."
_AGAIN = "it saved again, torch.save(torch.load(old), new), by PyTorch 1.6 or later"


def read_torch(data: bytes, options: Options = DEFAULTS) -> Contents:
    """Read tensors, arrays or lists of numbers: both sets, or one."""
    if data.startswith(_BEFORE_1_6):
        raise FileError("file", "the format of PyTorch before 1.6, which is no zip file", _AGAIN)
    if data[:1] == b"\x80":
        raise FileError("file", "a pickle where a zip file was looked for", _AGAIN)
    archive = open_archive(data, ".pt", folders=True, most=_MAX_MEMBERS)
    root = _root(archive)
    order = _byte_order(archive, root)

    @cache
    def find(key: str) -> memoryview:
        name = f"{root}/data/{key}"
        if name not in archive.members:
            raise FileError("storage", f"a reference to {quoted(name)}, not there", "a whole file")
        return memoryview(archive.read(name))

    around = Surroundings(TORCH, lambda reference: storage_of(reference, find, order), len(data))
    top = run(bytes(archive.read(f"{root}/data.pkl")), around)
    refuse_weights(_names(top, 2))
    return sets_of(top, options)


def _root(archive: Archive) -> str:
    """Give the folder that holds all members."""
    roots = {name.partition("/")[0] for name in archive.members}
    root = min(roots, default="")
    if len(roots) != 1 or f"{root}/data.pkl" not in archive.members:
        raise FileError(
            "archive", "members that torch.save does not write", "data.pkl in one folder"
        )
    return root


def _byte_order(archive: Archive, root: str) -> Literal["<", ">"]:
    """Give the order of bytes, which files of PyTorch before 2.1 do not tell: theirs is little."""
    name = f"{root}/byteorder"
    said = bytes(archive.read(name)[:16]) if name in archive.members else b"little"
    if said == b"little":
        return "<"
    if said == b"big":
        return ">"
    raise FileError("byteorder", quoted(said.decode("latin-1")), "little or big")


def _names(node: Node, levels: int) -> list[str]:
    """List the keys of a dictionary, and of those in it."""
    if levels == 0 or not isinstance(node, Items) or node.kind != "dict":
        return []
    keys = [name for key in node.values[::2] if (name := name_of(key)) is not None]
    return keys + [name for value in node.values[1::2] for name in _names(value, levels - 1)]
