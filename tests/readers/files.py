"""Small files, good and bad, for the tests of the readers."""

import io
import pickle
import struct
import zipfile
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

_RNG = np.random.default_rng(7)
N, K = 40, 4
LABELS = np.concatenate([np.arange(K), _RNG.integers(0, K, N - K)])
LOGITS = (_RNG.normal(size=(N, K)) * 3 + 4 * np.eye(K)[LABELS]).astype(np.float32)
LOGITS_TEST = LOGITS[::-1].copy()
LABELS_TEST = LABELS[::-1].copy()
PROBABILITIES = np.exp(LOGITS.astype(np.float64))
PROBABILITIES /= PROBABILITIES.sum(axis=1, keepdims=True)

Array = NDArray[Any]


def npy(array: Array) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def npz(*, compress: bool = False, **arrays: Array) -> bytes:
    buffer = io.BytesIO()
    save = np.savez_compressed if compress else np.savez
    save(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def npy_header(header: str, body: bytes = b"", *, version: int = 1) -> bytes:
    size = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + size + header.encode("latin-1") + body


def archive(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, data in members.items():
            zipped.writestr(name, data)
    return buffer.getvalue()


def zip_of_one(name: bytes, data: bytes, **changes: int) -> bytes:
    """Write an archive of one deflated member whose directory may say anything."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = deflate.compress(data) + deflate.flush()
    packed = packed[: changes.get("keep", len(packed))]
    fields = {
        "flags": 0, "method": 8, "crc": zlib.crc32(data), "packed": len(packed),
        "size": len(data), "offset": 0, "entries": 1,
    } | changes  # fmt: skip
    local = struct.pack(
        "<4s5H3L2H", b"PK\x03\x04", 20, fields["flags"], fields["method"], 0, 0,
        fields["crc"], fields["packed"], fields["size"], len(name), 0,
    )  # fmt: skip
    body = local + name + packed
    entry = struct.pack(
        "<4s6H3L5H2L", b"PK\x01\x02", 20, 20, fields["flags"], fields["method"], 0, 0,
        fields["crc"], fields["packed"], fields["size"], len(name), 0, 0, 0, 0, 0, fields["offset"],
    )  # fmt: skip
    count = fields["entries"]
    end = struct.pack(
        "<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, len(entry + name), len(body), 0
    )
    return body + entry + name + end


def csv_of(
    table: Array, labels: Any, *, header: str | None, sep: str = ",", end: str = "\n"
) -> bytes:
    rows = [
        sep.join([*(repr(float(v)) for v in row), str(label)])
        for row, label in zip(table, labels, strict=True)
    ]
    return (end.join([*([header] if header else []), *rows]) + end).encode()


def pickled(value: object, protocol: int = 2) -> bytes:
    return pickle.dumps(value, protocol)


HEADER = "logit_0,logit_1,logit_2,logit_3,label"
NN = ((LOGITS, LABELS[:, np.newaxis]), (LOGITS_TEST, LABELS_TEST[:, np.newaxis]))
GOOD: dict[str, bytes] = {
    "good.npy": npy(LOGITS),
    "good.npz": npz(compress=True, logits=LOGITS, labels=LABELS),
    "good.csv": csv_of(LOGITS, LABELS, header=HEADER),
    "good.txt": csv_of(LOGITS, LABELS, header=None, sep="\t"),
    "good.p": pickled(NN, 2),
    "good.pkl": pickled({"logits": LOGITS, "labels": LABELS}, 5),
    "good.pickle": pickled((LOGITS.tolist(), LABELS.tolist()), 0),
}
