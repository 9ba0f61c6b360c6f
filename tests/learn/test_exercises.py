"""The solutions of the exercises, against what a student would do on paper."""

import math
import re
import xml.etree.ElementTree as ET

import pytest

from dashboard.learn import plan
from dashboard.learn.exercises import Exercise, exercises, sheet
from dashboard.learn.lessons import diagram, find
from dashboard.texts import learn as teachers

SEEDS = range(20)


def rows(exercise: Exercise) -> list[tuple[float, int]]:
    return [(float(score), int(outcome)) for score, outcome in exercise.table[1:]]


def by_lesson(seed: int) -> dict[str, Exercise]:
    """The first exercise of each lesson."""
    return {one.lesson: one for one in reversed(exercises(seed))}


def second(seed: int, lesson: str) -> Exercise:
    return [one for one in exercises(seed) if one.lesson == lesson][1]


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
def test_the_share_of_the_groups(seed: int) -> None:
    one = by_lesson(seed)["eighty"]
    n, percent = (int(x) for x in re.findall(r"(\d+) people a risk of (\d+)%", one.task)[0])
    mean, low, high, share = re.findall(r"([\d.]+)", one.solution[0])[:4]
    p = percent / 100
    chances = [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
    assert float(mean) == pytest.approx(n * p)
    assert sum(chances[: int(low)]) <= 0.025
    assert sum(chances[int(high) + 1 :]) <= 0.025 + 1e-12
    inside = 100 * sum(chances[int(low) : int(high) + 1])
    assert float(share) == pytest.approx(inside, abs=0.051)
    assert inside >= 95


@pytest.mark.parametrize("seed", SEEDS)
def test_expected_and_observed(seed: int) -> None:
    one = by_lesson(seed)["large"]
    expected, observed = (sum(r[k] for r in rows(one)) for k in (0, 1))
    assert f"{expected:.2f}. Observed: {observed:.0f}." in one.solution[0]
    assert f"= {observed / expected:.2f}: " in one.solution[1]
    spread = math.sqrt(math.fsum(s * (1 - s) for s, _ in rows(one)))
    word = f"the risks are too {'high' if observed < expected else 'low'}."
    if abs(observed - expected) < 2 * spread:
        word = "with so few, this cannot be told from 1."
    assert one.solution[1].endswith(word)
    assert f"deviation of {spread:.2f}," in one.solution[2]
    assert one.solution[2].endswith("may be luck.") == (abs(observed - expected) < 2 * spread)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_true_risks_by_slope(seed: int) -> None:
    one = second(seed, "large")
    found = re.findall(r"risk = (\S+) \+ (\S+) \u00d7", one.task)[0]
    shift, slope = (float(x.replace("\u2212", "-")) for x in found)
    for score, true in re.findall(r"(\d\.\d\d) \u2192 (\d\.\d{3})", one.solution[0]):
        odds = math.exp(shift) * (float(score) / (1 - float(score))) ** slope
        assert float(true) == pytest.approx(odds / (1 + odds), abs=5.1e-4)
    assert ("too extreme" in one.solution[1]) == (slope < 1)
    half = math.exp(shift) / (1 + math.exp(shift))
    words = {-1: f"{half:.3f}, so this score is too high", 0: "0.50 is right", 1: "too low, too"}
    assert words[(shift > 0) - (shift < 0)] in one.solution[1]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_risk_at_another_prevalence_is_bayes_rule(seed: int) -> None:
    one = by_lesson(seed)["transport"]
    here, there = (int(x) / 100 for x in re.findall(r"(\d+)%", one.task))
    score = float(re.findall(r"score of ([\d.]+)\?", one.task)[0])
    ill, well = score / here * there, (1 - score) / (1 - here) * (1 - there)
    assert last_number(one.solution[-1]) == pytest.approx(ill / (ill + well), abs=5.1e-4)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_net_benefit(seed: int) -> None:
    one = second(seed, "acting")
    cutoff = float(re.findall(r"score of ([\d.]+) or", one.task)[0])
    data = rows(one)
    worth = [(1 if hit else -cutoff / (1 - cutoff)) / len(data) for _, hit in data]
    treated = sum(w for (score, _), w in zip(data, worth, strict=True) if score >= cutoff)
    found = re.findall(r"/ 10 = (\S+); all: (\S+);", one.solution[1])[0]
    written = [float(x.replace("\u2212", "-")) for x in found]
    assert written == pytest.approx([treated, sum(worth)], abs=5.1e-4)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_kept_where_a_model_abstains(seed: int) -> None:
    one = [one for one in exercises(seed) if one.lesson == "acting"][2]
    threshold = float(re.findall(r"below (\d\.\d{3}):", one.task)[0])
    outcomes = [outcome for score, outcome in rows(one) if score >= threshold]
    every = [outcome for _, outcome in rows(one)]
    assert one.solution[0] == f"Kept: {len(outcomes)} of 10, a coverage of {10 * len(outcomes)}%."
    assert one.solution[1] == (
        f"Correct: {sum(outcomes)} of {len(outcomes)} kept, {sum(outcomes) / len(outcomes):.3f};"
        f" of all, {sum(every)} of 10, {sum(every) / 10:.3f}."
    )


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
    assert plan.minutes() == 45
    assert plan.starts()[-1] + plan.PLAN[-1].minutes == 45
    every = (*plan.PLAN, *plan.BIOSTATISTICS)
    assert all(step.ask and step.do and step.say for step in every)
    left_out = [step.minutes for step in plan.PLAN if step.lesson in plan.INSTEAD]
    assert len(left_out) == len(plan.INSTEAD) == len(plan.BIOSTATISTICS)
    assert sum(left_out) == sum(step.minutes for step in plan.BIOSTATISTICS)


def test_the_plan_takes_as_long_as_the_cards_say() -> None:
    for step in (*plan.PLAN, *plan.BIOSTATISTICS):
        lesson = find(step.lesson)
        assert lesson is None or (step.lesson, step.minutes) == (step.lesson, lesson.minutes)


def test_what_is_left_out_for_biostatistics_is_not_asked_about_later() -> None:
    stay = [step for step in plan.PLAN if step.lesson not in plan.INSTEAD]
    assert "bins" in plan.INSTEAD
    assert not any("ECE" in step.ask + step.do + step.say for step in stay)


def test_the_plan_opens_lessons_and_holds_acting_on_a_score() -> None:
    keys = [step.lesson for step in plan.PLAN if step.lesson]
    others = [step.lesson for step in plan.BIOSTATISTICS]
    assert all(find(key) is not None for key in (*keys, *plan.HOMEWORK, *others))
    assert "acting" in keys
    (first,) = [step for step in plan.PLAN if step.lesson == "eighty"]
    assert first.address == "learn?lesson=eighty&seat=ask"  # each draws for oneself
    (rows_of_their_own,) = [step for step in plan.PLAN if "Five students call out" in step.do]
    assert rows_of_their_own.address == "learn?lesson=bins&seat=ask"
    assert "72 to 88 in 96.7% of groups" in first.say
    # Two of the first three rows of the bin are correct: Wilson's interval by hand.
    n, share, z = 3, 2 / 3, 1.959964
    middle, half = share + z**2 / (2 * n), z * (share * (1 - share) / n + (z / (2 * n)) ** 2) ** 0.5
    low, high = (100 * (middle + side * half) / (1 + z**2 / n) for side in (-1, 1))
    (second,) = [step for step in plan.PLAN if step.lesson == "diagram"]
    assert f"interval is {low:.1f}\u2013{high:.1f}%." in second.say
    assert [diagram.find(k).counted(diagram.QUESTION_BIN) for k in (11, 12)] == [(2, 2), (2, 3)]
    assert "Stop at 12: three rows." in second.do
    assert "1 / (1 + 9) = 10%" in next(s.say for s in plan.PLAN if s.lesson == "acting")
