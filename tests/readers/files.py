"""Small files, good and bad, for the tests of the readers."""

import hashlib
import io
import json
import pickle
import struct
import zipfile
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from calibcore.data import EventScores, LogitSet
from dashboard.readers import ParsedFile, ReadingOptions, Upload, parse, understand

_RNG = np.random.default_rng(7)
N, K = 40, 4
LABELS = np.concatenate([np.arange(K), _RNG.integers(0, K, N - K)])
LOGITS = (_RNG.normal(size=(N, K)) * 3 + 4 * np.eye(K)[LABELS]).astype(np.float32)
LOGITS_TEST = LOGITS[::-1].copy()
LABELS_TEST = LABELS[::-1].copy()
PROBABILITIES = np.exp(LOGITS.astype(np.float64))
PROBABILITIES /= PROBABILITIES.sum(axis=1, keepdims=True)

Array = NDArray[Any]


def headed(heads: str, *columns: Any) -> bytes:
    """Write a text table: its heads, and a line a row."""
    rows = zip(*columns, strict=True)
    return "\n".join([heads, *(",".join(map(str, row)) for row in rows)]).encode()


def table(**columns: Any) -> bytes:
    return headed(",".join(columns), *columns.values())


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
    body, entry = zip_parts(name, data, **changes)
    return body + entry + zip_end(changes.get("entries", 1), len(entry), len(body))


def zip_parts(name: bytes, data: bytes, **changes: int) -> tuple[bytes, bytes]:
    """Write a member with its header, and its entry in the directory."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = data if changes.get("method") == 0 else deflate.compress(data) + deflate.flush()
    packed = packed[: changes.get("keep", len(packed))]
    fields = {
        "flags": 0, "method": 8, "crc": zlib.crc32(data), "packed": len(packed),
        "size": len(data), "offset": 0,
    } | changes  # fmt: skip
    local = struct.pack(
        "<4s5H3L2H", b"PK\x03\x04", 20, fields["flags"], fields["method"], 0, 0,
        fields["crc"], fields["packed"], fields["size"], len(name), 0,
    )  # fmt: skip
    entry = struct.pack(
        "<4s6H3L5H2L", b"PK\x01\x02", 20, 20, fields["flags"], fields["method"], 0, 0,
        fields["crc"], fields["packed"], fields["size"], len(name), 0, 0, 0, 0, 0, fields["offset"],
    )  # fmt: skip
    return local + name + packed, entry + name


def zip_end(entries: int, size: int, offset: int) -> bytes:
    return struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, entries, entries, size, offset, 0)


def safetensors(header: object, body: bytes = b"") -> bytes:
    """Write a file of tensors; a header of text or bytes stands as it is."""
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(raw)) + raw + body


def torch_zip(program: bytes, order: bytes | None = b"little", **storages: bytes) -> bytes:
    """Write what torch.save writes: a pickle and the bytes of its tensors, named s0, s1."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as zipped:
        zipped.writestr("any/data.pkl", program)
        for key, raw in storages.items():
            zipped.writestr(f"any/data/{key.removeprefix('s')}", raw)
        if order is not None:
            zipped.writestr("any/byteorder", order)
        zipped.writestr("any/version", b"3\n")
    return buffer.getvalue()


PLAIN = b"I00\nccollections\nOrderedDict\n(tR"


def whole(*numbers: int) -> bytes:
    return b"(" + b"".join(b"I%d\n" % number for number in numbers) + b"t"


def storage(key: str = "0", kind: str = "FloatStorage", count: int = 12) -> bytes:
    module, _, name = ("torch." + kind).rpartition(".")
    return f"(Vstorage\nc{module}\n{name}\nV{key}\nVcpu\nI{count}\ntQ".encode()


def tensor(
    place: bytes = storage(),
    offset: int = 0,
    size: tuple[int, ...] = (4, 3),
    stride: tuple[int, ...] = (3, 1),
    rest: bytes = PLAIN,
    name: str = "_rebuild_tensor_v2",
) -> bytes:
    arguments = place + b"I%d\n" % offset + whole(*size) + whole(*stride) + rest
    return b"ctorch._utils\n" + name.encode() + b"\n(" + arguments + b"tR"


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


def good_csv(**more: Any) -> bytes:
    """Write the logits, the labels and further columns as text."""
    columns = {f"logit_{k}": LOGITS[:, k].astype(float) for k in range(K)}
    return table(**columns, label=LABELS, **more)


HEADER = "logit_0,logit_1,logit_2,logit_3,label"
NN = ((LOGITS, LABELS[:, np.newaxis]), (LOGITS_TEST, LABELS_TEST[:, np.newaxis]))
_FLOATS = {"dtype": "F32", "shape": [N, K], "data_offsets": [0, 4 * N * K]}
_WHOLE = {"dtype": "I64", "shape": [N], "data_offsets": [4 * N * K, 4 * N * K + 8 * N]}
_TENSORS = (
    b"(dVlogits\n" + tensor(storage("0", "FloatStorage", N * K), 0, (N, K), (K, 1))
    + b"sVlabels\n" + tensor(storage("1", "LongStorage", N), 0, (N,), (1,)) + b"s."
)  # fmt: skip
GOOD: dict[str, bytes] = {
    "good.npy": npy(LOGITS),
    "good.npz": npz(compress=True, logits=LOGITS, labels=LABELS),
    "good.csv": csv_of(LOGITS, LABELS, header=HEADER),
    "good.txt": csv_of(LOGITS, LABELS, header=None, sep="\t"),
    "good.p": pickled(NN, 2),
    "good.pkl": pickled({"logits": LOGITS, "labels": LABELS}, 5),
    "good.safetensors": safetensors(
        {"logits": _FLOATS, "labels": _WHOLE}, LOGITS.tobytes() + LABELS.tobytes()
    ),
    "good.pt": torch_zip(_TENSORS, s0=LOGITS.tobytes(), s1=LABELS.tobytes()),
    "good.pickle": pickled((LOGITS.tolist(), LABELS.tolist()), 0),
}


Given = tuple[str, bytes]
"""A file's name and its bytes."""


def combined(files: Sequence[Given], **choices: Any) -> Upload:
    """Read several files together."""
    options = ReadingOptions(**choices)
    parsed = [
        ParsedFile(name, hashlib.sha256(data).hexdigest(), parse(name, data, header=options.header))
        for name, data in files
    ]
    return understand(parsed, options)


def logit_set(of: object) -> LogitSet:
    """Give the rows of a file of one set, or of one of two sets."""
    rows = of.rows if isinstance(of, Upload) else of
    assert isinstance(rows, LogitSet)
    return rows


def event_scores(of: object) -> EventScores:
    """Give the scores of the predicted class of a file of one set, or of one of two sets."""
    rows = of.rows if isinstance(of, Upload) else of
    assert isinstance(rows, EventScores)
    return rows


def same(of: object, logits: Array = LOGITS, labels: Any = LABELS) -> LogitSet:
    """Expect these values and labels."""
    rows = logit_set(of)
    np.testing.assert_array_equal(rows.logits, logits)
    np.testing.assert_array_equal(rows.labels, labels)
    return rows


def same_event(of: object, scores: Any, labels: Any) -> LogitSet:
    """Expect these scores of the second of two classes, and the labels."""
    rows = logit_set(of)
    np.testing.assert_allclose(rows.probabilities[:, 1], scores, rtol=1e-7)
    np.testing.assert_array_equal(rows.labels, labels)
    return rows


def same_hits(of: object, scores: Any, hits: Any) -> None:
    """Expect these scores of the predicted class, and where it is the true one."""
    rows = event_scores(of)
    np.testing.assert_array_equal(rows.scores, scores)
    np.testing.assert_array_equal(rows.hits, hits)


def parquet(columns: dict[str, Any] | pa.Table, **options: Any) -> bytes:
    buffer = io.BytesIO()
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    pq.write_table(table, buffer, **options)
    return buffer.getvalue()
