"""A plan of 50 minutes with a class: what to ask, to do and to say; figures are computed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from calibcore.reliability.bins import binomial_interval
from dashboard.learn.binomial import chances_of, share_within, usual_range
from dashboard.learn.lessons.diagram import QUESTION_BIN, find, rows_until
from dashboard.texts.numbers import percent, span


@dataclass(frozen=True)
class Step:
    """Some minutes of a lesson."""

    minutes: int
    """How long it takes, about."""
    ask: str
    do: str
    say: str
    """One or two sentences each; "" for nothing."""
    lesson: str = ""
    """Key of the lesson that is open; "" for none."""
    query: Mapping[str, str] = field(default_factory=dict)
    """Further settings of the link."""

    @property
    def address(self) -> str:
        """The link of the step; "" where it has none."""
        return f"learn?{urlencode({'lesson': self.lesson, **self.query})}" if self.lesson else ""


def _spread() -> str:
    chances = chances_of(0.8, 100)
    low, high = usual_range(chances)
    return f"{low} to {high} in {share_within(chances)} of groups"


FEW = 3
"""Rows of a bin that say hardly anything of it."""


def _few() -> str:
    """Return the interval of the bar in the second lesson, when its bin holds `FEW` rows."""
    correct, n_rows = find(rows_until(FEW)).counted(QUESTION_BIN)
    low, high = (percent(float(end), n_rows) for end in binomial_interval(correct, n_rows))
    return span(low, high)


PLAN: tuple[Step, ...] = (
    Step(
        3,
        "A well-calibrated model gives each of 100 people a risk of 80%. How many will have the"
        " event?",
        "Hands for 70, 75, 80, 85. Meanwhile, hand out the link below.",
        "Keep your number; you draw your own 100 people now.",
    ),
    Step(
        5,
        "How many of your 100 had the event?",
        "All type a seat number of their own and skip the guess. Five results at the board; then"
        " draw again.",
        f"The spread is luck, not error: {_spread()}.",
        "eighty",
        {"seat": "ask"},
    ),
    Step(
        5,
        "Ten predictions have a score of 80 to 90%. How high is their bar?",
        "Guess, show the answer; then the slider from 1 to 60. Stop at"
        f" {rows_until(FEW)}: three rows.",
        f"A bar is a share of rows. With three it says hardly anything: its interval is {_few()}.",
        "diagram",
    ),
    Step(
        5,
        "What is the ECE of the same 100 rows with 100 bins?",
        "Guess, show the answer. Then half of the class sets 5 bins, half 100; both call out"
        " theirs.",
        "Nothing changed but the ruler. An ECE needs its bins, its rows, and what luck would show.",
        "bins",
    ),
    Step(
        7,
        "One total adds up scores, one counts correct predictions. Where are they farthest apart?",
        "Guess, show the answer. Play the 60 rows; then all 10,000.",
        "The gap grows while scores are too high. Its widest point is the KS error; it has luck,"
        " too.",
        "ks",
    ),
    Step(
        7,
        "Five pictures are luck, one is a miscalibrated network. Which?",
        "All guess with 100 rows, hands; then with 10,000. Then play: other draws.",
        "With few rows, luck looks like miscalibration, and miscalibration like luck.",
        "luck",
    ),
    Step(
        4,
        "All outputs are divided by 2. What happens to the accuracy?",
        "Guess; then move the temperature.",
        "Scores move, predictions stay: calibration and accuracy are two things.",
        "confident",
    ),
    Step(
        4,
        "Base rate, network, or the one who exaggerates: whose ECE is lowest? Whom do you hire?",
        "Guess, show the answer; hands for the second question. Then the slider.",
        "The base rate is calibrated and of no use. Proper scores count both.",
        "useful",
    ),
    Step(
        6,
        "A missed patient costs 9 times an unnecessary visit. Above which risk should one visit?",
        "Guess; then costs of 1 and of 19, before and after calibration.",
        "Costs give the cut-off: 1 / (1 + 9) = 10%. It holds only if the risks are calibrated.",
        "acting",
    ),
    Step(
        4,
        "What do you know now that you did not at the beginning?",
        "One sentence each from three students. Spare time.",
        "Homework: the lessons below.",
    ),
)

HOMEWORK = ("held_out", "splines", "groups")

BIOSTATISTICS = ("large", "transport", "hosmer")
"""Keys of lessons for later."""


def minutes() -> int:
    """Return how long the plan takes.

    Examples
    --------
    >>> minutes()
    50
    """
    return sum(step.minutes for step in PLAN)


def starts() -> list[int]:
    """Return the minute at which each step begins.

    Examples
    --------
    >>> starts()[:3]
    [0, 3, 8]
    """
    return [sum(step.minutes for step in PLAN[:k]) for k in range(len(PLAN))]
