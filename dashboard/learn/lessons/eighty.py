"""What a score of 80% means: draw 100 people, again and again."""

import numpy as np
from numpy.typing import NDArray

from calibcore.results import result_class
from calibcore.validation import Floats
from dashboard.figures import Palette
from dashboard.figures.layout import strip
from dashboard.learn import pictures
from dashboard.learn.binomial import chances_of, share_within, usual_range
from dashboard.learn.lesson import (
    DRAW,
    MOST_DRAWS,
    Check,
    Lesson,
    LessonPicture,
    LessonView,
    Link,
    NumberGuess,
    State,
    Steps,
)
from dashboard.texts.numbers import of_100

KEY = "eighty"

STREAM = "people"
"""Of random numbers: one whose first group is not exactly what is expected."""

PEOPLE, QUESTION_SCORE = 100, "80"

FEW = 30
"""Groups up to which each is a dot; more of them are shares, which the curve is compared with."""


LISTED = 10
"""Groups in the table: the last ones."""


@result_class
class GroupDraws:
    """Groups of 100 people for each of whom the event has the same probability."""

    happened: NDArray[np.bool_]
    """The last group, in the order of drawing; shape (PEOPLE,)."""
    counts: NDArray[np.int64]
    """How many of each group had the event; shape (n_draws,)."""
    chances: Floats
    """Binomial probability of each count; shape (PEOPLE + 1,)."""

    @property
    def usual(self) -> tuple[int, int]:
        """The counts outside which at most 2.5% of all groups lie on either side."""
        return usual_range(self.chances)


def draw(state: State) -> GroupDraws:
    """Draw the groups of a state."""
    probability = state.number("probability") / 100
    groups = [
        state.rng(STREAM, one).random(PEOPLE) < probability
        for one in range(1, min(state.draws, MOST_DRAWS) + 1)
    ]
    counts = np.array([group.sum() for group in groups])
    return GroupDraws(groups[-1], counts, chances_of(probability, PEOPLE))


def show(state: State) -> LessonView:
    """Show the last group, and the counts of all groups so far."""
    if not state.revealed:
        return LessonView((_people(None, state.palette),), "")
    draws, chosen = draw(state), state.chosen["probability"]
    last, (low, high) = int(draws.counts[-1]), draws.usual
    outside = int(np.count_nonzero((draws.counts < low) | (draws.counts > high)))
    were = "was" if outside == 1 else "were"
    many = f" Of your {draws.counts.size} groups, {outside} {were} outside that range."
    first = max(draws.counts.size - LISTED, 0)
    last_ones = f" (the last {LISTED} groups)" if first else ""
    rows = [("Group", f"Of 100 people, had the event{last_ones}")]
    rows += [(str(first + k + 1), str(n)) for k, n in enumerate(draws.counts[first:].tolist())]
    return LessonView(
        (_people(draws.happened, state.palette), _histogram(draws, chosen, state.palette)),
        f"**{last} of 100** had the event, at a score of {chosen}% for each. Luck alone gives"
        f" {low} to {high} in **{share_within(draws.chances)}** of such groups."
        f"{many if draws.counts.size > 1 else ''}",
        answer=_answer(),
        note=f"Why {share_within(draws.chances)}: no range of whole counts holds exactly 95%. This"
        " one leaves at most 2.5% of groups on either side.",
        numbers=tuple(rows),
    )


def _answer() -> str:
    chances = chances_of(int(QUESTION_SCORE) / 100, PEOPLE)
    low, high = usual_range(chances)
    return f"{QUESTION_SCORE} on average, {low} to {high} in {share_within(chances)} of groups"


def _people(happened: NDArray[np.bool_] | None, palette: Palette) -> LessonPicture:
    place = np.arange(PEOPLE)
    known = np.zeros(PEOPLE, dtype=bool) if happened is None else happened
    colour = [palette.frequency if one else palette.band for one in known]
    symbol = ["circle" if one else "circle-open" for one in known]
    traces = [pictures.dots(place % 20, 4 - place // 20, colour, size=13, symbol=symbol)]
    figure = pictures.picture(
        "100 people",
        traces,
        x=pictures.no_axis(-0.7, 19.7),
        y=pictures.no_axis(-0.7, 4.7),
        margin=pictures.margin(8),
    )
    outcomes = (
        "Outcomes appear after your guess."
        if happened is None
        else f"Filled: had the event ({int(np.count_nonzero(happened))})."
    )
    return LessonPicture("people", figure, f"One dot per person. {outcomes}")


def _histogram(draws: GroupDraws, chosen: str, palette: Palette) -> LessonPicture:
    """Draw how many of each group had the event: a dot a group while there are few."""
    low, high = draws.usual
    ends = min(low, int(draws.counts.min())) - 4, min(max(high, int(draws.counts.max())) + 4, 101)
    few = draws.counts.size <= FEW
    draw_groups = _each_group if few else _shares
    traces, y, top = draw_groups(draws, palette)
    figure = pictures.picture(
        "How many of each 100",
        traces,
        x=pictures.number_axis("People of 100 with the event", *ends),
        y=y,
        shapes=[strip(low - 0.5, high + 0.5, palette)],
        names=[
            pictures.label(
                f"luck: {share_within(draws.chances)} of groups", (low + high) / 2, 0.99 * top,
                palette.text, xanchor="center", yanchor="top",
            )
        ],
    )  # fmt: skip
    drawn = (
        "One dot per group."
        if few
        else f"Bars: share of your groups. Dotted: how often luck gives each count at {chosen}%."
    )
    return LessonPicture(
        "counts", figure, f"{drawn} Triangle: the last group. Grey: {low} to {high}."
    )


GroupTraces = tuple[list[pictures.Trace], dict[str, object], float]


def _each_group(draws: GroupDraws, palette: Palette) -> GroupTraces:
    """Pile up the groups as dots, in the order in which they were drawn."""
    heights = [int((draws.counts[: k + 1] == n).sum()) for k, n in enumerate(draws.counts.tolist())]
    top = max(6.0, max(heights) + 2.0)
    traces = [
        pictures.dots(draws.counts, np.array(heights) - 0.5, palette.frequency, size=12),
        _last(draws, top, palette),
    ]
    axis = pictures.number_axis("Groups", -0.09 * top, top, nticks=5)
    return traces, {**axis, "tickformat": "d", "rangemode": "nonnegative"}, top


def _shares(draws: GroupDraws, palette: Palette) -> GroupTraces:
    counts = np.arange(PEOPLE + 1)
    drawn = np.bincount(draws.counts, minlength=PEOPLE + 1) / draws.counts.size
    top = 1.3 * max(float(drawn.max()), float(draws.chances.max()))
    traces = [
        pictures.bars(counts, drawn, palette.frequency, 0.9),
        pictures.line(counts, draws.chances, palette.text, dash="dot"),
        _last(draws, top, palette),
    ]
    return traces, pictures.percent_axis("Share of groups", top, -0.09 * top), top


def _last(draws: GroupDraws, top: float, palette: Palette) -> pictures.Trace:
    place = [draws.counts[-1]], [-0.045 * top]
    return pictures.dots(*place, palette.text, size=12, symbol="triangle-up", cliponaxis=False)


def _check() -> Check:
    """Ask what a group of 74 shows, with how often luck is as far from 80."""
    counts, chances = np.arange(PEOPLE + 1), chances_of(int(QUESTION_SCORE) / 100, PEOPLE)
    as_far = of_100(
        float(chances[abs(counts - int(QUESTION_SCORE)) >= int(QUESTION_SCORE) - 74].sum())
    )
    return Check(
        "A model gave 100 people a score of 80% each; 74 had the event. Is the model wrong?",
        {
            "unknown": "This does not show it",
            "yes": "Yes, 74 is not 80",
            "no": "No, this proves that it is right",
        },
        "unknown",
        f"With a correct score of 80%, luck is as far from 80 in {as_far} of groups. It proves"
        " nothing either: a correct score of 75% would give 74 even more often.",
    )


LESSON = Lesson(
    key=KEY,
    title="What does 80% mean?",
    question="A **well-calibrated** model gives each of 100 people a **risk of 80%**. How many will"
    " have the event?",
    guess=NumberGuess(50, 100, 1, 60, unit=" of 100"),
    controls=(
        Steps(
            "probability",
            "Score of each person",
            {p: f"{p}%" for p in ("50", "60", "70", "80", "90", "95", "99")},
            QUESTION_SCORE,
        ),
    ),
    show=show,
    takeaway="Calibrated: of many people with a score of 80%, about 80% have the event. In one"
    " group of 100 it need not be exactly 80.",
    check=_check(),
    link=lambda _: Link(
        "reliability",
        {"sample": "perfect_synthetic", "method": "none", "bins": "10"},
        "Another model, well-calibrated, in the dashboard",
    ),
    computed="People are drawn by NumPy, each with the chosen probability; the dotted line is the"
    " binomial distribution. Grey: at most 2.5% of groups lie on either side of it. As counts are"
    " whole, what lies inside is never exactly 95%.",
    draw="Draw 100 others",
    draw_many="Draw 100 groups",
    play=DRAW,
    terms={
        "Well-calibrated": "its scores can be taken at their word.",
        "Score": "the probability that a model gives to an event; for a patient also called risk.",
        "Event": "what the score is about: it happens or it does not.",
    },
)
