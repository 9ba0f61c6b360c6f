"""docs/papers.md: each entry of its list opens its page, computes, fits, runs, and is tested."""

import doctest
import importlib
import runpy
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest

from calibcore.calibrators import CATALOGUE
from calibcore.data import EventScores, LogitSet
from calibcore.events import TopR
from calibcore.fitting import fit, prepare
from calibcore.metrics import METRICS, EventMeasure, Options
from calibcore.metrics.measure import ChangeMeasure, ClassMeasure
from calibcore.tally import tally
from dashboard.settings import method_of, options_of
from tests.app.pages import open_page

ROOT = Path(__file__).parents[1]
LISTED: dict[str, Any] = tomllib.loads((ROOT / "docs" / "papers.toml").read_text("utf-8"))
SHARED: dict[str, str] = LISTED["shared"]
ENTRIES: list[dict[str, str]] = [one for paper in LISTED["paper"] for one in paper["entries"]]

MEASURES = {one.key: one for one in METRICS}
METHODS = {one.key: one for one in CATALOGUE}

SPLINES = {"spline", "one_vs_rest_spline", "per_rank"}

KINDS = {"measure", "method", "page", "call", "test", "out"}


def named(kind: str) -> list[str]:
    """List what entries name of one kind, once each; pages by their addresses."""
    return list(dict.fromkeys(SHARED.get(one[kind], one[kind]) for one in ENTRIES if kind in one))


@pytest.fixture(scope="module")
def rows() -> LogitSet:
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 2, (400, 3))
    table = np.exp(logits / 1.5)
    table /= table.sum(axis=1, keepdims=True)
    return LogitSet(logits, [int(rng.choice(3, p=row)) for row in table])


@pytest.fixture(scope="module")
def event(rows: LogitSet) -> EventScores:
    return TopR(1).outcomes(rows.probabilities, rows.labels)


def test_every_entry_says_where_it_is_or_why_not() -> None:
    for one in ENTRIES:
        assert set(one) <= {"at", "what", *KINDS}, one
        assert one["at"], one
        assert one["what"], one
        assert set(one) & (KINDS - {"test"}), one
    assert {one["page"] for one in ENTRIES if "page" in one} >= set(SHARED)  # none is left over


def test_the_page_is_what_the_list_says() -> None:
    written = runpy.run_path(str(ROOT / "docs" / "papers.py"))["page"]()
    assert (ROOT / "docs" / "papers.md").read_text("utf-8") == written


def test_guptas_own_spline_is_at_every_address_of_his_section() -> None:
    gupta = next(one for one in LISTED["paper"] if one["short"] == "Gupta 2021")["entries"]
    n_splines = 0
    for one in gupta:
        address = SHARED.get(one.get("page", ""), one.get("page", ""))
        asked = dict(parse_qsl(address.partition("?")[2]))
        splines = [key for key in asked.get("methods", "").split(",") if method_of(key) in SPLINES]
        if asked.get("method") in SPLINES:
            splines += [f"{asked['method']}.constrained={asked[asked['method'] + '_constrained']}"]
        n_splines += len(splines)
        constrained = "Constraints" in one["what"]
        assert all(options_of(key)["constrained"] is constrained for key in splines), address
    assert n_splines == 14


@pytest.mark.parametrize("address", named("page"))
def test_an_address_opens_its_page(address: str) -> None:
    path, _, query = address.partition("?")
    page = open_page(path, **dict(parse_qsl(query, strict_parsing=bool(query))))
    assert not page.exception
    assert not page.error
    assert not [one.value for one in page.warning if "not available" in one.value]
    assert page.get("plotly_chart") or page.get("html")


@pytest.mark.parametrize("key", named("measure"))
def test_a_measure_computes(key: str, rows: LogitSet, event: EventScores) -> None:
    measure, options = MEASURES[key], Options()
    if isinstance(measure, EventMeasure):
        found = float(measure.compute(tally(event.scores, event.hits), options))
    elif isinstance(measure, ChangeMeasure):
        found = measure.after(
            np.full_like(rows.probabilities, 1 / 3), rows.probabilities, rows.labels, options
        )
    else:
        assert isinstance(measure, ClassMeasure)
        found = measure.compute(rows.probabilities, rows.labels, options)
    assert np.isfinite(found)
    assert found != 0


@pytest.mark.parametrize("key", named("method"))
def test_a_method_fits(key: str, rows: LogitSet) -> None:
    fitted: Any = fit(METHODS[key].make(), prepare(rows, TopR(1)), None)
    if METHODS[key].acts_on == "event":
        found = fitted.predict([0.2, 0.9])
        assert found.shape == (2,)
    else:
        found = fitted.predict_proba(rows.logits)
        assert np.allclose(found.sum(axis=1), 1)
    assert (found >= 0).all()
    assert (found <= 1).all()


@pytest.mark.parametrize("name", named("call"))
def test_a_function_runs_as_its_docstring_says(name: str) -> None:
    module_name, _, attribute = name.rpartition(".")
    one = getattr(importlib.import_module(module_name), attribute)
    module = importlib.import_module(one.__module__)
    finder = doctest.DocTestFinder(recurse=False)
    (found,) = finder.find(one, attribute, module, vars(module).copy())
    assert found.examples
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    assert doctest.DocTestRunner(optionflags=flags).run(found).failed == 0


def test_what_is_checked_is_checked_by_a_test() -> None:
    checked = named("test")
    for one in checked:
        file, name = one.split("::")
        assert f"\ndef {name}(" in (ROOT / "tests" / file).read_text("utf-8"), one
    assert len(checked) >= 21
