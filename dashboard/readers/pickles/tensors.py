"""The references of PyTorch's pickles: tensors laid over storages that stand outside the pickle.

Written from ``torch/_utils.py`` and ``torch/serialization.py`` of PyTorch 1.6 to 2.13.
"""

from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np

from dashboard.readers.binary.tensors import widened
from dashboard.readers.contents import Array
from dashboard.readers.pickles.nodes import (
    KNOWN,
    Held,
    Items,
    Node,
    Storage,
    Tag,
    refused,
    whole_numbers,
)
from dashboard.readers.refusal import FileError

_BFLOAT16, _BOOL = "bf16", "b1"
_STORAGES = {
    "BoolStorage": _BOOL, "ByteStorage": "u1", "CharStorage": "i1", "ShortStorage": "i2",
    "IntStorage": "i4", "LongStorage": "i8", "HalfStorage": "f2", "FloatStorage": "f4",
    "DoubleStorage": "f8", "BFloat16Storage": _BFLOAT16, "UntypedStorage": "",
}  # fmt: skip
_LATER_TYPES = {"uint16": "u2", "uint32": "u4", "uint64": "u8"}


def storage_of(
    reference: Node, find: Callable[[str], memoryview], order: Literal["<", ">"]
) -> Storage:
    """Look up the bytes that a persistent reference names.

    Parameters
    ----------
    reference : Node
        ``("storage", type, key, device, number of items)``.
    find : callable
        Gives the bytes of a key.
    order : {"<", ">"}
        Byte order of the whole file.
    """
    match reference:
        case Items("tuple", ["storage", Tag(kind), str(key), str(), int(count)]) if (
            kind in _STORAGES
        ):
            storage = Storage(_STORAGES[kind], find(key), order)
            declared = count * _bits(storage.code or "u1").itemsize
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


def _tensor(values: list[Node]) -> Held:
    """Lay a tensor over its storage, of which it may use any regular part."""
    match values:
        case [Storage() as storage, offset, Items("tuple") as size, Items("tuple") as step, *more]:
            if storage.code and _is_plain(more):
                return Held(_laid(storage, storage.code, offset, (size, step)))
    raise refused("arguments that no plain tensor has", "tensor")


def _later_tensor(values: list[Node]) -> Held:
    """Do the same for the types that have no storage of their own."""
    match values:
        case [
            Storage("") as storage, offset, Items("tuple") as size, Items("tuple") as step,
            bool() as grad, hooks, Tag(kind), *more,
        ] if kind in _LATER_TYPES and _is_plain([grad, hooks, *more]):  # fmt: skip
            return Held(_laid(storage, _LATER_TYPES[kind], offset, (size, step)))
    raise refused("arguments that no plain tensor has", "tensor")


def _parameter(values: list[Node]) -> Held:
    match values:
        case [Held() as held, *more] if _is_plain(more):
            return held
    raise refused("arguments that no plain parameter has", "tensor")


def _is_plain(more: list[Node]) -> bool:
    """Tell whether nothing is hung on a tensor: no hooks, no lazy change of sign."""
    match more:
        case [] | [bool(), Items("dict", [])] | [bool(), Items("dict", []), None]:
            return True
        case [bool(), Items("dict", []), Items("dict", [])]:
            return True
    return False


def _laid(storage: Storage, code: str, offset: Node, sizes: tuple[Items, Items]) -> Array:
    """Give the values of a tensor, contiguous and in the order of bytes of this machine."""
    dtype = _bits(code, storage.order)
    (start,), shape, steps = (whole_numbers(items) for items in (Items("tuple", [offset]), *sizes))
    if len(shape) != len(steps) or len(shape) > 3:
        raise FileError(
            "tensor", f"{len(shape)} dimensions with {len(steps)} strides",
            "logits of 2 dimensions and labels of 1, not the weights of a model",
        )  # fmt: skip
    # The step of a dimension of one is never taken, and may be any number.
    steps = tuple(step if size > 1 else 0 for size, step in zip(shape, steps, strict=True))
    _check_reach(shape, steps, start, len(storage.raw) // dtype.itemsize)
    strides = [step * dtype.itemsize for step in steps]
    view: Array = np.ndarray(shape, dtype, storage.raw, start * dtype.itemsize, strides)
    if code == _BFLOAT16:
        return widened(view)
    # A byte other than 0 and 1 behind a NumPy bool has no defined meaning.
    array = view.view(np.uint8) != 0 if code == _BOOL else view
    return array.astype(dtype.newbyteorder("="), order="C", copy=False)


def _check_reach(shape: tuple[int, ...], steps: tuple[int, ...], start: int, there: int) -> None:
    """Make sure that every value lies in the storage, and in a place of its own."""
    if 0 in shape:
        raise FileError("tensor", f"an empty tensor of shape {shape}", "at least one row")
    reach = 0
    for step, size in sorted(zip(steps, shape, strict=True)):
        if size > 1 and step <= reach:
            raise FileError(
                "tensor", f"strides {steps} of shape {shape}, whose values overlap",
                "a tensor saved after .contiguous()",
            )  # fmt: skip
        reach += step * (size - 1)
    if start + reach >= there:
        raise FileError(
            "tensor", f"values up to number {start + reach + 1:,} of a storage of {there:,}",
            "a shape, strides and an offset inside the storage",
        )  # fmt: skip


def _ordered_dict(values: list[Node]) -> Items:
    if values:
        raise refused("an OrderedDict made from a list", "OrderedDict")
    return Items("dict")


TORCH: Mapping[tuple[str, str], Tag] = {
    **KNOWN,
    ("torch._utils", "_rebuild_tensor"): Tag("_rebuild_tensor", _tensor),
    ("torch._utils", "_rebuild_tensor_v2"): Tag("_rebuild_tensor_v2", _tensor),
    ("torch._utils", "_rebuild_tensor_v3"): Tag("_rebuild_tensor_v3", _later_tensor),
    ("torch._utils", "_rebuild_parameter"): Tag("_rebuild_parameter", _parameter),
    ("collections", "OrderedDict"): Tag("OrderedDict", _ordered_dict),
    **{("torch", kind): Tag(kind) for kind in (*_STORAGES, *_LATER_TYPES)},
    ("torch.storage", "UntypedStorage"): Tag("UntypedStorage"),
}
"""All that pickles of tensors refer to."""
