"""Every method of the catalogue, chosen on the page."""

import pytest
from streamlit.testing.v1 import AppTest

from calibcore.calibrators import CATALOGUE, Choice, Method, WholeNumber
from calibcore.events import TopR
from dashboard.compute.cache import forget
from dashboard.settings import NO_METHOD, Settings
from dashboard.texts.glossary import CHOICES, OPTIONS
from dashboard.texts.methods import method_name
from dashboard.texts.refusal import NOT_FITTED
from tests.app.pages import bodies, charts, choose, open_page, tile
from tests.marks import first_and_long

SAMPLE = "three_garments"
HUNDRED = "city_country_100"


@pytest.mark.parametrize(
    "method",
    first_and_long((one for one in CATALOGUE if not one.knows_groups), 6),
    ids=lambda method: method.key,
)
def test_every_method_opens_and_is_explained(method: Method) -> None:
    page = open_page(sample=SAMPLE, method=method.key)
    assert not page.exception
    assert not page.error
    assert len(charts(page)) == 2
    text = " ".join(part.value for part in page.markdown)
    assert method.explained in text
    assert method.paper in text
    assert f"{method.name}" in text
    assert tile(page, "KS error").startswith("5.6")
    if method.acts_on == "event" or method.preserves_accuracy:
        assert "Predicted classes and accuracy" in text


@pytest.mark.parametrize("method", CATALOGUE, ids=lambda method: method.key)
def test_every_option_has_its_words_and_its_default(method: Method) -> None:
    made = Settings(TopR(1), method=method.key).calibrator()
    assert made == method.make()
    for option in method.options:
        label, text = OPTIONS[method.key, option.name]
        assert label
        assert text.endswith(".")
        if isinstance(option, Choice):
            assert option.default in option.allowed
            assert all(word in CHOICES for word in option.allowed)
            for word in option.allowed:
                method.make(**{option.name: word})
        if isinstance(option, WholeNumber):
            assert option.least <= option.default <= option.most
            method.make(**{option.name: option.least})
            method.make(**{option.name: option.most})


@pytest.mark.long
def test_rows_of_pooled_isotonic_may_stay_unnormalised_for_one_class_at_a_time() -> None:
    method = next(method for method in CATALOGUE if method.key == "pooled_isotonic")
    page = open_page(sample=HUNDRED, method=method.key)
    page.toggle(key="pooled_isotonic_normalised").set_value(False).run()
    normalised = open_page(sample=HUNDRED, method=method.key)
    assert tile(page, "KS error") != tile(normalised, "KS error")
    choose(page, "event", "within")
    assert not page.exception
    assert not page.error
    assert not [toggle for toggle in page.toggle if toggle.key == "pooled_isotonic_normalised"]


def test_names_and_keys_are_their_own() -> None:
    assert len({method.key for method in CATALOGUE}) == len(CATALOGUE)
    names = {NO_METHOD, *(method.key for method in CATALOGUE)}
    assert len({method_name(key) for key in names}) == len(names)
    offered = {(method.key, option.name) for method in CATALOGUE for option in method.options}
    assert set(OPTIONS) == offered  # no words are left over


def test_a_dear_fit_says_what_it_takes_and_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.widgets.fit_progress.ASK_FROM", 0.0)
    forget()  # what other tests have fitted
    page = open_page(sample=SAMPLE, method="vector")
    assert "Vector scaling is not fitted yet (test set)." in " ".join(bodies(page))
    before = tile(page, "KS error")
    assert "\u2192" not in before
    (step,) = [text for text in bodies(page) if text.startswith("**Fit ")]
    assert step.startswith("**Fit Vector scaling.** Press *Fit it* on this page")
    (sentence,) = [str(info.value) for info in page.info]
    assert sentence.startswith("Vector scaling on 1,500 rows of 3 classes will take about ")
    assert sentence.endswith(f"of memory. {NOT_FITTED}")
    maps = open_page("maps", sample=SAMPLE, method="vector")
    assert "Vector scaling is not fitted yet, so scores are unchanged." in [
        head.value for head in maps.subheader
    ]
    assert "Vector scaling is not fitted yet, so there are no arrows." in bodies(maps)
    (button,) = [button for button in page.button if button.label == "Fit it"]
    button.click().run()
    assert len(charts(page)) == 2
    assert tile(page, "KS error").startswith(f"{before.removesuffix('%')} \u2192 ")
    assert not [button for button in page.button if button.label == "Fit it"]


def test_a_stopped_fit_asks_again() -> None:
    def script() -> None:
        import streamlit as st  # noqa: PLC0415 - the script is run alone

        from calibcore.events import TopR  # noqa: PLC0415 - the same
        from dashboard.compute.fits import Estimate  # noqa: PLC0415
        from dashboard.settings import Settings  # noqa: PLC0415
        from dashboard.widgets import address, fit_progress  # noqa: PLC0415

        address.follow()
        dear = Settings(TopR(1), st.session_state.get("method", "dirichlet"))
        estimate = Estimate(60.0, 1e9, 1000, 1000) if dear.method == "dirichlet" else None
        if fit_progress.agreed(estimate, dear):
            with fit_progress.watched(dear, estimate) as report:
                report(0.1)
                st.stop()

    page = AppTest.from_function(script).run()
    for _ in range(2):
        (button,) = page.button
        assert button.label == "Fit it"
        button.click().run()
        (button,) = page.button
        assert button.label == "Stop"
        button.click().run()
        assert page.session_state["method"] == NO_METHOD
        page.session_state["method"] = "dirichlet"
        page.run()


def test_estimates_grow_with_the_table_and_know_the_penalty() -> None:
    methods = {method.key: method for method in CATALOGUE}
    for method in CATALOGUE:
        cost = method.cost_of()
        small, large, wide = (
            cost.seconds(*size, 1e-9) for size in ((1000, 10), (9000, 10), (9000, 4000))
        )
        assert 0 < small < large < wide
        assert cost.bytes(1000, 10) > 0
    searched = methods["matrix"].cost_of(penalty="odir").seconds(5000, 10, 1e-9)
    assert searched > 5 * methods["matrix"].cost_of(penalty="none").seconds(5000, 10, 1e-9)
