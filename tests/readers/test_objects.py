"""Classes that a file gives by name in each row: objects of values."""

import json
from typing import Any

import numpy as np
import pytest

from calibcore.data import LogitSet
from dashboard.readers import Question, Upload, read
from tests.readers.files import LABELS, PROBABILITIES, parquet

WORDS = ["cat", "dog", "fox", "hen"]
TRUTH = [WORDS[k] for k in LABELS]
OBJECTS = [dict(zip(WORDS, row, strict=True)) for row in PROBABILITIES.tolist()]
LOGARITHMS = [dict(zip(WORDS, row, strict=True)) for row in np.log(PROBABILITIES).tolist()]


def of_lines(**members: list[Any]) -> Upload:
    rows = [dict(zip(members, row, strict=True)) for row in zip(*members.values(), strict=True)]
    return read("a.jsonl", "\n".join(map(json.dumps, rows)).encode())


def of_parquet(**members: list[Any]) -> Upload:
    return read("a.parquet", parquet(members))


@pytest.mark.parametrize("opened", [of_lines, of_parquet])
@pytest.mark.parametrize("name", ["cats", "probabilities", "logprobs", "top_logprobs"])
def test_objects_of_classes(name: str, opened: Any) -> None:
    upload = opened(**{name: LOGARITHMS if "log" in name else OBJECTS, "label": TRUTH})
    assert isinstance(upload.rows, LogitSet)
    np.testing.assert_allclose(upload.rows.probabilities, PROBABILITIES, atol=1e-6)
    np.testing.assert_array_equal(upload.rows.labels, LABELS)
    assert [*upload.rows.class_names] == WORDS
    told = "natural logarithms of probabilities" in " ".join(upload.notes)
    assert told == ("log" in name)


@pytest.mark.parametrize("opened", [of_lines, of_parquet])
@pytest.mark.parametrize("odd", [{"cat": 0.5, "dog": None}, None])
def test_an_object_that_lacks_classes_is_asked_about(odd: Any, opened: Any) -> None:
    with pytest.raises(Question, match=r"row 3.*Leave these rows out"):
        opened(probs=[*OBJECTS[:2], odd, *OBJECTS[3:]], label=TRUTH)


def test_two_objects_of_the_same_classes_are_asked_about() -> None:
    with pytest.raises(Question, match="cats"):
        of_lines(cats=OBJECTS, pred_cats=OBJECTS[::-1])
