"""Files of torch.save: a zip archive of a pickle and the bytes of its tensors.

Written from ``torch/_utils.py`` and ``torch/serialization.py`` of PyTorch 1.6 to 2.13.
"""

import codecs
from collections.abc import Callable, Mapping
from functools import cache
from typing import Literal
from zipfile import ZipFile

import numpy as np

from dashboard.readers.formats.archive import member_bytes, open_archive
from dashboard.readers.formats.arrays import refuse_weights, weights_among
from dashboard.readers.formats.pickle import arrays_of
from dashboard.readers.formats.pickle_machine import (
    KNOWN,
    ArrayPlace,
    Items,
    Node,
    Storage,
    Surroundings,
    Tag,
    name_of,
    refused,
    run,
    whole_numbers,
)
from dashboard.readers.records import Array, Arrays
from dashboard.readers.refusal import FileError, quoted

_BFLOAT16, _BOOL = "bf16", "b1"
_STORAGES = {
    "BoolStorage": _BOOL, "ByteStorage": "u1", "CharStorage": "i1", "ShortStorage": "i2",
    "IntStorage": "i4", "LongStorage": "i8", "HalfStorage": "f2", "FloatStorage": "f4",
    "DoubleStorage": "f8", "BFloat16Storage": _BFLOAT16,
}  # fmt: skip


def storage_of(reference: Node, find: Callable[[str], bytes], order: Literal["<", ">"]) -> Storage:
    """Look up the bytes of ``("storage", type, key, device, number of items)``."""
    match reference:
        case Items("tuple", ["storage", Tag(kind), str(key), str(), int(count)]) if (
            kind in _STORAGES
        ):
            storage = Storage(_STORAGES[kind], find(key), order)
            declared = count * _bits(storage.code).itemsize
            if declared != len(storage.raw):
                raise FileError(
                    "storage",
                    f"{len(storage.raw):,} bytes where the pickle declares {declared:,}",
                    "exactly the declared size",
                )
            return storage
    raise refused("a persistent reference to something that is no storage of tensors", "storage")


def _bits(code: str, order: str = "=") -> np.dtype[np.generic]:
    return np.dtype(order + ("u2" if code == _BFLOAT16 else code))


def _tensor(values: list[Node]) -> ArrayPlace:
    """Lay a tensor over its storage, of which it may use any regular part."""
    match values:
        case [Storage() as storage, offset, Items("tuple") as size, Items("tuple") as step, *more]:
            if _is_plain(more):
                return ArrayPlace(_laid(storage, storage.code, offset, (size, step)))
    raise refused("arguments that no plain tensor has", "tensor")


def _parameter(values: list[Node]) -> ArrayPlace:
    match values:
        case [ArrayPlace() as held, *more] if _is_plain(more):
            return held
    raise refused("arguments that no plain parameter has", "tensor")


def _is_plain(more: list[Node]) -> bool:
    """Return whether nothing is hung on a tensor: no hooks, no lazy change of sign."""
    match more:
        case (
            [] | [bool(), Items("dict", [])] | [bool(), Items("dict", []), None | Items("dict", [])]
        ):
            return True
    return False


def _laid(storage: Storage, code: str, offset: Node, sizes: tuple[Items, Items]) -> Array:
    """Return the values of a tensor, contiguous and in the order of bytes of this machine."""
    dtype = _bits(code, storage.order)
    (start,), shape, steps = (whole_numbers(items) for items in (Items("tuple", [offset]), *sizes))
    if len(shape) != len(steps) or len(shape) > 3:
        raise FileError(
            "tensor", f"{len(shape)} dimensions with {len(steps)} strides",
            "logits of 2 dimensions and labels of 1, not the weights of a model",
        )  # fmt: skip
    try:
        strides = [step * dtype.itemsize for step in steps]
        view: Array = np.ndarray(shape, dtype, storage.raw, start * dtype.itemsize, strides)
    except (ValueError, OverflowError) as error:
        text = f"shape {shape} with strides {steps}, beyond its {len(storage.raw):,} bytes"
        raise FileError("tensor", text, "a tensor saved after .contiguous()") from error
    if not view.size:
        raise FileError("tensor", f"an empty tensor of shape {shape}", "at least one row")
    if view.nbytes > len(storage.raw):
        text = f"strides {steps} of shape {shape}, whose values overlap"
        raise FileError("tensor", text, "a tensor saved after .contiguous()")
    if code == _BFLOAT16:
        return (view.astype(np.uint32, order="C") << np.uint32(16)).view(np.float32)
    # A byte other than 0 and 1 behind a NumPy bool has no defined meaning.
    array = view.view(np.uint8) != 0 if code == _BOOL else view
    return array.astype(dtype.newbyteorder("="), order="C", copy=False)


def _ordered_dict(values: list[Node]) -> Items:
    if values:
        raise refused("an OrderedDict made from a list", "OrderedDict")
    return Items("dict")


TORCH: Mapping[tuple[str, str], Tag] = {
    **KNOWN,
    ("torch._utils", "_rebuild_tensor"): Tag("_rebuild_tensor", _tensor),
    ("torch._utils", "_rebuild_tensor_v2"): Tag("_rebuild_tensor_v2", _tensor),
    ("torch._utils", "_rebuild_parameter"): Tag("_rebuild_parameter", _parameter),
    ("collections", "OrderedDict"): Tag("OrderedDict", _ordered_dict),
    **{("torch", kind): Tag(kind) for kind in _STORAGES},
}
"""All that pickles of tensors refer to."""


# zipfile decodes names by it; no file is to be the cause of an import.
codecs.lookup("cp437")
_BEFORE_1_6 = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."


def read_torch(data: bytes, _: bool | None) -> Arrays:  # noqa: FBT001 - as all readers take it
    """Read tensors, arrays or lists of numbers out of a file of torch.save."""
    if data.startswith(_BEFORE_1_6):
        text = "a file of torch.save as it was before PyTorch 1.6"
        raise FileError("file", text, "it loaded and saved again by a later PyTorch, or an .npz")
    if data[:1] == b"\x80":
        text = "a pickle where a file of torch.save was looked for"
        raise FileError("file", text, "it under a name that ends in .pkl")
    archive = open_archive(data, ".pt")
    root = _root(archive)
    order = _byte_order(archive, root)

    @cache
    def find(key: str) -> bytes:
        name = f"{root}/data/{key}"
        if name not in archive.namelist():
            raise FileError("storage", f"a reference to {quoted(name)}, not there", "a whole file")
        return member_bytes(archive, name)

    around = Surroundings(TORCH, lambda reference: storage_of(reference, find, order))
    top = run(member_bytes(archive, f"{root}/data.pkl"), around)
    _refuse_weights(top)
    return arrays_of(top)


def _root(archive: ZipFile) -> str:
    """Return the folder that holds all members."""
    roots = {name.partition("/")[0] for name in archive.namelist()}
    root = min(roots, default="")
    if len(roots) != 1 or f"{root}/data.pkl" not in archive.namelist():
        raise FileError(
            "archive", "members that torch.save does not write", "data.pkl in one folder"
        )
    return root


def _byte_order(archive: ZipFile, root: str) -> Literal["<", ">"]:
    """Return the order of bytes, which files before PyTorch 2.1 do not tell: theirs is little."""
    name = f"{root}/byteorder"
    word = member_bytes(archive, name)[:16] if name in archive.namelist() else b"little"
    if word not in (b"little", b"big"):
        raise FileError("byteorder", quoted(word.decode("latin-1")), "little or big")
    return "<" if word == b"little" else ">"


def _names(node: Node, levels: int) -> list[str]:
    """List the keys of a dictionary, and of those in it."""
    if levels == 0 or not isinstance(node, Items) or node.kind != "dict":
        return []
    keys = [name for key in node.values[::2] if (name := name_of(key)) is not None]
    return keys + [name for value in node.values[1::2] for name in _names(value, levels - 1)]


def _refuse_weights(top: Node) -> None:
    """Refuse a model where its logits are looked for, which a list of names would not say."""
    states = weights_among([n for n in _names(top, 1) if n.endswith("state_dict")])
    beside = isinstance(top, Items) and any(isinstance(one, ArrayPlace) for one in top.values)
    refuse_weights(states if states and not beside else _names(top, 2))
