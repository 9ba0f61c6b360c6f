"""``fractile audit``: the pages' figures on the terminal, codes, and questions as options."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from click.testing import CliRunner, Result

from calibcore import CalibrationInputError, Split
from calibcore import audit as known_audit
from calibcore.calibrators import CATALOGUE, SplineCalibration
from calibcore.cumulative import ks_error
from calibcore.metrics import METRICS
from calibcore.samples import SAMPLES_FOLDER
from dashboard.cli.commands import SUBGROUP, Condition
from dashboard.cli.main import main
from dashboard.compute.cache import forget
from dashboard.report import contents
from dashboard.texts.numbers import percent, plain
from tests.app.pages import measure_cells, open_upload
from tests.app.test_design import DIED, RISK, WEIGHT, WHOSE, N, visits
from tests.cli.conftest import run as command
from tests.hospital import Discharges
from tests.readers.files import headed
from tests.readers.test_xlsx import rows_xml, sheet_xml, workbook
from tests.sample_sets import sample_sets
from tests.tickets import tickets

REPORT_SCHEMA = Path(contents.__file__).with_name("report.schema.json")
GARMENTS = str(SAMPLES_FOLDER / "three_garments.npz")


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    forget()
    yield
    forget()


@pytest.fixture
def export(hospital: Discharges, tmp_path: Path) -> str:
    path = tmp_path / "discharges.csv"
    path.write_bytes(hospital.data)
    return str(path)


run = partial(command, "audit")


def lines_of(result: Result) -> dict[str, str]:
    """Read the table: each measure's line."""
    results = {}
    for line in result.stdout.splitlines():
        name, _, rest = line.partition("  ")
        results[name.strip()] = rest.strip()
    return results


def test_of_very_many_rows_the_quick_way_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(headed("score,correct", np.linspace(0.01, 0.99, 60), [0, 1] * 30))
    assert "--engine here" not in run(str(path)).stderr
    monkeypatch.setattr("dashboard.many_rows.MANY_ROWS", 60)
    result = run(str(path))
    assert result.exit_code == 0
    assert "60 in rows.csv. Each is evaluated" in result.stderr
    assert "--engine here with --score and --outcome" in result.stderr
    assert "--engine here" not in result.stdout


def test_the_figures_are_those_of_the_file(export: str, hospital: Discharges) -> None:
    result = run(export)
    assert result.exit_code == 0
    lines = lines_of(result)
    gap = ks_error(hospital.risk, hospital.back)
    assert lines["KS error"].startswith(percent(gap, len(hospital.risk)))
    assert lines["Observed frequency"].startswith(percent(hospital.back.mean(), 7_400))
    assert "Worst subgroup: ward = Geriatrics, scores too low by 9." in result.stdout
    assert re.search(r"Miscalibrated in 3 of 28 subgroups: ward = Geriatrics \(9\.", result.stdout)
    assert "predicted class" not in result.stdout  # of two classes, a range of the score
    assert "\\" not in result.stdout


def test_a_few_wrong_zeros_that_decide_the_nll_are_named(tmp_path: Path) -> None:
    lines = [f"{0.1 + 0.8 * (k % 9) / 8:.3f},{int(k % 9 > 4)}" for k in range(90)]
    path = tmp_path / "zeros.csv"
    path.write_text("\n".join(["risk,outcome", *lines]), encoding="utf-8")
    assert "In the NLL" not in run(str(path), "--resamples", "0").stdout
    path.write_text("\n".join(["risk,outcome", *lines, "0,1", "0,1"]), encoding="utf-8")
    text = "Before: 2 wrong predictions have a score of exactly 0% or 100%. In the NLL"
    assert text in run(str(path), "--resamples", "0").stdout


def test_costs_set_the_cut_off_of_the_report_and_are_totalled(
    export: str, hospital: Discharges, tmp_path: Path
) -> None:
    out = tmp_path / "made.json"
    assert run(export, "--costs", "1", "4", "--resamples", "0", "--json", str(out)).exit_code == 0
    made = json.loads(out.read_text(encoding="utf-8"))
    of = {part["key"]: part["blocks"] for part in made["sections"]}
    texts = next(one["lines"] for one in of["decisions"] if one["key"] == "acting")
    called = hospital.risk >= 0.2
    cost = int((called & ~hospital.back).sum()) + 4 * int((~called & hospital.back).sum())
    none, every = 4 * int(hospital.back.sum()), int((~hospital.back).sum())
    wanted = f"Total cost at this cut-off: {cost:,} before calibration. Flagging none would cost"
    assert any(line.startswith(f"{wanted} {none:,}, flagging all {every:,};") for line in texts)
    (again,) = next(one["lines"] for one in of["rerun"] if one["key"] == "command")
    assert again.endswith("--costs 1 4")
    harm = ["--cutoff", "0.2", "--test-harm", "0.015", "--json", str(out)]
    assert run(export, *harm, "--resamples", "0").exit_code == 0
    text = out.read_text(encoding="utf-8")
    assert "A test harm of 1.5 per 100 rows is taken off the model's net benefit" in text
    assert "--cutoff 0.2 --test-harm 0.015" in text
    both = run(export, "--costs", "1", "4", "--cutoff", "0.2", "--json", str(out))
    assert both.exit_code == 2
    assert "one of the two" in both.stderr


def test_how_files_were_read_is_above_the_results(export: str, tmp_path: Path) -> None:
    read = run(export, "--resamples", "0").stdout.splitlines()[1]
    assert read.startswith("Read: 7,400 rows \u00b7 score predicted_risk_pct (%) \u00b7 outcome")
    assert "Percentages were divided by 100 in all 7,400 rows" in read
    assert "\u00b7 logits" in run(GARMENTS, "--resamples", "0").stdout.splitlines()[1]
    rng = np.random.default_rng(4)
    for name, n_rows in (("one.csv", 300), ("two.csv", 200)):
        risk = rng.random(n_rows).round(3)
        died = (rng.random(n_rows) < risk).astype(int)
        (tmp_path / name).write_bytes(headed("risk,outcome", risk, died))
    two = str(tmp_path / "one.csv"), str(tmp_path / "two.csv")
    both = run(*two, "--files-are", "sets", "--resamples", "0").stdout
    assert both.splitlines()[1].startswith("Read: 300 calibration \u00b7 200 test rows")


def test_the_figures_are_those_of_the_page(export: str, hospital: Discharges) -> None:
    page = open_upload(
        ("discharges.csv", hospital.data), method="spline", resamples="1000", measures="short"
    )
    cells = measure_cells(page, notes=True)
    printed = re.sub(r"\s+", " ", run(export, "--calibrator", "spline").stdout)
    for name in ("NLL of the event", "Brier score of the event", "KS error"):
        for side in ("Before", "After"):
            value, note = re.fullmatch(r"(\S+?)\s*(\S*)", str(cells.loc[name, side])).groups()  # type: ignore[union-attr]
            assert value in printed
            assert note.strip("()") in printed


@pytest.mark.parametrize(
    ("conditions", "code"),
    [
        ((), 0),
        (("ks_error>0.03",), 0),
        (("ks_error > 1%",), 1),
        (("ks_error>3%", "subgroup.gap>=0.05"), 1),
        (("subgroup.gap>0.5", "auroc<0.5"), 0),
    ],
)
def test_a_condition_that_holds_is_code_1(
    export: str, conditions: tuple[str, ...], code: int
) -> None:
    asked = [part for text in conditions for part in ("--fail-if", text)]
    result = run(export, "--resamples", "0", *asked)
    assert result.exit_code == code
    assert ("Fails: " in result.stdout) == (code == 1)


def test_options_of_a_calibrator_are_part_of_its_key(tmp_path: Path) -> None:
    report, key = tmp_path / "report.json", "spline.n_knots=12"
    printed = run(GARMENTS, "--calibrator", key, "--resamples", "0", "--json", str(report))
    split = Split(*sample_sets("three_garments"))
    result = known_audit(split, calibrator=SplineCalibration(n_knots=12, constrained=True)).test
    value = result.after.curves.ks_error
    assert lines_of(printed)["KS error"].split()[1] == percent(value, result.n_samples)
    assert f"--calibrator {key}" in report.read_text("utf-8")


def test_conditions_are_of_what_a_calibrator_gives() -> None:
    limit = "ks_error>2%"
    assert run(GARMENTS, "--resamples", "0", "--fail-if", limit).exit_code == 1
    mended = run(GARMENTS, "--resamples", "0", "--fail-if", limit, "--calibrator", "spline")
    assert mended.exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--calibrator", "spline"], "'ward' beside spline, which knows no groups. Expected a"),
        ([], "'ward' beside no calibrator. Expected a calibrator by group: by_group."),
    ],
)
def test_groups_that_would_change_nothing_are_refused(
    export: str, arguments: list[str], text: str
) -> None:
    result = run(export, *arguments, "--group", "ward")
    assert result.exit_code == 2
    assert text in result.stderr


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["nowhere.csv"], "nowhere.csv: No such file or directory. Expected a file to read."),
        ([GARMENTS, "--calibrator", "magic"], "'magic'. Expected one of spline,"),
        ([GARMENTS, "--calibrator", "spline.n_knots=1"], "Expected spline with options such as"),
        ([GARMENTS, "--calibrator", "spline.knots=9"], "n_knots=6, constrained=true"),
        ([GARMENTS, "--calibrator", "by_group"], "by_group, which these data do not allow."),
        ([GARMENTS, "--event", "coat"], "'coat'. Expected top-1, within-2, or a class: T-shirt"),
        ([GARMENTS, "--event", "top-9"], "top-9"),
        ([GARMENTS, "--group", "ward"], "'ward'. Expected data with a column of groups."),
        ([GARMENTS, "--column", "=id"], "'=id'. Expected NAME=ROLE."),
        ([GARMENTS, "--fail-if", "ks>3"], "'ks'. Expected subgroup.gap or one of ks_error,"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_code_2(arguments: list[str], text: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert not result.stdout
    assert result.stderr.startswith("Error: ")
    assert text in result.stderr or arguments[-1] == "top-9"
    assert len(result.stderr.splitlines()) == 1


def test_a_question_names_the_options_that_answer_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    risk = rng.random(400)
    died = rng.random(400) < risk
    back = died ^ (rng.random(400) < 0.05)
    path = tmp_path / "two.csv"
    columns = risk.round(3), died.astype(int), back.astype(int)
    path.write_bytes(headed("p,died,readmitted", *columns))
    result = run(str(path))
    assert result.exit_code == 2
    assert "?" in result.stderr.splitlines()[0]
    options = [line for line in result.stderr.splitlines() if line.startswith("  --")]
    assert len(options) >= 2
    for line, truth in zip(options, (died, back), strict=False):
        answer = re.findall(r'(--[\w-]+) "(.*?)"', line.partition("  (")[0])
        again = run(str(path), "--resamples", "0", *(part for pair in answer for part in pair))
        assert again.exit_code == 0
        assert f"{truth.sum()} of 400" in again.stdout
    short = run(str(path), "--resamples", "0", "--outcome", "readmitted", "--score", "p")
    assert f"readmitted = 1: {back.sum()} of 400" in short.stdout


def test_the_classes_that_numbers_mean_are_an_option(tmp_path: Path) -> None:
    """Labels as scikit-learn numbers classes, beside columns in another order."""
    p = np.random.default_rng(3).dirichlet([1, 1, 1], 300)
    path = tmp_path / "codes.csv"
    truth = [["ant", "cow", "dog"].index(("dog", "ant", "cow")[k]) for k in p.argmax(axis=1)]
    path.write_bytes(headed("p_dog,p_ant,p_cow,label", *p.T, truth))
    result = run(str(path))
    assert result.exit_code == 2
    first = next(line for line in result.stderr.splitlines() if line.startswith("  --"))
    assert first.startswith('  --class-names "ant,cow,dog"  (')
    again = run(str(path), "--resamples", "0", "--class-names", "ant,cow,dog")
    assert again.exit_code == 0
    assert "100.0%" in again.stdout
    other = run(str(path), "--class-names", "bee,elk,fox")
    assert other.exit_code == 2
    assert '"bee" for column "p_dog"' in other.stderr


@pytest.mark.long
def test_what_two_files_are_is_an_option_where_nothing_says_so(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    paths = {name: str(tmp_path / f"{name}.csv") for name in ("monday", "tuesday", "day1", "day2")}
    for path, count in zip(paths.values(), (300, 200, 300, 200), strict=True):
        risk = rng.random(count).round(4)
        Path(path).write_bytes(headed("p,y", risk, (rng.random(count) < risk).astype(int)))
    days = paths["monday"], paths["tuesday"]
    result = run(*days)
    assert result.exit_code == 2
    options = [line.split("  (")[0] for line in result.stderr.splitlines()[1:]]
    assert options == ["  --files-are parts", "  --files-are sets"]
    rows = {"parts": "whole set, 500 rows", "sets": "test set, 200 rows"}
    for given, shown in rows.items():
        assert shown in run(*days, "--files-are", given, "--resamples", "0").stdout
    assert rows["parts"] in run(paths["day1"], paths["day2"], "--resamples", "0").stdout
    models = [str(tmp_path / f"{name}.csv") for name in ("forest", "boost")]
    for path, power in zip(models, (1, 2), strict=True):
        risk = np.linspace(0.1, 0.9, 90).round(4) ** power
        Path(path).write_bytes(headed("p,y", risk, [int(k % 3 == 0) for k in range(90)]))
    first = run(*models, "--files-are", "models", "--resamples", "0")
    assert 'Left out, as chosen: "boost.csv". The page Models compares models.' in first.stdout
    for files, given in ((days, "models"), (days[:1], "parts")):
        assert run(*files, "--files-are", given).exit_code == 2


def test_models_in_sheets_are_an_option_too(tmp_path: Path) -> None:
    scores, sheets = np.linspace(0.1, 0.9, 90).tolist(), list[str]()
    for power in (1, 2):
        rows = [[p**power, int(k % 3 == 0)] for k, p in enumerate(scores)]
        sheets.append(sheet_xml(rows_xml([["p", "y"], *rows])))
    book = str(tmp_path / "a.xlsx")
    Path(book).write_bytes(workbook(*sheets, names=("forest", "boost")))
    result = run(book)
    assert 'sheets: 2 models of the same rows, in "forest"; "boost"' in result.stderr
    assert "  --files-are models" in result.stderr
    first = run(book, "--files-are", "models", "--resamples", "0")
    assert "whole set, 90 rows" in first.stdout
    pooled = run(book, "--files-are", "parts", "--resamples", "0")
    assert "Check: The rows of 2 sheets were put together: forest, boost." in pooled.stdout


def test_the_command_runs_alone_and_says_nothing_but_the_audit(export: str) -> None:
    words = [sys.executable, "-W", "error", "-c", "from dashboard.cli.main import main; main()"]
    done = subprocess.run(
        [*words, "audit", export, "--resamples", "0", "--fail-if", "ks_error>1%"],
        capture_output=True, check=False, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stdout.startswith("discharges.csv")
    assert done.stderr.strip() == ""


@pytest.mark.parametrize("words", [[], ["audit"], ["fit"], ["calibrate"], ["serve"]])
def test_help_has_examples_a_line_each(words: list[str]) -> None:
    result = command(*words, "--help")
    assert result.exit_code == 0
    lines = result.output.partition("Example")[2].splitlines()[1:]
    assert lines
    assert all(re.match(r"(zcat .+ \| )?fractile", line.strip()) for line in lines)


def test_conditions_are_read_and_compared() -> None:
    figures = {"ks_error": 0.02, "nll": float("nan"), SUBGROUP: 0.0}
    for text, holds in {
        "ks_error>0.02": False, "ks_error >= 2%": True, "ks_error<1e-1": True,
        "ks_error<=0.019": False, "subgroup.gap>0": False,
    }.items():  # fmt: skip
        assert Condition.parse(text).holds(figures) == holds
    with pytest.raises(CalibrationInputError, match="nll, which these data leave undefined"):
        Condition.parse("nll>0").holds(figures)


def test_a_condition_is_decided_on_what_is_printed() -> None:
    rounded = 1 - 2.0**-53  # a slope of 1 by hand, found by Newton steps
    for sign, holds in {"<": False, "<=": True, ">": False, ">=": True}.items():
        condition = Condition.parse(f"calibration_slope{sign}1")
        assert condition.holds({"calibration_slope": rounded}) == holds
    for apart, holds in {2e-12: True, 2e-13: False}.items():  # 12 digits are compared
        assert Condition.parse("ks_error>0.5").holds({"ks_error": 0.5 + apart}) == holds
    below = Condition.parse("calibration_slope<1")
    assert below.with_value({"calibration_slope": 0.87654321}) == "calibration_slope < 1 (0.8765)"
    assert below.with_value({"calibration_slope": 0.9999987}) == "calibration_slope < 1 (0.999999)"
    assert str(Condition.parse("ks_error>0.0123456789")) == "ks_error > 0.0123456789"


def test_the_limits_of_conditions_reach_to_both_ends() -> None:
    for text, limit in {
        "ks_error>3%": 0.03, "ks_error<100%": 1.0, "ks_error>0": 0.0, "subgroup.gap>1": 1.0,
    }.items():  # fmt: skip
        assert Condition.parse(text).limit == limit
    for text, wanted in {
        "ks_error": "'ks_error'. Expected one such as \"ks_error>0.03\"",
        "ks_error>much": "'much'. Expected a number after the sign.",
        "ks_error>3": "ks_error > 3. Expected a limit from 0 to 1, or",
        "accuracy<700%": "accuracy < 700%. Expected a limit from 0 to 1",
        "ks_error>inf": "ks_error > inf. Expected a limit from 0 to 1",
        "mean_gap>-2": "mean_gap > -2. Expected a limit from -1 to 1",
        "event_nll>-1": "event_nll > -1. Expected a finite limit from 0.",
        "event_nll>inf": "event_nll > inf. Expected a finite limit from 0.",
        "calibration_slope>inf": "calibration_slope > inf. Expected a finite limit.",
        "subgroup.gap>1.5": "subgroup.gap > 1.5. Expected a limit from 0 to 1, or",
    }.items():
        with pytest.raises(CalibrationInputError, match=re.escape(wanted)):
            Condition.parse(text)


def test_the_pages_marks_are_not_printed() -> None:
    text: Any = plain(":red-badge[\u25b2 Before: too high] by 2.0  \n**Worst:** a\\_b \\[c\\]")
    assert text == "\u25b2 Before: too high by 2.0\nWorst: a_b [c]"


def test_help_lists_every_key() -> None:
    text = CliRunner().invoke(main, ["audit", "--help"], terminal_width=100).output
    listed = set(re.split(r"[\s,]+", text))
    assert {one.key for one in CATALOGUE} | {one.key for one in METRICS} | {SUBGROUP} <= listed
    assert {"outcome", "score", "id", "group"} <= listed


@pytest.mark.parametrize(("given", "code"), [("1", 2), ("19", 2), ("20", 0), ("0", 0)])
def test_too_few_resamples_are_refused_by_the_option(export: str, given: str, code: int) -> None:
    result = run(export, "--resamples", given)
    assert result.exit_code == code
    assert ("Expected 0, or from 20 to 10000." in result.stderr) == (code == 2)


def test_the_threshold_of_95_percent_right_is_printed_in_both_scores(tmp_path: Path) -> None:
    made = tickets()
    path = tmp_path / "tickets.csv"
    path.write_bytes(made.data)
    result = run(str(path), "--calibrator", "temperature", "--resamples", "0")
    (line,) = [one for one in result.stdout.splitlines() if one.startswith("Acting on")]
    assert re.match(r"Acting on calibrated scores of at least \d\d\.\d% keeps ", line)
    top, right = made.probabilities.max(1), made.right
    order = np.argsort(-top, kind="stable")
    correct = right[order].cumsum() / np.arange(1, top.size + 1)
    ends = np.append(top[order][:-1] > top[order][1:], True)  # a threshold parts no equal scores
    kept = int(np.flatnonzero((correct >= 0.95) & ends)[-1]) + 1
    threshold, share = f"{100 * top[order][kept - 1]:.3g}%", percent(correct[kept - 1], kept)
    assert (
        f"own scores (before calibration) the threshold is {threshold}: it keeps {kept:,}" in line
    )
    assert f", {share} correct." in line
    one = tmp_path / "one.csv"
    one.write_text("risk,y\n" + "0.2,0\n0.7,1\n0.4,0\n" * 30, encoding="utf-8")
    assert "Acting on" not in run(str(one)).stdout


def test_weights_and_clusters_are_options(tmp_path: Path) -> None:
    path, report = tmp_path / "visits.csv", tmp_path / "report.json"
    _, data = visits()
    path.write_bytes(data)
    result = run(str(path), "--resamples", "0")
    assert '--column "sample_weight=weight"' in result.output
    assert '--column "patient_id=cluster"' in result.output
    told = run(
        str(path), "--weight", "sample_weight", "--cluster", "patient_id",
        "--resamples", "0", "--json", str(report),
    )  # fmt: skip
    known = known_audit(RISK, DIED, sample_weight=WEIGHT, clusters=WHOSE)
    error = known.test.compare("ks_error").before
    assert error is not None
    assert lines_of(told)["KS error"].startswith(percent(error, N))
    assert "sample_weight=" not in told.output
    jsonschema.validate(
        json.loads(report.read_text("utf-8")), json.loads(REPORT_SCHEMA.read_text("utf-8"))
    )
    both = "--weight", "sample_weight", "--cluster", "patient_id"
    again = command("check", path, "--against", path, *both)
    assert again.exit_code == 0  # nothing changed
    against = command("check", path, "--against", report)
    assert "rows that were drawn one by one" in against.output
    moved = run(str(path), "--prevalence", "0.1", "--resamples", "0")
    assert "have a share of 10% where scores are used" in moved.output
