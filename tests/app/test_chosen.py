"""How files are to be read, written into the address and read from it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.opening.choices import assigned, read_address, write_address
from dashboard.readers import ReadingOptions
from dashboard.readers.records import ROLES

NAMES = st.text(min_size=1, max_size=12)
CHOICES = st.fixed_dictionaries(
    {},
    optional={
        "values": st.sampled_from(["logits", "probabilities"]),
        "first_label": st.sampled_from([0, 1]),
        "header": st.booleans(),
        "sets": st.just("one"),
        "together": st.tuples(st.sampled_from(["sets", "without"]), NAMES, NAMES)
        | st.just(("rows",)),
        "leave_out": st.just(True),  # noqa: FBT003
        "event": NAMES,
        "class_names": st.lists(NAMES, min_size=1, max_size=4).map(tuple),
        "prevalence": st.integers(1, 999).map(lambda share: share / 1000),
        "roles": st.lists(
            st.tuples(NAMES, st.sampled_from(("class", "group", "left out", "ranked class"))),
            unique_by=lambda pair: pair[0],
        ).map(tuple),
    },
)


@given(CHOICES)
def test_the_address_gives_back_every_choice(choices: dict[str, Any]) -> None:
    options = ReadingOptions(**choices)
    assert read_address(write_address(options)) == (options, ())


def test_what_is_detected_is_not_in_the_address() -> None:
    assert write_address(ReadingOptions()) == {}
    assert read_address({"values": "Auto", "data": "file"}) == (ReadingOptions(), ())


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("values", "odds"), ("header", "maybe"), ("leave_out", "yes"), ("labels_from", "2"),
        ("sets", "three"), ("together", "apart:a.csv"),
        ("prevalence", "100"), ("prevalence", "nan"), ("prevalence", "many"),
        ("roles", "outcome"), ("roles", "outcome:"), ("roles", "boss:risk"),
        ("roles", "outcome:died~:risk"),
    ],
)  # fmt: skip
def test_what_the_address_says_wrongly_is_named_and_the_rest_followed(key: str, text: str) -> None:
    options, wrong = read_address({key: text, "positive": "Yes"})
    assert options == ReadingOptions(event="Yes")
    (sentence,) = wrong
    assert f"Address of the page, {key}" in sentence
    assert text.rpartition("~")[2] in sentence


@pytest.mark.parametrize("role", ROLES)
def test_a_role_of_one_column_is_taken_from_the_other(role: Any) -> None:
    both = assigned((("a", role),), "b", role)
    one = {"outcome", "score", "prediction", "correct", "id", "set"}
    alone = role in one | {"count", "events", "weight", "cluster"}
    assert both == ((("b", role),) if alone else (("a", role), ("b", role)))


def test_a_column_has_the_role_that_it_was_given_last() -> None:
    assert assigned((("a", "score"), ("b", "group")), "a", "left out") == (
        ("b", "group"), ("a", "left out"),
    )  # fmt: skip
