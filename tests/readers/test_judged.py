"""Logits or probabilities: each set judged alone, and what probabilities were turned into."""

import pickle
from collections.abc import Callable

import numpy as np
import pytest

from calibcore.data import LogitSet
from dashboard.readers import FileError, Upload, combine, read
from tests.readers.files import (
    HEADER,
    LABELS,
    LABELS_TEST,
    LOGITS,
    LOGITS_TEST,
    PROBABILITIES,
    Array,
    csv_of,
    npz,
)

OTHERS = np.exp(LOGITS_TEST) / np.exp(LOGITS_TEST).sum(axis=1, keepdims=True)
SCORES = np.linspace(0.02, 0.97, 40)
HALVES = LABELS % 2


def two_scores(calibration: Array, test: Array) -> bytes:
    return npz(
        scores_val=calibration, labels_val=HALVES[: len(calibration)],
        scores_test=test, labels_test=HALVES[: len(test)],
    )  # fmt: skip


def two_files(calibration: Array, test: Array) -> Upload:
    return combine([
        read("val.csv", csv_of(calibration, LABELS, header=HEADER)),
        read("test.csv", csv_of(test, LABELS_TEST, header=HEADER)),
    ])  # fmt: skip


def one_archive(calibration: Array, test: Array) -> Upload:
    return read("a.npz", npz(
        logits_val=calibration, labels_val=LABELS, logits_test=test, labels_test=LABELS_TEST
    ))  # fmt: skip


def one_pickle(calibration: Array, test: Array) -> Upload:
    return read("a.p", pickle.dumps(((calibration, LABELS), (test, LABELS_TEST))))


def a_column(calibration: Array, test: Array) -> Upload:
    head, *rows = csv_of(
        np.vstack([calibration, test]), np.r_[LABELS, LABELS_TEST], header=HEADER
    ).decode().splitlines()  # fmt: skip
    sets = ["val"] * len(calibration) + ["test"] * len(test)
    lines = [f"{row},{of}" for row, of in zip(rows, sets, strict=True)]
    return read("a.csv", "\n".join([f"{head},split", *lines]).encode())


@pytest.mark.parametrize("opened", [two_files, one_archive, one_pickle, a_column])
@pytest.mark.parametrize(
    ("calibration", "test", "said"),
    [
        (LOGITS, OTHERS, "logits in the calibration set, but probabilities in the test set"),
        (PROBABILITIES, LOGITS_TEST, "probabilities in the calibration set, but logits in the"),
        (100 * PROBABILITIES, OTHERS, "percentages in the calibration set, but probabilities in"),
        (LOGITS, 100 * OTHERS, "logits in the calibration set, but percentages in the test set"),
        # All of one set is at fault, not a few of all rows.
        (LOGITS, OTHERS * 0.8, "values: found values within 0 to 1 whose rows sum to 0.8"),
        (LOGITS, np.log10(OTHERS), "values: found logarithms .* to the base 10"),
    ],
)
def test_sets_of_other_values_are_refused(
    opened: Callable[[Array, Array], Upload], calibration: Array, test: Array, said: str
) -> None:
    with pytest.raises(FileError, match=said) as caught:
        opened(calibration, test)
    # A file of one set is refused before it is one of two.
    assert "test set" in str(caught.value) or opened is two_files


@pytest.mark.parametrize(
    ("scores", "others", "said"),
    [
        (SCORES, np.log(SCORES / (1 - SCORES)), "probabilities in the .*, but logits in the test"),
        (np.log(SCORES / (1 - SCORES)), SCORES, "logits in the .*, but probabilities in the test"),
    ],
)
def test_scores_of_other_values_are_refused(scores: Array, others: Array, said: str) -> None:
    with pytest.raises(FileError, match=said):
        read("a.npz", two_scores(scores, others))


def test_few_scores_within_0_to_1_may_be_logits() -> None:
    assert read("a.npz", two_scores(9 * SCORES - 4, SCORES[:4])).values_kind == "logits"
    with pytest.raises(FileError, match="but probabilities in the test set"):
        read("a.npz", two_scores(9 * SCORES - 4, SCORES[:5]))


def test_a_small_set_is_judged_with_the_other() -> None:
    """A row of logits within 0 to 1 is nothing to refuse beside many that are not."""
    inside = np.array([[0.2, 0.9, 0.4, 0.1]])
    upload = read("a.npz", npz(
        logits_val=LOGITS, labels_val=LABELS, logits_test=inside, labels_test=LABELS[:1]
    ))  # fmt: skip
    assert isinstance(upload.test, LogitSet)
    np.testing.assert_array_equal(upload.test.logits, inside)


@pytest.mark.parametrize(
    ("test", "doubted"), [(OTHERS, "Every row of the test set is within 0 to 1"), (LOGITS_TEST, "")]
)
def test_the_word_of_the_user_holds_for_both_sets(test: Array, doubted: str) -> None:
    data = npz(logits_val=LOGITS, labels_val=LABELS, logits_test=test, labels_test=LABELS_TEST)
    upload = read("a.npz", data, values="logits")
    assert isinstance(upload.test, LogitSet)
    np.testing.assert_array_equal(upload.test.logits, test)
    flat = [doubt for doubt in upload.doubts if "softmax would flatten" in doubt]
    assert [doubt.startswith(doubted) for doubt in flat] == [True] * bool(doubted)


def test_percentages_of_one_set_only() -> None:
    upload = read("a.npz", two_scores(100 * SCORES, SCORES), values="probabilities")
    assert "No score of the test set is above 1" in " ".join(upload.doubts)
    upload = read("a.npz", two_scores(100 * SCORES, 90 * SCORES), values="probabilities")
    assert "is above 1" not in " ".join(upload.doubts)


# What probabilities were turned into ---------------------------------------------------------


@pytest.mark.parametrize("width", [3, 4])
@pytest.mark.parametrize(
    ("turned", "said"),
    [
        (lambda p: np.log(p / (1 - p)), "log-odds of each class"),
        (lambda p: np.log(p / (1 - p)).astype(np.float32), "log-odds of each class"),
        (lambda p: p / (1 - p), "odds of each class"),
        (np.log10, "logarithms of probabilities to the base 10"),
        (np.log2, "logarithms of probabilities to the base 2"),
        (lambda p: -np.log(p), r"with their signs turned \(losses\)"),
    ],
)
def test_turned_probabilities_are_refused(
    turned: Callable[[Array], Array], said: str, width: int
) -> None:
    rows = PROBABILITIES[:, :width] / PROBABILITIES[:, :width].sum(axis=1, keepdims=True)
    data = npz(logits=turned(rows), labels=LABELS % width)
    with pytest.raises(FileError, match=said):
        read("a.npz", data)
    assert read("a.npz", data, values="logits").values_kind == "logits"


def test_odds_of_two_classes_are_refused_and_log_odds_are_doubted() -> None:
    rows = np.column_stack([1 - SCORES, SCORES])
    with pytest.raises(FileError, match="odds of each class"):
        read("a.npz", npz(logits=rows / (1 - rows), labels=HALVES))
    both = np.log(rows / (1 - rows))
    said = "the same but for their sign in every row"
    assert said in " ".join(read("a.npz", npz(logits=both, labels=HALVES)).doubts)
    other = both + np.array([0, 0.1])
    assert said not in " ".join(read("a.npz", npz(logits=other, labels=HALVES)).doubts)


def test_a_mask_of_all_classes_but_one_is_no_logarithm_to_the_base_10() -> None:
    masked = np.where(np.arange(4) == LABELS[:, np.newaxis], 0.0, -np.inf)
    upload = read("a.npz", npz(logits=masked, labels=LABELS))
    assert upload.values_kind == "logits"
    with pytest.raises(FileError, match=r"minus infinity .* for the true class"):
        read("a.npz", npz(logits=masked, labels=(LABELS + 1) % 4))


def test_predicted_classes_are_no_scores() -> None:
    for guess in (PROBABILITIES.argmax(axis=1), PROBABILITIES.argmax(axis=1).astype(float)):
        with pytest.raises(FileError, match="whole numbers from 0 to 3: predicted classes"):
            read("a.npz", npz(y_pred=guess, y_true=LABELS))
    with pytest.raises(FileError, match="one column from 0 to 97, outside 0 to 1"):
        read("a.npz", npz(y_pred=np.r_[0, (100 * SCORES[1:]).astype(int)], y_true=HALVES))


@pytest.mark.parametrize("count", [4, 20, 36])
def test_logits_in_some_rows_and_probabilities_in_others(count: int) -> None:
    mixed = np.where(np.arange(40)[:, np.newaxis] < count, LOGITS, PROBABILITIES)
    with pytest.raises(FileError, match=r"probabilities .*in .* rows.*your word that these are"):
        read("a.npz", npz(scores=mixed, labels=LABELS))
    told = read("a.npz", npz(scores=mixed, labels=LABELS), values="logits")
    assert told.values_kind == "logits"


def test_counts_of_which_some_rows_are_one_are_logits() -> None:
    counts = np.random.default_rng(2).integers(0, 3, (200, 3))
    counts[:40] = np.eye(3)[np.arange(40) % 3]
    upload = read("a.npz", npz(scores=counts - 1.0 * (np.arange(200) > 40)[:, np.newaxis],
                               labels=np.arange(200) % 3))  # fmt: skip
    assert upload.values_kind == "logits"


@pytest.mark.parametrize("top", [1, 100])
def test_probabilities_in_an_array_called_logits_are_doubted(top: int) -> None:
    said = f'The values are called "logits", but every row sums to {top} and they were read as'
    upload = read("a.npz", npz(logits=top * PROBABILITIES, labels=LABELS))
    assert f"{said} probabilities." in upload.doubts
    upload = read("a.npz", npz(outputs=top * PROBABILITIES, labels=LABELS))
    assert not any(said in doubt for doubt in upload.doubts)
