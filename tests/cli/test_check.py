"""``fractile check``."""

import json
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, fromstring

import jsonschema
import numpy as np
import pytest
from click.testing import Result

from calibcore import drift
from calibcore.metrics import mean_gap
from dashboard.cli import check_files
from dashboard.report.reference import read_reference
from tests.cli.conftest import run
from tests.readers.files import headed


def batch(path: Path, seed: int, *, slope: float = 1.0, rate: float | None = None) -> Path:
    """Write a hospital's batch: percent and Yes or No; calibrated with slope 1."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(-1.2, 1.1, 9_000)
    back = rng.random(9_000) < 1 / (1 + np.exp(-logits))
    kept = np.arange(1_500)
    if rate is not None:
        n_back = int(1_500 * rate)
        kept = np.concatenate([np.flatnonzero(back)[:n_back], np.flatnonzero(~back)])[:1_500]
    risk = 100 / (1 + np.exp(-slope * logits[kept]))
    lines = [f"{r:.2f},{'Yes' if b else 'No'}" for r, b in zip(risk, back[kept], strict=True)]
    path.write_text("\n".join(["risk_pct,readmitted", *lines]), encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def _fewer_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drift, "_DRAWS", 400)


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audited")
    data = batch(folder / "audited.csv", 0)
    assert run("audit", data, "--json", folder / "audit.json").exit_code == 0
    return folder / "audit.json"


def test_the_report_keeps_every_row_by_score(audited: Path) -> None:
    kept = read_reference(audited.read_text("utf-8"))
    lines = (audited.parent / "audited.csv").read_text("utf-8").splitlines()[1:]
    risk = np.array([float(line.split(",")[0]) / 100 for line in lines])
    back = np.array([line.endswith("Yes") for line in lines])
    assert kept.counted.n_samples == 1_500
    assert kept.counted.hits.sum() == back.sum()
    result = float(kept.counted.counts @ kept.counted.scores - back.sum()) / 1_500
    assert result == pytest.approx(mean_gap(risk, back), abs=1e-9)
    assert kept.reading["event"] == "Yes"


def test_a_like_batch_passes_and_its_power_is_said(audited: Path, tmp_path: Path) -> None:
    new = batch(tmp_path / "new.csv", 1)
    result = run("check", new, "--against", audited, "--change", "0.1")
    assert (result.exit_code, "No change detected" in result.output) == (0, True)
    assert "a change of the mean gap by 10 percentage points" in result.output
    assert "probability 100%" in result.output


def test_the_audited_figures_are_those_of_the_report(audited: Path, tmp_path: Path) -> None:
    """Though it holds fewer scores than there are."""
    batch(tmp_path / "new.csv", 1)
    rows = tmp_path / "new.json"
    for against in (audited, audited.parent / "audited.csv"):
        run("check", tmp_path / "new.csv", "--against", against, "--json", rows)
        results = {one["measure"]: one for one in json.loads(rows.read_text("utf-8"))["measures"]}
        report = json.loads(audited.read_text("utf-8"))
        assert len(report["reference"]["scores"]) < len({*_scores(audited.parent / "audited.csv")})
        for one in report["measures"]:
            if one["measure"] in {"ks_error", "auroc", "event_brier", "event_nll"}:
                assert results[one["measure"]]["before"] == pytest.approx(one["before"], rel=1e-12)


def _scores(path: Path) -> list[str]:
    return [line.split(",")[0] for line in path.read_text("utf-8").splitlines()[1:]]


def test_a_few_rows_do_not_pass_in_silence(audited: Path, tmp_path: Path) -> None:
    batch(tmp_path / "new.csv", 1)
    lines = (tmp_path / "new.csv").read_text("utf-8").splitlines()
    (tmp_path / "few.csv").write_text("\n".join(lines[:31]), encoding="utf-8")
    result = run("check", tmp_path / "few.csv", "--against", audited)
    text = "Too few rows (30 rows) to show a change of the mean gap by 2 percentage points."
    assert (result.exit_code, text in result.output) == (0, True)
    result = run("check", tmp_path / "few.csv", "--against", audited, "--min-power", "0.8")
    assert (result.exit_code, "Fails: power " in result.output) == (1, True)
    options = "--change", "0.2", "--min-power", "0.8"
    result = run("check", tmp_path / "new.csv", "--against", audited, *options)
    assert (result.exit_code, "Too few rows" in result.output) == (0, False)


def test_a_drifted_batch_fails_whatever_its_frequency(audited: Path, tmp_path: Path) -> None:
    result = run("check", batch(tmp_path / "new.csv", 2, slope=2.0), "--against", audited)
    assert result.exit_code == 1
    assert "does not explain" in result.output


def test_a_new_frequency_is_told_apart(
    audited: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drift, "_DRAWS", 2000)  # its p-value is counted in them
    result = run("check", batch(tmp_path / "new.csv", 3, rate=0.45), "--against", audited)
    assert result.exit_code == 1
    assert "The event became more frequent" in result.output
    assert "That alone can explain what else changed" in result.output
    table = result.output.partition("\nMeasure")[2].partition("would have been detected")[0]
    assert "0.0035" in table
    assert "*" not in table  # which marks what the frequency does not explain


@pytest.mark.parametrize("event", ["No", "top-1"])
def test_another_event_than_the_audited_one_is_refused(audited: Path, event: str) -> None:
    result = run("check", audited.parent / "audited.csv", "--against", audited, "--event", event)
    assert result.exit_code == 2
    assert result.stderr == f"Error: Event: {event}, but Yes was audited. Expected Yes.\n"


def test_other_classes_than_the_audited_ones_are_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    for count in (2, 5):
        shares, names = rng.dirichlet(np.ones(count), 300), "abcde"[:count]
        truth = rng.integers(0, count, 300)
        labels = [names[k] for k in truth]
        data = headed(",".join([*names, "label"]), *shares.T, labels)
        (tmp_path / f"{count}.csv").write_bytes(data)
    five, report = tmp_path / "5.csv", tmp_path / "5.json"
    assert run("audit", five, "--json", report, "--resamples", "0").exit_code == 0
    for against in (report, five):
        result = run("check", tmp_path / "2.csv", "--against", against)
        assert result.exit_code == 2
        assert "Classes: a, b, but 5 classes (a, b, c, ...) were audited." in result.stderr
        assert run("check", five, "--against", against).exit_code == 0


def test_other_columns_can_be_named(audited: Path, tmp_path: Path) -> None:
    new = batch(tmp_path / "new.csv", 4)
    new.write_text(new.read_text("utf-8").replace("readmitted", "x", 1), encoding="utf-8")
    columns = "--outcome", "x", "--score", "risk_pct"
    assert run("check", new, "--against", audited, *columns).exit_code == 0


@pytest.mark.parametrize("outcome", ["No", "Yes"])
@pytest.mark.parametrize("names", [("No", "Yes"), ("0", "1"), ("not ill", "ill")])
def test_a_batch_of_one_outcome_is_an_answer(
    audited: Path, tmp_path: Path, outcome: str, names: tuple[str, str]
) -> None:
    head, *lines = (audited.parent / "audited.csv").read_text("utf-8").splitlines()
    rows = [(float(line.split(",")[0]), line.endswith("Yes")) for line in lines]
    alone = [risk for risk, back in rows if back is (outcome == "Yes")][:200]
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    for path, pairs in ((old, rows), (new, [(risk, outcome == "Yes") for risk in alone])):
        path.write_bytes(
            headed(head, *zip(*((risk, names[back]) for risk, back in pairs), strict=True))
        )
    result = run("check", new, "--against", old, "--event", names[1])
    assert (result.exit_code, result.stderr) == (1, "")
    share, event = (100, "more") if outcome == "Yes" else (0, "less")
    count = 200 if share else 0
    assert f"readmitted = {names[1]}: {count} of 200 ({share}.0%)" in result.output
    back = sum(back for _, back in rows) / len(rows)
    assert f"became {event} frequent: {back:.1%} \u2192 {share}.0%" in result.output
    gap = np.mean(alone) - share
    assert f"{gap:+.1f} pp".replace("-", "\u2212") in result.output


def test_a_batch_of_a_third_outcome_alone_is_refused(audited: Path, tmp_path: Path) -> None:
    text = (audited.parent / "audited.csv").read_text("utf-8")
    new = tmp_path / "new.csv"
    for one, sentence in (("Unknown", "cannot be used"), ("Died", 'Event: "Yes"')):
        new.write_text(text.replace("Yes", one).replace(",No", f",{one}"), encoding="utf-8")
        result = run("check", new, "--against", audited)
        assert result.exit_code == 2
        assert sentence in result.stderr
    new.write_text(text.replace(",No", ",Died"), encoding="utf-8")
    result = run("check", new, "--against", audited)
    assert result.exit_code == 2
    assert "Classes: Died, Yes, but No, Yes were audited." in result.stderr


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda _: [], "no report"),
        (lambda report: report | {"format": 2}, "format 2"),
        (lambda report: {k: v for k, v in report.items() if k != "reference"}, "without its rows"),
        (lambda report: report | {"reference": report["reference"] | {"hits": [1]}}, "cannot be"),
        (lambda report: report | {"reference": report["reference"] | {"scores": ["a"]}}, "without"),
    ],
)
def test_what_is_no_report_is_refused(
    audited: Path, tmp_path: Path, change: object, text: str
) -> None:
    assert callable(change)
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps(change(json.loads(audited.read_text("utf-8")))), encoding="utf-8")
    result = run("check", audited.parent / "audited.csv", "--against", wrong)
    assert result.exit_code == 2
    assert text in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize("other", ["none.json", "none.csv"])
def test_a_missing_file_is_refused(audited: Path, other: str) -> None:
    result = run("check", audited.parent / "audited.csv", "--against", other)
    assert (result.exit_code, result.output.count("\n")) == (2, 1)


# For programs ---------------------------------------------------------------------------------


SCHEMA = Path(check_files.__file__).with_name("check.schema.json")


def check(audited: Path, new: Path, *options: str) -> tuple[Result, dict[str, Any], Element]:
    out, xml = new.with_suffix(".json"), new.with_suffix(".xml")
    result = run("check", new, "--against", audited, "--json", out, "--junit", xml, *options)
    return result, json.loads(out.read_text("utf-8")), fromstring(xml.read_text("utf-8"))  # noqa: S314 - own


@pytest.mark.parametrize(
    ("drawn", "cause"),
    [({}, "nothing"), ({"rate": 0.45}, "frequency"), ({"slope": 2.0}, "fit")],
)
def test_a_program_is_told_what_changed(
    audited: Path, tmp_path: Path, drawn: dict[str, float], cause: str
) -> None:
    new = batch(tmp_path / ("a<&\x01.csv" if cause == "fit" else "new.csv"), 3, **drawn)
    result, record, xml = check(audited, new)
    schema = json.loads(SCHEMA.read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(record)
    assert (schema["$id"], record["cause"]) == (record["$schema"], cause)
    assert (result.exit_code, record["failed"]) == ((0, False) if cause == "nothing" else (1, True))
    gap = next(one for one in record["measures"] if one["measure"] == "mean_gap")
    lines = [line.split(",") for line in new.read_text("utf-8").splitlines()[1:]]
    by_hand = np.mean([float(risk) / 100 - (back == "Yes") for risk, back in lines])
    assert gap["after"] == pytest.approx(by_hand, abs=1e-9)
    assert gap["low"] < gap["after"] - gap["before"] < gap["high"]
    suite, failed = xml, [one["measure"] for one in record["measures"] if one["changed"]]
    cases = {one.get("name"): one.find("failure") for one in suite.iter("testcase")}
    assert [name for name, one in cases.items() if one is not None] == failed
    assert {one.get("type") for one in cases.values() if one is not None} <= {cause}
    assert (suite.get("tests"), suite.get("failures")) == (str(len(cases)), str(len(failed)))


def test_what_matters_is_the_caller_s(audited: Path, tmp_path: Path) -> None:
    new = batch(tmp_path / "new.csv", 2, slope=2.0)
    result, record, _ = check(audited, new, "--min-change", "90%", "--min-change", "event_nll=0")
    changed = [one["measure"] for one in record["measures"] if one["changed"]]
    assert (result.exit_code, changed) == (1, ["event_nll"])
    assert "90 percentage points (Mean score minus frequency" in result.output
    assert "larger than 1 percentage point (" in check(audited, new, "--min-change", "1%")[0].output
    result, record, _ = check(audited, new, "--measures", "auroc, hit_rate", "--level", "0.01")
    assert [one["measure"] for one in record["measures"]] == ["auroc", "hit_rate"]
    assert (result.exit_code, record["power"], record["level"]) == (0, None, 0.01)


def halves(path: Path, seed: int, shift: float) -> None:
    """Write a batch of two wards: more events than scores say in one, fewer in the other."""
    rng = np.random.default_rng(seed)
    risk, ward = rng.uniform(0.2, 0.8, 4000), rng.integers(0, 2, 4000)
    back = (rng.random(4000) < risk + np.where(ward, shift, -shift)).astype(int)
    path.write_bytes(
        headed("risk,ward,readmitted", risk.round(4), np.array(["A", "B"])[ward], back)
    )


def test_two_wards_that_drift_oppositely_are_found(tmp_path: Path) -> None:
    old, like, new = (tmp_path / f"{name}.csv" for name in ("old", "like", "new"))
    for k, (path, shift) in enumerate(((old, 0.0), (like, 0.0), (new, 0.1))):
        halves(path, k, shift)
    result, record, _ = check(old, like)
    assert (result.exit_code, record["failed"]) == (0, False)
    assert "Subgroups: no change of the mean gap in any of 2" in result.output
    result, record, xml = check(old, new, "--measures", "mean_gap,hit_rate")
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text("utf-8"))).validate(record)
    assert (result.exit_code, record["cause"], record["failed"]) == (1, "nothing", True)
    assert {one["subgroup"]: one["changed"] for one in record["subgroups"]} == {
        "A": True,
        "B": True,
    }
    assert "Subgroups: the mean gap changed in 2 of 2." in result.output
    kinds = [one.get("type") for one in xml.iter("failure")]
    assert kinds == ["subgroup", "subgroup"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--measures", "ece"), "ece"),
        (("--min-change", "much"), "a number such as 0.01"),
        (("--measures", "auroc", "--min-power", "0.8"), "mean_gap among them"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(
    audited: Path, options: tuple[str, ...], text: str
) -> None:
    result = run("check", audited.parent / "audited.csv", "--against", audited, *options)
    assert (result.exit_code, text in result.stderr) == (2, True)
