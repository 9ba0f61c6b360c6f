"""Files of any layout: columns of every kind under names that readers know, in each format.

Most make no sense. Whatever they hold, an upload or a refusal must come of them.
"""

import io
import json
import math
import pickle
import random
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from tests.readers.files import npz

_NAMES = """
label labels target y y_true pred prediction predictions label_ids .pred_class confidence
confidences score scores prob probs prob_0 prob_1 probabilities p p_10 p_2 logits logit_0 logit_1
top1_class top1_prob topk top_k_indices classes class_names class_0 class_1 correct id ids n count
weight split fold age cat dog prob_cat prob_dog 0 1 2 3 test_logits val_labels train_probs image s0
pred_0 outcome calibrated_prob columns data index schema
"""
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
    columns = {name: _column(dice, n_rows) for name in dice.sample(_NAMES.split(), n_columns)}
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
        lambda: dict.fromkeys(dice.sample(_NAMES.split(), 2), columns),
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
        lambda: dict.fromkeys(dice.sample(_NAMES.split(), 2), mixed),
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


MAKERS: Mapping[str, Callable[[random.Random], bytes]] = {
    "any.csv": _csv,
    "any.json": _json,
    "any.jsonl": _jsonl,
    "any.npz": _npz,
    "any.p": _pickle,
    "any.parquet": _parquet,
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
