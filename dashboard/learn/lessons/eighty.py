"""What a score of 80% means: draw 100 people, again and again."""

import numpy as np
from numpy.typing import NDArray

from calibcore.results import result_class
from calibcore.validation import Floats
from dashboard.figures import Palette
from dashboard.learn import pictures
from dashboard.learn.lesson import Check, Lesson, Link, NumberGuess, Picture, Shown, State, Steps
from dashboard.texts.numbers import span

KEY = "eighty"

PEOPLE = 100

MOST_DRAWS = 500


@result_class
class Draws:
    """Groups of 100 people for each of whom the event has the same probability."""

    happened: NDArray[np.bool_]
    """The last group, in the order of drawing; shape (PEOPLE,)."""
    counts: NDArray[np.int64]
    """How many of each group it happened to; shape (n_draws,)."""
    chances: Floats
    """Binomial probability of each count; shape (PEOPLE + 1,)."""

    @property
    def range95(self) -> tuple[int, int]:
        """The counts between which 95% of all groups lie, at least."""
        return _range95(self.chances)


def chances_of(probability: float) -> Floats:
    """Return the binomial probability of each count of `PEOPLE`, shape (PEOPLE + 1,)."""
    from scipy.special import bdtr  # noqa: PLC0415 - a tenth of a second to import

    below = bdtr(np.arange(-1, PEOPLE + 1), PEOPLE, probability)
    return np.diff(np.nan_to_num(below))


def _range95(chances: Floats) -> tuple[int, int]:
    below = np.cumsum(chances)
    return int(np.searchsorted(below, 0.025)), int(np.searchsorted(below, 0.975))


def draw(state: State) -> Draws:
    """Draw the groups of a state."""
    probability = state.number("probability") / 100
    groups = [
        state.rng(KEY, one).random(PEOPLE) < probability
        for one in range(1, min(state.draws, MOST_DRAWS) + 1)
    ]
    counts = np.array([group.sum() for group in groups])
    return Draws(groups[-1], counts, chances_of(probability))


def show(state: State) -> Shown:
    """Show the last group, and the counts of all groups so far."""
    found, chosen = draw(state), state.chosen["probability"]
    if not state.revealed:
        return Shown((_people(np.full(PEOPLE, fill_value=False), state.palette),), "")
    last, (low, high) = int(found.counts[-1]), found.range95
    outside = int(np.count_nonzero((found.counts < low) | (found.counts > high)))
    many = f" Of {found.counts.size} groups, {outside} were outside that range."
    rows = [("Group", "Of 100 people, it happened to")]
    rows += [(str(k + 1), str(count)) for k, count in enumerate(found.counts[-10:])]
    return Shown(
        (_people(found.happened, state.palette), _histogram(found, chosen, state.palette)),
        f"It happened to **{last} of 100**, where the score was {chosen}% for each."
        f" Luck alone keeps 95% of such groups between {low} and {high}."
        f"{many if found.counts.size > 1 else ''}",
        answer=f"{span(*map(str, _range95(chances_of(0.8))))} in 95% of groups",
        numbers=tuple(rows),
    )


def _people(happened: NDArray[np.bool_], palette: Palette) -> Picture:
    place = np.arange(PEOPLE)
    colour = [palette.frequency if one else palette.band for one in happened]
    symbol = ["circle" if one else "circle-open" for one in happened]
    traces = [pictures.dots(place % 10, 9 - place // 10, colour, size=20, symbol=symbol)]
    n_happened = int(np.count_nonzero(happened))
    figure = pictures.picture(
        "100 people", traces, x=pictures.no_axis(-0.7, 9.7), y=pictures.no_axis(-0.7, 9.7)
    )
    text = f"100 dots, one per person; {n_happened} are filled: it happened to them."
    return Picture("people", figure, text)


def _histogram(found: Draws, chosen: str, palette: Palette) -> Picture:
    counts = np.arange(PEOPLE + 1)
    drawn = np.bincount(found.counts, minlength=PEOPLE + 1) / found.counts.size
    low, high = found.range95
    ends = min(low, int(found.counts.min())) - 4, min(max(high, int(found.counts.max())) + 4, 101)
    top = 1.15 * max(float(drawn.max()), float(found.chances.max()))
    figure = pictures.picture(
        "How many of each 100",
        [
            pictures.bars(counts, drawn, palette.frequency, 0.9),
            pictures.line(counts, found.chances, palette.neutral, dash="dot"),
            pictures.dots(
                [found.counts[-1]], [0.02 * top], palette.text, size=14, symbol="triangle-up"
            ),
        ],
        x=pictures.number_axis("People to whom it happened", *ends),
        y=pictures.percent_axis("Share of groups", top),
    )
    return Picture(
        "counts",
        figure,
        f"Bars: how often each count was drawn so far. Dotted: how often luck alone gives it at"
        f" {chosen}%. Triangle: the last group.",
    )


LESSON = Lesson(
    key=KEY,
    title="What does 80% mean?",
    question="A model gives each of 100 people a **score of 80%**, and it is right to do so."
    " To how many of them will it happen?",
    guess=NumberGuess(50, 100, 1, 60, unit=" of 100"),
    controls=(
        Steps(
            "probability",
            "Score of each person",
            {p: f"{p}%" for p in ("50", "60", "70", "80", "90", "95", "99")},
            "80",
        ),
    ),
    show=show,
    takeaway="A score of 80% is about many: of 100 such people, it happens to about 80.",
    check=Check(
        "100 people with a score of 80%, and it happened to 74. Is the model wrong?",
        {
            "yes": "Yes, 74 is not 80",
            "unknown": "This does not show it",
            "no": "No, this proves that it is right",
        },
        "unknown",
        "At a score of 80%, luck alone gives 74 or something farther from 80 in many groups, so it"
        " is no surprise. It proves nothing either: a score of 75% would give it even more often.",
    ),
    link=lambda _: Link(
        "reliability", {"sample": "perfect_synthetic", "method": "none", "bins": "10"}
    ),
    computed="People are drawn by NumPy, each with the chosen probability; the dotted line is the"
    " binomial distribution.",
    draw="Draw 100 others",
    terms={
        "Score": "The probability that a model gives to an event.",
        "Event": "What the score is about: it happens or it does not.",
    },
)
