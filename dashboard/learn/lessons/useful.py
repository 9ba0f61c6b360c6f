"""Calibrated does not mean useful: one score for all, a network, and a network that exaggerates."""

from functools import cache

import numpy as np

from calibcore.binning import BinTable, bin_scores
from calibcore.data import EventScores
from calibcore.events import OneClass
from calibcore.metrics import corp, corp_nll, ece, event_brier, event_nll
from calibcore.metrics.decomposition import Decomposition
from calibcore.results import result_class
from dashboard.figures import Palette
from dashboard.figures.layout import panel
from dashboard.learn import data, pictures
from dashboard.learn.lesson import (
    Check,
    ChoiceGuess,
    Lesson,
    LessonPicture,
    LessonView,
    Link,
    State,
    Steps,
)
from dashboard.texts import learn as words
from dashboard.texts.numbers import percent

KEY = "useful"

MODEL, SHIRT = "three_garments", "Shirt"

BASE, NETWORK, EXAGGERATED = "0", "1", "3"

FACTORS = {
    BASE: "Always the base rate",
    "0.25": "0.25\u00d7",
    "0.5": "0.5\u00d7",
    "0.75": "0.75\u00d7",
    NETWORK: "The network",
    "1.5": "1.5\u00d7",
    "2": "2\u00d7",
    EXAGGERATED: "Exaggerated 3\u00d7",
}
"""By how much the network's log-odds differ from those of the base rate, times this."""

THREE = {BASE: "A", NETWORK: "B", EXAGGERATED: "C"}
"""Those that are compared, and how they are called in the pictures."""

N_BINS, N_DOTS = 10, 60

TOP, GUTTER = 1.7, 0.04
"""End of the axis above 100%, where the names are; between diagrams, as a share of the width."""

BRIER_STEP = 0.04
"""Between lines of equal Brier score."""


@result_class
class Forecaster:
    """Scores of one forecaster, and what they are worth."""

    rows: EventScores
    """Of the test set."""
    bins: BinTable
    """Of equal width."""
    ece: float
    brier: float
    nll: float
    """ECE of these bins, Brier score and NLL of the event."""
    parts: Decomposition[float]
    """Of the Brier score, by isotonic regression."""


@cache
def base_rate() -> float:
    """Return how many of the pictures that were not used here show a shirt."""
    rows = data.sample(MODEL).calibration
    return float((rows.labels == rows.class_names.index(SHIRT)).mean())


@cache
def forecaster(factor: str) -> Forecaster:
    """Move the network's log-odds towards the base rate, or away from it, and evaluate them."""
    test = data.sample(MODEL).test
    network = OneClass(test.class_names.index(SHIRT)).outcomes(test.probabilities, test.labels)
    odds, base = (np.log(p / (1 - p)) for p in (network.scores, base_rate()))
    moved = base + float(factor) * (odds - base)
    scores, rest = 1 / (1 + np.exp(-moved)), 1 / (1 + np.exp(moved))
    rows = EventScores(scores, network.hits, rest)
    return Forecaster(
        rows,
        bin_scores(scores, rows.hits, n_bins=N_BINS),
        ece(scores, rows.hits, n_bins=N_BINS),
        event_brier(scores, rows.hits),
        event_nll(scores, rows.hits, rest),
        corp(scores, rows.hits),
    )


def show(state: State) -> LessonView:
    """Show the reliability diagrams, and after a click their plane."""
    if not state.revealed:
        return LessonView((_spread(state.palette),), "")
    factor = state.chosen["factor"]
    base, network, scores = (forecaster(one) for one in (BASE, NETWORK, factor))
    n_rows = base.rows.n_samples
    lowest = min(THREE, key=lambda one: forecaster(one).ece)
    lowest_ece = percent(forecaster(lowest).ece, n_rows)
    chosen = (
        f" **{FACTORS[factor]}**: ECE {percent(scores.ece, n_rows)}, Brier score"
        f" {scores.brier:.3f}, NLL {scores.nll:.3f}."
    )
    return LessonView(
        (_diagrams(factor, state.palette),),
        f"**{FACTORS[lowest]}** has the lowest ECE, {lowest_ece}, but gives a shirt and any other"
        f" picture the same score. **The network** has an ECE of {percent(network.ece, n_rows)},"
        f" yet better proper scores: Brier {network.brier:.3f} instead of {base.brier:.3f}, NLL"
        f" {network.nll:.3f} instead of {base.nll:.3f}."
        f"{'' if factor in {BASE, NETWORK} else chosen}",
        answer=f"{FACTORS[lowest]}, {lowest_ece}",
        right=THREE[lowest].lower(),
        note=f"{_in_parts()} {_exaggerated()}",
        behind=(_plane(factor, state.palette),),
        numbers=_numbers(),
    )


def _in_parts() -> str:
    """Write the Brier score and the NLL of the network as their three parts."""
    network = forecaster(NETWORK)
    nll_parts = corp_nll(network.rows.scores, network.rows.hits)
    return (
        "Brier score = miscalibration + refinement: of the network,"
        f" {_sum_of(network.parts)} = {network.brier:.3f}; of the base rate,"
        f" {_sum_of(forecaster(BASE).parts)} = {forecaster(BASE).brier:.3f}. The NLL splits in the"
        f" same way: of the network, {_sum_of(nll_parts)} = {network.nll:.3f}. *Refinement* is what"
        " would remain if the scores were calibrated: *uncertainty*, the Brier score of always"
        f" giving the base rate ({network.parts.uncertainty:.3f}), minus *discrimination*"
        f" ({network.parts.discrimination:.3f}), by which its scores distinguish shirts from"
        " other pictures. *Miscalibration* is what calibration would take away."
    )


def _sum_of(parts: Decomposition[float]) -> str:
    return f"{parts.miscalibration:.3f} + {parts.uncertainty - parts.discrimination:.3f}"


def _exaggerated() -> str:
    """Compare exaggerated scores with one score for all."""
    base, exaggerated = forecaster(BASE), forecaster(EXAGGERATED)

    def compared(ours: float, theirs: float) -> str:
        return f"{ours:.3f} ({'better' if ours < theirs else 'worse'})"

    return (
        f"{FACTORS[EXAGGERATED]}, compared with always the base rate: Brier score"
        f" {compared(exaggerated.brier, base.brier)}, NLL {compared(exaggerated.nll, base.nll)}."
        " In the NLL, a score near 0% or 100% that is wrong costs most."
    )


def _numbers() -> tuple[tuple[str, ...], ...]:
    rows = [("Forecaster", "ECE", "Brier score", "NLL", "Miscalibration", "Discrimination")]
    for factor, name in FACTORS.items():
        scores = forecaster(factor)
        parts = scores.parts.miscalibration, scores.parts.discrimination
        rows.append(
            (
                name,
                percent(scores.ece, scores.rows.n_samples),
                f"{scores.brier:.3f}",
                f"{scores.nll:.3f}",
                f"{parts[0]:.3f}",
                f"{parts[1]:.3f}",
            )
        )
    return tuple(rows)


def _spread(palette: Palette) -> LessonPicture:
    """Show how the scores of each forecaster are spread, and nothing of the outcomes."""
    order = np.argsort(forecaster(NETWORK).rows.scores)
    some = order[np.linspace(0, order.size - 1, N_DOTS).astype(int)]
    aside = 0.4 * (np.arange(N_DOTS) * 0.618 % 1 - 0.5)  # so that equal scores are seen
    traces, names = list[pictures.Trace](), list[pictures.Trace]()
    for line, factor in enumerate(THREE):
        up = 2 - line
        scores = forecaster(factor).rows.scores[some]
        traces.append(pictures.dots(scores, up + aside, palette.score, size=9, cliponaxis=False))
        names.append(pictures.label(_named(factor), 0, up + 0.32, palette.text))
    figure = pictures.picture(
        f"Scores of {N_DOTS} of the pictures",
        traces,
        x=pictures.percent_axis("Score: how probable is a shirt?"),
        y=pictures.no_axis(-0.5, 2.75),
        names=names,
    )
    text = (
        f"One dot per picture, at its score. A: {percent(base_rate(), 1)} for all. C: the network's"
        " scores, moved towards 0% and 100%."
    )
    return LessonPicture("spread", figure, text)


def _named(factor: str) -> str:
    return f"<b>{THREE[factor]}</b> {FACTORS[factor]}"


def _plane(factor: str, palette: Palette) -> LessonPicture:
    """Draw all forecasters over lines of equal Brier score."""
    parts = {one: forecaster(one).parts for one in FACTORS}
    across = {one: part.miscalibration for one, part in parts.items()}
    up = {one: part.discrimination for one, part in parts.items()}
    moved = [one for one in FACTORS if one != BASE]
    right, top = 1.12 * max(across.values()), 1.3 * max(up.values())
    lines, names = _equal_brier((0.0, right), top, palette)
    for one in THREE:
        below = {"xanchor": "right", "yanchor": "top", "yshift": -14}
        place = below if one == EXAGGERATED else {"yshift": 14, "xshift": 8}
        at = across[one], up[one]
        names.append(pictures.boxed(_named(one), *at, palette.text, palette, **place))
    names.append(pictures.label("\u2196 better", 0, 0.97 * top, palette.text, yanchor="top"))
    three = pictures.dots([across[k] for k in THREE], [up[k] for k in THREE], palette.text, size=13)
    three["marker"]["symbol"] = ["square", "circle", "diamond"]
    ring = pictures.dots([across[factor]], [up[factor]], palette.score, symbol="circle-open")
    ring["marker"] |= {"size": 25, "line": {"width": 4}}
    path = pictures.line([across[k] for k in moved], [up[k] for k in moved], palette.neutral)
    figure = pictures.picture(
        "Two parts of the Brier score: miscalibration and discrimination",
        [*lines, path, three, ring],
        x=pictures.number_axis("Miscalibration", -0.03 * right, right),
        y=pictures.number_axis("Discrimination", -0.08 * top, top, showgrid=False),
        names=names,
    )
    text = (
        f"Ring: {FACTORS[factor]}. Dotted: equal Brier score, better further up. From"
        f" {FACTORS[moved[0]]} to 3\u00d7, only miscalibration changes; discrimination stays"
        f" {up[NETWORK]:.3f}. It is {up[BASE]:.3f} where all scores are equal."
    )
    return LessonPicture("plane", figure, text)


def _equal_brier(
    x: tuple[float, float], top: float, palette: Palette
) -> tuple[list[pictures.Trace], list[pictures.Trace]]:
    """Draw lines of equal Brier score, named at the right."""
    base = forecaster(BASE).parts.uncertainty
    lines, names = list[pictures.Trace](), list[pictures.Trace]()
    steps = np.arange(np.ceil((base - top + x[1]) / BRIER_STEP), np.floor(base / BRIER_STEP) + 2)
    for score in (steps * BRIER_STEP).tolist():
        heights = [across - score + base for across in x]
        lines.append(pictures.line(list(x), heights, palette.neutral, dash="dot", width=1))
        names.append(
            pictures.label(f"Brier {score:.2f}", x[1], heights[1], palette.neutral, xanchor="right")
        )
    return lines, names


def _diagrams(factor: str, palette: Palette) -> LessonPicture:
    """Draw the reliability diagrams of the three, and of the one that the slider stands at."""
    traces, names = list[pictures.Trace](), list[pictures.Trace]()
    axes = dict[str, dict[str, object]]()
    for k, one in enumerate((*THREE, factor)):
        scores, (own, on) = forecaster(one), _small_axes(k)
        axes |= own
        drawn = pictures.bin_bars(scores.bins, palette)
        share = scores.bins.counts[scores.bins.counts > 0] / scores.bins.counts.sum()
        drawn[-1]["marker"] = {**drawn[-1]["marker"], "size": np.maximum(6, 26 * np.sqrt(share))}
        traces += [trace | on for trace in drawn]
        name = f"<b>{[*THREE.values(), 'Slider'][k]}</b>"
        measures = percent(scores.ece, scores.rows.n_samples), f"{scores.brier:.3f}"
        text = "{}<br>ECE {}<br>Brier {}".format(name, *measures)
        place = {"xref": on["xaxis"], "yref": on["yaxis"], "yanchor": "top", "align": "left"}
        names.append(pictures.label(text, 0.01, TOP, palette.text, **place))
    figure = pictures.picture(
        "Reliability diagrams",
        traces,
        x=axes.pop("xaxis"),
        y=axes.pop("yaxis"),
        names=names,
        margin=pictures.margin(58, 34, 46) | {"r": 6},  # room for four names on a phone
        **axes,
    )
    fullest = int(forecaster(BASE).bins.counts.max())
    return LessonPicture(
        "diagrams",
        figure,
        f"A: always the base rate. B: the network. C: exaggerated 3\u00d7. Slider:"
        f" {FACTORS[factor]}."
        " Bars: observed frequency. Dots: mean score, larger for more pictures; of A, all"
        f" {fullest:,} are in one bin.",
    )


def _small_axes(k: int) -> tuple[pictures.Trace, pictures.Trace]:
    """Return the axes of one of the small diagrams, counted from 0."""
    width = (1 + GUTTER) / (len(THREE) + 1)
    across, up = (
        pictures.percent_axis("Score"),
        pictures.percent_axis("Observed frequency" if k == 0 else "", TOP),
    )
    across |= {
        "tickvals": [0, 0.5, 1],
        "ticktext": ["0", "50%", ""],
        "domain": [k * width, (k + 1) * width - GUTTER],
    }
    up |= {"showticklabels": k == 0, "tickvals": [0, 0.5, 1]}
    return panel(k, across, up)


LESSON = Lesson(
    key=KEY,
    title="Calibrated does not mean useful",
    question="How probable is it that a picture shows a shirt, where pictures show one of three"
    " garments? Three forecasters give each of many pictures a score. Which has the **lowest"
    " ECE**?",
    guess=ChoiceGuess({one.lower(): f"{one}: {FACTORS[k]}" for k, one in THREE.items()}),
    controls=(
        Steps(
            "factor",
            "Distance from the base rate in log-odds, 1\u00d7: the network",
            FACTORS,
            "0.5",
        ),
    ),
    show=show,
    takeaway="Calibration is not all: scores must also differ between pictures with and without a"
    " shirt. Brier score and NLL count both.",
    check=Check(
        "It rains on 30% of days. A forecast gives a score of 30% to every day. What is it?",
        {
            "useful": "Calibrated, so it is useful",
            "wrong": "Miscalibrated: most days stay dry",
            "useless": "Calibrated, but no help",
        },
        "useless",
        "On the days with that score it rains as often as the score, so it is calibrated. But"
        " no day has another score, so it does not help to decide when to take an umbrella.",
    ),
    link=lambda _: Link(
        "reliability",
        {
            "sample": MODEL,
            "event": "class",
            "class": SHIRT,
            "method": "none",
            "bins": str(N_BINS),
        },
        "The network in the dashboard",
    ),
    computed="The network's scores are moved towards the base rate or away from it, and compared"
    " with what the pictures show. Log-odds of the network, as far from those of the base rate"
    " as chosen; base rate: of"
    " the calibration set. ECE: Guo 2017, in"
    f" {N_BINS} bins. Miscalibration: how much the best increasing map of the scores would lower"
    " the Brier score. Discrimination: how much scores so mapped are better than one score for all"
    " (`calibcore.metrics.corp`, Dimitriadis 2021). Rows:"
    " the test set of the example with three garments, one of which is a shirt.",
    terms={
        "ECE": "distance of mean score and observed frequency, averaged over bins of scores, each"
        " counted by its number of rows.",
        "Base rate": "share of pictures that show a shirt.",
        "Exaggerated 3\u00d7": "the network's scores, moved away from the base rate: three times as"
        " far in log-odds.",
    },
    later={
        "Brier score": "mean squared distance of scores and outcomes (0 or 1).",
        "NLL": words.NLL,
        "Miscalibration": "how much the Brier score would fall if the scores were calibrated.",
        "Discrimination": "how far calibrated scores differ between pictures; 0 if all are equal.",
        "Uncertainty": "what always giving the observed frequency would cost; the same for every"
        " forecaster.",
        "Proper scores": "measures that are best, on average, for the true probabilities: Brier"
        " score and NLL.",
    },
    minutes=3,
)
