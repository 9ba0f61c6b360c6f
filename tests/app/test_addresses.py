"""What the controls of all pages write into the address."""

import ast
from collections import Counter
from pathlib import Path

import pytest

from calibcore.calibrators import CATALOGUE, Choice
from dashboard.parts.old_addresses import MOVED, OLD_WORDS
from dashboard.samples import samples
from tests.app.pages import choose, open_page

DASHBOARD = Path(__file__).parents[2] / "dashboard"


def bound_keys(code: str) -> list[str]:
    """List the keys of the controls that are bound to the address."""
    keys: list[str] = []
    for call in ast.walk(ast.parse(code)):
        if isinstance(call, ast.Call):
            named = {word.arg: word.value for word in call.keywords}
            if "bind" in named or ast.unparse(call.func) == "address.choose":
                inside = ast.walk(named["key"])
                constants = {part.value for part in inside if isinstance(part, ast.Constant)}
                keys += [value for value in constants if isinstance(value, str)]
    return keys


def test_no_two_controls_share_a_word_of_the_address() -> None:
    files = sorted(DASHBOARD.rglob("*.py"))
    counted = Counter(key for file in files for key in bound_keys(file.read_text("utf-8")))
    assert counted["event"] == 1
    assert [key for key, times in counted.items() if times > 1] == []


def test_words_of_old_addresses_are_words_of_now() -> None:
    methods = {method.key for method in CATALOGUE}
    assert set(OLD_WORDS["method"].values()) < {"none", *methods}
    assert set(MOVED.values()) < methods
    assert set(OLD_WORDS["sample"].values()) <= {sample.name for sample in samples()}
    for method in CATALOGUE:
        for option in method.options:
            if isinstance(option, Choice):
                words = OLD_WORDS.get(f"{method.key}_{option.name}")
                assert words is None or set(option.allowed) <= set(words.values())


@pytest.mark.parametrize(
    ("method", "event"), [("Platt scaling", "Class"), ("platt", "class")], ids=["texts", "words"]
)
def test_an_address_opens_what_it_names(method: str, event: str) -> None:
    page = open_page(sample="crash_survival", method=method, event=event, **{"class": "died"})
    assert page.selectbox(key="method_seen").value == "platt"
    assert page.segmented_control(key="event_seen").value == "class"
    assert page.selectbox(key="class").value == "died"
    assert not page.warning


def test_a_choice_that_became_a_calibrator_opens_as_it() -> None:
    page = open_page(sample="three_garments", method="one_vs_rest", one_vs_rest_score_map="bbq")
    assert page.selectbox(key="method_seen").value == "one_vs_rest_bbq"
    assert not page.warning
    assert page.run().query_params["method"] == "one_vs_rest_bbq"
    assert choose(page, "method", "one_vs_rest").query_params["method"] == "one_vs_rest"


def test_a_choice_is_a_short_word_in_the_address_and_its_default_is_left_out() -> None:
    page = choose(open_page(), "method", "Temperature scaling")
    assert page.query_params["method"] == "temperature"
    page = choose(page, "method", "Spline")
    assert page.query_params.get("method", "") == ""


@pytest.mark.parametrize(
    "asked",
    ["Isotonic, one class against the rest (IROvA)", "one_vs_rest_isotonic"],
    ids=["the text of before, with a comma", "the word"],
)
def test_a_single_one_of_several_is_understood(asked: str) -> None:
    page = open_page("efficiency", sample="three_garments", learners=asked)
    assert page.multiselect(key="learners_seen").value == ["one_vs_rest_isotonic"]
    assert not [one for one in page.warning if "address asks for" in one.value]


@pytest.mark.parametrize(
    ("key", "asked"),
    [("hand_t", "5"), ("bins", "200"), ("sample", "nosuch"), ("method", "splin"), ("rank", "99")],
)
def test_what_the_address_cannot_have_is_said_until_it_is_chosen(key: str, asked: str) -> None:
    query = {"by_hand": "Temperature", "method": "temperature"} | {key: asked}
    page = open_page("maps", **query)
    assert not page.exception
    name = f"{key}={asked}".replace("_", "\\_").replace("=", "\\=")
    (warning,) = [one.value for one in page.warning if "address asks for" in one.value]
    assert name in warning
    if key == "sample":
        page = choose(page, key, "crash_survival")
        assert not [one for one in page.warning if "address asks for" in one.value]
