"""Calibrators as code: equal to the file, with numpy alone, in a process without Fractile."""

import ast
import json
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from calibcore import CalibrationInputError, EventScores, LogitSet, OneClass, audit
from calibcore.calibrators import (
    CATALOGUE,
    ByGroup,
    FittedScoreMap,
    GaussianProcessCalibration,
    IsotonicCalibration,
    PlattScaling,
)
from calibcore.calibrators.method import Calibrator
from calibcore.data import with_groups
from calibcore.export.calibrator_file import CalibratorFile
from calibcore.export.numpy_code import numpy_code
from calibcore.grouping import Grouping
from calibcore.splits import Split
from tests.core.draws import overconfident

WARDS = np.array(["b", "a", "", 'o"wl'])
MOST_LINES = 60
"""Of code: constants, blank lines and the docstring are none."""


def draw_set(n_rows: int, seed: int) -> LogitSet:
    rows = overconfident(np.random.default_rng(seed), n_rows, 3, spread=3)
    return LogitSet(rows.logits, rows.labels, ("cat", "dog", 'o"wl'))


def as_probabilities(rows: LogitSet) -> LogitSet:
    return LogitSet.from_probabilities(rows.probabilities, rows.labels, rows.class_names)


def calibrators() -> dict[str, Calibrator]:
    made = {
        one.key: one.make(**{option.name: option.default for option in one.options})
        for one in CATALOGUE
    }
    return made | {"isotonic_interpolated": IsotonicCalibration(interpolate=True)}


@cache
def file_of(key: str, kind: str = "logits") -> CalibratorFile:
    rows, calibrator = draw_set(300, 1), calibrators()[key]
    rows = as_probabilities(rows) if kind == "probabilities" else rows
    if isinstance(calibrator, ByGroup):
        groups = WARDS[np.arange(300) % 3]
        result = audit(rows, calibrator=calibrator, event=OneClass(1), groups=groups)
    else:
        result = audit(Split(rows, rows), calibrator=calibrator, event=OneClass(1))
    return CalibratorFile.of(result)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Run the code of every calibrator, fitted on either kind of table, where nothing else is."""
    folder: Path = tmp_path_factory.mktemp("code")
    wanted = {}
    for kind, new in (
        ("logits", draw_set(80, 2)),
        ("probabilities", as_probabilities(draw_set(80, 2))),
    ):
        for key in calibrators():
            file, name = file_of(key, kind), f"{kind}_{key}"
            of_scores = isinstance(file.fitted, FittedScoreMap)
            table = np.append(new.probabilities[:, 1], [0, 0.5, 1]) if of_scores else new.given
            groups = WARDS[np.arange(len(table)) % 4] if file.needs_groups else None
            (folder / f"{name}.py").write_text(numpy_code(file), encoding="utf-8")
            given = {"table": table} if groups is None else {"table": table, "groups": groups}
            np.savez(folder / f"{name}.npz", allow_pickle=False, **given)
            wanted[name] = file.apply(table, groups)
    code = (
        "import pathlib, runpy, sys, numpy as np\n"
        "given = {p: np.load(p.with_suffix('.npz')) for p in pathlib.Path('.').glob('*_*.py')}\n"
        "made = {p.stem: runpy.run_path(str(p))['calibrate'](*arrays.values())\n"
        "        for p, arrays in given.items()}\n"
        "assert not {'calibcore', 'scipy', 'pandas'} & set(sys.modules)\n"
        "np.savez('out.npz', **made)\n"
    )
    subprocess.run([sys.executable, "-I", "-c", code], check=True, cwd=folder)
    with np.load(folder / "out.npz") as out:
        return {name: (out[name], wanted[name]) for name in wanted}


@pytest.mark.parametrize("kind", ["logits", "probabilities"])
@pytest.mark.parametrize("key", list(calibrators()))
def test_the_code_is_the_calibrator(key: str, kind: str, results: dict[str, Any]) -> None:
    made, wanted = results[f"{kind}_{key}"]
    assert_allclose(made, wanted, rtol=0, atol=1e-12)


def code_lines(text: str) -> list[str]:
    lines = text.splitlines()[1:]
    return [line for line in lines if line.strip() and not re.match(r"[A-Z_0-9]+ = ", line)]


@pytest.mark.parametrize("key", list(calibrators()))
def test_the_code_is_short_and_needs_numpy_alone(key: str) -> None:
    text = numpy_code(file_of(key))
    assert len(code_lines(text)) <= MOST_LINES
    tree = list(ast.walk(ast.parse(text)))
    imported = {alias.name for node in tree if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in tree if isinstance(node, ast.ImportFrom)}
    assert imported - {*sys.stdlib_module_names} == {"numpy"}
    assert key == "gaussian_process" or imported == {"numpy"}


def code_of(file: CalibratorFile) -> Any:
    space: dict[str, Any] = {}
    exec(numpy_code(file), space)  # noqa: S102 - what is tested
    return space["calibrate"]


# A Gaussian process -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_classes", "n_inducing", "spread"), [(2, 10, 3.0), (3, 40, 6.0), (12, 10, 9.0), (12, 3, 3.0)]
)
@pytest.mark.parametrize("sure", [False, True])
def test_unsure_rows_of_a_gaussian_process_are_averaged_alike(
    n_classes: int, n_inducing: int, spread: float, *, sure: bool
) -> None:
    rng = np.random.default_rng(5)
    logits = rng.normal(size=(80, n_classes)) * 3
    labels = (logits + rng.gumbel(size=logits.shape) * (0.01 if sure else 3)).argmax(axis=1)
    rows = LogitSet(logits, labels)
    calibrator = GaussianProcessCalibration(n_inducing=n_inducing)
    file = CalibratorFile.of(audit(Split(rows, rows), calibrator=calibrator))
    new = rng.normal(size=(700, n_classes)) * spread
    new[:9, 0] = -np.inf
    new[9:20] = 0.0
    new[20:40, 1:] = -1.0
    assert_allclose(code_of(file)(new), file.apply(new), rtol=0, atol=1e-12)


# Groups -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("groups", "new"),
    [
        (["b", "a", ""], [None, "a", "b", "c", "", 3]),
        (["b", "3", ""], [None, "3", "b", "c", "", 3]),
        ([1, 2, 7], [7, 1, 2.0, np.nan, 9, 1]),
        ([1.5, 2.5, np.nan], [np.nan, 1.5, "2.5", 9, -1, 2.5]),
    ],
)
def test_groups_of_the_code_are_those_of_the_file(groups: list[Any], new: list[Any]) -> None:
    rng = np.random.default_rng(4)
    place = np.arange(300) % 3
    scores = rng.random(300)
    hits = rng.random(300) < np.clip(scores + 0.2 * (place - 1), 0, 1)
    told = np.array([groups[k] for k in place], dtype=object)
    file = CalibratorFile.of(audit(scores, hits, calibrator=ByGroup(PlattScaling()), groups=told))
    given = np.array(new, dtype=object)
    assert_allclose(code_of(file)(scores[:6], given), file.apply(scores[:6], given), atol=1e-12)
    assert 0 < file.unfitted(given).sum() < 6


def test_groups_by_ranges_and_by_numbers_of_the_fit_are_those_of_the_file() -> None:
    rng = np.random.default_rng(4)
    age, scores = rng.integers(18, 90, 400), rng.random(400)
    ages = Grouping(("below 40", "40 to 60", "60 and more", ""), "age", (40.0, 60.0))
    hits = rng.random(400) < np.clip(scores + 0.004 * (age - 50), 0, 1)
    rows = with_groups(EventScores(scores, hits), ages.numbers(age))
    plain = CalibratorFile.of(audit(Split(rows, rows), calibrator=ByGroup(PlattScaling())))
    file = replace(plain, groups=(ages,))
    new = np.array([39.9, 40, 60, 88, np.nan, -5])
    result = code_of(file)(scores[:6], new)
    assert_allclose(result, file.apply(scores[:6], new), rtol=0, atol=1e-12)
    assert_allclose(result, code_of(plain)(scores[:6], [0, 1, 2, 2, 9, 0]), rtol=0, atol=1e-12)
    assert file.unfitted(new).tolist() == [False] * 4 + [True, False]
    with pytest.raises(ValueError, match="a group for each score"):
        code_of(file)(scores[:6], new[:5])


@pytest.mark.parametrize("named", [True, False])
def test_groups_of_several_columns_are_those_of_the_file(*, named: bool) -> None:
    rng = np.random.default_rng(5)
    n, wards = 3_000, np.array(["A", "", "it's"])
    place, age = rng.integers(3, size=n), rng.integers(18, 90, n)
    scores = rng.uniform(0.02, 0.98, n)
    odds = np.log(scores / (1 - scores)) + np.array([1.0, -1.0, 0.0])[place] + (age > 60) - 0.5
    hits = rng.random(n) < 1 / (1 + np.exp(-odds))
    ages = Grouping(("below 40", "40 to 60", "60 and more"), "age", (40.0, 60.0))
    groupings = (Grouping(("", "A", "it's"), "ward"), ages)
    columns = np.stack([groupings[0].numbers(wards[place]), ages.numbers(age)], axis=1)
    rows = with_groups(EventScores(scores, hits), columns)
    file = CalibratorFile.of(audit(Split(rows, rows), calibrator="multicalibration"))
    assert len(file.groups_used) == 2
    new: list[list[Any]] = [["A", 39.9], [None, 40], ["it's", 88], ["", np.nan], ["B", 60]]
    if named:
        file = replace(file, groups=groupings)
    else:
        new = [[1, 0], [0, 1], [2, 2], [0, 9], [7, 2]]
    for score in (0.01, 0.3, 0.5, 0.97):
        given = np.full(5, score), np.array(new, dtype=object if named else int)
        assert_allclose(code_of(file)(*given), file.apply(*given), rtol=0, atol=1e-12)
    assert file.unfitted(given[1]).tolist() == [False, False, False, True, True]
    with pytest.raises(ValueError, match="a group of every column for each score"):
        code_of(file)([0.5], ["A"])


# What is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", ["permuted", "subset", "probabilities", "percentages"])
@pytest.mark.parametrize("key", list(calibrators()))
def test_every_code_refuses_other_classes_and_other_values(key: str, wrong: str) -> None:
    file, new = file_of(key), draw_set(80, 2)
    groups: list[Any] = [["a"] * 80] if file.needs_groups else []
    names = ("dog", "cat", 'o"wl')
    given: Any = {
        "permuted": [new.logits[:, [1, 0, 2]], *(groups or [names])],
        "subset": [new.logits[:, :2], *(groups or [new.class_names[:2]])],
        "probabilities": [new.probabilities, *groups],
        "percentages": [np.round(100 * new.probabilities), *groups],
    }[wrong]
    if file.takes == "scores" and not groups:
        given = given[:1]  # of scores: a table is none
    with pytest.raises(ValueError, match="expected"):
        code_of(file)(*given)


def test_a_calibrator_of_folds_has_no_code() -> None:
    result = audit(draw_set(100, 1), calibrator=PlattScaling()).by_fold
    assert result is not None
    with pytest.raises(CalibrationInputError, match=r"FoldedScoreMap\. Expected one of the cat"):
        numpy_code(CalibratorFile(result))


@pytest.mark.parametrize(
    ("key", "given", "text"),
    [
        ("platt", lambda new: new.probabilities[:, 1] * 100, "scores from 0 to 1"),
        ("platt", lambda new: new.logits, "scores from 0 to 1"),
        ("temperature", lambda new: new.probabilities, "logits, not probabilities"),
        ("temperature", lambda new: new.logits[:, :2], "a column for each of"),
        (
            "vector",
            lambda new: np.where(new.logits < 0, -np.inf, new.logits),
            "largest logit of each row to be finite",
        ),
    ],
)
def test_the_code_refuses_what_does_not_belong(key: str, given: Any, text: str) -> None:
    calibrate = code_of(file_of(key))
    with pytest.raises(ValueError, match=text):
        calibrate(given(draw_set(80, 2)))
    if key == "temperature":
        with pytest.raises(ValueError, match="in this order"):
            calibrate(draw_set(80, 2).logits, ('o"wl', "dog", "cat"))


@pytest.mark.parametrize("key", ["temperature", "by_group"])
def test_what_a_file_says_stays_text(key: str) -> None:
    file = file_of(key)
    foul = '"""\nimport os\nx = """\\'
    content = json.loads(file.to_json())
    del content["checksum"]
    content |= {"data": foul, "made_by": foul, "class_names": [foul, "\\", "'"]}
    content |= {"groups": {"column": foul, "names": [foul, "a", "b"]}}
    tree = ast.parse(numpy_code(CalibratorFile.from_json(json.dumps(content))))
    imported = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert len(imported) == 1
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert foul in texts
    assert f"Fractile {foul}" in texts
