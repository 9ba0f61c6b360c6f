"""A plan of 45 minutes with a class: what to ask, to do and to say; figures are computed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from calibcore.reliability.bins import binomial_interval
from dashboard.learn.binomial import chances_of, share_within, usual_range
from dashboard.learn.lessons import in_the_large, transport
from dashboard.learn.lessons.diagram import QUESTION_BIN, find, rows_until
from dashboard.texts.numbers import percent, span


@dataclass(frozen=True)
class LessonStep:
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


PLAN: tuple[LessonStep, ...] = (
    LessonStep(
        3,
        "A well-calibrated model gives each of 100 people a risk of 80%. How many will have the"
        " event?",
        "Hands for 70, 75, 80, 85. Meanwhile, hand out the link of the next stop.",
        "Keep your number; you draw your own 100 people now.",
    ),
    LessonStep(
        5,
        "How many of your 100 had the event?",
        "All type a seat number of their own and skip the guess. Five results at the board; then"
        " draw again.",
        f"The spread is luck, not error: {_spread()}.",
        "eighty",
        {"seat": "ask"},
    ),
    LessonStep(
        5,
        "Ten predictions have a score of 80 to 90%. How high is their bar?",
        "Guess, show the answer; then the slider from 1 to 60. Stop at"
        f" {rows_until(FEW)}: three rows.",
        f"A bar is a share of rows. With three it says hardly anything: its interval is {_few()}.",
        "diagram",
    ),
    LessonStep(
        5,
        "What is the ECE of the same 100 rows with 100 bins?",
        "All type the same seat number again. Guess, show the answer: each has rows of their own,"
        " and reads below the picture what 5 and 100 bins show. Five students call out theirs.",
        "The same rows, two rulers. An ECE needs its bins, its rows, and what luck would show.",
        "bins",
        {"seat": "ask"},
    ),
    LessonStep(
        6,
        "One total adds up scores, one counts correct predictions. Where are they farthest apart?",
        "Guess, show the answer. Play the 60 rows; then all 10,000.",
        "The gap grows while scores are too high. Its widest point is the KS error; it has luck,"
        " too.",
        "ks",
    ),
    LessonStep(
        7,
        "Five pictures are luck, one is a miscalibrated network. Which?",
        "All guess with 100 rows, hands. Before the answer, move to 10,000 rows: the pictures keep"
        " their places; hands again. Then play: other draws.",
        "With few rows, luck looks like miscalibration, and miscalibration like luck.",
        "luck",
    ),
    LessonStep(
        4,
        "All outputs are divided by 2. What happens to the accuracy?",
        "Guess; then move the temperature.",
        "Scores move, predictions stay: calibration and accuracy are two things.",
        "confident",
    ),
    LessonStep(
        3,
        "Base rate, network, or the one who exaggerates: whose ECE is lowest?",
        "Guess, show the answer. Ask aloud: whom would you hire? Hands. Then the slider.",
        "The base rate is calibrated and of no use. Proper scores count both.",
        "useful",
    ),
    LessonStep(
        5,
        "A missed patient costs 9 times an unnecessary visit. Above which risk should one visit?",
        "Guess; then costs of 1 and of 19, before and after calibration.",
        "Costs give the cut-off: 1 / (1 + 9) = 10%. It holds only if the risks are calibrated.",
        "acting",
    ),
    LessonStep(
        2,
        "What do you know now that you did not at the beginning?",
        "One sentence each from two students.",
        "Homework: the lessons at the end of this plan.",
    ),
)

HOMEWORK = ("held_out", "splines", "groups")

"""Keys of lessons for later."""

BIOSTATISTICS: tuple[LessonStep, ...] = (
    LessonStep(
        5,
        f"O/E is 1, the calibration slope is {in_the_large.QUESTION_SLOPE}. Which risks are too"
        " high?",
        "Guess, show the answer. Then slopes above 1; then a shift at slope 1.",
        "O/E and intercept are about the total, the slope about how extreme risks are. The curve"
        " shows both.",
        "large",
    ),
    LessonStep(
        5,
        f"Half of the patients have the disease here, {transport.QUESTION_RATE}% there. What is"
        f" the true risk there at a score of {transport.SCORE}%?",
        "Guess, show the answer; then with an offset. Work out the odds at the board.",
        "A model is validated where it is used. Where only the prevalence differs, an offset"
        " corrects it.",
        "transport",
    ),
    LessonStep(
        5,
        "The same small error, more patients: how often does Hosmer-Lemeshow reject the model?",
        "Guess, show the answer. Move the number of patients; then choose hospitals that differ.",
        "Its p-value is about the number of patients as much as about the error. Report how large"
        " the error is.",
        "hosmer",
    ),
)
"""Stops for biostatistics, as long as those that they stand in for."""

INSTEAD = ("bins", "luck", "useful")
"""Lessons of the plan that may be left out for these."""


def minutes() -> int:
    """Return how long the plan takes."""
    return sum(step.minutes for step in PLAN)


def starts() -> list[int]:
    """Return the minute at which each step begins."""
    return [sum(step.minutes for step in PLAN[:k]) for k in range(len(PLAN))]
