"""Arrays are told apart by their names, and by their shapes where names do not tell."""

from typing import Any

import numpy as np
import pytest

from dashboard.readers.recognition.arrays import parts_of
from dashboard.readers.records import Arrays, Column, Contents, RawSet, ReadingOptions
from dashboard.readers.refusal import FileError, Question
from dashboard.readers.sets import contents_of
from tests.readers.test_sets import rows_of, texts

TABLE = np.array([[2.0, 0.0, -1.0], [0.0, 3.0, -1.0], [-2.0, 0.0, 1.0], [0.0, -1.0, 4.0]])
LABELS = np.array([0, 1, 2, 1])


def arrays_of(arrays: dict[str, Any]) -> Arrays:
    """Make arrays of their names; lists of words are of text."""
    return Arrays(tuple(
        texts(name, values) if isinstance(values, list) else Column(name, values)
        for name, values in arrays.items()
    ))  # fmt: skip


def read(arrays: dict[str, Any], options: ReadingOptions = ReadingOptions()) -> Contents:  # noqa: B008 - frozen
    return contents_of(arrays_of(arrays), options)


@pytest.mark.parametrize(
    "table",
    ["logits", "probs", "softmax", "y_prob", "model.outputs", "scores", "y_pred_proba",
     "class_probs", "values"],
)  # fmt: skip
@pytest.mark.parametrize("labels", ["labels", "y_true", "targets", "y", "species", "gt_label"])
def test_usual_names(table: str, labels: str) -> None:
    for arrays in ({table: TABLE, labels: LABELS}, {labels: LABELS, table: TABLE}):
        raw = rows_of(read(arrays))
        assert np.array_equal(np.asarray(raw.table), TABLE)
        assert np.array_equal(np.asarray(raw.labels), LABELS)


@pytest.mark.parametrize(
    ("calibration", "test"),
    [("calibration", "test"), ("val", "test"), ("valid", "eval"), ("calib", "holdout"),
     ("dev", "test")],
)  # fmt: skip
@pytest.mark.parametrize("shape", ["{of}_{what}", "{what}_{of}", "{of}.{what}"])
def test_two_sets_by_name(calibration: str, test: str, shape: str) -> None:
    arrays = {}
    for of, n_rows in ((calibration, 3), (test, 4)):
        arrays[shape.format(of=of, what="logits")] = TABLE[:n_rows]
        arrays[shape.format(of=of, what="labels")] = LABELS[:n_rows]
    contents = read(arrays)
    assert {role: len(np.asarray(raw.table)) for role, raw in contents.sets.items()
            if isinstance(raw, RawSet)} == {"calibration": 3, "test": 4}  # fmt: skip


def test_nested_pairs_without_names() -> None:
    """NN_calibration stores ((values, labels), (values, labels)), labels as a column."""
    contents = read(
        {"0.0": TABLE[:3], "0.1": LABELS[:3, None], "1.0": TABLE, "1.1": LABELS[:, None]}
    )
    assert [*contents.sets] == ["calibration", "test"]
    for raw, n_rows in zip(contents.sets.values(), (3, 4), strict=True):
        assert isinstance(raw, RawSet)
        assert np.array_equal(np.asarray(raw.table), TABLE[:n_rows])
        assert np.asarray(raw.labels).tolist() == LABELS[:n_rows].tolist()


def test_four_arrays_without_names() -> None:
    """Values and labels in turn are two sets, which is said; any other order is refused."""
    four = [TABLE[:3], LABELS[:3], TABLE, LABELS]
    contents = read({f"arr_{k}": array for k, array in enumerate(four)})
    assert [*contents.sets] == ["calibration", "test"]
    assert any(text.startswith("Without names, the first two") for text in contents.notes)
    with pytest.raises(FileError, match="four without names"):
        read({f"arr_{k}": four[place] for k, place in enumerate((0, 2, 1, 3))})


def test_what_is_not_used_is_said() -> None:
    contents = read({"logits": TABLE, "aux": TABLE + 1, "classes": ["a", "b"], "labels": LABELS})
    assert "Arrays left out: aux, classes." in contents.notes


def test_bare_arrays_are_pieces() -> None:
    """Two axes are values, whole numbers are labels, other numbers scores."""
    assert rows_of(read({"": TABLE})).labels is None
    assert np.asarray(rows_of(read({"": LABELS})).labels).tolist() == [0, 1, 2, 1]
    assert rows_of(read({"": LABELS})).table is None
    assert rows_of(read({"": np.array([0.25, 0.5])})).table is not None
    with pytest.raises(FileError, match="shape"):
        read({"": np.zeros((2, 3, 4))})


def test_names_of_classes_and_further_arrays() -> None:
    """Names are of the classes; other numbers and texts of a row tell rows apart."""
    contents = read(
        {
            "logits": TABLE, "labels": LABELS, "class_names": ["cat", "dog", "cow"],
            "site": ["A", "B", "A", "A"], "loss": np.array([0.5, 0.25, 0.125, 3.0]),
            "embedding": np.zeros((4, 2, 2)), "epoch": np.array([3]),
        }
    )  # fmt: skip
    raw = rows_of(contents)
    assert raw.class_names == ("cat", "dog", "cow")
    assert [column.name for column in raw.columns] == ["site", "loss"]
    assert any("embedding" in text and "epoch" in text for text in contents.notes)


def test_labels_of_text_and_predictions() -> None:
    raw = rows_of(
        read(
            {
                "probs": TABLE, "preds": np.array([0, 1, 2, 2]),
                "y_true": ["cat", "dog", "cat", "cow"],
            }
        )
    )  # fmt: skip
    assert raw.label_texts == ("cat", "dog", "cow")
    assert raw.predicted is not None
    assert raw.predicted.values.tolist() == [0, 1, 2, 2]


def test_labels_with_a_single_1_per_row() -> None:
    hot = np.eye(3, dtype=np.int64)[LABELS]
    for name in ("labels", "onehot"):
        raw = rows_of(read({name: hot, "probs": TABLE}))
        assert np.array_equal(np.asarray(raw.labels), hot)
        assert np.array_equal(np.asarray(raw.table), TABLE)


def test_two_tables_are_asked_about() -> None:
    arrays = {"model_a": TABLE, "model_b": TABLE + 1, "labels": LABELS}
    with pytest.raises(Question) as caught:
        read(arrays)
    answer = caught.value.answers[1]
    assert answer.label == "model_b"
    raw = rows_of(read(arrays, ReadingOptions(**answer.change)))
    assert np.array_equal(np.asarray(raw.table), TABLE + 1)


def test_roles_name_arrays() -> None:
    arrays = {"logits": TABLE, "labels": LABELS, "clean": LABELS[::-1].copy()}
    raw = rows_of(read(arrays, ReadingOptions(roles=(("clean", "outcome"), ("labels", "group")))))
    assert np.asarray(raw.labels).tolist() == LABELS[::-1].tolist()
    assert [column.name for column in raw.columns] == ["labels"]


def test_one_set_named_in_one_array_only() -> None:
    raw = rows_of(read({"test_probs": TABLE, "labels": LABELS}))
    assert np.asarray(raw.labels).tolist() == LABELS.tolist()


def test_arrays_of_one_axis_are_columns_of_a_table() -> None:
    parts = parts_of(
        arrays_of({"y": LABELS, "p": np.array([0.1, 0.2, 0.3, 0.4])}), ReadingOptions()
    )
    assert [column.name for column in parts.tables["rows"].columns] == ["y", "p"]
    assert not parts.readings


def test_objects_alone_are_refused() -> None:
    empty = Column("model", np.zeros(0), unread="objects")
    with pytest.raises(FileError, match="of objects"):
        contents_of(Arrays((empty,)), ReadingOptions())
