"""Why not Hosmer-Lemeshow: the same error by number of patients, and patients in clusters."""

from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from calibcore.results import result_class
from calibcore.synthetic.world import at_other_odds, middles
from calibcore.validation import Floats
from dashboard.figures import Palette
from dashboard.learn import data, pictures
from dashboard.learn.laboratory import LaboratoryModel
from dashboard.learn.lesson import (
    Check,
    Lesson,
    LessonPicture,
    LessonView,
    Link,
    NumberGuess,
    State,
    Steps,
)
from dashboard.texts.numbers import MINUS, of_100, percent
from dashboard.texts.opening import ROLES

KEY = "hosmer"

ROWS = (200, 500, 1_000, 2_000, 5_000, 10_000, 20_000)

FIRST, QUESTION_ROWS = "500", "20000"
"""Patients in a sample: those of the picture before the answer, and of the question."""

N_SAMPLES, N_GROUPS, N_HOSPITALS = 400, 10, 20

LEVEL = 0.05

CENTRE, SPREAD = -1.4, 1.0
"""Mean and standard deviation of the log-odds of the risks, of about 24% on average."""

OFF = 0.1
"""Log-odds by which the true risks of the model that is off are below its own."""

BETWEEN = 0.3
"""Standard deviation of the log-odds of hospitals."""

MODELS = {
    "off": "Slightly too high",
    "right": "Calibrated",
    "clustered": "Calibrated, hospitals differ",
}

LIKE = LaboratoryModel(rows=int(QUESTION_ROWS), sharpness=33, rate=23, slope=100)
"""A calibrated model of the laboratory whose risks are about as high and as spread."""

NODES = 31
"""Of the mean over hospitals."""


@result_class
class Result:
    """Many samples of one model's patients, each tested."""

    p_values: Floats
    """Of the Hosmer-Lemeshow test; shape (N_SAMPLES,)."""
    ratios: Floats
    """O/E; shape (N_SAMPLES,)."""
    distance: float
    """True mean distance of risk and frequency."""

    @property
    def rejected(self) -> float:
        """Share of the samples in which the test rejects the model."""
        return float((self.p_values < LEVEL).mean())

    @property
    def ends(self) -> tuple[float, float]:
        """Between which O/E is in 95% of the samples."""
        low, high = np.quantile(self.ratios, (0.025, 0.975))
        return float(low), float(high)


def risks(n_rows: int) -> Floats:
    """Return the risks of a sample, ascending, the same in each; shape (n_rows,)."""
    from scipy.special import expit  # noqa: PLC0415 - a tenth of a second to import

    return np.asarray(expit(CENTRE + SPREAD * middles(n_rows)), dtype=np.float64)


def hosmer_lemeshow(scores: Floats, hits: NDArray[np.bool_]) -> Floats:
    """Return the p-value of Hosmer and Lemeshow's test of each sample.

    ``scores``: ascending; shape (n_rows,). ``hits``: shape (n_samples, n_rows). The groups are
    equally full. As the model was not fitted to these rows, there are as many degrees of freedom.
    """
    from scipy.special import chdtrc  # noqa: PLC0415 - a tenth of a second to import

    edges = np.linspace(0, scores.size, N_GROUPS + 1).astype(np.intp)[:-1]
    n = np.diff(np.append(edges, scores.size))
    expected = np.add.reduceat(scores, edges)
    observed = np.add.reduceat(hits, edges, axis=1, dtype=np.int64)
    statistic = ((observed - expected) ** 2 / (expected * (1 - expected / n))).sum(axis=1)
    return np.asarray(chdtrc(N_GROUPS, statistic), dtype=np.float64)


@cache
def inside(n_rows: int) -> Floats:
    """Return log-odds whose mean risk over hospitals is each of the risks; shape (n_rows,)."""
    from scipy.special import expit  # noqa: PLC0415 - a tenth of a second to import

    at, weights = np.polynomial.hermite_e.hermegauss(NODES)
    grid = np.linspace(CENTRE - 7 * SPREAD, CENTRE + 7 * SPREAD, 2_001)
    mean = expit(grid[:, np.newaxis] + BETWEEN * at) @ (weights / weights.sum())
    return np.interp(risks(n_rows), mean, grid)


def true_risks(model: str, n_rows: int) -> Floats:
    """Return the true risks at the model's own, over all hospitals; shape (n_rows,)."""
    scores = risks(n_rows)
    if model != "off":
        return scores
    return at_other_odds(scores, -OFF)


@cache
def find(model: str, n_rows: int, seed: int = 0) -> Result:
    """Draw samples of patients and test each."""
    from scipy.special import expit  # noqa: PLC0415 - a tenth of a second to import

    rng = np.random.default_rng((n_rows, seed, *f"{KEY}{model}".encode()))
    scores, true = risks(n_rows), true_risks(model, n_rows)
    p_values, ratios = np.empty(N_SAMPLES), np.empty(N_SAMPLES)
    some = max(1, 400_000 // n_rows)  # at once, so that memory stays small
    for first in range(0, N_SAMPLES, some):
        here = slice(first, min(first + some, N_SAMPLES))
        n = here.stop - first
        chances = true[np.newaxis]
        if model == "clustered":
            of_hospital = rng.normal(scale=BETWEEN, size=(n, N_HOSPITALS))
            where = rng.integers(N_HOSPITALS, size=n_rows)
            chances = expit(inside(n_rows) + of_hospital[:, where])
        hits = rng.random((n, n_rows)) < chances
        p_values[here] = hosmer_lemeshow(scores, hits)
        ratios[here] = hits.sum(axis=1) / scores.sum()
    return Result(p_values, ratios, float(np.abs(scores - true).mean()))


def show(state: State) -> LessonView:
    """Show the p-values of many samples, and the share that is rejected by their size."""
    if not state.revealed:
        result = find("off", int(FIRST), state.seed)
        return LessonView(
            (_p_values(result, int(FIRST), state.palette),),
            f"With {int(FIRST):,} patients, the test rejects it in {of_100(result.rejected)} of"
            " samples.",
        )
    model, n_rows = state.chosen["model"], int(state.chosen["rows"])
    result, question = find(model, n_rows, state.seed), find("off", int(QUESTION_ROWS), state.seed)
    return LessonView(
        (
            _p_values(result, n_rows, state.palette),
            _by_size(model, n_rows, state.palette, state.seed),
        ),
        _sentence(model, n_rows, result, find("right", n_rows, state.seed)),
        answer=f"in {of_100(question.rejected)} of samples",
        note=_note(),
        numbers=_numbers(state.seed),
    )


def _sentence(model: str, n_rows: int, result: Result, alone: Result) -> str:
    """``alone``: of a calibrated model whose patients are independent."""
    (low, high), (near, far) = result.ends, alone.ends
    too_narrow, digits = "", 2
    if model == "clustered":
        digits = 3  # so that the ratio can be computed from what is written
        times = (high - low) / (far - near)
        too_narrow = (
            f" Were the patients independent it would be {near:.{digits}f} to {far:.{digits}f}: a"
            f" 95% CI that takes them so is **{times:.1f} times too narrow**. Draw whole hospitals"
            " instead, again and again, and see how much a figure varies (resampling): with a file"
            f" of yours, choose their column as \u201c{ROLES['cluster']}\u201d."
        )
    error = {
        "off": f"Its risks are {100 * result.distance:.1f} percentage points too high on average,"
        " at every number of patients.",
        "right": "Its risks are exactly right, so each rejection is a false alarm.",
        "clustered": "Over all hospitals its risks are exactly right, but patients of one hospital"
        " are more alike than others, which the test does not know.",
    }[model]
    return (
        f"**{MODELS[model]}, {n_rows:,} patients:** p is below {LEVEL:g} in"
        f" **{of_100(result.rejected)}** of samples. {error} O/E shows the size of an error: it is"
        f" {low:.{digits}f} to {high:.{digits}f} in 95% of these samples.{too_narrow}"
    )


def _note() -> str:
    return (
        f"{N_SAMPLES} samples of each size, {N_GROUPS} groups of equal size by risk. Hospitals"
        f" differ: patients are clustered in {N_HOSPITALS} hospitals, whose log-odds differ by a"
        f" standard deviation of {BETWEEN:g}."
        f" Of a calibrated model with independent patients, p is below {LEVEL:g} in about"
        f" {LEVEL:.0%} of samples."
    )


def _numbers(seed: int) -> tuple[tuple[str, ...], ...]:
    rows: list[tuple[str, ...]] = [("Patients", *MODELS.values())]
    rows += [(f"{n:,}", *(of_100(find(model, n, seed).rejected) for model in MODELS)) for n in ROWS]
    return tuple(rows)


def _p_values(result: Result, n_rows: int, palette: Palette) -> LessonPicture:
    counts, edges = np.histogram(result.p_values, np.linspace(0, 1, 21))
    share = counts / N_SAMPLES
    colours = [palette.frequency, *[palette.band] * 19]
    top = 1.2 * max(0.2, float(share.max()))
    text = f"rejected: {of_100(result.rejected)}"
    figure = pictures.picture(
        f"p-values of {N_SAMPLES} samples of {n_rows:,} patients",
        [
            pictures.bars((edges[1:] + edges[:-1]) / 2, share, colours, 0.046),
            pictures.line([0, 1], [LEVEL, LEVEL], palette.neutral, dash="dot"),
        ],
        x=pictures.number_axis("p-value of the Hosmer-Lemeshow test", 0, 1),
        y=pictures.percent_axis("Share of samples", top),
        names=[pictures.label(text, 0.055, 0.88 * top, palette.frequency)],
    )
    return LessonPicture(
        "p_values",
        figure,
        f"Orange: p below {LEVEL:g}. Dotted: a calibrated model's bars would all reach this line,"
        " but for luck.",
    )


def _by_size(model: str, n_rows: int, palette: Palette, seed: int) -> LessonPicture:
    looks = {"off": ("solid", palette.frequency), "right": ("dot", palette.neutral),
             "clustered": ("dash", palette.score)}  # fmt: skip
    traces, names = list[pictures.Trace](), list[pictures.Trace]()
    places = np.arange(len(ROWS))
    for word, (dash, colour) in looks.items():
        share = [find(word, n, seed).rejected for n in ROWS]
        traces.append(pictures.line(places, share, colour, dash=dash))
        sign = {"solid": "\u2014", "dot": "\u2508", "dash": "- -"}[dash]
        place = 0, 0.98 - 0.12 * len(names), colour
        names.append(pictures.label(f"{sign} {MODELS[word]}", *place))
        if word == model:
            at = ROWS.index(n_rows)
            traces.append(pictures.dots([at], [share[at]], colour, size=15))
    top = 1.12
    figure = pictures.picture(
        "Samples in which the model is rejected",
        traces,
        x=pictures.number_axis(
            "Patients in a sample", -0.2, len(ROWS) - 0.8,
            tickvals=places.tolist(), ticktext=[f"{n:,}" for n in ROWS],
        ),
        y={**pictures.percent_axis("Rejected", top), "tickvals": [0, 0.25, 0.5, 0.75, 1]},
        names=names,
    )  # fmt: skip
    return LessonPicture(
        "by_size",
        figure,
        f"Solid: slightly too high. Dotted: calibrated. Dashed: calibrated, in {N_HOSPITALS}"
        " hospitals that differ.",
    )


def _question() -> str:
    scores, true = risks(int(QUESTION_ROWS)), true_risks("off", int(QUESTION_ROWS))
    error = 100 * float((scores - true).mean())
    return (
        f"A model's risks are **{error:.1f} percentage points** too high on average (mean risk"
        f" {percent(float(scores.mean()), 1)}). With {int(FIRST):,} patients a Hosmer-Lemeshow test"
        " rarely rejects the model. How many of 100 samples of"
        f" **{int(QUESTION_ROWS):,} patients** does it reject?"
    )


def _link(state: State) -> Link:
    """Return a model of the laboratory that is off by as much, or not at all."""
    off = state.chosen["model"] == "off"
    model = replace(LIKE, shift=-round(10 * OFF)) if off else LIKE
    name = "A model off by as much" if off else "A calibrated model, independent patients"
    return data.laboratory_link("reliability", model, f"{name}: curve and intervals")


LESSON = Lesson(
    key=KEY,
    title="Why not Hosmer-Lemeshow?",
    question=_question(),
    guess=NumberGuess(0, 100, 5, 10, unit=" of 100"),
    controls=(
        Steps("rows", "Patients in a sample", {str(n): f"{n:,}" for n in ROWS}, QUESTION_ROWS),
        Steps("model", "Model", MODELS, "off", as_buttons=True),
    ),
    show=show,
    takeaway="The p-value of this test depends on the number of patients as much as on the error,"
    " and hospitals that differ make false alarms. Report the curve, O/E and slope instead.",
    check=Check(
        "50,000 patients, p < 0.001, risks 0.3 percentage points too high. What is to be reported?",
        {
            "p": "That the model is miscalibrated",
            "size": "How large the error is, with its interval",
            "none": "Nothing: such a test cannot be wrong",
        },
        "size",
        "With so many patients, an error that changes no decision has a small p-value. Whether it"
        " matters, its size says.",
    ),
    link=_link,
    computed="Hosmer and Lemeshow 1980, in ten groups of equal size: the sum of (O \u2212 E)\u00b2"
    " / (E (1 \u2212 E/n)), compared with a chi-squared distribution of ten degrees of freedom, as"
    " the model was not fitted to these patients. Risks: log-odds with a mean of"
    f" {MINUS}{-CENTRE:g} and a standard deviation of {SPREAD:g}, the same in each sample;"
    f" outcomes drawn by NumPy. Slightly too high: true log-odds lower by {OFF:g}.",
    terms={
        "Hosmer-Lemeshow test": "compares observed and expected events in ten groups of the risk;"
        f" it rejects where p is below {LEVEL:g}.",
        "p-value": "how often luck alone makes so large a difference.",
        "O/E": "observed events divided by expected ones.",
    },
)
