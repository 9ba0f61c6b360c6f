"""Another hospital: the event is rarer there, so risks are too high, and an offset corrects it."""

import math

import numpy as np

from calibcore.binning import BinTable, bin_scores
from calibcore.cumulative import ks_error
from calibcore.data import EventScores
from calibcore.metrics import auroc, calibration_intercept, observed_expected_ratio
from calibcore.results import result_class
from calibcore.synthetic.world import at_other_odds
from dashboard.figures import Palette
from dashboard.learn import data, pictures
from dashboard.learn.laboratory import LaboratoryModel, drawn_of
from dashboard.learn.lesson import (
    Check,
    Lesson,
    LessonPicture,
    LessonView,
    NumberGuess,
    State,
    Steps,
)
from dashboard.texts.numbers import NO_BREAK, percent, with_sign

KEY = "transport"

HOME = LaboratoryModel(rows=20_000, rate=50, slope=100)
"""Hospital A: half of its patients have the event, and scores are calibrated."""

N_ROWS, N_LOCAL, N_BINS, LEAST = 8_000, 500, 10, 20

RATES = ("5", "10", "20", "30", "50")

QUESTION_RATE, SCORE = "10", 80
"""Percent of patients with the event in hospital B, and the score that is asked about."""

STAGES = {"before": "As developed", "after": "With an offset"}


@result_class
class Hospital:
    """Patients of one hospital, and what is usual to report of their risks."""

    event: EventScores
    """Risks and outcomes."""
    bins: BinTable
    """In tenths of the risk."""

    @property
    def score(self) -> float:
        """Mean risk."""
        return float(self.event.scores.mean())

    @property
    def frequency(self) -> float:
        """Share of the patients with the event."""
        return float(self.event.hits.mean())

    @property
    def ratio(self) -> float:
        """O/E."""
        return observed_expected_ratio(self.event.scores, self.event.hits)

    @property
    def auroc(self) -> float:
        """How well the risks order patients by whether they have the event."""
        return auroc(self.event.scores, self.event.hits)

    @property
    def ks_error(self) -> float:
        """KS error."""
        return ks_error(self.event.scores, self.event.hits)


@result_class
class Result:
    """The hospital of the development, another one, and that with an offset."""

    home: Hospital
    before: Hospital
    after: Hospital
    offset: float
    """Log-odds that are added to each risk: fitted to other patients of the other hospital."""
    true_offset: float
    """By the two prevalences alone."""


def offset_of(rate: float) -> float:
    """Return the log-odds by which risks are too high, by the prevalences of both hospitals.

    Where patients with the event are alike in both, and patients without it too, the odds of the
    event change at every score by the ratio of its odds among all patients.
    """
    home = HOME.rate / 100
    return math.log(rate / (1 - rate)) - math.log(home / (1 - home))


def find(state: State) -> Result:
    """Draw patients of hospital A, and from others of them a hospital where the event is rarer."""
    chosen = data.in_laboratory(HOME, state, KEY)
    rate = state.number("rate") / 100
    pool, rows = drawn_of(chosen, 0).event, drawn_of(chosen, 1).event
    n_events, n_local = (round(n * rate) for n in (N_ROWS, N_LOCAL))
    ill, well = np.flatnonzero(pool.hits == 1), np.flatnonzero(pool.hits == 0)
    local = np.concatenate([ill[:n_local], well[: N_LOCAL - n_local]])
    others = np.concatenate(
        [
            ill[n_local : n_local + n_events],
            well[N_LOCAL - n_local : N_LOCAL - n_local + N_ROWS - n_events],
        ]
    )
    few, many = pool.rows(local), pool.rows(others)
    offset = calibration_intercept(few.scores, few.hits)
    after = EventScores(at_other_odds(many.scores, offset), many.hits)
    first = rows.rows(np.arange(N_ROWS))
    home, before, there = (_hospital(one) for one in (first, many, after))
    return Result(home, before, there, offset, offset_of(rate))


def _hospital(event: EventScores) -> Hospital:
    return Hospital(event, bin_scores(event.scores, event.hits, n_bins=N_BINS))


def show(state: State) -> LessonView:
    """Show both hospitals' diagrams."""
    result, palette = find(state), state.palette
    home = _diagram("home", "Hospital A: 50% have the event", result.home, palette)
    if not state.revealed:
        return LessonView((home,), "")
    after, rate = state.chosen["stage"] == "after", state.chosen["rate"]
    there = result.after if after else result.before
    title = f"Hospital B: {rate}%, scores {'with an offset' if after else 'as developed'}"
    curve = None if after else result.true_offset
    risk = at_other_odds(np.array([SCORE / 100]), offset_of(int(QUESTION_RATE) / 100))[0]
    return LessonView(
        (home, _diagram("there", title, there, palette, offset=curve)),
        _sentence(result, rate),
        answer=f"{percent(float(risk), 1)}: {_odds()}",
        note=_note(result),
        numbers=_numbers(result),
    )


def _odds() -> str:
    """Say how odds change from hospital A to the hospital of the question."""
    share = math.exp(offset_of(int(QUESTION_RATE) / 100))
    home = HOME.rate / (100 - HOME.rate)
    odds = SCORE / (100 - SCORE)
    return "odds of the event are {} in A and {} in B, so {} becomes {}".format(
        *(
            f"{one:g}{NO_BREAK}:{NO_BREAK}{other:g}"
            for one in (home, odds)
            for other in (1, 1 / share)
        )
    )


def _sentence(result: Result, rate: str) -> str:
    a, b, c = result.home, result.before, result.after
    if rate == "50":
        start = "Hospital B has as many patients with the event, so nothing changes:"
    else:
        start = "In hospital B, the same scores are too high:"
    return (
        f"{start} mean score **{percent(b.score, N_ROWS)}**, observed"
        f" **{percent(b.frequency, N_ROWS)}** (O/E = {b.ratio:.2f}; in A {a.ratio:.2f})."
        f" Their order does not depend on it: AUROC {b.auroc:.2f}, in A {a.auroc:.2f}."
        f" An **offset of {with_sign(result.offset)}** in log-odds, fitted to {N_LOCAL} other"
        f" patients of B, brings O/E to **{c.ratio:.2f}**, the KS error from"
        f" {percent(b.ks_error, N_ROWS)} to {percent(c.ks_error, N_ROWS)}."
    )


def _note(result: Result) -> str:
    return (
        "Patients with the event have the same distribution of scores in both hospitals, and"
        " patients"
        " without it, too; only their shares differ. Then the offset is"
        f" {with_sign(result.true_offset)} in truth: the logarithm of the odds in B divided by"
        " those in A. Where patients differ otherwise, the"
        " slope changes as well: look at the curve there."
    )


def _numbers(result: Result) -> tuple[tuple[str, ...], ...]:
    rows: list[tuple[str, ...]] = [
        ("Hospital", "Mean score", "Observed", "O/E", "AUROC", "KS error")
    ]
    for name, one in (("A", result.home), ("B", result.before), ("B, offset", result.after)):
        shares = (percent(v, N_ROWS) for v in (one.score, one.frequency))
        ratios = f"{one.ratio:.2f}", f"{one.auroc:.3f}"
        rows.append((name, *shares, *ratios, percent(one.ks_error, N_ROWS)))
    return tuple(rows)


def _diagram(
    name: str, title: str, result: Hospital, palette: Palette, *, offset: float | None = None
) -> LessonPicture:
    traces = pictures.bin_bars(result.bins, palette, LEAST)
    names = []
    if offset:
        grid = np.linspace(0.005, 0.995, 100)
        traces.append(pictures.line(grid, at_other_odds(grid, offset), palette.text))
        names = [pictures.label("\u2501 truth", 0.02, 0.88, palette.text)]
    figure = pictures.by_score(
        title,
        traces,
        x="Score (risk)",
        names=names,
    )
    shown = result.bins.counts >= LEAST
    luck = ", as luck has it" if name == "home" or offset == 0 else ""
    above = int((result.bins.mean_score[shown] > result.bins.frequency[shown]).sum())
    return LessonPicture(
        name,
        figure,
        f"Bars: observed frequency in bins of {LEAST} patients or more. Dots: mean score, above the"
        f" bar in {above} of {int(shown.sum())} bins{luck}.",
    )


LESSON = Lesson(
    key=KEY,
    title="The model in another hospital",
    question="In hospital A, where 50% of patients have a disease, a model is well calibrated. In"
    f" hospital B **{QUESTION_RATE}%** have it. Patients with the disease have the same"
    " distribution of scores in both, and those without, too. What is the true risk of a patient"
    " of B with a"
    f" **score of {SCORE}%**?",
    guess=NumberGuess(0, 100, 5, 50),
    controls=(
        Steps("rate", "Patients of B with the event", {r: f"{r}%" for r in RATES}, QUESTION_RATE),
        Steps("stage", "Scores in B", STAGES, "before", as_buttons=True),
    ),
    show=show,
    takeaway="What is calibrated in one hospital need not be calibrated in another: validate it"
    " there. Where only the prevalence differs, an offset corrects it.",
    check=Check(
        "The prevalence falls, and patients with and without the event stay as they were. What"
        " stays the same?",
        {"ratio": "O/E", "auroc": "The AUROC", "ks": "The KS error"},
        "auroc",
        "The AUROC compares patients with the event and patients without it; how many there are of"
        " each does not matter. O/E and KS error depend on it.",
    ),
    link=lambda state: data.laboratory_link(
        "reliability", data.in_laboratory(HOME, state, KEY), "Hospital A in the dashboard"
    ),
    computed="Patients of A are drawn by `calibcore.synthetic`; B has other patients of A, of those"
    " with the event fewer. Offset: the log-odds that fit best with the slope held at 1"
    f" (`calibration_intercept`; Steyerberg 2004), of {N_LOCAL} patients of B that are not shown."
    " True risk: Bayes' rule with the other prevalence (Saerens 2002).",
    draw="Draw other patients",
    terms={
        "Prevalence": "share of the patients who have the event.",
        "Log-odds": "logarithm of risk / (1 \u2212 risk).",
        "Offset": "a number added to the log-odds of every risk.",
        "AUROC": "how often a patient with the event has a higher risk than one without.",
    },
)
