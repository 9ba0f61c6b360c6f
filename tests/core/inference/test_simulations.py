"""The page of the simulations is read, written anew in part, and the shares follow it."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks import validation
from benchmarks.validation import (
    KEYS,
    MODELS,
    NO_INTERVAL,
    OUT,
    PERFECT,
    SIMULATIONS,
    TEN,
    TWO,
    held_text,
    main,
    page_of,
    parts_of,
    truths,
    with_section,
)
from calibcore.inference import coverage

LESS, BETTER = (
    "## Less calibrated (0.5, -1.5), 500 rows",
    "## Better calibrated (0.2, -1.9), 500 rows",
)


def lines(page: Path, heading: str) -> dict[str, str]:
    return parts_of(page.read_text(encoding="utf-8"))[heading]


def run(page: Path, *words: str, n_sets: int = 3) -> None:
    main([*words, "--sets", str(n_sets), "--workers", "1", "--out", str(page)])


def test_the_page_is_read_and_written_without_loss() -> None:
    page = OUT.read_text(encoding="utf-8")
    assert with_section(page, page_of(parts_of(page), 1000)) == page
    assert held_text(page) == Path(coverage.__file__).read_text(encoding="utf-8")


def test_parts_and_lines_are_put_in_their_places() -> None:
    """Lines that come in the wrong order stand in that of the simulations and measures."""
    parts = {
        BETTER: {"MCE": "| MCE | 3 | 3 | 3 | | |", "KS error": "| KS error | 2 | 2 | 2 | | |"},
        LESS: {"MCE": "| MCE | 1 | 1 | 1 | | |"},
    }
    page = page_of(parts, 8)
    assert "in percent of 8 simulated" in page
    places = [
        page.index(text) for text in (LESS, "| MCE | 1", BETTER, "| KS error | 2", "| MCE | 3")
    ]
    assert places == sorted(places)
    assert parts_of(page) == parts


def test_a_part_is_simulated_again_and_the_others_stay(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    run(page, "--only", "less:500", "better:500", "--measures", "accuracy", "classwise_ece")
    other, old = lines(page, LESS), lines(page, BETTER)
    assert [*old] == ["Class-wise ECE", "Accuracy"]
    marked = {name: line.replace(" | ", " | 0", 1) for name, line in old.items()}
    page.write_text(page_of({LESS: marked, BETTER: marked}, 3), encoding="utf-8")
    run(page, "--only", "better:500", "--measures", "classwise_ece", "nll")
    assert lines(page, LESS) == marked != other
    new = lines(page, BETTER)
    assert [*new] == ["Class-wise ECE", "NLL, all classes", "Accuracy"]
    assert new["Accuracy"] == marked["Accuracy"]
    assert new["Class-wise ECE"] == old["Class-wise ECE"]  # the same data sets
    shares = (tmp_path / "coverage.py").read_text(encoding="utf-8")
    assert shares == held_text(page.read_text(encoding="utf-8"))


def test_a_page_of_other_data_sets_is_not_mixed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    text = page_of({LESS: {"MCE": "| MCE | 1 | 1 | 1 | | |"}}, 4)
    page.write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit):
        run(page, "--only", "less:500", "--measures", "mce")
    assert "other data sets" in capsys.readouterr().err
    assert page.read_text(encoding="utf-8") == text


def test_every_simulation_has_a_name_of_its_own() -> None:
    assert len({one.short for one in SIMULATIONS}) == len(SIMULATIONS) == 4
    assert {one.heading for one in SIMULATIONS} >= {LESS, BETTER}


@pytest.mark.parametrize("model", [*MODELS, PERFECT], ids=lambda model: model.name)
def test_the_truth_of_a_distance_is_what_very_many_rows_show(model: validation.Model) -> None:
    """Both classes are off alike, and by the mean of what each row is off."""
    result = truths(model)
    assert result.keys() == set(KEYS.values()) - NO_INTERVAL
    rng = np.random.default_rng(1)
    x = rng.choice([-1.0, 1.0], size=400_000) + rng.normal(size=400_000)
    off = np.abs(model.scores(x) - PERFECT.scores(x)).mean()
    assert result["classwise_ece"] == pytest.approx(off, abs=5e-4)
    assert result["kde_ece"] == pytest.approx(off, abs=1e-3)


def test_the_truth_of_the_gain_is_the_squared_distance_to_the_true_probabilities() -> None:
    """Of two classes, both of whose probabilities are off by as much."""
    rng = np.random.default_rng(2)
    x = rng.choice([-1.0, 1.0], size=400_000) + rng.normal(size=400_000)
    off = 2 * np.square(MODELS[0].scores(x) - PERFECT.scores(x)).mean()
    assert truths(PERFECT, MODELS[0])["calibration_gain"] == pytest.approx(off, abs=2e-4)
    assert truths(MODELS[0])["calibration_gain"] == 0


def test_the_model_of_ten_classes_is_that_of_two_with_more() -> None:
    x = np.random.default_rng(3).normal(size=20)
    two, again = (MODELS[0].table(x, centres) for centres in (TWO, np.append(TWO, 40.0)))
    assert two == pytest.approx(again[:, :2], abs=1e-12)
    labels = np.random.default_rng(4).integers(10, size=400_000)
    x = TEN[labels] + np.random.default_rng(5).normal(size=labels.size)
    for model in (MODELS[0], PERFECT):
        table, known = model.table(x, TEN), truths(model)
        ahead = (table > table[np.arange(labels.size), labels][:, np.newaxis]).sum(axis=1)
        assert known["top_2_accuracy"] == pytest.approx((ahead < 2).mean(), abs=3e-3)
        assert known["top_5_accuracy"] == pytest.approx((ahead < 5).mean(), abs=3e-3)
