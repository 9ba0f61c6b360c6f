"""``fractile check`` of rows that were audited: found, matched by their IDs, and compared."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.cli.conftest import run

N_ROWS = 400


def visits(seed: int = 0, *, shift: float = 0.0, noise: float = 0.0) -> pd.DataFrame:
    """Return a hospital's rows; the same seed gives the same visits and outcomes, scored again."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(-1.0, 1.1, N_ROWS)
    back = rng.random(N_ROWS) < 1 / (1 + np.exp(-logits))
    names = [f"V{seed}-{number:05d}" for number in rng.permutation(90_000)[:N_ROWS]]
    again = np.random.default_rng(seed + 1).normal(shift, noise, N_ROWS) if shift or noise else 0
    risk = 1 / (1 + np.exp(-logits - again))
    outcome = np.where(back, "Yes", "No")
    return pd.DataFrame({"visit_id": names, "risk": risk.round(5), "readmitted": outcome})


def shuffled(table: pd.DataFrame) -> pd.DataFrame:
    return table.sample(frac=1, random_state=3)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("january")
    visits().to_csv(folder / "january.csv", index=False)
    result = run(
        "audit", folder / "january.csv", "--json", folder / "audit.json", "--resamples", "0"
    )
    assert result.exit_code == 0
    return folder / "audit.json"


@pytest.fixture
def check(report: Path, tmp_path: Path) -> Callable[..., tuple[int, str]]:
    """Return a function that checks a table and gives the code and what is printed."""

    def checked(table: pd.DataFrame, *options: str | Path, against: Path = report) -> Any:
        table.to_csv(tmp_path / "new.csv", index=False)
        result = run("check", tmp_path / "new.csv", "--against", against, *options)
        return result.exit_code, result.output

    return checked


Check = Callable[..., tuple[int, str]]


# Pairs --------------------------------------------------------------------------------------


def test_the_same_rows_in_another_order_are_pairs(check: Check) -> None:
    code, text = check(shuffled(visits(noise=0.05)))
    assert code == 0
    assert "Paired: 400 of 400 row IDs match (column visit_id).\n" in text
    assert "No change detected" in text
    assert "same outcomes" in text  # with rows out of order they would differ
    assert "400 rows, now and as audited: a change" in text
    assert "If only" not in text


def test_pairs_show_a_change_that_two_samples_miss(check: Check) -> None:
    later = shuffled(visits(shift=0.08, noise=0.05))
    code, text = check(later)
    assert (code, "All outcomes are the same as audited: the scores changed." in text) == (1, True)
    code, text = check(later, "--column", "visit_id=left out")
    assert (code, "No change detected" in text) == (0, True)
    assert "Two samples: no column of row IDs is in both january.csv and new.csv." in text


def test_rows_without_a_pair_are_counted_and_not_compared(check: Check) -> None:
    table = pd.concat([visits(noise=0.05).iloc[30:], visits(9).iloc[:20]])
    code, text = check(table)
    assert code == 0
    assert "Paired: 370 of 390 row IDs match" in text
    assert "Not compared: 20 rows of the new batch and 30 rows of the audited file." in text


def test_new_outcomes_are_told_apart_from_new_scores(check: Check) -> None:
    later = visits()
    later.loc[later.index % 12 == 0, "readmitted"] = "Yes"
    code, text = check(later)
    assert code == 1
    assert "The event became more frequent" in text
    assert "with the new outcomes, the audited scores would show" in text
    later["risk"] = (later["risk"] * 1.2).clip(upper=1).round(5)
    code, text = check(later)
    assert code == 1
    n_changed = int((later["readmitted"] != visits()["readmitted"]).sum())
    assert f"The outcome changed in {n_changed} of 400 rows, which does not explain: " in text


def test_rows_that_are_left_out_keep_the_others_in_pairs(check: Check) -> None:
    table = shuffled(visits(noise=0.05))
    table.iloc[[3, 50], 1] = np.nan
    code, text = check(table, "--leave-out")
    assert code == 0
    assert "Paired: 398 of 398 row IDs match" in text
    assert "same outcomes" in text


def test_of_two_sets_the_test_set_is_paired(check: Check, tmp_path: Path) -> None:
    table = visits().assign(set=["val", "test"] * 200)
    table.to_csv(tmp_path / "sets.csv", index=False)
    code, text = check(shuffled(table), against=tmp_path / "sets.csv")
    assert code == 0
    assert "Paired: 200 of 200 row IDs match" in text
    assert "same outcomes" in text


def test_top_predictions_are_paired(check: Check, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = visits().assign(animal=rng.choice(["cat", "dog", "owl"], N_ROWS))
    table = table.assign(predicted=np.where(table["readmitted"] == "Yes", table["animal"], "cat"))
    columns = {"visit_id": "visit_id", "animal": "true_label", "predicted": "pred_label",
               "risk": "confidence"}  # fmt: skip
    table = table[[*columns]].rename(columns=columns)
    table["confidence"] = 0.4 + table["confidence"] / 2
    table.to_csv(tmp_path / "old.csv", index=False)
    code, text = check(shuffled(table), against=tmp_path / "old.csv")
    assert code == 0
    assert "Paired: 400 of 400 row IDs match" in text
    assert "same outcomes" in text


# Two samples --------------------------------------------------------------------------------


ONES, OTHERS = visits(), visits(5)
ALIKE = pd.concat([visits(noise=0.05).iloc[:300], visits(9).iloc[:100]])


@pytest.mark.parametrize(
    ("table", "text"),
    [
        (OTHERS, "no row IDs in common with january.csv (column visit_id)."),
        (ALIKE, "300 of 400 row IDs match (column visit_id), fewer than 90%."),
        (ONES.iloc[:29], "29 of 29 row IDs match (column visit_id), fewer than 30."),
        (pd.concat([ONES, ONES.iloc[:2]]), "row IDs repeat in new.csv (column visit_id)."),
        (ONES.drop(columns="visit_id"), "no column of row IDs is in both"),
    ],
)
def test_rows_that_are_no_pairs_are_two_samples(
    check: Check, table: pd.DataFrame, text: str
) -> None:
    code, output = check(table)
    assert code in {0, 1}
    assert f"Two samples: {text}" in output
    assert "now and as audited" not in output


def test_a_column_that_counts_rows_is_asked_about(check: Check, tmp_path: Path) -> None:
    counted = np.arange(1, N_ROWS + 1)
    visits().assign(visit_id=counted).to_csv(tmp_path / "old.csv", index=False)
    other = visits(5).assign(visit_id=counted)
    _, text = check(other, against=tmp_path / "old.csv")
    assert "Two samples: column visit_id only counts the rows" in text
    assert 'add --column "visit_id=id"' in text
    _, text = check(other, "--column", "visit_id=id", against=tmp_path / "old.csv")
    assert "Paired: 400 of 400 row IDs match" in text


def test_rows_that_are_counted_are_pairs_where_all_outcomes_are_the_same(
    check: Check, tmp_path: Path
) -> None:
    counted = np.arange(N_ROWS)
    visits().assign(visit_id=counted).to_csv(tmp_path / "old.csv", index=False)
    again = visits(noise=0.05).assign(visit_id=counted)
    _, text = check(again, against=tmp_path / "old.csv")
    assert "Paired: 400 of 400 row IDs match" in text
    again.loc[0, "readmitted"] = "No" if again.loc[0, "readmitted"] == "Yes" else "Yes"
    _, text = check(again, against=tmp_path / "old.csv")
    assert "Two samples: column visit_id only counts the rows" in text


# The audited file ---------------------------------------------------------------------------


def moved(report: Path, folder: Path, change: Callable[[dict[str, Any]], object] = len) -> Path:
    """Write the report to a folder of its own, perhaps with a change."""
    contents = json.loads(report.read_text("utf-8"))
    change(contents)
    folder.mkdir()
    (folder / "audit.json").write_text(json.dumps(contents), encoding="utf-8")
    return folder / "audit.json"


def test_a_missing_audited_file_leaves_two_samples(
    check: Check, report: Path, tmp_path: Path
) -> None:
    alone = moved(report, tmp_path / "alone")
    code, text = check(visits(), against=alone)
    assert code == 0
    assert "Two samples: january.csv, which the report names, is not here" in text
    code, text = check(visits(), "--audited", report.parent / "january.csv", against=alone)
    assert (code, "Paired: 400 of 400" in text) == (0, True)


def test_the_audited_file_is_sought_in_the_working_folder(
    check: Check, report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = moved(report, tmp_path / "alone")
    monkeypatch.chdir(report.parent)
    assert "Paired: 400 of 400" in check(visits(), against=alone)[1]


def test_another_file_of_its_name_is_not_used(check: Check, report: Path, tmp_path: Path) -> None:
    alone = moved(report, tmp_path / "alone")
    other = alone.parent / "january.csv"
    visits(noise=0.01).to_csv(other, index=False)
    code, text = check(visits(), against=alone)
    assert code == 0
    assert "Two samples: january.csv here is not what was audited (another SHA-256)." in text
    code, text = check(visits(), "--audited", other, against=alone)
    assert code == 2
    assert text == (
        "Error: Audited: january.csv, of another SHA-256. Expected the files that the report"
        " names.\n"
    )


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda held: held["reference"]["hits"].reverse(), "the audit evaluated other rows of jan"),
        (
            lambda held: held["reference"]["reading"].update(columns=["age=score"]),
            "january.csv cannot be read as in the audit",
        ),
    ],
)
def test_rows_that_are_not_those_of_the_report_are_not_used(
    check: Check, report: Path, tmp_path: Path, change: Callable[[Any], object], text: str
) -> None:
    changed = moved(report, tmp_path / "changed", change)
    options = "--event", "Yes", "--score", "risk", "--outcome", "readmitted"
    _, output = check(visits(), *options, "--audited", report.parent / "january.csv",
                      against=changed)  # fmt: skip
    assert f"Two samples: {text}" in output


def test_an_older_report_names_no_file(check: Check, report: Path, tmp_path: Path) -> None:
    older = moved(report, tmp_path / "older", lambda held: held["reference"].pop("files"))
    _, text = check(visits(), against=older)
    assert "Two samples: the report does not name the audited file." in text
    _, text = check(visits(), "--audited", report.parent / "january.csv", against=older)
    assert "Paired: 400 of 400" in text


def test_parts_of_a_table_are_found_together(check: Check, tmp_path: Path) -> None:
    table = visits()
    parts = [tmp_path / "north.csv", tmp_path / "south.csv"]
    for part, rows in zip(parts, (table.iloc[:250], table.iloc[250:]), strict=True):
        rows.to_csv(part, index=False)
    told = "--files-are", "parts", "--json", tmp_path / "a.json", "--resamples", "0"
    assert run("audit", *parts, *told).exit_code == 0
    code, text = check(shuffled(table), against=tmp_path / "a.json")
    assert (code, "Paired: 400 of 400" in text) == (0, True)
    parts[1].unlink()
    _, text = check(table, against=tmp_path / "a.json")
    assert "north.csv and south.csv, which the report names, are not here" in text


def test_rows_to_check_against_need_no_report(check: Check, report: Path) -> None:
    rows = report.parent / "january.csv"
    code, text = check(visits(noise=0.05), against=rows)
    assert (code, "Paired: 400 of 400" in text) == (0, True)
    assert "Against: january.csv" in text
    code, text = check(visits(5), against=rows)
    assert "Two samples: no row IDs in common" in text
    code, text = check(visits(), "--audited", rows, against=rows)
    assert (code, text.count("\n")) == (2, 1)
    assert "Expected a report after --against" in text


def test_a_report_split_by_date_finds_its_rows(check: Check, tmp_path: Path) -> None:
    months = np.repeat([f"2025-{month:02d}" for month in range(1, 9)], N_ROWS // 8)
    table = visits().assign(month=months)
    table.to_csv(tmp_path / "year.csv", index=False)
    result = run("audit", tmp_path / "year.csv", "--split-at", "2025-05", "--resamples", "0",
                "--json", tmp_path / "year.json")  # fmt: skip
    assert result.exit_code == 0
    _, told = check(table[months >= "2025-07"], against=tmp_path / "year.json")
    assert "Paired: 100 of 100 row IDs match" in told  # two months of fifty rows
    assert "Not compared: 100 rows of the audited file" in told  # May and June
