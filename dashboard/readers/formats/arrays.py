"""Arrays: .npy, .npz and safetensors, parsed by NumPy and safetensors."""

import io
import re
import tokenize
import warnings
from collections.abc import Sequence
from math import prod
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from safetensors import SafetensorError, deserialize

from dashboard.readers.formats.archive import member_bytes, open_archive
from dashboard.readers.limits import MAX_ARRAYS, MAX_BYTES, MAX_MEMBERS_NPZ, MAX_TEXTS, check_rows
from dashboard.readers.records import Arrays, Column, unread
from dashboard.readers.refusal import FileError, quoted, type_name

_MOST_AXES = 3
_WEIGHTS = re.compile(r"(?:.*[._])?(?:weight|bias|running_mean|(?:model_|optimizer_)?state_dict)")
_TENSORS = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4",
    "I16": "<i2", "I8": "i1", "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1", "BOOL": "?",
}  # fmt: skip


def read_npy(data: bytes, _: bool | None) -> Arrays:  # noqa: FBT001 - as all readers take it
    """Read one array, which has no name."""
    return Arrays((_parsed("", data),))


def read_npz(data: bytes, _: bool | None) -> Arrays:  # noqa: FBT001 - as all readers take it
    """Read named arrays.

    Arrays of objects, dates and other things that are neither numbers nor texts are kept as
    columns that say what they are.
    """
    archive = open_archive(data, ".npz", most=MAX_MEMBERS_NPZ)
    arrays: list[Column] = []
    for name in archive.namelist():
        if not name.endswith(".npy"):
            raise FileError(
                f"member {quoted(name)}", "something that is not an array",
                "only .npy arrays: no pickle, no inner archive",
            )  # fmt: skip
        raw = member_bytes(archive, name)
        arrays.append(_parsed(name.removesuffix(".npy").replace("/", "."), raw))
    refuse_weights([array.name for array in arrays])
    return Arrays(tuple(arrays))


def weights_among(names: Sequence[str]) -> list[str]:
    """Return names that parameters of a model have."""
    return [name for name in names if _WEIGHTS.fullmatch(name[-200:])]


def refuse_weights(names: Sequence[str]) -> None:
    """Refuse a model where its logits are looked for: all its arrays are parameters."""
    weights = weights_among(names)
    if weights and len(weights) == len(names):
        listed = ", ".join(quoted(name, 30) for name in weights[:3])
        text = f"the weights of a model ({listed})"
        raise FileError("file", text, "logits and labels, named as such")


def _parsed(name: str, data: bytes) -> Column:
    """Lay an array over its bytes."""
    place = f"array {quoted(name)}" if name else "array"
    stream = io.BytesIO(data)
    try:
        version = npy.read_magic(stream)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        with warnings.catch_warnings(action="ignore"):  # of headers as Python 2 wrote them
            shape, fortran, dtype = read(stream)
    except (
        ValueError, TypeError, SyntaxError, tokenize.TokenError, MemoryError, RecursionError
    ) as error:  # fmt: skip
        raise FileError(place, "a damaged .npy header", "an array as numpy.save writes") from error
    if dtype.hasobject:
        return unread(name, "objects (a pickle)")
    if dtype.names is not None:
        return unread(name, "a structured type with fields")
    if dtype.itemsize == 0:
        return unread(name, f"type {dtype.str}, values of no size")
    if prod(filter(None, shape)) * dtype.itemsize > MAX_BYTES:
        wanted = "an array with rows" if 0 in shape else "a whole file"
        raise FileError(place, f"shape {shape}, more than any array can have", wanted)
    size, there = prod(shape) * dtype.itemsize, len(data) - stream.tell()
    if size != there:
        raise FileError(
            place, f"{there:,} bytes of values where shape {shape} declares {size:,} (truncated or"
            " damaged)", "a whole file",
        )  # fmt: skip
    flat = np.frombuffer(data, dtype, offset=stream.tell())
    array = flat.reshape(shape, order="F" if fortran else "C")
    return column_of_array(name, array)


def column_of_array(name: str, array: NDArray[Any]) -> Column:
    """Return an array of numbers or texts as a column, or one that says why it was not kept."""
    dtype, kind = array.dtype, array.dtype.kind
    if array.ndim == 0:
        array = array.reshape(1)
    if array.ndim > _MOST_AXES:
        return unread(name, f"{array.ndim} axes")
    check_rows(len(array))
    if kind == "b":
        # Bytes other than 0 and 1 behind a bool would be taken for either.
        return Column(name, array.view(np.uint8).astype(np.bool_))
    if kind in "SU":
        return _texts(name, array)
    if kind not in "iuf":
        return unread(name, type_name(dtype))
    if dtype.itemsize > 8:
        array = array.astype(np.float64)
    return Column(name, array.astype(array.dtype.newbyteorder("="), copy=False))


def _texts(name: str, array: NDArray[Any]) -> Column:
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8", "replace")
    try:
        texts, first, codes = np.unique(array, return_index=True, return_inverse=True)
        names = texts.tolist()
    except (SystemError, ValueError) as error:
        raise FileError(f"array {quoted(name)}", "texts that are no Unicode", "names") from error
    if len(texts) > MAX_TEXTS:
        return unread(name, "too many different texts")
    order = np.argsort(first)
    ranks = np.empty(len(texts), dtype=np.int32)
    ranks[order] = np.arange(len(texts), dtype=np.int32)
    return Column(name, ranks[codes.reshape(array.shape)], tuple(names[k] for k in order))


def read_safetensors(data: bytes, _: bool | None) -> Arrays:  # noqa: FBT001 - as all readers
    """Read named tensors; half precision of 16 bits (bfloat16) becomes float32."""
    try:
        tensors = deserialize(data)  # type: ignore[no-untyped-call] # has no types
    except (SafetensorError, ValueError, OverflowError) as error:
        why = str(error).removeprefix("Error while deserializing: ")
        raise FileError("file", f"damage ({why})", "a whole .safetensors file") from error
    # They come in an order of the library's own, another one each time.
    tensors.sort(key=itemgetter(0))
    if len(tensors) > MAX_ARRAYS:
        raise FileError("file", f"{len(tensors):,} tensors", f"at most {MAX_ARRAYS:,}")
    refuse_weights([name for name, _ in tensors])
    return Arrays(tuple(_tensor(name, tensor) for name, tensor in tensors))


def _tensor(name: str, tensor: Any) -> Column:
    code, shape = tensor["dtype"], tuple(tensor["shape"])
    if code not in _TENSORS:
        return unread(name, f"numbers of type {code}")
    flat = np.frombuffer(tensor["data"], _TENSORS[code])
    if code == "BF16":
        flat = (flat.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return column_of_array(name, flat.reshape(shape))
