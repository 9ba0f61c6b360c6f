"""Files as other programs write them, with what stands around the numbers."""

import tracemalloc
from typing import Any

import numpy as np
import pytest

from calibcore.data import LogitSet
from dashboard.readers import FileError, Options, parse, read, understand
from dashboard.readers.apart import parse_apart
from dashboard.readers.contents import Contents, Preview, RawSet
from dashboard.readers.upload import first_rows
from tests.readers.files import HEADER, LABELS, LOGITS, PROBABILITIES, csv_of, npz, pickled
from tests.readers.test_xlsx import ROWS, of_rows

TABLE = csv_of(LOGITS, LABELS, header=HEADER).decode()


def same(data: bytes, name: str = "a.csv", **choices: Any) -> tuple[str, ...]:
    """Expect the logits and labels of all the tests, and give what was found."""
    upload = read(name, data, **choices)
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_allclose(upload.rows.logits, LOGITS, rtol=1e-6)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)
    return upload.found


@pytest.mark.parametrize(
    ("top", "lines"),
    [
        ("# ", 0), ("#", 0), ("# trained on Monday\n", 1), ("# a, b\n#\n\n", 2), ("sep=,\n", 1),
        ("# of two sets, test\n", 1),
    ],
)  # fmt: skip
def test_remarks_above_a_table(top: str, lines: int) -> None:
    found = same((top + TABLE).encode())
    said = [line for line in found if "Remarks" in line]
    counted = "1 line" if lines == 1 else f"{lines} lines"
    assert said == ([f"Remarks above the table were passed over ({counted})."] if lines else [])


@pytest.mark.parametrize("sep", [" ", ";", "|", "\t"])
def test_savetxt_with_a_header(sep: str, tmp_path: Any) -> None:
    path = tmp_path / "a.txt"
    heads = HEADER.replace(",", sep)
    np.savetxt(path, np.column_stack([LOGITS, LABELS]), delimiter=sep, header=heads)
    found = same(path.read_bytes(), "a.txt")
    assert "Class columns: logit_0, logit_1, logit_2, logit_3." in found


def test_a_line_that_tells_excel_the_delimiter() -> None:
    same(b"sep=;\r\n" + TABLE.replace(",", ";").encode())


def test_a_row_that_begins_with_a_mark_is_no_remark() -> None:
    with pytest.raises(FileError, match='row 2, column "logit_0": found "# 1"'):
        read("a.csv", TABLE.replace("\n", "\n# 1,1,1,1,1\n", 1).encode())


@pytest.mark.parametrize("text", ['{"logits": [[1, 2]]}', "[[1, 2], [3, 4]]", ' [{"p0": 1}]'])
def test_json_by_another_name(text: str) -> None:
    with pytest.raises(FileError, match="JSON text"):
        read("a.csv", text.encode())


def test_what_stands_beside_arrays_in_a_pickle() -> None:
    beside = {"tags": ["a", "b"], "notes": None, "epoch": 5, "folds": [["x"]], "empty": []}
    found = same(pickled({"logits": LOGITS, "labels": LABELS, **beside}), "a.pkl")
    assert (
        "Left out, being neither a class nor the label: tags, notes, epoch, folds, empty." in found
    )


def test_labels_of_text_in_a_pickle() -> None:
    texts = ["abcd"[label] for label in LABELS]
    same(pickled({"logits": LOGITS, "labels": texts, "classes": list("abcd")}), "a.pkl")
    with pytest.raises(FileError, match="too large"):
        read("a.pkl", pickled({"logits": LOGITS, "labels": ["x" * 300] * len(LABELS)}))


def test_dev_is_a_calibration_set() -> None:
    data = npz(dev_logits=LOGITS, dev_labels=LABELS, test_logits=-LOGITS, test_labels=LABELS)
    assert list(read("a.npz", data).sets) == ["calibration", "test"]


@pytest.mark.parametrize("name", ["softmax", "y_pred_proba", "class_probs", "values"])
def test_further_names_of_tables(name: str) -> None:
    upload = read("a.npz", npz(**{name: PROBABILITIES}, labels=LABELS))
    assert upload.values_kind == "probabilities"


def test_columns_of_softmax() -> None:
    head = "softmax_0,softmax_1,softmax_2,softmax_3,y"
    upload = read("a.csv", csv_of(PROBABILITIES, LABELS, header=head))
    assert upload.class_names == ("0", "1", "2", "3")


def test_labels_of_minus_one_and_one() -> None:
    scores, truth = PROBABILITIES[:, 1], LABELS == 1
    rows = [f"{s!r},{1 if t else -1}" for s, t in zip(scores.tolist(), truth, strict=True)]
    upload = read("a.csv", "\n".join(["score,label", *rows]).encode())
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_array_equal(upload.rows.labels, truth)
    assert upload.repairs == (f"Labels -1 and 1 were read as 0 and 1 ({len(rows)} labels).",)
    for other in ("0", "-100", "2"):
        with pytest.raises(FileError, match="negative labels"):
            read("a.csv", "\n".join(["score,label", *rows, f"0.5,{other}"]).encode())


def test_probabilities_that_are_off_are_not_taken_for_logits() -> None:
    off = PROBABILITIES * np.random.default_rng(3).uniform(0.8, 1.2, (len(LABELS), 1))
    assert off.max() > 1.01
    for table in (off, 100 * off):
        data = npz(probs=table, labels=LABELS)
        with pytest.raises(FileError, match=r"no value below 0, and rows sum to .* your word"):
            read("a.npz", data)
        assert read("a.npz", data, values="logits").values_kind == "logits"


@pytest.mark.parametrize(
    ("sets", "said"),
    [
        (("train", "test"), 'Column "split" calls 20 of 40 rows training rows'),
        (("a", "b"), 'Column "split" (a, b) may tell sets apart'),
    ],
)
def test_a_column_that_names_sets(sets: tuple[str, str], said: str) -> None:
    head, *rows = TABLE.splitlines()
    lines = [f"{row},{sets[k % 2]}" for k, row in enumerate(rows)]
    doubts = read("a.csv", "\n".join([f"{head},split", *lines]).encode()).doubts
    assert any(doubt.startswith(said) for doubt in doubts)


def test_the_first_text_among_very_many_numbers() -> None:
    n_rows = 120_000
    rows = [[k / 7, -k / 7, k % 2] for k in range(n_rows)]
    rows[-2][1] = "oops"  # type: ignore[call-overload]
    text = repr(rows).replace("'", '"')
    with pytest.raises(FileError, match=f'row {n_rows - 1}, column 2: found "oops"'):
        read("a.json", text.encode())
    nested = f'{{"logits": {text}, "labels": [0]}}'
    with pytest.raises(FileError, match=f'row {n_rows - 1:,}, value 2: found text "oops"'):
        read("a.json", nested.encode())


# What is known of a refused file -------------------------------------------------------------

TWO = TABLE.replace("label", "label,target").replace("\n", ",0\n").replace("target,0", "target")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", TWO.encode()),
        ("a.xlsx", of_rows([[*ROWS[0], "target"], *([*row, row[-1]] for row in ROWS[1:])])),
    ],
)  # fmt: skip
def test_columns_of_a_refused_table_can_be_chosen(name: str, data: bytes) -> None:
    contents = parse(name, data, Options())
    names = ["logit_0", "logit_1", "logit_2", "logit_3", "label", "target"]
    assert contents.uses == dict.fromkeys(names, "undecided")
    assert first_rows(contents).headings == tuple(names)
    assert len(first_rows(contents).rows) == 10
    assert contents.refused is not None
    with pytest.raises(FileError, match="mean the same"):
        read(name, data)
    same(data, name, label_column="label")


def test_columns_of_a_table_refused_for_a_cell() -> None:
    data = TABLE.encode() + b"1,2,3,x,0\n"
    contents = parse("a.csv", data, Options())
    assert [contents.uses[name] for name in ("logit_0", "label")] == ["class", "label"]
    with pytest.raises(FileError, match=r'column "logit_3": found "x"'):
        read("a.csv", data)


def test_arrays_of_a_refused_archive_can_be_chosen() -> None:
    data = npz(logits=LOGITS, labels=LABELS, targets=LABELS)
    contents = parse("a.npz", data, Options())
    assert list(contents.uses) == ["logits", "labels", "targets"]
    assert first_rows(contents) == Preview()
    there = parse_apart("a.npz", data)
    assert (there.uses, there.refused) == (contents.uses, contents.refused)
    same(data, "a.npz", label_column="targets")


def test_of_a_damaged_file_nothing_is_known() -> None:
    with pytest.raises(FileError, match="truncated"):
        parse("a.npz", npz(logits=LOGITS, labels=LABELS)[:-5], Options())


# Memory --------------------------------------------------------------------------------------


def _memory(contents: Contents) -> tuple[float, float]:
    """Measure what understanding takes at most, and what stays, in sizes of its numbers."""
    raw = [part for part in contents.sets.values() if isinstance(part, RawSet)]
    arrays = [np.asarray(values) for part in raw for values in (part.table, part.labels)]
    cells = sum(values.size for values in arrays)
    tracemalloc.start()
    upload = understand("a.npz", "", Options(), contents)
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert upload.sets
    return peak / (8 * cells), held / (8 * cells)


@pytest.mark.parametrize("kind", ["logits", "probabilities", "scores", "two sets"])
def test_memory_stays_near_that_of_the_numbers(kind: str) -> None:
    rng = np.random.default_rng(2)
    logits = rng.normal(size=(500_000, 2))
    labels = rng.integers(0, 2, len(logits)).astype(np.int8)
    p = 1 / (1 + np.exp(-logits[:, 0]))
    arrays: dict[str, Any] = {
        "logits": {"logits": logits.astype(np.float32), "labels": labels},
        "probabilities": {"probs": np.column_stack([p, 1 - p]), "labels": labels},
        "scores": {"probs": p, "labels": labels},
        "two sets": {
            "val_logits": logits[:250_000], "val_labels": labels[:250_000],
            "test_logits": logits[250_000:], "test_labels": labels[250_000:],
        },
    }[kind]  # fmt: skip
    contents = parse("a.npz", npz(**arrays), Options())
    peak, held = _memory(contents)
    assert held < 1.6
    assert peak < 2.8
