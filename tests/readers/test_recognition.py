"""Which column is what: on tables built by hand."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from dashboard.readers import read as read_file
from dashboard.readers.recognition import recognise
from dashboard.readers.recognition.columns import beyond_luck
from dashboard.readers.records import Column, FileTable, Odd, Reading, ReadingOptions
from dashboard.readers.refusal import FileError, Question
from tests.readers.files import headed

RNG = np.random.default_rng(7)


def column(name: str, cells: Sequence[Any] | np.ndarray) -> Column:
    """Type a column as a format would."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "biuf":
        return Column(name, cells)
    texts = [str(cell) for cell in cells]
    numbers = [number(text) for text in texts]
    told = [n for n, text in zip(numbers, texts, strict=True) if text.strip()]
    if told and sum(n is not None for n in told) >= 0.8 * len(told):
        values = np.array([np.nan if n is None else n for n in numbers])
        bad = np.flatnonzero(np.isnan(values))
        own = {text: k for k, text in enumerate(dict.fromkeys(texts[k] for k in bad))}
        odd = Odd(bad, np.array([own[texts[k]] for k in bad], np.int32), tuple(own))
        percents = sum("%" in text for text in texts)
        return Column(name, values, odd=odd if len(bad) else None, percents=percents)
    places = {text: k for k, text in enumerate(dict.fromkeys(texts))}
    return Column(name, np.array([places[text] for text in texts], np.int32), tuple(places))


def number(text: str) -> float | None:
    text = text.strip().removesuffix("%").strip()
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return float(text.replace(",", ".", 1))
    except ValueError:
        return None


def table(columns: Mapping[str, Any], *, named: bool = True) -> FileTable:
    made = tuple(column(name, cells) for name, cells in columns.items())
    return FileTable(made, len(made[0].values), named=named)


def table_of_csv(text: str) -> FileTable:
    lines = text.strip().splitlines()
    delimiter = max(";,\t|", key=lines[0].count)
    head, *rows = list(csv.reader(io.StringIO("\n".join(lines)), delimiter=delimiter))
    return table({name: [row[k] for row in rows] for k, name in enumerate(head)})


def roles(columns: Mapping[str, Any], **options: Any) -> dict[str, str]:
    named = options.pop("named", True)
    reading = read(columns, named=named, **options)
    return dict(zip(columns, reading.roles, strict=True))


def read(columns: Mapping[str, Any], *, named: bool = True, **options: Any) -> Reading:
    return recognise(table(columns, named=named), ReadingOptions(**options))


def people(n_rows: int = 600) -> dict[str, Any]:
    """Draw what a hospital may know, and outcomes as often as the scores say."""
    p = RNG.beta(2, 5, n_rows)
    return {
        "p": p,
        "y": (RNG.random(n_rows) < p).astype(int),
        "sex": RNG.choice(["m", "f"], n_rows),
        "age": RNG.integers(18, 90, n_rows),
        "n": np.arange(n_rows),
    }


def words(marks: np.ndarray, yes: str, no: str) -> list[str]:
    return [yes if mark else no for mark in marks]


def animals(n_rows: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Draw logits of three classes, and the true ones."""
    logits = RNG.normal(size=(n_rows, 3))
    return logits, (logits + RNG.gumbel(size=logits.shape)).argmax(axis=1)


def shares(logits: np.ndarray) -> np.ndarray:
    raised = np.exp(logits)
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


NAMES = np.array(["cat", "dog", "bird"])


def question_of(columns: Mapping[str, Any], **options: Any) -> Question:
    with pytest.raises(Question) as caught:
        read(columns, **options)
    return caught.value


def test_a_second_score_is_a_question_and_either_answer_is_followed() -> None:
    d = people()
    columns = {"p_model_a": d["p"], "p_model_b": d["p"] ** 1.1 + 0, "y": d["y"]}
    columns["p_model_b"] = np.clip(d["p"] + RNG.normal(0, 0.05, 600), 0, 1)
    question = question_of(columns)
    texts = [answer.label for answer in question.answers]
    assert texts == ['"p_model_a"', '"p_model_b"', "None of these"]
    assert not question.ranked
    for answer in question.answers[:2]:
        assert len(answer.change["roles"]) == 1
        result = roles(columns, **answer.change)
        assert result[answer.label.strip('"')] == "score"
        assert sorted(result.values()) == ["left out", "outcome", "score"]


def test_scores_of_all_models_are_offered_once() -> None:
    rng = np.random.default_rng(17)
    y = rng.integers(0, 2, 400)
    shares = {
        name: np.clip(0.3 + 0.4 * y + rng.normal(0, noise, 400), 0.01, 0.99).round(4)
        for name, noise in (("v1", 0.25), ("v2", 0.4), ("ensemble", 0.26), ("doctor", 0.35))
    }
    shares["doctor"] = shares["doctor"].round(1)
    twice = {f"{name}_logit": np.log(p / (1 - p)) for name, p in [*shares.items()][:2]}
    twice |= {f"{name}_prob": shares[name] for name in ("v1", "v2")}
    for scores, names in ((shares, {*shares}), (twice, {"v1_prob", "v2_prob"})):
        with pytest.raises(Question, match="score to evaluate") as caught:
            read({**scores, "label": y})
        assert {one.label.strip('"') for one in caught.value.answers[:-1]} == names


def test_the_name_of_the_score_speaks_for_its_outcome() -> None:
    rng = np.random.default_rng(2)
    p = rng.beta(2, 6, 400).round(3)
    mace = rng.random(400) < p
    parts = {name: (mace & (rng.random(400) < 0.4)).astype(int) for name in ("death", "stroke")}
    with pytest.raises(Question, match="Which column says what happened") as caught:
        read({"p_mace": p, **parts, "mace": mace.astype(int)})
    assert caught.value.answers[0].label == '"mace"'


def test_two_outcomes_that_happen_are_a_question() -> None:
    d = people()
    other = d["y"] ^ (RNG.random(600) < 0.05)
    question = question_of({"p": d["p"], "died": d["y"], "readmitted": other})
    assert [answer.label for answer in question.answers][:2] == ['"died"', '"readmitted"']


def test_an_answer_keeps_what_the_user_has_said_before() -> None:
    d = people()
    second = np.clip(d["p"] + RNG.normal(0, 0.05, 600), 0, 1)
    texts = (("n", "group"),)
    question = question_of({"n": d["n"], "p_a": d["p"], "p_b": second, "y": d["y"]}, roles=texts)
    assert ("n", "group") in question.answers[0].change["roles"]


def test_roles_of_the_user_hold_and_need_no_reason() -> None:
    d = people()
    columns = {"score": d["p"], "x": RNG.random(600), "y": d["y"], "z": d["y"]}
    reading = read(columns, roles=(("x", "score"), ("z", "outcome")))
    assert reading.roles == ("left out", "score", "left out", "outcome")
    assert reading.reasons[1] == reading.reasons[3] == ""


def test_a_role_for_no_column_and_two_scores_are_refused() -> None:
    d = people()
    columns = {"p": d["p"], "q": d["p"], "y": d["y"]}
    with pytest.raises(FileError, match="no column"):
        read(columns, roles=(("z", "outcome"),))
    with pytest.raises(FileError, match="two columns"):
        read(columns, roles=(("p", "score"), ("q", "score")))


@pytest.mark.parametrize(
    ("yes", "no"),
    [("Yes", "No"), ("ja", "nein"), ("oui", "non"), ("Sí", "No"), ("TRUE", "FALSE"),
     ("positive", "negative"), ("dead", "alive"), ("churned", "stayed"), ("verstorben", "lebt"),
     ("spam", "ham"), ("relevant", "not relevant")],
)  # fmt: skip
def test_words_tell_the_event(yes: str, no: str) -> None:
    d = people()
    assert read({"p": d["p"], "result": words(d["y"], yes, no)}).event == yes


def test_the_heading_of_the_score_tells_the_event() -> None:
    d = people()
    assert read({"p_blue": d["p"], "winner": words(d["y"], "blue", "red")}).event == "blue"


def test_a_risk_beside_survival_is_of_those_who_do_not_survive() -> None:
    d = people()
    columns = {"mortality_risk": d["p"], "survived": words(d["y"], "no", "yes")}
    assert read(columns).event == "no"


@pytest.mark.parametrize(
    ("score", "label", "yes", "no"),
    [("p", "label", "0", "1"), ("score", "label", "no", "yes")],
)  # fmt: skip
def test_which_is_the_event_is_asked_where_words_do_not_agree_with_numbers(
    score: str, label: str, yes: str, no: str
) -> None:
    d = people()
    columns = {score: d["p"], label: words(d["y"], yes, no)}
    question = question_of(columns, roles=((label, "outcome"),))
    count = int(d["y"].sum())
    assert question.answers[0].change == {"event": yes}
    assert f"{count:,} of 600 rows" in question.answers[0].why
    assert read(columns, roles=((label, "outcome"),), event=no).event == no


@pytest.mark.parametrize(
    ("score", "label", "yes", "no"),
    [("p", "team", "A", "B"), ("prob_0", "label", "0", "1"), ("p", "outcome", "2", "1")],
)
def test_where_words_do_not_say_which_is_the_event_the_scores_do(
    score: str, label: str, yes: str, no: str
) -> None:
    d = people()
    columns = {score: d["p"], label: words(d["y"], yes, no)}
    result = read(columns, roles=((label, "outcome"),))
    assert result.event == yes
    is_noted = any("scores are higher" in text for text in result.notes)
    assert is_noted == (score == "p")
    weak = columns | {score: np.clip(d["p"] * 0.1 + RNG.random(600) * 0.9, 0, 1)}
    assert score != "p" or question_of(weak, roles=((label, "outcome"), (score, "score"))).answers


def test_values_alone_and_labels_alone_are_pieces() -> None:
    logits, true = animals()
    columns = {f"p_{name}": shares(logits)[:, k] for k, name in enumerate(NAMES)}
    ids = {"id": np.arange(400)}
    assert list(roles(ids | columns).values()) == ["id", "class", "class", "class"]
    assert list(roles(ids | {"label": true}).values()) == ["id", "outcome"]
    d = people()
    reading = read({"sex": d["sex"], "score": d["p"]})
    assert reading.roles == ("group", "score")
    assert any("No column is surely the outcome" in text for text in reading.notes)


@pytest.mark.parametrize(
    "names",
    [("p_lower", "p_upper"), ("lower_95", "upper_95"), ("lcl", "ucl"), ("CI low", "CI high")],
)
def test_limits_of_the_score_itself_are_no_groups(names: tuple[str, str]) -> None:
    d = people()
    p, width = d["p"], 0.05 + 0.1 * d["p"]
    limits = dict(zip(names, ((p - width).round(4), (p + width).round(4)), strict=True))
    given = {"p": p, **limits, "died": d["y"]}
    assert [*roles(given).values()] == ["score", "left out", "left out", "outcome"]
    # Others with a low and a high value, such as of the blood pressure, are groups.
    others = dict(zip(names, (d["age"], d["age"] + 5), strict=True))
    assert [*roles({"p": p, **others, "died": d["y"]}).values()][1] == "group"


def test_a_table_without_score_and_outcome_is_refused() -> None:
    d = people()
    with pytest.raises(FileError, match="no column that can be the outcome") as caught:
        read({"age": d["age"], "height_cm": 150 + 30 * d["p"], "visit": d["n"]})
    assert not isinstance(caught.value, Question)


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ({"p_delay15": "p", "arr_delay": "minutes"}, '"arr_delay" holds numbers: make a column'),
        ({"PD": "p", "days_past_due": "minutes"}, '"days_past_due" holds numbers: make a column'),
        ({"risk": "p", "date_of_death": "dates"}, '"date_of_death" holds dates in 200 rows: make'),
    ],
)
def test_what_needs_a_limit_to_be_an_outcome_is_named(columns: dict[str, str], text: str) -> None:
    rng = np.random.default_rng(2)
    cells = {
        "p": rng.random(600), "minutes": rng.integers(-20, 200, 600),
        "dates": ["", "", "2024-03-01"] * 200,
    }  # fmt: skip
    reading = read({name: cells[which] for name, which in columns.items()})
    (note,) = [note for note in reading.notes if note.startswith("No column is surely the outcome")]
    assert text in note


def test_a_score_beside_what_needs_a_limit_is_no_missing_score() -> None:
    rng = np.random.default_rng(3)
    rain = np.where(rng.random(600) < 0.7, 0.0, rng.gamma(1, 4, 600)).round(1)
    dates = [f"2023-01-{k % 28 + 1:02d}" for k in range(600)]
    with pytest.raises(FileError) as caught:
        read({"date": dates, "PoP": rng.integers(0, 11, 600) * 10, "precip_mm": rain})
    refusal = str(caught.value)
    text = '"precip_mm" holds numbers: make a column that is 1 where it is above (or below)'
    assert text in refusal
    assert "none that can be a score" not in refusal


@pytest.mark.parametrize(
    ("heading", "cells", "role"),
    [("split", ["val", "test"] * 300, "set"), ("split", ["red", "blue"] * 300, "group"),
     ("patient_id", np.arange(600)[::-1].copy(), "id"), ("day", ["2024-03-01"] * 600, "date"),
     ("version", ["v1"] * 600, "left out"), ("when", ["01/02/2024", "3/4/2023"] * 300, "date"),
     ("note", [f"seen {k} times" for k in range(600)], "left out"),
     ("year", np.arange(600) % 5 + 2018, "group")],
)  # fmt: skip
def test_further_columns(heading: str, cells: Any, role: str) -> None:
    d = people()
    assert roles({"p": d["p"], "y": d["y"], heading: cells})[heading] == role


@pytest.mark.parametrize("n_classes", [1_000, 4_000])
def test_thousands_of_classes_are_read(n_classes: int) -> None:
    logits = RNG.normal(size=(500, n_classes))
    columns = {f"logit_{k}": logits[:, k] for k in range(n_classes)}
    reading = read({**columns, "label": logits.argmax(axis=1)})
    assert reading.roles == ("class",) * n_classes + ("outcome",)


def test_the_order_of_the_columns_does_not_matter() -> None:
    d = people()
    columns = {
        "id": d["n"], "sex": d["sex"], "age": d["age"], "risk": d["p"], "died": d["y"],
        "creatinine": RNG.lognormal(0, 1, 600),
    }  # fmt: skip
    expected = roles(columns)
    for _ in range(10):
        order = RNG.permutation(list(columns)).tolist()
        assert roles({name: columns[name] for name in order}) == expected


def test_a_csv_of_ten_rows() -> None:
    text = "id;p;y\n" + "\n".join(f"{k};0,{k}5;{k // 5}" for k in range(10))
    parsed = table_of_csv(text)
    assert recognise(parsed, ReadingOptions()).roles == ("id", "score", "outcome")


def test_labels_of_any_size_are_compared_with_classes() -> None:
    truth = np.array([0, 1, 2**60, 2, 0, 1, 2**60] * 20)
    text = np.array([0, 1, 2, -1, 0, 1, 2] * 20)
    assert not beyond_luck(truth, np.full(140, -1))
    assert beyond_luck(truth, text)


def test_an_event_of_rows_that_were_left_out_is_in_no_row_in_use() -> None:
    data = headed("risk,died", [0.2, 0.7, 0.4, -1, -1] * 30, [1, 1, 1, 0, 0] * 30)
    with pytest.raises(FileError, match='"0", which no row in use has in column "died"'):
        read_file("a.csv", data, leave_out=True, event="0")
