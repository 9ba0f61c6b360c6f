"""docs/papers.md: each entry of its list opens its page, computes, fits, runs, and is tested."""

import doctest
import importlib
import runpy
import tomllib
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from calibcore.calibrators import CATALOGUE
from calibcore.metrics import METRICS
from dashboard.settings import method_of, options_of
from tests.app.pages import open_page
from tests.app.test_addresses import keys_of_all
from tests.marks import first_and_long

ROOT = Path(__file__).parents[1]
LISTED: dict[str, Any] = tomllib.loads((ROOT / "docs" / "papers.toml").read_text("utf-8"))
SHARED: dict[str, str] = LISTED["shared"]
ENTRIES: list[dict[str, str]] = [one for paper in LISTED["paper"] for one in paper["entries"]]

SPLINES = {"spline", "one_vs_rest_spline", "per_rank"}

KINDS = {"measure", "method", "page", "call", "test", "out"}


def named(kind: str) -> list[str]:
    """List what entries name of one kind, once each; pages by their addresses."""
    return list(dict.fromkeys(SHARED.get(one[kind], one[kind]) for one in ENTRIES if kind in one))


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
        assert all(options_of(key)["constrained"] is False for key in splines), address
    assert n_splines == 13


def test_addresses_set_what_there_is() -> None:
    known = {*keys_of_all(), "within", "answers"}
    asked = {key for one in named("page") for key, _ in parse_qsl(one.partition("?")[2])}
    assert asked <= known


@pytest.mark.parametrize(
    "address",
    [
        case
        for _, alike in groupby(sorted(named("page")), lambda one: one.partition("?")[0])
        for case in first_and_long(alike)
    ],
)
def test_an_address_opens_its_page(address: str) -> None:
    path, _, query = address.partition("?")
    page = open_page(path, **dict(parse_qsl(query, strict_parsing=bool(query))))
    assert not page.exception
    assert not page.error
    assert not [one.value for one in page.warning if "not available" in one.value]
    assert page.get("plotly_chart") or page.get("html")


def test_measures_and_methods_are_of_the_catalogues_whose_tests_compute_and_fit_each() -> None:
    assert set(named("measure")) <= {one.key for one in METRICS}
    assert set(named("method")) <= {one.key for one in CATALOGUE}


def test_functions_have_examples_which_run_with_their_module() -> None:
    for name in named("call"):
        module, _, attribute = name.rpartition(".")
        one = getattr(importlib.import_module(module), attribute)
        assert doctest.DocTestFinder(recurse=False).find(one)[0].examples, name


def test_what_is_checked_is_checked_by_a_test() -> None:
    checked = named("test")
    for one in checked:
        file, name = one.split("::")
        assert f"\ndef {name}(" in (ROOT / "tests" / file).read_text("utf-8"), one
    assert len(checked) >= 21
