"""What the controls of all pages write into the address."""

import ast
import random
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from calibcore.calibrators import CATALOGUE
from dashboard import stage
from dashboard.compute.learn import source_of
from dashboard.opening.choices import read_address
from dashboard.settings import is_variant, options_of
from dashboard.widgets import address
from tests.app.pages import APP, choose, measure_cells, open_page, turn_to
from tests.marks import first_and_long

DASHBOARD = Path(__file__).parents[2] / "dashboard"

ODD_KEYS = ("", "x", "$$ID-1", "embed", "address_asked", "upload_0", "digests", "\u00e9", "k" * 300)
ODD_VALUES = (
    "", "x", "0", "1", "-1", "2.5", "99", "1e400", "-1e400", "inf", "nan", "9" * 5000, "true",
    "none", ",", "a,b", "~", "%", "score:a", "score:", "rows", "sets:", "spline.n_knots=",
    "spline.", "spline.n_knots=99999999999999999999", "spline.n_knots=10.n_knots=9",
    "temperature.loss=", "nosuch.y=1", "\u0663", "\u202e", "\x00", "<b>", "x" * 3000,
)  # fmt: skip


def bound_keys(code: str) -> list[str]:
    """List the keys of the controls that are bound to the address."""
    keys: list[str] = []
    for call in ast.walk(ast.parse(code)):
        if isinstance(call, ast.Call):
            named = {word.arg: word.value for word in call.keywords}
            spread = [ast.unparse(word.value) for word in call.keywords if word.arg is None]
            bound = "bind" in named or any(text.endswith("IN_ADDRESS") for text in spread)
            if ("key" in named and bound) or ast.unparse(call.func).startswith("address.choose"):
                inside = ast.walk(named["key"])
                constants = {part.value for part in inside if isinstance(part, ast.Constant)}
                keys += [value for value in constants if isinstance(value, str)]
    return keys


def test_no_two_controls_share_a_word_of_the_address() -> None:
    files = sorted(DASHBOARD.rglob("*.py"))
    counted = Counter(key for file in files for key in bound_keys(file.read_text("utf-8")))
    assert counted["event"] == 1
    assert [key for key, times in counted.items() if times > 1] == []


def test_an_address_opens_what_it_names_and_a_choice_is_a_short_word_in_it() -> None:
    page = open_page(
        "maps", sample="crash_survival", method="platt", event="class", **{"class": "died"}
    )
    assert page.selectbox(key="method_seen").value == "platt"
    assert page.segmented_control(key="event_seen").value == "class"
    assert page.selectbox(key="class").value == "died"
    assert not page.warning
    page = choose(page, "method", "temperature")
    assert page.query_params["method"] == "temperature"
    page = choose(page, "method", "spline")  # what is usual is left out
    assert page.query_params.get("method", "") == ""


@pytest.mark.parametrize(
    ("key", "asked"),
    [("hand_t", "5"), ("bins", "200"), ("sample", "nosuch"), ("method", "splin"), ("rank", "99")],
)
def test_what_the_address_cannot_have_is_said_until_it_is_chosen(key: str, asked: str) -> None:
    usual = {"by_hand": "temperature", "method": "temperature", "sample": "three_garments"}
    query = usual | {key: asked}
    page = open_page("maps", **query)
    assert not page.exception
    name = f"{key}={asked}".replace("_", "\\_").replace("=", "\\=")
    (warning,) = [one.value for one in page.warning if "address asks for" in one.value]
    assert name in warning
    if key == "sample":
        page = choose(page, key, "three_garments")
        assert not [one for one in page.warning if "address asks for" in one.value]


@cache
def keys_of_all() -> list[str]:
    """List what an address can set, and what it cannot."""
    code = [file.read_text("utf-8") for file in sorted(DASHBOARD.rglob("*.py"))]
    options = [f"{one.key}_{option.name}" for one in CATALOGUE for option in one.options]
    reading = ["roles", "positive", "values", "labels_from", "header", "sets", "together",
               "leave_out", "class_names", "prevalence", "only", "only_which", "group", "rank",
               "lesson", "draw", "guess", "seat"]  # fmt: skip
    return sorted({key for text in code for key in bound_keys(text)} | {*options, *reading})


def made_up(rng: random.Random, keys: list[str], n_settings: int) -> dict[str, list[str]]:
    """Make an address of settings that are mostly nonsense."""
    chosen = rng.sample([*keys, *ODD_KEYS], n_settings)
    return {key: rng.choices(ODD_VALUES, k=rng.choice((1, 1, 1, 2))) for key in chosen}


def test_made_up_addresses_are_settings_or_nothing() -> None:
    rng, keys = random.Random(33), keys_of_all()  # noqa: S311
    for _ in range(5_000):
        query = made_up(rng, keys, 4)
        usable = address.usable(query)
        assert set(query) - set(usable) <= {"", "$$ID-1"}
        options, wrong = read_address({key: values[-1] for key, values in usable.items()})
        assert len(wrong) <= len(usable)
        assert options.prevalence is None or 0 < options.prevalence < 1
        for value in (value for values in usable.values() for value in values):
            if is_variant(value):
                assert options_of(value)
            if address.is_whole(value, 1, 100):
                assert 1 <= int(float(value)) <= 100
    assert not [code for code in ODD_VALUES if source_of(code) is not None]


PAGES = (
    "overview", "reliability", "ks", "maps", "decisions", "calibrators", "data-needed", "subgroups",
    "models", "learn", "laboratory", "you", "glossary", "teachers",
)  # fmt: skip


@pytest.mark.parametrize("path", first_and_long(PAGES))
def test_a_made_up_address_gives_a_page(path: str) -> None:
    rng, keys = random.Random(path), keys_of_all()  # noqa: S311
    query: Any = made_up(rng, [key for key in keys if key not in ("sample", "method")], 24)
    page = open_page(path, **{"sample": "crash_survival", "method": "none", **query})
    assert not page.exception, query
    assert len(page.main) > 1


def test_a_number_that_is_none_leaves_the_default() -> None:
    asked = {"bins": "1e400", "rank": "inf", "folds": "2.5", "folds_seed": "nan", "": "x"}
    query = {"sample": "city_country_100", "methods": "temperature", **asked}
    page = open_page("calibrators", **query)
    assert not page.exception
    (warning,) = [one.value for one in page.warning if "address asks for" in one.value]
    for key, usual in {"bins": 15, "rank": 1, "folds": 5, "folds_seed": 0}.items():
        assert f"{key}={asked[key]}" in warning.replace("\\", "")
        assert key not in page.query_params
        assert page.number_input(key=key).value == usual


# What was reached opens again ------------------------------------------------------------------

CHOOSERS = ("paper_table", "variant", "subgroup_opened")
"""Controls that only offer what something else then sets."""


def controls_of(page: AppTest) -> dict[str, Any]:
    kinds = (page.selectbox, page.segmented_control, page.toggle, page.slider, page.number_input)
    return {one.key: one for kind in kinds for one in kind if one.key and one.key not in CHOOSERS}


def move(page: AppTest, control: Any, rng: random.Random) -> AppTest:
    """Move a control, as a user does in a browser, which writes what is bound to the address."""
    if options := getattr(control, "options", None):
        value = rng.choice(options)
    else:
        value = not control.value if isinstance(control.value, bool) else int(control.min) + 1
    if key := getattr(control.proto, "query_param_key", ""):
        page.query_params[key] = str(value).lower() if isinstance(value, bool) else str(value)
    control.set_value(value).run()
    return page


def movable(control: Any) -> bool:
    """Tell whether it takes one whole number, one of several texts, or is on or off."""
    if control.key.startswith(("data", "sample", "resamples")):
        return False
    return bool(getattr(control, "options", ())) or isinstance(control.value, bool | int)


def reopened(page: AppTest) -> AppTest:
    again = AppTest.from_file(str(APP), default_timeout=60)
    again._page_hash = page._page_hash  # noqa: SLF001 - as `open_page`
    again.query_params.update(page.query_params)
    return again.run()


@pytest.fixture
def states(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Settings of every run, and how it is shown."""
    results: list[object] = []
    prepare = stage.scene_for

    def keep(page: str, *, first: bool) -> Any:
        scene = prepare(page, first=first)
        if scene is not None:
            results.append((scene.settings, scene.chosen, scene.n_resamples, scene.expert))
        return scene

    monkeypatch.setattr(stage, "scene_for", keep)
    return results


@pytest.mark.parametrize(
    "path", first_and_long(["ks", "overview", "reliability", "maps", "decisions", "subgroups"])
)
def test_what_controls_have_reached_opens_from_the_address(path: str, states: list[object]) -> None:
    rng = random.Random(path)  # noqa: S311
    page = open_page(path, sample="three_garments")
    for _ in range(5):
        offered = controls_of(page)
        key = rng.choice([key for key in sorted(offered) if movable(offered[key])])
        page = move(page, offered[key], rng)
        assert not page.exception
    reached = states[-1], {key: one.value for key, one in controls_of(page).items()}
    again = reopened(page)
    assert (states[-1], {key: one.value for key, one in controls_of(again).items()}) == reached


@pytest.mark.long
def test_what_a_table_of_a_paper_sets_opens_from_the_address(states: list[object]) -> None:
    page = open_page(
        sample="three_garments", method="temperature", one_vs_rest_histogram_n_bins="9"
    )
    for key in ("vasilev", "gupta_4", "zhang_1"):
        page.selectbox(key="paper_table").set_value(key).run()
        page.button(key="paper_apply").click().run()
        reached, figures = states[-1], measure_cells(page)
        again = reopened(page)
        assert not again.exception
        assert states[-1] == reached
        assert measure_cells(again).equals(figures)
        if key == "vasilev":
            assert page.slider(key="one_vs_rest_histogram_n_bins").value == 20
            assert figures.loc["ECE, equal-width bins", "After"] == "1.7%"
    compared = turn_to(page, "calibrators")
    again = reopened(compared)
    for key in ("methods_seen", "calibrators_measures_seen"):
        assert again.multiselect(key=key).value == compared.multiselect(key=key).value
    assert again.selectbox(key="by_seen").value == "kde_ece"


def test_a_class_and_a_subgroup_that_are_opened_open_from_the_address(states: list[object]) -> None:
    page = open_page("reliability", sample="three_garments")
    next(one for one in page.button if one.key == "open_2").click().run()
    assert page.query_params["class"] == "Shirt"
    page = turn_to(page, "subgroups")
    chooser = page.selectbox(key="subgroup_opened")
    chooser.set_value(chooser.options[0]).run()
    assert page.query_params["only_which"] == chooser.options[0]
    reached = states[-1]
    assert not reopened(page).exception
    assert states[-1] == reached
