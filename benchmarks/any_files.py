"""Files of any layout: columns of every kind under names that readers know, in each format.

Most make no sense. Whatever they hold, an upload or a refusal must come of them.
"""

import io
import json
import math
import pickle
import random
import zipfile
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from tests.readers.files import (
    GOOD,
    LABELS,
    LOGITS,
    PROBABILITIES,
    npy,
    npz,
    safetensors,
    storage,
    tensor,
    torch_zip,
)

_WORDS = """
label labels target y y_true pred prediction predictions label_ids .pred_class confidence
confidences score scores prob probs prob_0 prob_1 probabilities p p_10 p_2 logits logit_0 logit_1
top1_class top1_prob topk top_k_indices classes class_names class_0 class_1 correct id ids n count
weight split fold age cat dog prob_cat prob_dog 0 1 2 3 test_logits val_labels train_probs image s0
pred_0 outcome calibrated_prob columns data index schema
"""
NAMES = _WORDS.split()
_TEXTS = (
    "cat", "dog", "fox", "0", "1", "yes", "no", "Cat ", "cat\u200d", "45%", "nan", "test",
    "train", "-1e-400", "1" * 300, "", "[0.5, 0.5]",
)  # fmt: skip
_ODD = (None, True, False, math.inf, -1, 1e300, -1e308, 100, -999, 12345678901234567890)
_ROWS = (0, 1, 2, 3, 5, 8, 12, 20, 25, 30, 61)
_KINDS: tuple[Callable[[random.Random], Any], ...] = (
    lambda dice: dice.randint(0, 1),
    lambda dice: dice.randint(0, 3),
    lambda dice: dice.randint(0, 20),
    lambda dice: round(dice.random(), dice.choice((1, 2, 6))),
    lambda dice: dice.gauss(0, 3),
    lambda dice: float(dice.randint(-1, 1)),
    lambda dice: dice.choice(_TEXTS),
    lambda dice: dice.choice(_ODD),
)
Columns = dict[str, list[Any]]


def _row_of_probabilities(dice: random.Random, width: int, *, falling: bool) -> list[float]:
    parts = [dice.random() + 1e-3 for _ in range(width)]
    parts = sorted(parts, reverse=True) if falling else parts
    return [round(part / sum(parts), 4) for part in parts]


def _column(dice: random.Random, n_rows: int) -> list[Any]:
    """Make values, or lists of them, of one kind but for a few."""
    width, kind = dice.choice((0, 0, 0, 1, 2, 3, 4)), dice.choice(_KINDS)
    luck = dice.random()
    if width > 1 and luck < 0.15:
        falling = dice.random() < 0.5
        return [_row_of_probabilities(dice, width, falling=falling) for _ in range(n_rows)]
    if width > 1 and luck < 0.3:
        among: tuple[Any, ...] = (0, 1, 2, 3) if luck < 0.25 else ("cat", "dog", "fox", "owl")
        return [dice.sample(among, width) for _ in range(n_rows)]
    odd = dice.random() < 0.05

    def value() -> Any:
        return (dice.choice(_KINDS) if odd and dice.random() < 0.1 else kind)(dice)

    if not width:
        return [value() for _ in range(n_rows)]
    return [[value() for _ in range(dice.randint(0, 4) if odd else width)] for _ in range(n_rows)]


def _columns(dice: random.Random) -> Columns:
    n_rows, n_columns = dice.choice(_ROWS), dice.randint(1, 6)
    columns = {name: _column(dice, n_rows) for name in dice.sample(NAMES, n_columns)}
    if dice.random() < 0.2:
        first = next(iter(columns))
        columns[first] = sorted(columns[first], key=str)
    return columns


def _records(columns: Columns) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _cell(value: object) -> str:
    text = str(value)
    if any(mark in text for mark in ',;"\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def _csv(dice: random.Random) -> bytes:
    columns = _columns(dice)
    lines = [",".join(map(_cell, row)) for row in zip(*columns.values(), strict=True)]
    if dice.random() < 0.9:
        lines.insert(0, ",".join(columns))
    if dice.random() < 0.1:
        lines.insert(0, dice.choice(("#", "# a remark", "sep=,", "a title", "", "##")))
    text = "\n".join(lines)
    if dice.random() < 0.1:
        text = text.replace(",", dice.choice(";\t| "))
    if dice.random() < 0.1:
        place = dice.randint(0, len(text))
        text = text[:place] + dice.choice('#"\n,;[](){}0-eE%\t\r ') + text[place:]
    return text.encode()


def _json(dice: random.Random) -> bytes:
    columns = _columns(dice)
    values, records = list(columns.values()), _records(columns)
    layouts: tuple[Callable[[], Any], ...] = (
        lambda: records,
        lambda: records,
        lambda: columns,
        lambda: values,
        lambda: {name: dict(enumerate(column)) for name, column in columns.items()},
        lambda: dict(enumerate(records)),
        lambda: {"columns": list(columns), "data": [list(row.values()) for row in records]},
        lambda: dict.fromkeys(dice.sample(NAMES, 2), columns),
        lambda: [
            [{"label": a, "score": b} for a, b in zip(values[0], values[-1], strict=True)]
            for _ in range(3)
        ],
        lambda: [list(row.values()) for row in records],
    )
    return json.dumps(dice.choice(layouts)()).encode()


def _jsonl(dice: random.Random) -> bytes:
    records: list[Any] = _records(_columns(dice))
    if dice.random() < 0.2:
        records = [list(record.values()) for record in records]
    return "\n".join(map(json.dumps, records)).encode()


def _arrays(columns: Columns) -> dict[str, np.ndarray[Any, Any]]:
    """Make arrays of what can be one."""
    made = {}
    for name, column in columns.items():
        try:
            array = np.array([0 if value is None else value for value in column])
        except (ValueError, OverflowError):
            continue
        if array.dtype.kind in "biufU":
            made[name] = array
    return made


def _npz(dice: random.Random) -> bytes:
    arrays = _arrays(_columns(dice))
    if dice.random() < 0.2:
        arrays = {f"arr_{place}": array for place, array in enumerate(arrays.values())}
    for name, array in arrays.items():
        if array.dtype == np.float64 and dice.random() < 0.5:
            with np.errstate(over="ignore"):
                arrays[name] = array.astype(dice.choice((np.float32, np.float16)))
    return npz(compress=False, **arrays)


def _pickle(dice: random.Random) -> bytes:
    columns = _columns(dice)
    arrays = {n: a for n, a in _arrays(columns).items() if a.dtype.kind != "U"}
    mixed = {n: arrays[n] if n in arrays and dice.random() < 0.6 else c for n, c in columns.items()}
    values = list(mixed.values())
    layouts: tuple[Callable[[], Any], ...] = (
        lambda: mixed,
        lambda: tuple(values),
        lambda: list(pairwise(values)),
        lambda: _records(columns),
        lambda: dict.fromkeys(dice.sample(NAMES, 2), mixed),
    )
    return pickle.dumps(dice.choice(layouts)(), dice.choice((2, 4, 5)))


def _parquet(dice: random.Random) -> bytes:
    import pyarrow as pa  # noqa: PLC0415 - a sixth of a second to import
    import pyarrow.parquet as pq  # noqa: PLC0415 - as above

    made = {}
    for name, column in _columns(dice).items():
        try:
            made[name] = pa.array(column)
        except (pa.ArrowException, ValueError, OverflowError, TypeError):
            made[name] = pa.array(map(str, column))
    buffer = io.BytesIO()
    pq.write_table(pa.table(made), buffer, row_group_size=dice.choice((5, 1000)))
    return buffer.getvalue()


def zipped(members: Mapping[str, bytes]) -> bytes:
    """Write an archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def workbook(sheets: Mapping[str, Sequence[Sequence[Any]]]) -> bytes:
    """Write sheets of numbers, texts, truth values and blanks, as small as programs take them."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006/relationships"

    def link(key: str, kind: str, target: str) -> str:
        return f'<Relationship Id="{key}" Type="{office}/{kind}" Target="{target}"/>'

    links = [link(f"r{k}", "worksheet", f"worksheets/s{k}.xml") for k in range(len(sheets))]
    listed = [
        f'<sheet name="{escape(name)}" sheetId="{k + 1}" r:id="r{k}"/>'
        for k, name in enumerate(sheets)
    ]
    texts: dict[str, int] = {}
    parts = {
        "_rels/.rels": f'<Relationships xmlns="{package}">'
        f"{link('r0', 'officeDocument', 'xl/workbook.xml')}</Relationships>",
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        f"{''.join(listed)}</sheets></workbook>",
    }
    for k, rows in enumerate(sheets.values()):
        lines = [
            f'<row r="{place}">{"".join(_xlsx_cell(value, texts) for value in row)}</row>'
            for place, row in enumerate(rows, 1)
        ]
        parts[f"xl/worksheets/s{k}.xml"] = (
            f'<worksheet xmlns="{main}"><sheetData>{"".join(lines)}</sheetData></worksheet>'
        )
    shared = "".join(f"<si><t>{escape(text)}</t></si>" for text in texts)
    parts["xl/sharedStrings.xml"] = f'<sst xmlns="{main}">{shared}</sst>'
    parts["xl/_rels/workbook.xml.rels"] = (
        f'<Relationships xmlns="{package}">{"".join(links)}'
        f"{link('texts', 'sharedStrings', 'sharedStrings.xml')}</Relationships>"
    )
    return zipped({name: text.encode() for name, text in parts.items()})


def _xlsx_cell(value: object, texts: dict[str, int]) -> str:
    if value is None:
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{value:d}</v></c>'
    if isinstance(value, int | float) and math.isfinite(value):
        return f"<c><v>{value!r}</v></c>"
    return f'<c t="s"><v>{texts.setdefault(str(value), len(texts))}</v></c>'


def _xlsx(dice: random.Random) -> bytes:
    sheets: dict[str, list[list[Any]]] = {}
    for name in dice.choice(
        (("Sheet1",), ("Sheet1",), ("a", "b"), ("val", "test"), ("notes", "x"))
    ):
        columns = _columns(dice)
        rows = [list(row) for row in zip(*columns.values(), strict=True)]
        head: list[list[Any]] = [[*columns]] if dice.random() < 0.9 else []
        title = [[dice.choice(_TEXTS)]] if dice.random() < 0.1 else []
        sheets[name] = [*title, *head, *rows]
    if dice.random() < 0.5:
        first = next(iter(sheets.values()))
        sheets = dict.fromkeys(sheets, first)
    return workbook(sheets)


def _tensors(dice: random.Random) -> dict[str, np.ndarray[Any, Any]]:
    """Make arrays of numbers in types that both libraries of tensors have."""
    kinds = (np.float32, np.float64, np.float16, np.int64, np.int32, np.uint8, np.bool_)
    made = {}
    for name, array in _arrays(_columns(dice)).items():
        if array.dtype.kind != "U":
            kind = dice.choice(kinds[:3] if array.dtype.kind == "f" else kinds)
            with np.errstate(all="ignore"):
                made[name] = array.astype(kind)
    return made


def _safetensors(dice: random.Random) -> bytes:
    codes = {
        "f4": "F32",
        "f8": "F64",
        "f2": "F16",
        "i8": "I64",
        "i4": "I32",
        "u1": "U8",
        "b1": "BOOL",
    }
    header: dict[str, Any] = {}
    body = b""
    for name, array in _tensors(dice).items():
        place = [len(body), len(body) + array.nbytes]
        code = codes[array.dtype.str[1:]]
        header[name] = {"dtype": code, "shape": [*array.shape], "data_offsets": place}
        body += array.tobytes()
    if dice.random() < 0.2:
        header["__metadata__"] = {"format": "pt"}
    return safetensors(header, body)


def _torch(dice: random.Random) -> bytes:
    codes = {
        "f4": "Float",
        "f8": "Double",
        "f2": "Half",
        "i8": "Long",
        "i4": "Int",
        "u1": "Byte",
        "b1": "Bool",
    }
    arrays = _tensors(dice)
    named = dice.random() < 0.7
    parts = []
    for key, (name, array) in enumerate(arrays.items()):
        place = storage(str(key), f"{codes[array.dtype.str[1:]]}Storage", array.size)
        strides = tuple(step // array.itemsize for step in array.strides)
        made = tensor(place, 0, array.shape, strides)
        parts.append(f"V{name}\n".encode() + made + b"s" if named else made)
    program = b"(d" + b"".join(parts) if named else b"(" + b"".join(parts) + b"t"
    storages = {f"s{key}": array.tobytes() for key, array in enumerate(arrays.values())}
    return torch_zip(program + b".", **storages)


def _npy(dice: random.Random) -> bytes:
    arrays = _arrays(_columns(dice))
    return npy(dice.choice([*arrays.values(), np.zeros((2, 2))]))


MAKERS: Mapping[str, Callable[[random.Random], bytes]] = {
    "any.csv": _csv,
    "any.json": _json,
    "any.jsonl": _jsonl,
    "any.npy": _npy,
    "any.npz": _npz,
    "any.p": _pickle,
    "any.parquet": _parquet,
    "any.pt": _torch,
    "any.safetensors": _safetensors,
    "any.xlsx": _xlsx,
}


def any_file(name: str, number: int) -> bytes:
    """Make the file of a number, always the same.

    Parameters
    ----------
    name : str
        One of `MAKERS`.
    number : int
        Which.
    """
    return MAKERS[name](random.Random(f"{name} {number}"))  # noqa: S311 - not for secrets


def parquet_file() -> bytes:
    """Write a table of classes, labels and one column of text."""
    import pyarrow as pa  # noqa: PLC0415 - a sixth of a second to import
    import pyarrow.parquet as pq  # noqa: PLC0415 - as above

    columns = {f"p{k}": PROBABILITIES[:, k] for k in range(PROBABILITIES.shape[1])}
    places = ["town", "sea"] * (len(LABELS) // 2)
    buffer = io.BytesIO()
    pq.write_table(pa.table({**columns, "label": LABELS, "place": places}), buffer)
    return buffer.getvalue()


def seeds() -> dict[str, bytes]:
    """Give one good file or more of each format."""
    rows = [
        {**{f"p{k}": p for k, p in enumerate(row)}, "label": label, "place": "town"}
        for row, label in zip(PROBABILITIES.round(4).tolist(), LABELS.tolist(), strict=True)
    ]
    heads = [*(f"logit_{k}" for k in range(LOGITS.shape[1])), "label"]
    cells = [[*row, y] for row, y in zip(LOGITS.tolist(), LABELS.tolist(), strict=True)]
    arrays = {"logits": LOGITS.tolist(), "labels": LABELS.tolist()}
    decimals = GOOD["good.csv"].replace(b",", b";").replace(b".", b",").splitlines(keepends=True)
    return {
        **GOOD,
        "decimals.tsv": b"".join(decimals[:13]),
        "good.parquet": parquet_file(),
        "good.xlsx": workbook({"Sheet1": [heads, *cells]}),
        "good.json": json.dumps(arrays).encode(),
        "records.json": json.dumps(rows).encode(),
        "good.jsonl": "\n".join(map(json.dumps, rows)).encode(),
    }
