"""The solutions of the exercises, against what a student would do on paper."""

import math
import re
import xml.etree.ElementTree as ET

import pytest

from dashboard.learn import plan
from dashboard.learn.exercises import Exercise, exercises, sheet
from dashboard.learn.lessons import diagram, find
from dashboard.texts import learn as teachers

SEEDS = (*range(20), 27)
"""Of which 18 and 27 have more, and fewer, events than luck explains."""


def rows(exercise: Exercise) -> list[tuple[float, int]]:
    return [(float(score), int(outcome)) for score, outcome in exercise.table[1:]]


def by_lesson(seed: int) -> dict[str, Exercise]:
    """The first exercise of each lesson."""
    return {one.lesson: one for one in reversed(exercises(seed))}


def second(seed: int, lesson: str) -> Exercise:
    return [one for one in exercises(seed) if one.lesson == lesson][1]


NUMBER = r"([+\u2212]?\d+(?:\.\d+)?)"


def assert_says(line: str, pattern: str, *expected: float) -> None:
    """Compare a line word by word, and its numbers, each ``{}``, to the digits that are written."""
    match = re.fullmatch(re.escape(pattern).replace(r"\{\}", NUMBER), line)
    assert match is not None, (line, pattern)
    assert len(match.groups()) == len(expected)
    for written, value in zip(match.groups(), expected, strict=True):
        unit = 10.0 ** -len(written.partition(".")[2])
        assert float(written.replace("\u2212", "-")) == pytest.approx(value, abs=0.501 * unit)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_seed_gives_the_same_exercises(seed: int) -> None:
    assert exercises(seed) == exercises(seed)
    assert exercises(seed) != exercises(seed + 1)


def test_drawn_rows_have_both_outcomes_and_more_events_at_higher_scores() -> None:
    with_event, without = list[float](), list[float]()
    for seed in SEEDS:
        for one in exercises(seed):
            if one.table and one.table[0] == ("Score", "Outcome"):
                data = rows(one)
                assert 2 < sum(outcome for _, outcome in data) < len(data) - 2
                assert len({score for score, _ in data}) == len(data)
                for score, outcome in data:
                    (with_event if outcome else without).append(score)
    assert sum(with_event) / len(with_event) > 0.1 + sum(without) / len(without)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_ece_of_two_bins(seed: int) -> None:
    one = by_lesson(seed)["bins"]
    data, parts = rows(one), list[tuple[int, float]]()
    inside = ([r for r in data if r[0] <= 0.5], [r for r in data if r[0] > 0.5])
    for k, of_bin in enumerate(inside):
        mean, rate = (sum(r[k] for r in of_bin) / len(of_bin) for k in (0, 1))
        line = "Bin {}: {} rows, mean score {}, observed frequency {}, gap {}."
        assert_says(one.solution[k], line, k + 1, len(of_bin), mean, rate, mean - rate)
        parts.append((len(of_bin), abs(mean - rate)))
    (n, gap), (n_other, other) = parts
    error = (n * gap + n_other * other) / 10
    line = "ECE = {}/{} \u00d7 {} + {}/{} \u00d7 {} = {}."
    assert_says(one.solution[2], line, n, 10, gap, n_other, 10, other, error)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_largest_gap_of_the_totals(seed: int) -> None:
    one = by_lesson(seed)["ks"]
    data, gaps = rows(one), [0.0]
    assert data == sorted(data)
    for score, outcome in data:
        gaps.append(gaps[-1] + (score - outcome) / len(data))
    sizes = [round(abs(gap), 9) for gap in gaps]
    line = f"Gaps after each row: {', '.join(['{}'] * 10)}."
    assert_says(one.solution[0], line, *gaps[1:])
    place = sizes.index(max(sizes))
    assert_says(one.solution[1], "KS error = {}, after row {} of {}.", max(sizes), place, 10)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_temperature(seed: int) -> None:
    one = by_lesson(seed)["confident"]
    logits = [float(x) for x in re.findall(r"\d+", one.task.split(".")[0])]
    temperature = float(re.findall(r"at ([\d.]+)\. Which", one.task)[0])

    def shares(of: float) -> list[float]:
        powers = [math.exp(x / of) for x in logits]
        return [p / sum(powers) for p in powers]

    line = "T = {}: {}, {}, {}. T = {}: {}, {}, {}."
    expected = [1, *shares(1), temperature, *shares(temperature)]
    assert_says(one.solution[0], line, *expected)
    assert one.solution[1].startswith("The first class is predicted in both")
    assert all(max(of) == of[0] for of in (shares(1), shares(temperature)))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_model_knows_more_than_the_base_rate(seed: int) -> None:
    one = by_lesson(seed)["useful"]
    data = rows(one)
    n, rate = len(data), sum(outcome for _, outcome in data) / len(data)
    brier = sum((score - outcome) ** 2 for score, outcome in data) / n
    loss = -sum(math.log(score if outcome else 1 - score) for score, outcome in data) / n
    one_bin = abs(sum(score - outcome for score, outcome in data)) / n
    line = "Brier score {}, NLL {}, ECE in one bin {}."
    assert_says(one.solution[0], f"The model: {line}", brier, loss, one_bin)
    of_rate = -rate * math.log(rate) - (1 - rate) * math.log(1 - rate)
    expected = rate, rate * (1 - rate), of_rate, 0
    assert_says(one.solution[1], f"Always {{}}: {line}", *expected)
    assert brier < rate * (1 - rate)
    assert loss < of_rate


@pytest.mark.parametrize("seed", SEEDS)
def test_the_share_of_the_groups(seed: int) -> None:
    one = by_lesson(seed)["eighty"]
    n, percent = (int(x) for x in re.findall(r"(\d+) people a risk of (\d+)%", one.task)[0])
    p = percent / 100
    chances = [math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
    # The narrowest range with at most 2.5% on either side.
    low = max(k for k in range(n + 1) if sum(chances[:k]) <= 0.025)
    high = min(k for k in range(n + 1) if sum(chances[k + 1 :]) <= 0.025 + 1e-12)
    inside = 100 * sum(chances[low : high + 1])
    assert inside >= 95
    line = "On average {}; {} to {} in {}% of groups. Counts are whole, so it cannot be exactly"
    assert_says(one.solution[0], f"{line} 95%.", n * p, low, high, inside)


@pytest.mark.parametrize("seed", SEEDS)
def test_expected_and_observed(seed: int) -> None:
    one = by_lesson(seed)["large"]
    expected, observed = (sum(r[k] for r in rows(one)) for k in (0, 1))
    line = "Expected: the scores added up, {}. Observed: {}."
    assert_says(one.solution[0], line, expected, observed)
    spread = math.sqrt(math.fsum(s * (1 - s) for s, _ in rows(one)))
    away = abs(observed - expected) / spread
    few = away < 2
    word = f"the risks are too {'high' if observed < expected else 'low'}"
    word = "with so few, this cannot be told from 1" if few else word
    line = f"O/E = {{}} / {{}} = {{}}: for these patients, {word}."
    assert_says(one.solution[1], line, observed, expected, observed / expected)
    luck = "it may be luck" if few else "luck is rarely so large"
    line = (
        "If the risks were right, the number would have a standard deviation of {}, the root of the"
        f" sum of score \u00d7 (1 \u2212 score). The difference is {{}} of it: {luck}."
    )
    assert_says(one.solution[2], line, spread, away)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_true_risks_by_slope(seed: int) -> None:
    one = second(seed, "large")
    results = re.findall(r"risk = (\S+) \+ (\S+) \u00d7", one.task)[0]
    shift, slope = (float(x.replace("\u2212", "-")) for x in results)
    odds = [math.exp(shift) * (s / (1 - s)) ** slope for s in (0.1, 0.5, 0.9)]
    low, half, high = (of / (1 + of) for of in odds)
    line = "Score \u2192 true risk: {} \u2192 {}; {} \u2192 {}; {} \u2192 {}."
    assert_says(one.solution[0], line, 0.1, low, 0.5, half, 0.9, high)
    kind = "below 1: the scores are too extreme"
    kind = kind if slope < 1 else "above 1: the scores are not extreme enough"
    way = ("lowers", "high") if shift < 0 else ("raises", "low")
    line = f"The slope is {kind}."
    if shift:
        line += (
            f" The shift {way[0]} all true risks: at a score of 0.50 it is {{}}, so this score is"
            f" too {way[1]}, too."
        )
        assert_says(one.solution[1], line, half)
    else:
        assert half == 0.5
        assert one.solution[1] == f"{line} The shift is 0: a score of 0.50 is right."


@pytest.mark.parametrize("seed", SEEDS)
def test_the_risk_at_another_prevalence_is_bayes_rule(seed: int) -> None:
    one = by_lesson(seed)["transport"]
    here, there = (int(x) / 100 for x in re.findall(r"(\d+)%", one.task))
    score = float(re.findall(r"score of ([\d.]+)\?", one.task)[0])
    ill, well = score / here * there, (1 - score) / (1 - here) * (1 - there)
    true = ill / (ill + well)
    change = true / (1 - true) / (score / (1 - score))
    line = "All odds change by ({}/{}) / ({}/{}) = {}."
    assert_says(one.solution[0], line, there, 1 - there, here, 1 - here, change)
    line = "Odds {}/{} \u00d7 {} = {}; risk = odds / (1 + odds) = {}."
    expected = score, 1 - score, change, true / (1 - true), true
    assert_says(one.solution[1], line, *expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_net_benefit(seed: int) -> None:
    one = second(seed, "acting")
    cutoff = float(re.findall(r"score of ([\d.]+) or", one.task)[0])
    data, weight = rows(one), cutoff / (1 - cutoff)
    right = sum(outcome for score, outcome in data if score >= cutoff)
    wrong = sum(1 - outcome for score, outcome in data if score >= cutoff)
    line = "Treated: {} with the event, {} without. Weight: {}."
    assert_says(one.solution[0], line, right, wrong, weight)
    every = sum(1 if outcome else -weight for _, outcome in data) / 10
    line = "Net benefit = ({} \u2212 {} \u00d7 {}) / {} = {}; all: {}; none: 0."
    value = (right - wrong * weight) / 10
    # Written without the zeros at the end: compared to three decimals, whatever is written.
    written = re.findall(r"= (\S+); all: (\S+);", one.solution[1])[0]
    numbers = [float(x.replace("\u2212", "-")) for x in written]
    assert numbers == pytest.approx([value, every], abs=5.1e-4)
    assert_says(one.solution[1], line, right, wrong, weight, 10, *numbers)


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
    flagged = [outcome for score, outcome in rows(one) if score >= 1 / (1 + ratio)]
    alarms = len(flagged) - sum(flagged)
    misses = sum(outcome for score, outcome in rows(one) if score < 1 / (1 + ratio))
    assert_says(one.solution[0], "Cut-off = 1 / (1 + {}) = {}.", ratio, 1 / (1 + ratio))
    line = "Rows flagged: {}. False alarms: {}. Misses: {}. Cost: {} + {} \u00d7 {} = {}."
    cost = alarms, ratio, misses, alarms + ratio * misses
    assert_says(one.solution[1], line, len(flagged), alarms, misses, *cost)


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
    names = ("Top prediction", "2nd prediction", "top-2 set", "class C")
    line = f"Score and outcome. {'; '.join(f'{name}: {{}}, {{}}' for name in names)}."
    assert_says(one.solution[0], line, *(float(x) for pair in expected for x in pair))


@pytest.mark.parametrize("seed", SEEDS)
def test_gaps_of_groups_cancel(seed: int) -> None:
    one = by_lesson(seed)["groups"]
    of_task = re.findall(r"\((\d+) rows\)", one.task)
    n_first, n_second = map(int, of_task)
    first, second = map(int, re.findall(r"(?:is|rows\)) (\d+) ", one.task))
    assert first == second
    # Added up row by row: each of the first group is too high, each of the second too low.
    gaps = [float(first)] * n_first + [-float(second)] * n_second
    line = "({} \u00d7 {} \u2212 {} \u00d7 {}) / {} = {} percentage points."
    expected = n_first, first, n_second, second, len(gaps), sum(gaps) / len(gaps)
    assert_says(one.solution[0], line, *expected)
    line = "In each group scores are {} percentage points off the observed frequency, in opposite"
    assert_says(one.solution[1], f"{line} directions.", first)


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
