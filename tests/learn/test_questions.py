"""The questions of your own calibration: whole, balanced, and right where that can be computed."""

import math
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from dashboard.learn import own, questions
from dashboard.learn.questions import N_QUESTIONS

FILE = Path(questions.__file__).with_suffix(".toml")
TOPICS = {"geography", "astronomy", "physics", "biology", "mathematics", "history"}
FIELDS = {"topic", "ask", "answers", "right", "fact", "source"}


def test_every_question_is_whole() -> None:
    contents = tomllib.loads(FILE.read_text("utf-8"))["question"]
    assert len(contents) >= 100
    for one in contents:
        assert set(one) == FIELDS
        assert one["topic"] in TOPICS
        assert one["ask"][-1] in "?:"
        assert len(one["ask"]) <= 120
        assert len(set(one["answers"])) == len(one["answers"]) == 2
        assert all(0 < len(answer) <= 60 for answer in one["answers"])
        assert one["right"] in (1, 2)
        assert one["fact"].endswith(".")
        assert len(one["source"]) > 3


def test_no_question_is_asked_twice() -> None:
    asked = Counter((one.ask, frozenset(one.answers)) for one in questions.facts())
    assert max(asked.values()) == 1
    assert max(Counter(one.fact for one in questions.facts()).values()) == 1


def test_the_right_answer_is_the_first_as_often_as_the_second() -> None:
    for topic in (*TOPICS, None):
        places = [one.right for one in questions.facts() if topic in (one.topic, None)]
        assert abs(2 * sum(places) - len(places)) <= 1


def answered(ask: str, *pair: str) -> str:
    """Return the right answer of the one question with these words."""
    (result,) = [q for q in questions.facts() if ask in q.ask and set(pair) <= set(q.answers)]
    return result.answers[result.right]


def test_what_can_be_computed_is_right() -> None:
    primes = [n for n in range(2, 150) if all(n % k for k in range(2, n))]
    larger = {
        "2¹⁰⁰": 2**100 > 10**30,
        "e to the power of π": math.e**math.pi > math.pi**math.e,
        "The square root of 10": math.sqrt(10) > math.pi,
        "4/9": 4 / 9 > 3 / 7,
        "Ways to order 52 cards": math.factorial(52) > 1e51,
        "Molecules in a glass of water": 250 / 18 * 6.02214076e23 > 1.335e21 * 4,
    }
    for answer, is_larger in larger.items():
        assert (answered("larger?", answer) == answer) == is_larger
    assert answered("prime?", "97", "91") == str(next(n for n in (97, 91) if n in primes))
    assert answered("prime?", "149", "143") == str(next(n for n in (149, 143) if n in primes))
    assert answered("share a birthday") == "About 70%"
    assert math.perm(365, 30) / 365**30 == pytest.approx(0.30, abs=0.01)
    computed = {
        "primes are below 100": str(sum(n < 100 for n in primes)),
        "1 + 2 + 3": f"{sum(range(101)):,}",
        "7 \u00d7 8": str(7 * 8),
        "diagonals": str(6 * (6 - 3) // 2),
        "radius of a ball": f"{2**3} times",
        "folded 42 times": "Beyond the Moon" if 1e-4 * 2**42 > 384_400e3 else "As high as a house",
        "A rope": f"About {100 / (2 * math.pi):.0f} cm",
        "7% a year": f"About {math.log(2) / math.log(1.07):.0f}",
        "billion": f"About {1e9 / (365.25 * 86_400):.0f} years",
        "Four throws": "More than 50%" if 1 - (5 / 6) ** 4 > 0.5 else "Less than 50%",
        "24 throws": "More than 50%" if 1 - (35 / 36) ** 24 > 0.5 else "Less than 50%",
        "five heads": f"About {100 * math.comb(10, 5) / 2**10:.0f}%",
        "1% are ill": f"About {100 * 1 / (1 + 0.05 * 99):.0f}%",
        "same number": f"\u2212{32 / (9 / 5 - 1):.0f}",
        "air in a room": f"About {round(1.2 * 4 * 4 * 2.5, -1):.0f} kg",
    }
    assert {ask: answered(ask) for ask in computed} == computed
    assert answered("two dice", "7", "6") == "7"


@pytest.mark.parametrize("which", own.SETS)
def test_a_seed_draws_the_same_twenty_and_another_one_others(which: str) -> None:
    draw = own.SETS[which]
    for seed in range(20):
        drawn = draw(seed)
        assert drawn == draw(seed)
        assert len(drawn) == len({(q.ask, q.answers, q.row) for q in drawn}) == N_QUESTIONS
        assert set(drawn) != set(draw(seed + 1))
