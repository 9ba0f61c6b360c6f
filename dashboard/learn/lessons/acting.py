"""Acting on a score: the cut-off that the costs give, and what it costs if scores are not right."""

import math
from functools import cache

import numpy as np

from calibcore.calibrators import PlattScaling
from calibcore.data import EventScores
from calibcore.decisions import AtCutoff, at_cutoff, cutoff_of_costs, mean_cost
from calibcore.inference.intervals import Z_95
from calibcore.results import result_class
from calibcore.validation import Floats
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
from dashboard.texts.numbers import MINUS, ci

KEY = "acting"

N_ROWS, PER = 5_000, 1_000
"""Patients, and of how many a cost is told."""

MODEL = LaboratoryModel(rows=N_ROWS, rate=10, slope=100, shift=-12)
"""One patient in ten is readmitted; the odds by the scores are 3.3 times too high."""

RATIOS = (1, 2, 4, 9, 19, 49)

QUESTION_RATIO = 9

USUAL = 0.5
"""The cut-off that is shown before the answer."""

CUTOFFS = np.arange(1, 100) / 100

STAGES = {"before": "Before calibration", "after": "Before and after"}

COUNTED = ("needed<br>visits", "unnecessary<br>visits", "missed")


# What is found ------------------------------------------------------------------------------


@result_class
class ActionCosts:
    """What acting on scores costs per 1,000 patients, in unnecessary visits."""

    at: AtCutoff
    """Counts at the cut-off that the costs give."""
    costs: Floats
    """At each of `CUTOFFS`; shape (99,)."""
    cost: float
    """At the cut-off that the costs give."""
    best: float
    least: float
    """The cut-off of the least cost, and that cost."""


@result_class
class Result:
    """The same patients, by scores before and after calibration."""

    ratio: int
    """Cost of a missed patient, where a false alarm costs 1."""
    before: ActionCosts
    after: ActionCosts
    """By which scores."""
    more: float
    error: float
    """What acting on scores before calibration costs more, and its standard error over the
    patients, the calibrator as it is; per 1,000.
    """
    every: float
    none: float
    """Cost of acting on all and on none; per 1,000."""

    @property
    def low(self) -> float:
        """Lower end of the 95% interval of ``more``."""
        return self.more - Z_95 * self.error

    @property
    def high(self) -> float:
        """Upper end."""
        return self.more + Z_95 * self.error


@cache
def true_difference(ratio: int) -> float:
    """Return ``more`` with infinitely many patients, and true risks as the calibrated scores."""
    true, cutoff = MODEL.model.truth(), cutoff_of_costs(1, ratio)
    moved = (true.scores >= cutoff).astype(float) - (true.frequency >= cutoff)
    return PER * float((moved * (1 - true.frequency - ratio * true.frequency)).mean())


def find(state: State, ratio: int) -> Result:
    """Act on the scores of the test rows, before and after a calibrator."""
    chosen = data.in_laboratory(MODEL, state, KEY)
    fit, before = drawn_of(chosen, 0).event, drawn_of(chosen, 1).event
    fitted = PlattScaling().fit(fit.scores, fit.hits)
    after = EventScores(fitted.predict(before.scores), before.hits)
    cutoff = cutoff_of_costs(1, ratio)
    moved = (before.scores >= cutoff).astype(float) - (after.scores >= cutoff)
    more = PER * moved * np.where(before.hits == 1, -ratio, 1)
    n_events = int(before.hits.sum())
    return Result(
        ratio,
        _acted(before, cutoff, ratio),
        _acted(after, cutoff, ratio),
        float(more.mean()),
        float(more.std()) / math.sqrt(N_ROWS),
        PER * (N_ROWS - n_events) / N_ROWS,
        PER * ratio * n_events / N_ROWS,
    )


def _acted(event: EventScores, cutoff: float, ratio: int) -> ActionCosts:
    possible = np.append(np.sort(event.scores), 1.0)  # the last one acts on nobody
    every = PER * mean_cost(event, possible, alarm=1, miss=ratio)
    costs = PER * mean_cost(event, [*CUTOFFS, cutoff], alarm=1, miss=ratio)
    place = int(every.argmin())
    return ActionCosts(
        at_cutoff(event, cutoff),
        costs[:-1],
        float(costs[-1]),
        float(possible[place]),
        float(every[place]),
    )


def total(at: AtCutoff, ratio: int) -> float:
    """Return what all patients cost, in unnecessary visits."""
    return at.in_vain + ratio * at.missed


# What is said -------------------------------------------------------------------------------


def show(state: State) -> LessonView:
    """Show cost by cut-off, and the counts at the cut-off that the costs give."""
    if not state.revealed:
        chosen = data.in_laboratory(MODEL, state, KEY)
        usual = at_cutoff(drawn_of(chosen, 1).event, USUAL)
        return LessonView((_counts((("before", usual),), None, state.palette),), "")
    result = find(state, int(state.chosen["ratio"]))
    both = state.chosen["stage"] == "after"
    cutoff = cutoff_of_costs(1, QUESTION_RATIO)
    sides = (("before", result.before.at), ("after", result.after.at))
    return LessonView(
        (
            _curve(result, state.palette, both=both),
            _counts(sides if both else sides[:1], result.ratio, state.palette),
        ),
        _sentence(result, both=both),
        answer=f"{_share(cutoff)} = 1 / (1 + {QUESTION_RATIO})",
        note=_note(result, both=both),
        numbers=_table(result),
    )


def _share(cutoff: float) -> str:
    return f"{100 * cutoff:.3g}%"


def _number(value: float) -> str:
    return f"{value:,.0f}".replace("-", MINUS)


def _sentence(result: Result, *, both: bool) -> str:
    cutoff = _share(result.before.at.cutoff)
    lines = [
        (
            f"A missed patient costs {result.ratio}, an unnecessary visit 1: visit above a risk of"
            f" **{cutoff}**."
        )
    ]
    without = f"Visiting all costs {_number(result.every)}, visiting none {_number(result.none)}"
    if result.before.cost > min(result.every, result.none):
        better = "all" if result.every < result.none else "none"
        without += f": visiting {better} is better than acting on the scores before calibration"
    if both:
        lines.append(_compared(result))
    else:
        best, least = _rounded(result.before.best), _number(result.before.least)
        lines.append(
            f"Before calibration, that costs **{_number(result.before.cost)}** per {PER:,}"
            f" patients. The risks are too high: a cut-off of {best} would cost {least}."
        )
    return "  \n".join([*lines, f"{without}."])


def _compared(result: Result) -> str:
    """Return how much more uncalibrated scores cost, and whether luck explains it."""
    more = "more" if result.more >= 0 else "less"
    size = f"**{_number(abs(result.more))} {more}** per {PER:,} patients than after it"
    luck = "" if result.low > 0 else ", **which may be luck**"
    return (
        f"Before calibration, that costs {size}"
        f" ({ci(_number(result.low), _number(result.high))}; in truth"
        f" {_number(true_difference(result.ratio))} more){luck}: {_number(result.before.cost)}"
        f" instead of {_number(result.after.cost)}."
    )


def _rounded(cutoff: float) -> str:
    return f"{100 * cutoff:.2g}%"


def _note(result: Result, *, both: bool) -> str:
    cutoff, ratio = _share(result.before.at.cutoff), result.ratio
    visits = "one visit is" if ratio == 1 else f"{ratio} visits are"
    cost = "costs" if ratio == 1 else "together cost"
    why = (
        f"Why {cutoff}: at that risk, {visits} unnecessary for each one that is not, and {cost} as"
        " much as one missed patient."
    )
    if not both:
        return f"{why} {_benefit(result)}"
    first, second = (_rounded(one.best) for one in (result.before, result.after))
    by_luck = "" if second == cutoff else f": not exactly {cutoff}, by luck of these patients"
    return (
        f"{why} {_benefit(result)} The least cost of these patients is"
        f" {_number(result.before.least)} before and"
        f" after, as calibration keeps their order. It is at a cut-off of {first} before, as the"
        f" risks are too high, and of {second} after{by_luck}."
    )


def _benefit(result: Result) -> str:
    """Say what the net benefit is, at the cut-off that the costs give."""
    part = "" if result.ratio == 1 else f", each counted as 1/{result.ratio}"
    before, after = (_number(PER * one.at.net_benefit) for one in (result.before, result.after))
    return (
        f"Net benefit: needed visits minus unnecessary ones{part}; per {PER:,} patients {before}"
        f" before calibration, {after} after, 0 if nobody is visited. What costs least has the"
        " highest net benefit."
    )


def _table(result: Result) -> tuple[tuple[str, ...], ...]:
    rows = [("Patients visited", "Cut-off", "Needed", "Unnecessary", "Missed", f"Cost per {PER:,}")]
    for name, one in (("Before calibration", result.before), ("After", result.after)):
        right, in_vain, missed = (f"{n:,}" for n in (one.at.right, one.at.in_vain, one.at.missed))
        rows.append((name, _share(one.at.cutoff), right, in_vain, missed, _number(one.cost)))
        rows.append((f"{name}, least cost", _rounded(one.best), "", "", "", _number(one.least)))
    events = result.before.at.n_events
    rows.append(("All", "0%", f"{events:,}", f"{N_ROWS - events:,}", "0", _number(result.every)))
    rows.append(("None", "", "0", "0", f"{events:,}", _number(result.none)))
    return tuple(rows)


# Pictures -----------------------------------------------------------------------------------


def _curve(result: Result, palette: Palette, *, both: bool) -> LessonPicture:
    """Draw the cost by cut-off; far above what acting on all or none costs, it is left out."""
    top = max(1.3 * min(result.every, result.none), 1.1 * result.before.cost)
    cutoff = result.before.at.cutoff
    traces, given = [pictures.line([cutoff, cutoff], [0, top], palette.neutral, dash="dot")], []
    without = [("visit all", result.every), ("visit none", result.none)]
    lines = [(text, cost, palette.neutral) for text, cost in without if cost < 0.95 * top]
    traces += [
        pictures.line([0, 1], [cost, cost], palette.neutral, dash="dot") for _, cost, _ in lines
    ]
    drawn = (
        ("\u25cf before", result.before, "dash", "circle", palette.neutral),
        ("\u25c6 after", result.after, "solid", "diamond", palette.score),
    )
    for name, one, dash, symbol, colour in drawn[: 1 + both]:
        inside = one.costs <= top
        traces += [
            pictures.line(CUTOFFS[inside], one.costs[inside], colour, dash=dash),
            pictures.dots([cutoff], [one.cost], colour, size=15, symbol=symbol),
            pictures.dots([one.best], [one.least], colour, size=15, symbol=f"{symbol}-open"),
        ]
        text = f"{name}, at {_share(cutoff)}: {_number(one.cost)}"
        given.append(f"<b style='color:{colour}'>{text}</b>")
    # Below the lines, where there always is room.
    place = cutoff + 0.01, 0.01 * top, palette.text, palette
    above = [(text, cost + 0.02 * top, colour) for text, cost, colour in lines]
    names = pictures.names_at_end(above, 0.99, top)
    names.append(pictures.boxed("<br>".join(given), *place, align="left"))
    figure = pictures.picture(
        f"Cost per {PER:,} patients, by cut-off",
        traces,
        x=pictures.percent_axis("Cut-off: visited above this risk"),
        y=pictures.number_axis("Cost, in unnecessary visits", 0, top),
        names=names,
    )
    solid = " Solid: after." if both else ""
    return LessonPicture(
        "curve",
        figure,
        f"Dashed: before calibration.{solid} Filled marks: the cut-off that the costs give."
        " Open marks: least cost.",
    )


def _counts(
    sides: tuple[tuple[str, AtCutoff], ...], ratio: int | None, palette: Palette
) -> LessonPicture:
    """Draw how many visits are needed and unnecessary, and how many patients missed."""
    traces, names, sentences = [], [], []
    width = 0.8 / len(sides)
    looks = ((palette.neutral, "/"), (palette.score, ""))
    for k, ((side, at), (colour, pattern)) in enumerate(zip(sides, looks, strict=False)):
        counts = [at.right, at.in_vain, at.missed]
        places = [place + (k - (len(sides) - 1) / 2) * width for place in range(3)]
        bar = pictures.bars(places, counts, colour, 0.94 * width)
        bar["marker"] = bar["marker"] | {"pattern": {"shape": pattern, "size": 8}}
        traces.append(bar)
        for place, count in zip(places, counts, strict=True):
            names.append(pictures.label(f"{count:,}", place, count, palette.text, xanchor="center"))
        sentences.append(_added(side, at, ratio))
    whom = "Example: " if ratio is None else f"{N_ROWS:,} patients, "
    cutoff = _share(sides[0][1].cutoff)
    high = 1.3 * max(max(f.right, f.in_vain, f.missed) for _, f in sides)
    if len(sides) > 1:
        corner = {"xref": "paper", "xanchor": "right"}
        names += [
            pictures.label(f"{sign} {side}", x, 0.9 * high, colour, **corner)
            for sign, x, (side, _), (colour, _) in zip(
                "\u25a8\u25a0", (0.8, 1), sides, looks, strict=True
            )
        ]
    ticks = {"tickvals": [0, 1, 2], "ticktext": COUNTED}
    figure = pictures.picture(
        f"{whom}visited above a risk of {cutoff}",
        traces,
        x=pictures.number_axis("", -0.5, 2.5, **ticks),
        y=pictures.number_axis("Patients", 0, high),
        names=names,
    )
    return LessonPicture("counts", figure, " ".join(sentences))


def _added(side: str, at: AtCutoff, ratio: int | None) -> str:
    if ratio is None:
        counts = (f"{n:,}" for n in (at.right, at.in_vain, at.missed))
        return (
            f"Of {N_ROWS:,} patients, before calibration:"
            " {} needed visits, {} unnecessary ones, {} missed.".format(*counts)
        )
    cost = total(at, ratio)
    return (
        f"{side.capitalize()}: {at.in_vain:,} unnecessary + {ratio} \u00d7 {at.missed:,}"
        f" missed = {cost:,}, {_number(PER * cost / N_ROWS)} per {PER:,}."
    )


LESSON = Lesson(
    key=KEY,
    title="Acting on a score",
    question="A hospital visits discharged patients whose **risk of readmission** is high. Missing"
    f" one who is readmitted costs **{QUESTION_RATIO} times** as much as an unnecessary visit."
    " **Above which risk** should it visit, if the risks are calibrated?",
    guess=NumberGuess(0, 100, 5, 50),
    controls=(
        Steps(
            "ratio", "Cost of a missed patient, in unnecessary visits",
            {str(r): str(r) for r in RATIOS}, str(QUESTION_RATIO),
        ),
        Steps("stage", "Scores", STAGES, "after", as_buttons=True),
    ),
    show=show,
    takeaway="Costs give the cut-off: 1 / (1 + cost of a miss, in unnecessary visits). It holds"
    " only if the risks are calibrated.",
    check=Check(
        "All scores are too high, and one acts from the cut-off that the costs give. What happens?",
        {
            "many": "Too many are acted on",
            "few": "Too few are acted on",
            "same": "The right ones are acted on",
        },
        "many",
        "Some whose true risk is below the cut-off reach it: there, unnecessary actions cost more"
        " than the misses that they prevent.",
    ),
    link=lambda state: data.laboratory_link(
        "decisions",
        data.in_laboratory(MODEL, state, KEY),
        "These patients in the dashboard",
        "none" if state.chosen["stage"] == "before" else "platt",
        cutoff_by="costs",
        cost_miss=state.chosen["ratio"],
    ),
    computed="Patients are drawn by `calibcore.synthetic` from a model of the laboratory: one in"
    " ten is readmitted, and the odds by the scores are e^1.2 = 3.3 times the true ones, as after"
    " training on data with the rare class repeated. Calibrator: `PlattScaling`, fitted on 5,000"
    " other patients. Cut-off and costs: `calibcore.decisions`; Pauker and Kassirer 1975, Elkan"
    " 2001. Interval: of the mean difference per patient, the calibrator as it is. In truth: with"
    " infinitely many patients, and the true risks as calibrated scores. Costs of right calls"
    " and of patients rightly left alone count as 0.",
    draw=f"Draw {N_ROWS:,} other patients",
    terms={
        "Score": "the risk that a model gives to a patient.",
        "Unnecessary": "the patient would not have been readmitted.",
        "Needed": "the patient would have been; it is assumed that the visit prevents that, and"
        " costs nothing.",
        "Missed": "readmitted, and not visited.",
    },
)  # fmt: skip
