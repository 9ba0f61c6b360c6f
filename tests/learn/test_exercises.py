"""The solutions of the exercises, against what a student would do on paper."""

import math
import re
import xml.etree.ElementTree as ET

import pytest

from dashboard.learn.exercises import Exercise, exercises, sheet
from dashboard.texts import learn as teachers

SEEDS = range(20)


def rows(exercise: Exercise) -> list[tuple[float, int]]:
    return [(float(score), int(outcome)) for score, outcome in exercise.table[1:]]


def by_lesson(seed: int) -> dict[str, Exercise]:
    return {one.lesson: one for one in exercises(seed)}


def last_number(text: str) -> float:
    return float(re.findall(r"\d+\.\d+|\d+", text)[-1])


@pytest.mark.parametrize("seed", SEEDS)
def test_a_seed_gives_the_same_exercises(seed: int) -> None:
    assert exercises(seed) == exercises(seed)
    assert exercises(seed) != exercises(seed + 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_ece_of_two_bins(seed: int) -> None:
    one = by_lesson(seed)["bins"]
    data, total = rows(one), 0.0
    for kept in ([r for r in data if r[0] <= 0.5], [r for r in data if r[0] > 0.5]):
        if kept:
            mean, rate = (sum(r[k] for r in kept) / len(kept) for k in (0, 1))
            total += len(kept) / len(data) * abs(mean - rate)
    assert last_number(one.solution[-1]) == pytest.approx(total, abs=5e-4)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_largest_gap_of_the_totals(seed: int) -> None:
    one = by_lesson(seed)["ks"]
    data, so_far, largest, place = rows(one), 0.0, 0.0, 0
    assert data == sorted(data)
    for number, (score, outcome) in enumerate(data, start=1):
        so_far += (score - outcome) / len(data)
        if abs(so_far) > largest + 1e-12:
            largest, place = abs(so_far), number
    found = re.search(r"KS error = ([\d.]+), after row (\d+)", one.solution[-1])
    assert found is not None
    assert float(found[1]) == pytest.approx(largest, abs=5e-4)
    assert int(found[2]) == place


@pytest.mark.parametrize("seed", SEEDS)
def test_the_temperature(seed: int) -> None:
    one = by_lesson(seed)["confident"]
    logits = [float(x) for x in re.findall(r"\d+", one.task.split(".")[0])]
    temperature = float(re.findall(r"at ([\d.]+)\. Which", one.task)[0])
    powers = [math.exp(x / temperature) for x in logits]
    after = one.solution[0].rpartition(": ")[2]
    shares = [float(x) for x in re.findall(r"\d\.\d{3}", after)]
    assert shares == pytest.approx([p / sum(powers) for p in powers], abs=5e-4)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_model_knows_more_than_the_base_rate(seed: int) -> None:
    one = by_lesson(seed)["useful"]
    data = rows(one)
    rate = sum(outcome for _, outcome in data) / len(data)
    brier = sum((score - outcome) ** 2 for score, outcome in data) / len(data)
    found = [float(re.findall(r"Brier score ([\d.]+),", line)[0]) for line in one.solution[:2]]
    assert found == pytest.approx([brier, rate * (1 - rate)], abs=5.1e-4)
    assert brier < rate * (1 - rate)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_cost_of_the_cutoff(seed: int) -> None:
    one = by_lesson(seed)["acting"]
    ratio = int(re.findall(r"costs (\d+) times", one.task)[0])
    called = [r for r in rows(one) if r[0] >= 1 / (1 + ratio)]
    alarms = sum(1 - outcome for _, outcome in called)
    misses = sum(outcome for score, outcome in rows(one) if score < 1 / (1 + ratio))
    assert last_number(one.solution[-1]) == alarms + ratio * misses


@pytest.mark.parametrize("seed", SEEDS)
def test_the_events_of_one_row(seed: int) -> None:
    one = by_lesson(seed)["events"]
    shares = {n: float(p) for n, p in re.findall(r"([ABCD]) (\d\.\d\d)", one.task)}
    true = re.findall(r"true class is ([ABCD])", one.task)[0]
    assert sum(shares.values()) == pytest.approx(1)
    order = sorted(shares, key=lambda name: -shares[name])
    expected = [
        (shares[order[0]], order[0] == true),
        (shares[order[1]], order[1] == true),
        (shares[order[0]] + shares[order[1]], true in order[:2]),
        (shares["C"], true == "C"),
    ]
    found = [(float(s), h == "1") for s, h in re.findall(r": (\d\.\d\d), ([01])", one.solution[0])]
    assert [hit for _, hit in found] == [hit for _, hit in expected]
    assert [s for s, _ in found] == pytest.approx([s for s, _ in expected], abs=0.0051)


def test_the_sheet_holds_every_exercise_and_asks_for_nothing() -> None:
    whole, without = sheet(5), sheet(5, solutions=False)
    assert teachers.SOLUTIONS in whole
    assert teachers.SOLUTIONS not in without
    assert "http" not in whole
    assert "<script" not in whole
    body = whole.partition("<body>")[2].removesuffix("</html>").removesuffix("</body>")
    tree = ET.fromstring(f"<body>{body}</body>")  # noqa: S314 - our own
    assert len(tree.findall(".//div[@class='exercise']")) == 2 * len(exercises(5))


def test_the_plan_lasts_as_long_as_a_lesson() -> None:
    assert teachers.minutes(teachers.PLAN_ROWS) == 50
