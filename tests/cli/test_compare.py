"""``fractile compare``: the page's table, its figures, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from click.testing import CliRunner, Result

from calibcore import load_sample
from calibcore.samples import SAMPLES_FOLDER
from dashboard.cli import compare
from dashboard.cli.main import main
from tests.reference import ks_error

GARMENTS = SAMPLES_FOLDER / "three_garments.npz"

SCHEMA = json.loads(Path(compare.__file__).with_name("compare.schema.json").read_text("utf-8"))


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["compare", *map(str, arguments)], catch_exceptions=False)


def record_of(out: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(out.read_text("utf-8"))
    jsonschema.Draft202012Validator(SCHEMA).validate(record)
    assert record["$schema"] == SCHEMA["$id"]
    return record


def test_each_cell_is_what_a_slow_loop_counts(tmp_path: Path) -> None:
    other = tmp_path / "half.npz"
    with np.load(GARMENTS) as held:
        arrays = {name: held[name] for name in held.files}
    arrays["logits_test"] = arrays["logits_test"] / 2
    np.savez(other, **arrays)
    out, tex, md = (tmp_path / f"table{ending}" for ending in (".json", ".tex", ".md"))
    result = run(
        GARMENTS, other, "--calibrators", "temperature", "--json", out, "--latex", tex,
        "--markdown", md,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    cells = {(one["model"], one["calibrator"]): one for one in record_of(out)["cells"]}
    assert [*cells] == [
        (name, key) for name in (GARMENTS.name, other.name) for key in ("none", "temperature")
    ]
    rows = load_sample("three_garments")
    tested = rows["logits_test"].astype(float)
    for name, logits in ((GARMENTS.name, tested), (other.name, tested / 2)):
        odds = np.exp(logits - logits.max(1, keepdims=True))
        scores = (odds / odds.sum(1, keepdims=True)).max(1)
        hits = logits.argmax(1) == rows["labels_test"]
        value = cells[name, "none"]["value"]
        assert value == pytest.approx(ks_error(list(scores), [int(hit) for hit in hits]), abs=1e-6)
        assert f"{value * 100:.3f}" in result.output
        assert f"{value * 100:.3f}" in tex.read_text("utf-8")
        assert f"{value * 100:.3f}" in md.read_text("utf-8")
    assert cells[GARMENTS.name, "temperature"]["value"] < cells[GARMENTS.name, "none"]["value"]


def test_intervals_and_random_splits(tmp_path: Path) -> None:
    out = tmp_path / "table.json"
    run(GARMENTS, "--calibrators", "temperature", "--resamples", 50, "--json", out)
    for one in record_of(out)["cells"]:
        assert one["low"] <= one["value"] <= one["high"]
    printed = run(GARMENTS, "--calibrators", "temperature", "--splits", 3, "--json", out).output
    for one in record_of(out)["cells"]:
        assert (one["splits"], one["deviation"] > 0, one["low"]) == (3, True, None)
    assert "\u00b1" in printed
    assert "over 3 random splits" in printed


def test_what_cannot_be_fitted_is_said_of_its_cell(tmp_path: Path) -> None:
    file, out = tmp_path / "one.csv", tmp_path / "table.json"
    lines = [f"{score},{score > 0.4:d}" for score in np.linspace(0.1, 0.9, 8).round(2)]
    file.write_text("risk,outcome\n" + "\n".join(lines), encoding="utf-8")
    result = run(file, "--calibrators", "spline.n_knots=10", "--json", out)
    assert result.exit_code == 0, result.output
    (cell,) = (one for one in record_of(out)["cells"] if one["refused"])
    assert (cell["calibrator"], cell["value"]) == ("spline.n_knots=10", None)
    assert f"{file.name}, Spline" in result.output


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (("--calibrators", "splin"), "'splin'. Expected one of none, spline,"),
        (("--measure", "kss"), "'kss'. Expected one of ks_error,"),
        (("--splits", "1"), "1. Expected 0, or from 2 to 1000."),
        (("--splits", "2", "--resamples", "20"), "resamples too. Expected one of the two"),
        (("--event", "top-9"), "9. Expected a rank from 1 to 3"),
        (("--json", "table.txt"), "the ending '.txt'"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(options: tuple[str, ...], wanted: str) -> None:
    result = run(GARMENTS, *options)
    assert result.exit_code == 2
    assert wanted in " ".join(result.output.split())
