"""What the user overrules: columns, names, the first row, the sets."""

from typing import Any

import numpy as np
import pytest

from dashboard.readers import FileError, Question, read
from tests.readers.files import (
    GOOD,
    HEADER,
    LABELS,
    LOGITS,
    PROBABILITIES,
    N,
    csv_of,
    good_csv,
    headed,
    logit_set,
    npz,
)

OTHER = (LABELS + 1) % 4
RNG = np.random.default_rng(3)
RISK = RNG.uniform(size=200).round(6)
ILL = (RNG.uniform(size=200) < RISK).astype(int)


@pytest.mark.parametrize("name", ["target", "odd", "pred_label"])
def test_another_column_of_a_table_is_the_outcome(name: str) -> None:
    upload = read("a.csv", good_csv(**{name: OTHER}), roles=((name, "outcome"),))
    np.testing.assert_array_equal(logit_set(upload).labels, OTHER)
    np.testing.assert_array_equal(logit_set(upload).logits, LOGITS)
    assert (upload.uses[name], upload.uses["label"]) == ("label", "group")
    np.testing.assert_array_equal(upload.columns["rows"]["label"].values, LABELS)


def test_another_array_is_the_outcome() -> None:
    data = npz(logits=LOGITS, labels=LABELS, y=OTHER, odd=OTHER)
    for name in ("y", "odd"):
        upload = read("a.npz", data, roles=((name, "outcome"),))
        np.testing.assert_array_equal(logit_set(upload).labels, OTHER)
    both = npz(
        val_logits=LOGITS, val_y=LABELS, test_logits=LOGITS, test_y=LABELS, val_odd=OTHER,
        test_odd=LABELS,
    )  # fmt: skip
    upload = read("a.npz", both, roles=(("odd", "outcome"),))
    np.testing.assert_array_equal(logit_set(upload.calibration).labels, OTHER)


@pytest.mark.parametrize("name", ["a.npz", "a.pkl", "a.csv"])
def test_a_column_that_is_not_there(name: str) -> None:
    with pytest.raises(FileError, match='"nope"'):
        read(name, GOOD["good" + name[1:]], roles=(("nope", "outcome"),))


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"roles": (("logit_0", "outcome"),)}, '"logit_0": values that are not integers'),
        ({"roles": (("town", "outcome"),)}, '"town": "Bonn", which no class is called'),
        ({"roles": (("big", "outcome"),)}, '"big": labels such as 90 in 40 rows'),
        ({"roles": (("town", "class"), ("odd", "class"))}, 'column "town": town 40'),
        ({"roles": (("odd", "truth"),)}, 'roles: "truth". Expected one of outcome, score'),
        ({"class_names": ("a", "b")}, "class_names: 2 names"),
        ({"first_label": 2}, 'first_label: "2"'),
        ({"values": "odds"}, 'values: "odds"'),
        ({"sets": "two"}, 'sets: "two"'),
        ({"prevalence": 1.5}, "prevalence: 1.5. Expected a share"),
    ],
)
def test_choices_that_do_not_fit(choices: dict[str, Any], message: str) -> None:
    with pytest.raises(FileError, match=message) as caught:
        read("a.csv", good_csv(town=["Bonn"] * 40, big=[90] * 40, odd=OTHER), **choices)
    assert len(str(caught.value)) < 400


def test_a_score_beside_a_table_is_the_score() -> None:
    data = good_csv(score=PROBABILITIES[:, 1], y=LABELS % 2)
    upload = read("a.csv", data, roles=(("score", "score"), ("y", "outcome")))
    assert upload.uses["logit_0"] == "group"
    np.testing.assert_allclose(logit_set(upload).probabilities[:, 1], PROBABILITIES[:, 1])


def test_class_names() -> None:
    names = ("ant", "bee", "cow", "doe")
    rows = logit_set(read("a.npz", npz(logits=LOGITS, labels=LABELS), class_names=names))
    assert rows.class_names == names
    data = csv_of(LOGITS, [names[k] for k in LABELS], header=HEADER)
    with pytest.raises(Question, match="which no class is called") as asked:
        read("a.csv", data)
    assert asked.value.answers[0].change == {"class_names": names}
    with pytest.raises(FileError, match=r"or your class names \(--class-names\)"):
        read("a.csv", data.replace(b"doe", b"bee"))
    np.testing.assert_array_equal(logit_set(read("a.csv", data, class_names=names)).labels, LABELS)


@pytest.mark.parametrize("words", [("0", "1"), ("-1", "1"), ("1", "2"), ("well", "ill")])
def test_the_event_of_a_score(words: tuple[str, str]) -> None:
    data = headed("s,label", RISK, np.array(words)[ILL])
    for event in (0, 1):
        upload = read("a.csv", data, event=words[event])
        np.testing.assert_array_equal(logit_set(upload).labels, event == ILL)
        np.testing.assert_allclose(logit_set(upload).probabilities[:, 1], RISK)
        assert logit_set(upload).class_names == (words[1 - event], words[event])


@pytest.mark.parametrize("score", ["Malignant_prob_v2", "P(Y = malignant)"])
def test_the_heading_of_a_score_names_its_event(score: str) -> None:
    words = np.array(["benign", "malignant"])
    upload = read("a.csv", headed(f"{score},diagnosis", RISK, words[ILL]))
    assert logit_set(upload).class_names == tuple(words)


def test_the_first_row_may_be_data_or_names() -> None:
    data = "\n".join(["1,2,1", *(f"{k}.5,{k % 7},{k % 2}" for k in range(30))]).encode()
    roles: Any = (("column 1", "class"), ("column 2", "class"))
    rows = logit_set(read("a.csv", data, header=False, roles=roles, values="logits"))
    assert rows.n_samples == 31
    data = data.replace(b"2,1", b"2,3", 1)
    rows = logit_set(read("a.csv", data, header=True, roles=(("3", "outcome"),), values="logits"))
    assert (rows.class_names, rows.n_samples) == (("1", "2"), 30)


@pytest.mark.parametrize("mark", ["is_label_issue", "label_quality"])
def test_marks_of_labels_are_no_labels(mark: str) -> None:
    arrays = {"pred_probs": PROBABILITIES, mark: RNG.random(N) < 0.2}
    assert read("a.npz", npz(compress=False, **arrays)).piece is not None
    upload = read("a.npz", npz(compress=False, given_label=LABELS, **arrays))
    np.testing.assert_array_equal(logit_set(upload).labels, LABELS)
