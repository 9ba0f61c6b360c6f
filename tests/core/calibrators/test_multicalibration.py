"""Multicalibration: beside slow loops, on worlds off in two columns, and where nothing is off."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from calibcore import audit
from calibcore.calibrators import (
    ByGroup,
    FittedMulticalibration,
    Multicalibration,
    PlattScaling,
    from_json,
)
from calibcore.errors import CalibrationInputError
from calibcore.inference import group_gaps
from calibcore.weights import frequency_weights
from tests import reference_multicalibration as slow
from tests.strategies import Floats, Integers

OPPOSITE = (0.7, -0.7, 0.0, 0.0), (-0.6, 0.6, 0.0)
"""Log-odds by which the groups of two columns are off; each column averages to 0."""


def draw_rows(
    rng: np.random.Generator, n_rows: int, *shifts: tuple[float, ...]
) -> tuple[Floats, Integers, Integers]:
    """Scores, hits and groups, where log-odds are off by the shift of each column's group."""
    groups = np.stack([rng.integers(len(one), size=n_rows) for one in shifts], axis=1)
    odds = rng.normal(-0.5, 1.2, n_rows)
    true = odds + sum(np.array(one)[groups[:, k]] for k, one in enumerate(shifts))
    hits = (rng.uniform(size=n_rows) < 1 / (1 + np.exp(-true))).astype(np.int64)
    return 1 / (1 + np.exp(-odds)), hits, groups


def largest_gap(scores: Floats, hits: Integers, groups: Integers) -> float:
    return float(np.abs(group_gaps(scores, hits, list(groups.T), n_draws=20).gap).max())


# Beside slow loops --------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_beside_slow_loops(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, hits, groups = draw_rows(rng, 240, (1.6, -1.2, 0.0), (-1.5, 0.0))
    scores = np.round(scores, 2) if seed % 2 else scores
    options = ((5, 1.0, 100), (3, 4.0, 100), (4, 0.1, 2))[seed % 3]
    fitted = Multicalibration(*options).fit(scores, hits, 7 * groups - 3)
    listed = scores.tolist(), hits.tolist(), (7 * groups - 3).tolist()
    wanted = slow.multicalibrate(*listed, *options)
    assert wanted
    cells = zip(fitted.grouping.tolist(), fitted.group.tolist(), fitted.bin.tolist(), strict=True)
    assert list(cells) == list(wanted)
    assert_allclose(fitted.shift, list(wanted.values()), rtol=1e-10)
    edges = slow.edges_of(listed[0], options[0])
    assert fitted.edges.tolist() == edges
    probes = [0.0, 1.0, 0.5, *listed[0][:50]]
    rows = [[4, 4], [-3, 99], [99, 99], *listed[2][:50]]
    asked = [slow.predict(wanted, edges, *row) for row in zip(probes, rows, strict=True)]
    assert_allclose(fitted.predict(probes, rows), asked, rtol=1e-10)


# What it is for -----------------------------------------------------------------------------


def test_groups_off_in_opposite_directions_in_two_columns(rng: np.random.Generator) -> None:
    """On rows that no fit has seen; a map by either column leaves the other as it was."""
    fit, new = draw_rows(rng, 6_000, *OPPOSITE), draw_rows(rng, 20_000, *OPPOSITE)
    scores, hits, groups = new
    before = largest_gap(*new)
    after = largest_gap(Multicalibration().fit(*fit).predict(scores, groups), hits, groups)
    assert before > 0.1
    assert after < 0.03
    for column in range(2):
        by_one = ByGroup(PlattScaling()).fit(*fit[:2], fit[2][:, column])
        assert largest_gap(by_one.predict(scores, groups[:, column]), hits, groups) > 0.08


def test_scores_that_are_calibrated_stay_as_they_are() -> None:
    untouched = 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        scores, hits, groups = draw_rows(rng, 1_000, (0.0,) * 4, (0.0,) * 3)
        fitted = Multicalibration().fit(scores, hits, groups)
        untouched += fitted.shift.size == 0
        if fitted.shift.size == 0:
            assert_array_equal(fitted.predict(scores, groups), scores)
    assert untouched >= 45


@pytest.mark.long
@pytest.mark.parametrize(("n_rows", "n_groups"), [(400, (4, 3)), (2_000, (4, 3)), (2_000, (20, 9))])
def test_how_often_calibrated_scores_are_corrected(n_rows: int, n_groups: tuple[int, int]) -> None:
    corrected = 0
    for seed in range(1_000):
        shifts = tuple((0.0,) * n for n in n_groups)
        rows = draw_rows(np.random.default_rng(seed), n_rows, *shifts)
        corrected += Multicalibration().fit(*rows).shift.size > 0
    assert corrected <= 50


def test_a_range_of_scores_in_one_group(rng: np.random.Generator) -> None:
    scores, groups = rng.uniform(size=8_000), rng.integers(3, size=(8_000, 2))
    off = (groups[:, 1] == 2) & (scores > 0.6) & (scores < 0.8)
    hits = rng.uniform(size=8_000) < np.where(off, 0.4, scores)
    fitted = Multicalibration().fit(scores, hits, groups)
    assert (fitted.grouping.tolist(), fitted.group.tolist(), fitted.bin.tolist()) == ([1], [2], [3])
    assert fitted.predict([0.7], [[0, 2]])[0] == pytest.approx(0.4, abs=0.05)
    assert fitted.predict([0.5, 0.7], [[0, 2], [2, 0]]).tolist() == [0.5, 0.7]


def test_all_rows_are_a_group_too(rng: np.random.Generator) -> None:
    scores, hits, groups = draw_rows(rng, 3_000, (0.8, 0.8), (0.0, 0.0, 0.0))
    fitted = Multicalibration().fit(scores, hits, groups)
    assert fitted.grouping.tolist() == [-1]
    assert fitted.predict([0.5], [[9, 9]])[0] == pytest.approx(1 / (1 + np.exp(-0.8)), abs=0.03)


def test_a_cell_far_off_is_corrected_at_once() -> None:
    fitted = Multicalibration().fit([0.001] * 500, [1, 0] * 250, [[1]] * 500)
    (shift,), calibrated = fitted.shift, fitted.predict([0.001], [[1]])[0]
    assert 6 < shift < np.log(999)
    assert 250 - 500 * calibrated == pytest.approx(shift, abs=1e-6)  # the least penalised NLL


def test_a_fit_that_is_cut_short_says_so(rng: np.random.Generator) -> None:
    fitted = Multicalibration(rounds=2).fit(*draw_rows(rng, 2_000, *OPPOSITE))
    assert fitted.shift.size == 2
    assert fitted.warnings == (
        "The fit ended at its limit of rounds, 2: cells may be left to correct.",
    )


# What must not matter, and what is refused --------------------------------------------------


def test_the_order_of_rows_and_the_groups_numbers_do_not_matter(rng: np.random.Generator) -> None:
    scores, hits, groups = draw_rows(rng, 1_500, *OPPOSITE)
    fitted = Multicalibration().fit(scores, hits, groups)
    assert fitted.shift.size
    mixed = rng.permutation(1_500)
    assert Multicalibration().fit(scores[mixed], hits[mixed], groups[mixed]) == fitted
    renamed = np.array([41, -7, 12, 5])[groups]
    other = Multicalibration().fit(scores, hits, renamed)
    assert_array_equal(other.predict(scores, renamed), fitted.predict(scores, groups))


@given(
    rows=st.lists(
        st.tuples(
            st.one_of(st.sampled_from([0.0, 0.5, 1.0, 1e-9]), st.floats(0, 1)),
            st.integers(0, 1),
            st.integers(-2, 3),
            st.integers(0, 1),
        ),
        min_size=1,
        max_size=40,
    ),
    penalty=st.sampled_from([1e-6, 1.0, 1e4]),
)
def test_any_rows_give_probabilities_and_come_back_from_json(
    rows: list[tuple[float, int, int, int]], penalty: float
) -> None:
    scores, hits, *columns = (np.array(column) for column in zip(*rows, strict=True))
    groups = np.stack(columns, axis=1)
    fitted = Multicalibration(penalty=penalty).fit(scores, hits, groups)
    calibrated = fitted.predict(scores, groups)
    assert ((calibrated >= 0) & (calibrated <= 1)).all()
    assert bool(fitted.gain) == bool(fitted.shift.size)
    again = from_json(fitted.to_json())
    assert isinstance(again, FittedMulticalibration)
    assert again == fitted
    assert_array_equal(again.predict(scores, groups), calibrated)


def fitted_json(rng: np.random.Generator) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(
        Multicalibration().fit(*draw_rows(rng, 2_000, *OPPOSITE)).to_json()
    )
    return content


@pytest.mark.parametrize(
    ("field", "wrong", "names"),
    [
        ("grouping", [2] * 4, "grouping"),
        ("known_grouping", [0] * 7, "grouping"),
        ("known_group", [0, 1, 2, 3, 0, 1, 2, 9], "FittedMulticalibration"),
        ("edges", [0.5, 0.1], "edges"),
        ("shift", [0.1], "FittedMulticalibration"),
        ("gain", -1.0, "gain"),
        ("bin", [0.5] * 4, "bin"),
        ("bin", [-2, 0, 0, 0], "bin"),
        ("bin", [0, 0, 0, 5], "bin"),
        ("known_grouping", [0, 0, 0, 0, 10**12, 10**12, 10**12], "known_grouping"),
    ],
)
def test_a_map_that_no_fit_gives_is_refused(
    field: str, wrong: Any, names: str, rng: np.random.Generator
) -> None:
    with pytest.raises(CalibrationInputError, match=f"^{names}: "):
        from_json(json.dumps({**fitted_json(rng), field: wrong}))


@pytest.mark.parametrize(
    "groups", [[0, 1], [[0], [1]], [[0.5], [1], [2]], [["a"], ["b"], ["c"]], [[], [], []]]
)
def test_groups_that_are_no_table_are_refused(groups: Any) -> None:
    with pytest.raises(CalibrationInputError, match=r"^groups: "):
        Multicalibration().fit([0.1, 0.2, 0.3], [0, 1, 0], groups)


def test_other_columns_than_those_of_the_fit_are_refused() -> None:
    fitted = Multicalibration().fit([0.1, 0.2, 0.3], [0, 1, 0], [[0, 1]] * 3)
    with pytest.raises(CalibrationInputError, match=r"^groups: .*1 columns"):
        fitted.predict([0.5], [[0]])


@pytest.mark.parametrize(
    "options", [{"n_bins": 0}, {"penalty": 0.0}, {"penalty": np.inf}, {"rounds": 0}]
)
def test_options_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(CalibrationInputError, match=f"^{next(iter(options))}: "):
        Multicalibration(**options)


def test_without_groups_only_corrections_of_all_rows_apply(rng: np.random.Generator) -> None:
    scores, hits, groups = draw_rows(rng, 4_000, (1.6, 0.0), (0.9, 0.9, 0.9))
    fitted = Multicalibration().fit(scores, hits, groups)
    assert {-1, 0} <= {*fitted.grouping.tolist()}
    unknown = np.full((scores.size, 2), 99)
    assert_array_equal(fitted.predict(scores), fitted.predict(scores, unknown))
    alone = Multicalibration().fit(scores, hits)
    assert {*alone.grouping.tolist()} == {-1}
    assert alone.n_groupings == 0
    assert not alone.groups_used
    assert (alone.predict(scores) != scores).any()


def test_one_column_may_be_a_list_of_its_groups(rng: np.random.Generator) -> None:
    scores, hits, groups = draw_rows(rng, 2_000, OPPOSITE[0])
    fitted = Multicalibration().fit(scores, hits, groups)
    assert Multicalibration().fit(scores, hits, groups[:, 0]) == fitted
    assert_array_equal(fitted.predict(scores, groups[:, 0]), fitted.predict(scores, groups))


def test_frequency_weights_repeat_rows(rng: np.random.Generator) -> None:
    scores, hits, groups = draw_rows(rng, 800, *OPPOSITE)
    times = rng.integers(0, 4, 800)
    weighted = Multicalibration().fit(scores, hits, groups, sample_weight=frequency_weights(times))
    again = np.repeat(np.arange(800), times)
    assert weighted.shift.size
    assert weighted == Multicalibration().fit(scores[again], hits[again], groups[again])


def test_an_audit_in_folds_is_that_of_its_folds_and_names_the_groups(
    rng: np.random.Generator,
) -> None:
    scores, hits, groups = draw_rows(rng, 3_000, *OPPOSITE)
    frame = pd.DataFrame({"ward": np.array(list("ABCD"))[groups[:, 0]], "age": groups[:, 1]})
    result = audit(scores, hits, calibrator="multicalibration", groups=frame)
    assert result.request is not None
    fold, wanted = result.request.split.fold, np.empty(3_000)
    assert fold is not None
    for k in range(5):
        seen = fold != k
        fitted = Multicalibration().fit(scores[seen], hits[seen], groups[seen])
        wanted[~seen] = fitted.predict(scores[~seen], groups[~seen])
    assert_array_equal(result.test.after.event.scores, wanted)
    named = {(one.column, one.name) for one in result.verdict.groups}
    assert {("ward", "A"), ("ward", "B"), ("age", "0"), ("age", "1")} <= named
    assert not result.verdict.groups_after
