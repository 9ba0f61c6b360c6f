"""The settings of the papers' tables."""

import pytest

from calibcore.calibrators import CATALOGUE, Choice, WholeNumber
from calibcore.contest import can_rank
from calibcore.metrics import METRICS
from dashboard.wording import papers as words
from tests.app.pages import open_page

METHODS = {method.key: method for method in CATALOGUE}


@pytest.mark.parametrize("key", words.TABLES)
def test_a_table_names_settings_that_there_are(key: str) -> None:
    table, ranks = words.TABLES[key], {one.key for one in METRICS if can_rank(one)}
    assert set(table.measures) <= ranks
    for asked in table.methods:
        method, *own = asked.split(".")
        for name, text in (part.split("=") for part in own):
            option = next(one for one in METHODS[method].options if one.name == name)
            assert not isinstance(option, Choice) or text in option.allowed
    options = {
        f"{method.key}_{option.name}": option for method in CATALOGUE for option in method.options
    }
    for name, word in table.words.items():
        choice = options.get(name)
        assert name in {"event", "method"} or isinstance(choice, Choice)
        assert not isinstance(choice, Choice) or word in choice.allowed
    for name, value in table.values.items():
        set_by = options.get(name)
        assert name in {"rank", "within", "bins"} or set_by is not None
        assert not isinstance(set_by, WholeNumber) or set_by.least <= int(value) <= set_by.most


def test_a_table_sets_event_calibrator_and_comparison_at_once() -> None:
    page = open_page("compare", sample="three_garments", methods="temperature")
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
