"""Calibrators as files: the same map in another process, and none where it does not belong."""

import hashlib
import json
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from calibcore import CalibrationInputError, EventScores, LogitSet, OneClass, TopR, audit
from calibcore.calibrators import (
    CATALOGUE,
    ByGroup,
    FittedMulticalibration,
    FittedScoreMap,
    FittedVectorMap,
    PlattScaling,
    SplineCalibration,
    TemperatureScaling,
)
from calibcore.calibrators.by_group import FittedByGroup
from calibcore.calibrators.lifts import FittedOneVsRest
from calibcore.calibrators.method import Calibrator
from calibcore.calibrators.score_maps.spline import FittedSpline
from calibcore.data import Rows, with_groups
from calibcore.export.calibrator_file import ACCURACY, FORMAT, CalibratorFile, thinned
from calibcore.grouping import Grouping
from calibcore.probabilities import twelve_decimals
from calibcore.splits import Split
from tests.core.draws import overconfident

NAMES = ("cat", "dog", "owl")
KEYS = [method.key for method in CATALOGUE]
WARDS = np.array(["surgery", "cardiology", "", "oncology"])


def rows_of(n_rows: int = 240, seed: int = 1) -> LogitSet:
    rows = overconfident(np.random.default_rng(seed), n_rows, 3, spread=3)
    return LogitSet(rows.logits, rows.labels, NAMES)


def wards_of(n_rows: int) -> "pd.Series[str]":
    """Return a column of wards; the fourth is in new rows alone."""
    return pd.Series(WARDS[np.arange(n_rows) % (3 if n_rows == 240 else 4)], name="ward")


def groups_for(key: str, n_rows: int) -> "pd.Series[str] | None":
    return wards_of(n_rows) if key == "by_group" else None


def calibrator_of(key: str) -> Calibrator:
    method = next(one for one in CATALOGUE if one.key == key)
    return method.make(**{option.name: option.default for option in method.options})


def file_of(key: str, rows: Rows | None = None, **asked: Any) -> CalibratorFile:
    return CalibratorFile.of(audit(rows or rows_of(), calibrator=calibrator_of(key), **asked))


@cache
def file_with(key: str) -> CalibratorFile:
    """Return the file of a calibrator, fitted once where it knows no groups."""
    if key == "by_group":
        return file_of(key, groups=wards_of(240))
    split = Split(rows_of(), rows_of())
    return CalibratorFile.of(audit(split, calibrator=calibrator_of(key)))


@cache
def usual(key: str) -> CalibratorFile:
    """Return what is read of that file."""
    return again(file_with(key))


def again(file: CalibratorFile) -> CalibratorFile:
    return CalibratorFile.from_json(file.to_json())


@pytest.fixture(scope="module")
def applied(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Apply the file of every calibrator in a fresh process."""
    folder = tmp_path_factory.mktemp("files")
    new = rows_of(60, 2)
    np.savez(folder / "new.npz", logits=new.logits, wards=wards_of(60).to_numpy(dtype=str))
    wanted = {}
    for key in KEYS:
        file = file_with(key)
        (folder / f"{key}.json").write_text(file.to_json(), encoding="utf-8")
        fitted: Any = file.fitted
        scores = TopR(1).outcomes(new.probabilities, new.labels).scores
        if isinstance(fitted, FittedVectorMap):
            wanted[key] = fitted.predict_proba(new.logits)
        elif isinstance(fitted, FittedByGroup):
            of_wards = {"": 0, "cardiology": 1, "surgery": 2, "oncology": 99}
            wanted[key] = fitted.predict(scores, [of_wards[ward] for ward in wards_of(60)])
        else:
            wanted[key] = fitted.predict(scores)
    code = (
        "import sys, pathlib, numpy as np\n"
        "from calibcore.export.calibrator_file import CalibratorFile\n"
        "folder = pathlib.Path(sys.argv[1]); new = np.load(folder / 'new.npz')\n"
        "read = {p.stem: CalibratorFile.from_json(p.read_text()) for p in folder.glob('*.json')}\n"
        "groups = {key: new['wards'] if one.needs_groups else None for key, one in read.items()}\n"
        "made = {key: one.apply(new['logits'], groups[key]) for key, one in read.items()}\n"
        "np.savez(folder / 'out.npz', **made)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(folder)], check=True)
    with np.load(folder / "out.npz") as result:
        return {key: (result[key], wanted[key]) for key in KEYS}


@pytest.mark.parametrize("key", KEYS)
def test_every_calibrator_is_itself_in_another_process(key: str, applied: dict[str, Any]) -> None:
    result, wanted = applied[key]
    assert_allclose(result, wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("wrong", ["renamed", "subset", "probabilities", "percentages"])
@pytest.mark.parametrize("key", KEYS)
def test_every_calibrator_refuses_other_classes_and_other_values(key: str, wrong: str) -> None:
    file, new = usual(key), rows_of(60, 2)
    groups = groups_for(key, 60)
    given: Any = {
        "renamed": pd.DataFrame(new.logits, columns=["dog", "cat", "fox"]),
        "subset": pd.DataFrame(new.logits[:, :2], columns=NAMES[:2]),
        "probabilities": new.probabilities,
        "percentages": np.round(100 * new.probabilities),
    }[wrong]
    if wrong == "probabilities" and file.takes == "scores":  # the event has the same score
        same = file.apply(new.logits, groups)
        assert_allclose(file.apply(given, groups), same, atol=1e-12)
        return
    with pytest.raises(CalibrationInputError) as refused:
        file.apply(given, groups)
    assert refused.value.field == "table"


def test_a_file_says_what_it_is() -> None:
    result = audit(rows_of(), calibrator=SplineCalibration(), event=TopR(2))
    file = CalibratorFile.of(result)
    assert (file.takes, file.class_names) == ("scores", NAMES)
    assert (file.event, file.n_rows) == (TopR(2), 240)
    assert len(file.data) == 64
    assert file.data != file_of("spline", rows_of(seed=3)).data
    row = result.test.compare("ks_error")
    assert file.figures["ks_error"] == (row.before, row.after)
    read = again(file)
    assert read.event == TopR(2)
    assert read.figures["ks_error"] == (row.before, row.after)
    assert read.fitted == file.fitted
    assert CalibratorFile.of(result, data="abc").data == "abc"


@pytest.mark.parametrize(
    ("key", "table", "text"),
    [
        ("temperature", "renamed", "columns owl, dog, fox. Expected cat, dog, owl."),
        ("temperature", "subset", "shape (60, 2). Expected a column for each of cat, dog, owl."),
        ("temperature", "probabilities", "probabilities. Expected logits, the outputs before soft"),
        ("temperature", "scores", "shape (60,). Expected a row of all classes each."),
        ("spline", "nothing", "table: none. Expected a score, or one of each class, in a row."),
        ("temperature", "nothing", "table: none."),
        ("temperature", "a word", "table: a str."),
        ("spline", "percent", "numbers from 0 to 1"),
    ],
)
def test_what_does_not_belong_is_refused(key: str, table: str, text: str) -> None:
    new = rows_of(60, 2)
    given: Any = {
        "renamed": pd.DataFrame(new.logits, columns=["owl", "dog", "fox"]),
        "nothing": None,
        "a word": "owl",
        "subset": new.logits[:, :2],
        "probabilities": new.probabilities,
        "scores": new.probabilities.max(axis=1),
        "percent": 100 * new.probabilities.max(axis=1),
    }[table]
    with pytest.raises(CalibrationInputError) as error:
        usual(key).apply(given)
    assert text in str(error.value)


@pytest.mark.parametrize("key", KEYS)
def test_columns_are_matched_with_the_classes_by_their_names(key: str) -> None:
    file, new, groups = usual(key), rows_of(60, 2), groups_for(key, 60)
    table = pd.DataFrame(new.logits, columns=NAMES)
    assert_array_equal(file.apply(table[["owl", "cat", "dog"]], groups), file.apply(table, groups))


def test_columns_that_may_only_be_counted_are_refused_where_classes_have_such_names() -> None:
    logits, labels = rows_of().logits, rows_of().labels
    file = file_of("temperature", LogitSet(logits, labels, ("2", "0", "1")))
    new = pd.DataFrame(logits, columns=[2, 0, 1])
    assert_array_equal(file.apply(new[[1, 2, 0]]), file.apply(logits))
    with pytest.raises(CalibrationInputError, match="Expected 2, 0, 1, in this order"):
        file.apply(pd.DataFrame(logits))


def test_probabilities_are_taken_by_what_was_fitted_on_them() -> None:
    rows = LogitSet.from_probabilities(rows_of().probabilities, rows_of().labels, NAMES)
    file = again(file_of("temperature", rows))
    assert file.takes == "probabilities"
    new = rows_of(60, 2)
    result = file.apply(pd.DataFrame(new.probabilities, columns=NAMES))
    assert isinstance(file.fitted, FittedVectorMap)
    assert_allclose(result, file.fitted.predict_proba(new.logits), atol=1e-9)
    with pytest.raises(CalibrationInputError, match="probabilities"):
        file.apply(new.logits)


def test_a_score_calibrator_finds_the_events_score_in_a_table() -> None:
    new = rows_of(60, 2)
    file = again(file_of("platt", event=OneClass(2)))
    by_score = file.apply(new.probabilities[:, 2])
    assert_allclose(file.apply(new.logits), by_score, atol=1e-12)
    assert_allclose(
        file.apply(pd.DataFrame(new.probabilities, columns=NAMES)), by_score, atol=1e-12
    )
    assert_array_equal(file.apply(new.probabilities[:, 2:]), by_score)
    of_scores = again(file_of("platt", EventScores(new.probabilities[:, 2], new.labels == 2)))
    assert of_scores.class_names == ()
    with pytest.raises(CalibrationInputError, match=r"3 columns\. Expected one score a row"):
        of_scores.apply(new.logits)


def test_unknown_fields_are_passed_over_and_later_ones_have_defaults() -> None:
    content = json.loads(file_of("temperature").to_json())
    content["colour"] = "red"
    content["fitted"]["later"] = [1, 2]
    del content["figures"], content["made_by"], content["fitted"]["warnings"], content["checksum"]
    read = CalibratorFile.from_json(json.dumps(content))
    assert read.figures == {}
    new = rows_of(60, 2)
    assert_array_equal(read.apply(new.logits), file_of("temperature").apply(new.logits))


def test_a_file_says_its_day_and_model_and_that_it_is_whole() -> None:
    file = replace(file_of("temperature"), model="resnet 3.1")
    assert date.fromisoformat(file.date) <= datetime.now(UTC).date()
    text = file.to_json()
    read = CalibratorFile.from_json(json.dumps(json.loads(text), indent=2))  # blanks do not matter
    assert (read.model, read.date) == ("resnet 3.1", file.date)
    content = json.loads(text)
    rest = {name: content[name] for name in sorted(content) if name != "checksum"}
    written = json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()
    assert content["checksum"] == hashlib.sha256(written).hexdigest()
    content["fitted"]["temperature"] *= 2
    with pytest.raises(CalibrationInputError, match="checksum: another than that of the contents"):
        CalibratorFile.from_json(json.dumps(content))


FIRST_FORMAT = """{"format": 1, "fitted": {"kind": "FittedPlatt", "warnings": [], "slope": 0.5,
"intercept": -1.0}, "takes": "scores", "class_names": ["No", "Yes"],
"event": {"kind": "class", "k": 1}, "n_rows": 40, "data": "ab12", "figures": {"ks_error":
[0.05, 0.01], "auroc": [null, null]}, "made_by": "0.1.0", "accuracy": 0.0}"""
"""As the first files were written, before groups were kept."""


def test_a_file_of_the_first_format_still_opens() -> None:
    read = CalibratorFile.from_json(FIRST_FORMAT)
    assert (read.event, read.n_rows, read.data) == (OneClass(1), 40, "ab12")
    assert read.figures == {"ks_error": (0.05, 0.01), "auroc": (None, None)}
    assert_allclose(read.apply([0.8]), [1 / (1 + np.exp(1 - 0.5 * np.log(4)))], atol=1e-15)
    assert_allclose(read.apply(pd.DataFrame({"No": [0.2], "Yes": [0.8]})), read.apply([0.8]))
    assert again(read).fitted == read.fitted
    assert read.percent_column == ""
    assert again(replace(read, percent_column="risk")).percent_column == "risk"


def test_a_map_written_alone_still_opens() -> None:
    rows = rows_of()
    fitted = TemperatureScaling().fit(rows.logits, rows.labels)
    read = CalibratorFile.from_json(fitted.to_json())
    assert read.takes == "unknown"
    assert_array_equal(read.apply(rows.logits), fitted.predict_proba(rows.logits))
    of_score = PlattScaling().fit([0.2, 0.4, 0.7, 0.9], [0, 1, 0, 1])
    assert isinstance(of_score, FittedScoreMap)
    assert_array_equal(
        CalibratorFile.from_json(of_score.to_json()).apply([0.3]), of_score.predict([0.3])
    )


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"format": FORMAT + 1}, f"of format {FORMAT + 1}. Expected at most format {FORMAT}"),
        ({"format": "new"}, "a file of format 'new'"),
        ({"takes": "pixels"}, "takes: 'pixels'. Expected one of logits"),
        ({"event": {"kind": "top", "r": 0}}, "event: "),
        ({"event": "cat"}, "event: 'cat'"),
        ({"n_rows": "many"}, "n_rows: 'many'"),
        ({"n_rows": -1}, "n_rows: -1. Expected 0 or more."),
        ({"class_names": 3}, "class_names: 3"),
        ({"percent_column": 3}, "percent_column: 3"),
        ({"fitted": None}, "kind: no known kind"),
        ({"fitted": {"kind": "FittedTemperature"}}, "FittedTemperature: the fields kind"),
    ],
)  # fmt: skip
def test_what_is_no_such_file_is_named(change: dict[str, object], text: str) -> None:
    content = json.loads(file_of("temperature").to_json()) | change
    with pytest.raises(CalibrationInputError) as error:
        CalibratorFile.from_json(json.dumps(content))
    assert text in str(error.value)


@pytest.mark.parametrize("text", ["", "[1]", "{", "3", '{"a": 1}', None])
def test_other_text_is_refused(text: Any) -> None:
    with pytest.raises(CalibrationInputError):
        CalibratorFile.from_json(text)


def test_nothing_fitted_is_said() -> None:
    with pytest.raises(CalibrationInputError, match="no fitted calibrator"):
        CalibratorFile.of(audit(rows_of()))


# Groups -------------------------------------------------------------------------------------


def test_groups_are_kept_by_name_and_column() -> None:
    file = usual("by_group")
    assert file.groups == file.columns == (Grouping(("", "cardiology", "surgery"), "ward"),)
    new = rows_of(60, 2).probabilities.max(axis=1)
    result = file.apply(new, wards_of(60))
    assert_array_equal(file.unfitted(wards_of(60)), wards_of(60) == "oncology")
    of_all = file.fitted
    assert isinstance(of_all, FittedByGroup)
    unfitted = file.unfitted(wards_of(60))
    assert_array_equal(result[unfitted], of_all.score_map.predict(new[unfitted]))
    assert not np.array_equal(result[~unfitted], of_all.score_map.predict(new[~unfitted]))
    missing = wards_of(60).replace("", None)
    assert_array_equal(file.apply(new, missing), result)


@pytest.mark.parametrize(
    ("key", "groups", "text"),
    [
        ("by_group", None, "groups: none. Expected column 'ward' of each row."),
        ("by_group", ["surgery"], "Expected a whole number for each of 60 rows."),
        ("by_group", [["surgery", "surgery"]], "groups: 2 columns. Expected 1: ward."),
        ("platt", ["surgery"] * 60, "groups: some. Expected none, as FittedPlatt knows none."),
    ],
)
def test_groups_that_do_not_belong_are_refused(key: str, groups: Any, text: str) -> None:
    with pytest.raises(CalibrationInputError) as refused:
        usual(key).apply(rows_of(60, 2).logits, groups)
    assert text in str(refused.value)


def test_groups_without_names_are_the_numbers_of_the_fit() -> None:
    rows = rows_of(240)
    weighted_rows = with_groups(rows, np.where(wards_of(240) == "surgery", 7, -3))
    split = Split(weighted_rows, weighted_rows)
    file = again(CalibratorFile.of(audit(split, calibrator=ByGroup(PlattScaling()))))
    assert file.groups == ()
    assert isinstance(file.fitted, FittedByGroup)
    scores = np.array([0.5, 0.5, 0.5])
    assert_array_equal(file.apply(scores, [-3, 7, 1]), file.fitted.predict(scores, [-3, 7, 1]))
    assert file.unfitted([-3, 7, 1]).tolist() == [False, False, True]
    with pytest.raises(CalibrationInputError, match="Expected the group of each row"):
        file.apply(scores)


def test_a_calibrator_by_group_that_was_told_none_takes_none() -> None:
    file = again(CalibratorFile.of(audit(rows_of(), calibrator=ByGroup(PlattScaling()))))
    assert isinstance(file.fitted, FittedByGroup)
    assert_array_equal(file.apply([0.3]), file.fitted.score_map.predict([0.3]))


def test_groups_in_the_file_of_before_several_columns_are_read() -> None:
    content = json.loads(usual("by_group").to_json())
    del content["checksum"]
    alone = json.dumps(content | {"groups": content["groups"][0]})
    assert CalibratorFile.from_json(alone).groups == usual("by_group").groups
    none = json.dumps(json.loads(usual("platt").to_json()) | {"groups": None})
    with pytest.raises(CalibrationInputError, match="checksum"):
        CalibratorFile.from_json(none)


# Groups of several columns ------------------------------------------------------------------


def several(n_rows: int = 2_000, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Off in two of three columns, one of which has blanks."""
    rng = np.random.default_rng(seed)
    place, sex = rng.integers(3, size=n_rows), rng.integers(2, size=n_rows)
    frame = pd.DataFrame({
        "sex": sex, "ward": np.array(["surgery", "", "oncology"])[place], "bed": place * 10 + sex,
    })  # fmt: skip
    scores = np.round(rng.uniform(0.05, 0.95, n_rows), 3)
    odds = np.log(scores / (1 - scores)) + np.array([1.0, -1.0, 0.0])[place] * np.where(sex, 1, 0.4)
    return frame, scores, (rng.random(n_rows) < 1 / (1 + np.exp(-odds))).astype(int)


def test_several_columns_are_kept_and_only_those_that_are_used_are_needed() -> None:
    frame, scores, hits = several()
    file = again(
        CalibratorFile.of(audit(scores, hits, calibrator="multicalibration", groups=frame))
    )
    assert [one.column for one in file.groups] == ["sex", "ward", "bed"]
    assert isinstance(file.fitted, FittedMulticalibration)
    needed = [one.column for one in file.columns]
    places = sorted({*file.fitted.grouping.tolist()} - {-1})
    assert needed == [file.groups[k].column for k in places]
    assert 0 < len(needed) < 3
    place = np.stack([one.numbers(frame[one.column]) for one in file.groups], axis=1)
    wanted = file.fitted.predict(scores, place)
    assert not np.array_equal(wanted, scores)
    backwards = frame[[*needed, "bed"][::-1]].loc[:, lambda one: ~one.columns.duplicated()]
    for groups in (frame, frame[needed], frame[needed].to_numpy(dtype=object), backwards):
        assert_array_equal(file.apply(scores, groups), wanted)
    assert not file.unfitted(frame).any()
    foreign = frame.assign(**{needed[0]: "another"})
    assert file.unfitted(foreign).all()
    of_all = CalibratorFile(file.fitted).fitted
    assert isinstance(of_all, FittedMulticalibration)
    assert_array_equal(of_all.predict(scores), of_all.predict(scores, np.full((2_000, 3), -1)))


def test_what_is_missing_of_several_columns_is_named() -> None:
    frame, scores, hits = several()
    scores = np.where(frame["sex"], scores, scores**2)
    file = CalibratorFile.of(audit(scores, hits, calibrator="multicalibration", groups=frame))
    names = [one.column for one in file.columns]
    assert len(names) > 1
    with pytest.raises(CalibrationInputError) as refused:
        file.apply(scores)
    assert str(refused.value) == (
        f"groups: none. Expected columns {', '.join(map(repr, names))} of each row."
    )
    with pytest.raises(CalibrationInputError) as refused:
        file.apply(scores, frame[names[0]])
    assert f"1 columns. Expected {len(names)}: {', '.join(names)}" in str(refused.value)
    content = json.loads(file.to_json())
    content["groups"] = content["groups"][:1]
    with pytest.raises(CalibrationInputError, match=r"^groups: 1 columns"):
        CalibratorFile.from_json(json.dumps(content))


@pytest.mark.parametrize(
    "groups",
    [
        "ward",
        ["ward"],
        {"column": "ward", "names": ["", "", "surgery"]},
        {"column": "ward", "names": ["a", "b"]},
        {"column": 1, "names": ["a", "b", "c"]},
        {"column": "age", "names": ["a", "b", "c"], "cuts": [60, 40]},
        {"column": "age", "names": ["a", "b", "c"], "cuts": ["40"]},
        {"column": "age", "names": ["a", "b", "c"], "cuts": 40},
    ],
)
def test_groups_that_are_none_are_named(groups: object) -> None:
    content = json.loads(usual("by_group").to_json()) | {"groups": groups}
    with pytest.raises(CalibrationInputError) as refused:
        CalibratorFile.from_json(json.dumps(content))
    assert refused.value.field == "groups"


# Very many points ---------------------------------------------------------------------------


@pytest.mark.parametrize("n_rows", [30_000, 300_000])
def test_a_spline_of_very_many_points_is_thinned_to_its_accuracy(n_rows: int) -> None:
    rng = np.random.default_rng(0)
    scores = rng.beta(2, 5, n_rows)
    fitted = SplineCalibration().fit(scores, rng.random(n_rows) < scores**1.2)
    few = thinned(fitted)
    everywhere = np.concatenate([scores, (scores[1:] + scores[:-1]) / 2, [0, 1]])
    assert np.abs(few.predict(everywhere) - fitted.predict(everywhere)).max() <= ACCURACY
    assert few.scores.size < fitted.scores.size
    assert len(few.to_json()) < 1_500_000


def test_a_file_says_how_accurate_it_is() -> None:
    rng = np.random.default_rng(0)
    scores = rng.random(50_000)
    result = audit(scores, rng.random(50_000) < scores, calibrator=SplineCalibration())
    file = CalibratorFile.of(result)
    assert file.accuracy == ACCURACY
    again = CalibratorFile.from_json(file.to_json())
    assert again.accuracy == ACCURACY
    assert again.fitted == file.fitted
    small = audit(scores[:500], rng.random(500) < scores[:500], calibrator=SplineCalibration())
    assert CalibratorFile.of(small).accuracy == 0


def test_splines_within_other_maps_are_thinned_too() -> None:
    rng = np.random.default_rng(0)
    scores = rng.random(40_000)
    spline = SplineCalibration().fit(scores, rng.random(40_000) < scores)
    held = FittedOneVsRest(score_maps=(spline, spline))
    few = thinned(held)
    for one in few.score_maps:
        assert isinstance(one, FittedSpline)
        assert one.scores.size < spline.scores.size
    assert thinned(few) is few


HOLD_SCORES = {
    "spline", "one_vs_rest_spline", "per_rank", "isotonic", "centred_isotonic",
    "one_vs_rest_isotonic", "pooled_isotonic", "bbq", "one_vs_rest_bbq", "venn_abers",
    "multicalibration",
}  # fmt: skip
"""What docs/python.md says; isotonic after a temperature holds scores that no row has."""


def numbers_in(value: Any) -> set[float]:
    inside = value.values() if isinstance(value, dict) else value
    if isinstance(value, dict | list):
        return {number for one in inside for number in numbers_in(one)}
    return {value} if isinstance(value, float) else set()


@pytest.mark.parametrize("key", KEYS)
def test_files_hold_no_row_and_scores_only_where_the_map_is_made_of_them(key: str) -> None:
    rows = overconfident(np.random.default_rng(0), 240, 3, spread=2, by=1)
    rows = with_groups(rows, rows.labels % 2)
    result = audit(Split(rows, rows), calibrator=calibrator_of(key), event=OneClass(1))
    written = numbers_in(json.loads(CalibratorFile.of(result).to_json()))
    log_shares = np.log(rows.probabilities)
    assert not written & {*rows.logits.ravel().tolist(), *log_shares.ravel().tolist()}
    plain = rows.probabilities.ravel()
    scores = {*plain.tolist(), *twelve_decimals(plain).tolist()}
    assert bool(written & scores) == (key in HOLD_SCORES)
