"""The glossary has every measure and calibrator, with formula and source."""

from calibcore.calibrators import CATALOGUE
from calibcore.metrics import METRICS
from dashboard.texts.glossary import GLOSSARY
from dashboard.texts.methods import method_name
from dashboard.texts.numbers import escape_markdown
from dashboard.views.glossary import reference
from tests.app.pages import open_page


def test_each_measure_and_calibrator_stands_in_it_with_its_source() -> None:
    page = open_page("glossary")
    assert not page.exception
    assert len(page.sidebar.children) == 0  # it needs no data
    opened = {one.label for one in page.expander}
    assert {measure.name for measure in METRICS} <= opened
    assert {method_name(method.key) for method in CATALOGUE} <= opened
    shown = " ".join(one.value for one in page.markdown)
    assert all(GLOSSARY[m.key] in shown and m.source in shown for m in METRICS)
    assert all(m.formula in shown and escape_markdown(m.paper) in shown for m in CATALOGUE)


def test_each_measure_and_calibrator_has_its_formula_or_conventions() -> None:
    assert all(reference.notes_of_measure(measure) for measure in METRICS)
    assert all(reference.notes_of_calibrator(method) for method in CATALOGUE)
