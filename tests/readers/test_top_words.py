"""A lone score beside classes, hits and outcomes that are told by their cells."""

from typing import Any

import numpy as np
import pytest

from dashboard.readers import Question, read
from tests.readers.files import LABELS, PROBABILITIES, N, npz, same_event, same_hits, table

NAMES = np.array(["cat", "dog", "fox", "owl"])
BEST, TOP = PROBABILITIES.argmax(axis=1), PROBABILITIES.max(axis=1)
TRUE, TOLD = NAMES[LABELS], NAMES[BEST]
HITS = (BEST == LABELS).astype(int)
ROWS = np.arange(N)
CHANCE = np.where(ROWS % 3 == 0, 0.3, 0.1) + np.where(ROWS % 2 == 0, 0.5, 0) + ROWS / 999
ILL = ((ROWS % 2 == 0) ^ (ROWS % 7 == 0)).astype(int)
DECIDED = (CHANCE > 0.5).astype(int)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", table(**{"class": TRUE, "Prediction (class)": TOLD, "score": TOP})),
        ("a.csv", table(**{"y": TRUE, "$N-y": TOLD, "$NC-y": TOP})),
        ("a.csv", table(y=TRUE, Tree=TOLD, score=TOP)),
        *(("a.csv", table(confidence=TOP, **{name: HITS})) for name in ("accuracy", "correct")),
        ("a.csv", table(confidence=TOP, right=HITS)),
        ("a.csv", table(confidence=TOP, correct=np.array(["incorrect", "correct"])[HITS])),
        ("a.csv", table(confidence=TOP, result=np.array(["wrong", "right"])[HITS])),
        ("a.npz", npz(confidences=TOP, accuracies=HITS.astype(float))),
    ],
)
def test_whether_the_prediction_was_right(name: str, data: bytes) -> None:
    rows = read(name, data).rows
    same_hits(rows, TOP, HITS)


@pytest.mark.parametrize(
    "columns",
    [
        {"BAD": ILL, "prob": CHANCE, "decision_a": DECIDED, "decision_b": DECIDED},
        {"prob": CHANCE, "resolution": np.array(["NO", "YES"])[ILL]},
        {"predict": DECIDED, "p0": 1 - CHANCE, "p1": CHANCE, "label": ILL},
        {"pred": CHANCE, "outcome": ILL}, {"y_pred": CHANCE, "y_obs": ILL},
    ],
)  # fmt: skip
def test_a_chance_and_what_happened(columns: dict[str, Any]) -> None:
    rows = read("a.csv", table(**columns)).rows
    same_event(rows, CHANCE, ILL)


@pytest.mark.parametrize(
    "columns",
    [
        {"gt_label": TRUE, "label": TOLD, "score": TOP}, {"a1": TRUE, "a2": TOLD, "p": TOP},
        {"pop": np.round(CHANCE * 10).astype(int), "rain": ILL},
    ],
)  # fmt: skip
def test_what_is_not_guessed(columns: dict[str, Any]) -> None:
    with pytest.raises(Question):
        read("a.csv", table(**columns))
