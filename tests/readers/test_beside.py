"""What stands in an archive beside the values and the labels, and tables of one column."""

import io
import json
import pickle
import zipfile
from typing import Any

import numpy as np
import pytest

from calibcore.data import EventScores, LogitSet
from dashboard.readers import FileError, Upload, read
from dashboard.readers.binary.npy import text_codes
from tests.readers.files import LABELS, LOGITS, PROBABILITIES, K, N, npy, npz

NAMES = np.array(["cat", "dog", "fox", "owl"])
DAYS = np.full(N, np.datetime64("2024-01-01"))


def members(**arrays: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as zipped:
        for name, data in arrays.items():
            zipped.writestr(f"{name}.npy", data)
    return buffer.getvalue()


def opened(**arrays: Any) -> Upload:
    return read("a.npz", npz(**arrays))


@pytest.mark.parametrize(
    ("beside", "reason"),
    [
        (np.array({"a": 1}, dtype=object), "a single value"),
        (np.array([{"a": 1}, [2]], dtype=object), "Python objects, which are a pickle"),
        (DAYS, "dates"),
        (DAYS - DAYS, "spans of time"),
        (np.ones(N, dtype=complex), "complex numbers"),
        (np.zeros((0, 3)), "shape (0, 3)"),
        (np.array("resnet50"), "a single value"),
        (np.array(7), "a single value"),
        (np.zeros((1, 2, 3, 4)), "shape"),
        (np.array([["a", "b"]]), "text of 1 characters"),
        (np.array(["a" * 300]), "text of 300 characters"),
        (np.array([b"a"]), "text"),
        (np.zeros(N, dtype=[("a", "f4")]), "a structured type"),
    ],
)
def test_left_out_unread(beside: Any, reason: str) -> None:
    upload = opened(logits=LOGITS, labels=LABELS, beside=beside)
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_array_equal(upload.rows.logits, LOGITS)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)
    said = [line for line in upload.found if line.startswith("Array beside was left out unread")]
    assert len(said) == 1
    assert reason in said[0]


def test_objects_are_never_unpickled(monkeypatch: pytest.MonkeyPatch) -> None:
    data = npz(logits=LOGITS, labels=LABELS, beside=np.array([{"a": 1}, [2]], dtype=object))

    def refuse(*_: object, **__: object) -> None:
        pytest.fail("an unpickler was used")

    monkeypatch.setattr(pickle, "loads", refuse)
    monkeypatch.setattr(pickle, "Unpickler", refuse)
    assert isinstance(read("a.npz", data).rows, LogitSet)


@pytest.mark.parametrize(
    ("arrays", "named"),
    [
        ({"logits": LOGITS, "labels": DAYS}, "labels"),
        ({"logits": LOGITS.astype(complex), "labels": LABELS}, "logits"),
        ({"logits": LOGITS.astype(complex), "x": LOGITS, "labels": LABELS}, "logits"),
        ({"my_logits": LOGITS.astype(complex), "x": LOGITS, "labels": LABELS}, "my_logits"),
        ({"logits": LOGITS, "species": DAYS, "status": LABELS}, "species"),
        ({"a": LOGITS, "b": LABELS, "c": DAYS}, "c"),
        ({"a": LOGITS, "b": NAMES[LABELS]}, "b"),
        ({"c": DAYS}, "c"),
    ],
)
def test_what_may_be_values_or_labels_is_wanted(arrays: Any, named: str) -> None:
    with pytest.raises(FileError, match=f'array "{named}"'):
        opened(**arrays)


def test_a_chosen_label_is_wanted() -> None:
    data = npz(logits=LOGITS, labels=LABELS, when=DAYS)
    with pytest.raises(FileError, match="dates"):
        read("a.npz", data, label_column="when")


def test_damage_is_refused_wherever_it_is() -> None:
    good = {"logits": npy(LOGITS), "labels": npy(LABELS)}
    cut = members(**good, beside=npy(np.arange(N))[:-1])
    with pytest.raises(FileError, match="truncated"):
        read("a.npz", cut)
    data = bytearray(members(**good, beside=npy(DAYS)))
    data[data.rindex(b"\x93NUMPY") + 200] ^= 1
    with pytest.raises(FileError, match="CRC"):
        read("a.npz", bytes(data))


def test_texts_tell_rows_apart() -> None:
    files = np.array([f"image{k}.png" for k in range(N)])
    upload = opened(logits=LOGITS, labels=LABELS, site=NAMES[LABELS % 2], files=files)
    assert [column.name for column in upload.contents.sets["rows"].columns] == ["site", "files"]
    upload = opened(logits=LOGITS, labels=NAMES[LABELS], class_names=NAMES)
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)


def test_no_more_text_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.readers.binary.npz._TEXT_ROOM", 800)
    site = NAMES[LABELS % 2]
    upload = opened(logits=LOGITS, labels=LABELS, one=site, two=site)
    assert [column.name for column in upload.contents.sets["rows"].columns] == ["one"]
    assert "Array two was left out unread: text of 3 characters, shape (40,)." in upload.found


def test_many_are_counted() -> None:
    upload = opened(logits=LOGITS, labels=LABELS, **{f"day{k}": DAYS for k in range(11)})
    assert "3 more arrays were left out unread." in upload.found


def test_top_scores_beside_texts_and_single_values() -> None:
    predicted = PROBABILITIES.argmax(axis=1)
    for names in (np.arange(K), NAMES[::-1]):
        upload = opened(
            confidence=PROBABILITIES.max(axis=1), pred=names[predicted], label=names[LABELS],
            site=NAMES[LABELS % 2][::-1], epoch=np.array(3),
        )  # fmt: skip
        assert isinstance(upload.rows, EventScores)
        np.testing.assert_array_equal(upload.rows.hits, predicted == LABELS)
        (site,) = upload.contents.sets["rows"].columns
        assert site.categories is not None
        texts = [site.categories[int(code)] for code in site.values]
        assert texts == NAMES[LABELS % 2][::-1].tolist()


def test_places_of_texts_a_part_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = np.array(["b", "a", "c", "a", "b"])
    expected, places = np.unique(texts, return_inverse=True)
    for part in (1, 2, 5):
        monkeypatch.setattr("dashboard.readers.binary.npy._PART", part)
        found, codes = text_codes(texts, "labels")
        assert found == tuple(expected)
        assert codes.tolist() == places.tolist()
    monkeypatch.setattr("dashboard.readers.binary.npy._MAX_TEXTS", 2)
    with pytest.raises(FileError, match="labels: found more than 2 different texts"):
        text_codes(texts, "labels")


SCORE = PROBABILITIES[:, 0]
HITS = (LABELS == 0).astype(int)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.npz", npz(y_pred=SCORE[:, np.newaxis], y_true=HITS)),
        ("a.npz", npz(y_pred=SCORE[:, np.newaxis], y_true=HITS[:, np.newaxis])),
        (
            "a.json",
            json.dumps({"predictions": [[p] for p in SCORE], "labels": HITS.tolist()}).encode(),
        ),
        ("a.pkl", pickle.dumps({"probs": SCORE[:, np.newaxis], "labels": HITS})),
        ("a.pkl", pickle.dumps((SCORE[:, np.newaxis], HITS))),
        ("a.pkl", pickle.dumps((HITS, SCORE[:, np.newaxis]))),
    ],
)
def test_a_table_of_one_column_is_the_score_of_class_1(name: str, data: bytes) -> None:
    rows = read(name, data).rows
    assert isinstance(rows, LogitSet)
    np.testing.assert_allclose(rows.probabilities[:, 1], SCORE, atol=1e-12)
    np.testing.assert_array_equal(rows.labels, HITS)


def test_thousands_of_names_are_refused() -> None:
    value = {f"row{k}": {"probs": [0.5, 0.5], "label": [0]} for k in range(600)}
    with pytest.raises(FileError, match="1,200 arrays or lists by name"):
        read("a.json", json.dumps(value).encode())


BEST = PROBABILITIES.argmax(axis=1)
LOSSES = -np.log(PROBABILITIES[np.arange(N), LABELS])


def test_four_arrays_without_names_are_two_sets() -> None:
    more = np.concatenate([PROBABILITIES, PROBABILITIES]), np.concatenate([LABELS, LABELS])
    for arrays in ((PROBABILITIES, LABELS, *more), (PROBABILITIES, more[0], LABELS, more[1])):
        upload = opened(**{f"arr_{k}": array for k, array in enumerate(arrays)})
        assert isinstance(upload.calibration, LogitSet)
        assert isinstance(upload.test, LogitSet)
        np.testing.assert_array_equal(upload.calibration.labels, LABELS)
        np.testing.assert_array_equal(upload.test.labels, more[1])
        assert any(said.startswith("Four arrays without names") for said in upload.found)
    with pytest.raises(FileError, match="4 arrays named"):
        opened(arr_0=LABELS, arr_1=PROBABILITIES, arr_2=LABELS, arr_3=PROBABILITIES)


@pytest.mark.parametrize(("third", "what"), [(BEST, "likeliest class"), (LOSSES, "losses")])
def test_three_arrays_without_names(third: Any, what: str) -> None:
    assert not np.array_equal(BEST, LABELS)
    for arrays in ((PROBABILITIES, LABELS, third), (third, LABELS, PROBABILITIES)):
        upload = opened(**{f"arr_{k}": array for k, array in enumerate(arrays)}, classes=NAMES)
        assert isinstance(upload.rows, LogitSet)
        np.testing.assert_array_equal(upload.rows.labels, LABELS)
        assert upload.class_names == tuple(NAMES)
        assert any("Three arrays" in said and what in said for said in upload.found)


@pytest.mark.parametrize("third", [LABELS[::-1], PROBABILITIES, LABELS[1:], np.ones((N, 1))])
def test_three_arrays_that_do_not_tell_the_labels(third: Any) -> None:
    with pytest.raises(FileError, match="3 arrays named"):
        opened(arr_0=PROBABILITIES, arr_1=LABELS, arr_2=third)


@pytest.mark.parametrize("name", ["p", "phat"])
def test_short_names_of_probabilities(name: str) -> None:
    upload = opened(**{name: PROBABILITIES, "y": LABELS})
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_allclose(upload.rows.probabilities, PROBABILITIES)
    piece = opened(**{name: PROBABILITIES * 9, "y": LABELS}).piece
    assert piece is not None
    assert piece.table is None


def test_what_a_model_was_given_is_no_table() -> None:
    upload = opened(X_test=PROBABILITIES[:, :2] * 9, probs=PROBABILITIES, y_test=LABELS)
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)
    assert "Left out, being neither a class nor the label: X_test." in upload.found


def test_classes_of_a_classifier_name_the_columns() -> None:
    upload = opened(probs=PROBABILITIES, labels=NAMES[LABELS], classes_=NAMES)
    assert isinstance(upload.rows, LogitSet)
    assert upload.class_names == tuple(NAMES)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)


def pickled_tuple(*parts: Any) -> Upload:
    return read("a.pkl", pickle.dumps(parts))


def test_tuples_of_three() -> None:
    measures = {"test_loss": 0.3, "test_runtime": 1.2}
    for third in (measures, BEST, LOSSES):
        rows = pickled_tuple(PROBABILITIES, LABELS, third).rows
        assert isinstance(rows, LogitSet)
        np.testing.assert_array_equal(rows.labels, LABELS)
    assert any("measures by name" in s for s in pickled_tuple(LOGITS, LABELS, measures).found)
    for third in (LABELS[::-1], LABELS[0], PROBABILITIES, "text"):
        with pytest.raises(FileError, match="another layout: a tuple of 3"):
            pickled_tuple(PROBABILITIES, LABELS, third)
    with pytest.raises(FileError, match="a dict of 2"):
        pickled_tuple(LABELS, LABELS, measures)


@pytest.mark.parametrize(("table", "labels"), [("p_hat", "y_obs"), ("p", "gold"), ("phat", "cls")])
def test_short_names_beside_unknown_ones_are_told_by_their_shape(table: str, labels: str) -> None:
    upload = opened(**{table: PROBABILITIES, labels: LABELS})
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)


def test_labels_of_an_unknown_name_are_found_by_the_values() -> None:
    rng = np.random.default_rng(4)
    labels = np.array([rng.choice(K, p=row) for row in np.repeat(PROBABILITIES, 5, axis=0)])
    table, site = np.repeat(PROBABILITIES, 5, axis=0), rng.permutation(labels)
    upload = read("a.npz", npz(probs=table, sentiment=labels, site=site))
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_array_equal(upload.rows.labels, labels)
    share = np.mean(table.argmax(axis=1) == labels)
    assert any(
        f"agrees with the likeliest class in {share:.1%}".replace("%", " %") in said
        for said in upload.doubts
    )
    for name, others in (("site", site), ("model_pred", labels), ("label_error", labels)):
        assert read("a.npz", npz(compress=False, probs=table, **{name: others})).piece is not None
    decided = table.argmax(axis=1)
    assert read("a.npz", npz(probs=table, choice=decided)).piece is not None
