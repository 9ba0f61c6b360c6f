"""The settings of the papers' tables."""

import pytest

from calibcore.calibrators import CATALOGUE, Choice, WholeNumber
from calibcore.comparison import can_rank
from calibcore.data_needed import LEARNED
from calibcore.metrics import METRICS
from dashboard.settings import is_variant, method_of, options_of
from dashboard.widgets import papers as words
from tests.app.pages import open_page, turn_to

METHODS = {method.key: method for method in CATALOGUE}


@pytest.mark.parametrize("key", words.TABLES)
def test_a_table_names_settings_that_there_are(key: str) -> None:
    table, ranks = words.TABLES[key], {one.key for one in METRICS if can_rank(one)}
    assert set(table.measures) <= ranks
    assert table.measures[0] in LEARNED or not table.learners
    for asked in (*table.methods, *table.learners):
        assert "." not in asked or is_variant(asked)
        method, *own = asked.split(".")
        for name, text in (part.split("=") for part in own):
            option = next(one for one in METHODS[method].options if one.name == name)
            assert not isinstance(option, Choice) or text in option.allowed
    options = {
        f"{method.key}_{option.name}": option for method in CATALOGUE for option in method.options
    }
    for name, word in table.words.items():
        choice = options.get(name)
        assert name in {"event", "method", "data_needed_error"} or isinstance(choice, Choice)
        assert not isinstance(choice, Choice) or word in choice.allowed
    for name, value in table.values.items():
        set_by = options.get(name)
        assert name in {"rank", "within", "bins", "draws"} or set_by is not None
        assert not isinstance(set_by, WholeNumber) or set_by.least <= int(value) <= set_by.most


def test_every_spline_of_gupta_is_the_papers_own() -> None:
    tables = {key: one for key, one in words.TABLES.items() if key.startswith("gupta")}
    assert list(tables) == [f"gupta_{number}" for number in (1, 2, 4, 5, 6, 7)]
    knots = {1: 6, 2: 6, 4: 14, 5: 6, 6: 13, 7: 6}
    for (key, table), (number, n_knots) in zip(tables.items(), knots.items(), strict=True):
        method, *others = table.methods
        own = options_of(method)
        assert own["constrained"] is False, key
        assert own.get("n_knots", 6) == n_knots, number
        name = method_of(method)
        assert table.words["method"] == name
        assert table.values[f"{name}_constrained"] is False
        assert table.values[f"{name}_n_knots"] == n_knots
        assert not [one for one in others if "spline" in one]


@pytest.mark.long
def test_a_table_sets_measure_and_splits_on_models_and_curves_on_data_needed() -> None:
    page = open_page("models", sample="three_garments", models_view="table", table_models="none")
    page.multiselect(key="methods_seen").set_value([]).run()
    for key, measure, splits in (
        ("zhang_2", "calibration_gain", 100), ("guo_s3", "nll", 0), ("gupta_5", "accuracy", 0),
    ):  # fmt: skip
        page.selectbox(key="paper_table").set_value(key).run()
        page.button(key="paper_apply").click().run()
        assert not page.exception
        assert page.selectbox(key="table_measure_seen").value == measure
        assert page.number_input(key="table_splits").value == splits
        assert page.multiselect(key="methods_seen").value == list(words.TABLES[key].methods)
    page.selectbox(key="paper_table").set_value("zhang_6").run()
    page.button(key="paper_apply").click().run()
    page = turn_to(page, "data-needed")
    assert not page.exception
    assert page.multiselect(key="learners_seen").value == list(words.TABLES["zhang_6"].learners)
    assert page.segmented_control(key="draws").value == 30
    assert page.segmented_control(key="data_needed_error_seen").value == "kde_ece"
    # The ensemble chosen on the left, by squared error, is one of them and no sixth.
    assert "is included" not in " ".join(str(one.value) for one in page.markdown)


@pytest.mark.long
def test_a_table_sets_event_calibrator_and_comparison_at_once() -> None:
    page = open_page("calibrators", sample="three_garments", methods="temperature")
    page.selectbox(key="paper_table").set_value("gupta_4").run()
    page.multiselect(key="methods_seen")
    page.button(key="paper_apply").click().run()
    assert not page.exception
    assert page.segmented_control(key="event_seen").value == "within"
    assert page.slider(key="spline_n_knots").value == 14
    assert not page.toggle(key="spline_constrained").value
    assert page.selectbox(key="by_seen").value == "ks_error"
    assert page.multiselect(key="methods_seen").value == list(words.TABLES["gupta_4"].methods)
    page.selectbox(key="paper_table").set_value("gupta_6").run()
    page.button(key="paper_apply").click().run()
    assert page.segmented_control(key="event_seen").value == "top"
    assert page.number_input(key="bins").value == 25
    assert page.slider(key="spline_n_knots").value == 13
    assert not page.warning
