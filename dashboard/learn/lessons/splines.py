"""Splines: the slope of the cumulative outcomes is the probability; how many knots are enough."""

from functools import cache

import numpy as np

from calibcore.binning import BinTable, bin_scores
from calibcore.calibrators import FittedSpline, SplineCalibration
from calibcore.data import EventScores
from calibcore.metrics import event_nll
from calibcore.reliability import SplineFit
from calibcore.results import result_class
from calibcore.validation import Floats
from dashboard.figures import Palette
from dashboard.figures.thinning import thin
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
from dashboard.texts.numbers import amount, of_100, points

KEY = "splines"

NETWORK = "city_country_100"

NETWORK_NAME = "a network that names a city's country from the city's name"

SIZES = (100, 500, 5000)

KNOTS = (3, 4, 5, 6, 8, 10, 15, 20, 30)

FEWEST, FEW, MANY = SIZES[0], 4, 30
"""What the question is about: so many rows, and from so many knots to so many."""

FALLS = 1e-3
"""Between two places of `ACROSS`: a calibrated score that falls by more is said to fall."""

BINS = 15

MARGIN = pictures.margin(bottom=70)
"""Two lines of numbers stand below."""

ACROSS = np.linspace(0, 1, 241)
"""Shares of rows at which curves are drawn."""


@result_class
class Result:
    """A spline, fitted to some calibration rows."""

    fitted: FittedSpline
    """Scores and what they become."""
    drawn: SplineFit
    """The spline beside the cumulative outcomes of the rows of the fit."""
    fit_nll: float
    other_nll: float
    """NLL of the event on the rows of the fit and on the test set."""
    scores: Floats
    """Of the rows of the fit, ascending; shape (n_samples,)."""


def find(rows: EventScores, n_knots: int) -> Result:
    """Fit a spline, and evaluate it on the same rows and on the test set."""
    other = data.top_scores(NETWORK)
    spline = SplineCalibration(n_knots=n_knots, fit_to="hits")
    fitted = spline.fit(rows.scores, rows.hits)
    return Result(
        fitted,
        spline.shown(fitted, rows.scores, rows.hits),
        event_nll(fitted.predict(rows.scores), rows.hits),
        event_nll(fitted.predict(other.scores), other.hits),
        np.sort(rows.scores),
    )


@cache
def uncalibrated_nll() -> float:
    """Return the NLL of the scores as they are, on the test set."""
    other = data.top_scores(NETWORK)
    return event_nll(other.scores, other.hits)


def drawn(state: State, size: int) -> EventScores:
    """Return the calibration rows of a draw, of which a larger number holds the smaller ones."""
    every = data.top_scores(NETWORK, "calibration")
    return every.rows(np.sort(state.rng(KEY).permutation(every.n_samples)[:size]))


@cache
def of_all(n_knots: int) -> Result:
    """Fit to all calibration rows, which are the same for every draw."""
    return find(data.top_scores(NETWORK, "calibration"), n_knots)


def splines(state: State, size: int, wanted: set[int]) -> dict[int, Result]:
    """Fit splines of several numbers of knots to the same rows."""
    if size == SIZES[-1]:
        return {n_knots: of_all(n_knots) for n_knots in sorted(wanted)}
    rows = drawn(state, size)
    return {n_knots: find(rows, n_knots) for n_knots in sorted(wanted)}


def show(state: State) -> LessonView:
    """Show the spline and its slope."""
    if not state.revealed:
        first = splines(state, FEWEST, {FEW})[FEW]
        return LessonView(
            _both(first, FEW, state.palette),
            f"With {FEW} knots, the NLL (lower is better) is {_nll(first.fit_nll)} on these"
            f" {FEWEST} rows and {_nll(first.other_nll)} on {_other()} other rows.",
        )
    size, n_knots = int(state.chosen["rows"]), int(state.chosen["knots"])
    fits = splines(state, size, {FEW, MANY, n_knots})
    question = fits if size == FEWEST else splines(state, FEWEST, {FEW, MANY})
    right, change = _change(question)
    rows = [("Knots", f"NLL, {size:,} rows of the fit", f"NLL, {_other()} other rows")]
    rows += [(str(knots), _nll(one.fit_nll), _nll(one.other_nll)) for knots, one in fits.items()]
    rows.append(("Uncalibrated", "", _nll(uncalibrated_nll())))
    return LessonView(
        _both(fits[n_knots], n_knots, state.palette),
        _sentence(fits, size, n_knots),
        answer=f"it {right}, {change}, with {FEWEST} rows",
        right=right,
        note=_note(fits[n_knots], question, size),
        numbers=tuple(rows),
    )


def _nll(value: float) -> str:
    return amount(value, "number", FEWEST)


def _other() -> str:
    return f"{data.top_scores(NETWORK).n_samples:,}"


def _change(fits: dict[int, Result]) -> tuple[str, str]:
    """Return the guess that is right, and the two figures."""
    few, many = (_nll(fits[n_knots].other_nll) for n_knots in (FEW, MANY))
    word = "rises" if float(many) > float(few) else "falls" if many != few else "stays"
    return word, f"{few} \u2192 {many}"


def _sentence(fits: dict[int, Result], size: int, n_knots: int) -> str:
    """Say what the chosen number of knots and the two of the question come to."""
    chosen, few, many = fits[n_knots], fits[FEW], fits[MANY]
    return (
        f"With {n_knots} knots, the NLL is **{_nll(chosen.fit_nll)}** on the {size:,} rows of the"
        f" fit and **{_nll(chosen.other_nll)}** on {_other()} other rows. From {FEW} to {MANY}"
        f" knots: {_nll(few.fit_nll)} \u2192 {_nll(many.fit_nll)} on the rows of the fit,"
        f" {_nll(few.other_nll)} \u2192 {_nll(many.other_nll)} on other rows; uncalibrated,"
        f" {_nll(uncalibrated_nll())}."
    )


def _note(chosen: Result, question: dict[int, Result], size: int) -> str:
    """Say where a draw does not show it, and what is not drawn."""
    sentences = [
        (
            "Why the slope is an observed frequency: where 3 of the next 10 rows are correct, the"
            " curve climbs by 3 per 10, a slope of 30%."
        )
    ]
    if question[MANY].other_nll <= question[FEW].other_nll:
        sentences.append(f"With this draw of {FEWEST} rows it does not show. Draw again.")
    if np.diff(_slope_at(chosen, ACROSS)).min() < -FALLS:
        sentences.append(
            "The calibrated score falls in places where the score rises: nothing makes a spline"
            " rise, and few rows decide its slope at a place."
        )
    if size == SIZES[-1]:
        sentences.append(
            f"These are all {size:,} calibration rows, so a draw changes nothing here."
        )
    return " ".join(sentences)


def _both(result: Result, n_knots: int, palette: Palette) -> tuple[LessonPicture, LessonPicture]:
    return _totals(result, n_knots, palette), _slope(result, palette)


def _totals(result: Result, n_knots: int, palette: Palette) -> LessonPicture:
    fit = result.drawn
    places = thin(fit.fractile, fit.total - fit.fitted)
    curve, top = fit.spline(ACROSS), 1.1 * float(fit.total[-1])
    x, total = fit.fractile[places], fit.total[places]
    figure = pictures.picture(
        f"Cumulative outcomes of {fit.total.size:,} rows",
        [
            # Wide and pale, so that both can be seen where the spline follows each row.
            pictures.line(x, total, palette.frequency, width=9, opacity=0.45),
            pictures.line(ACROSS, curve, palette.score),
            _knots(fit.spline.knots, fit.spline.values, palette),
        ],
        x=_fractiles(result),
        y=pictures.percent_axis("Cumulative outcomes", top, min(0.0, float(curve.min()))),
        names=[
            pictures.label(f"\u2501 spline, {n_knots} knots", 0.03, 0.86 * top, palette.score),
            pictures.label("\u2501 rows of the fit (wide)", 0.03, 0.72 * top, palette.frequency),
        ],
        margin=MARGIN,
    )
    return LessonPicture(
        "totals",
        figure,
        f"Wide: correct predictions, added up. Thin: the spline; diamonds: its {n_knots} knots."
        f" The largest distance is {points(fit.farthest, FEWEST)}.",
    )


def _slope(result: Result, palette: Palette) -> LessonPicture:
    fit, seen = result.drawn, observed()
    x = np.interp(seen.mean_score, result.scores, fit.fractile)
    figure = pictures.picture(
        "Its slope: the calibrated score",
        [
            pictures.line(
                ACROSS, np.interp(ACROSS, fit.fractile, result.scores), palette.neutral, dash="dash"
            ),
            pictures.line(ACROSS, _slope_at(result, ACROSS), palette.score),
            pictures.dots(x, seen.frequency, palette.frequency, size=11, cliponaxis=False),
            _knots(fit.spline.knots, _slope_at(result, fit.spline.knots), palette),
        ],
        x=_fractiles(result),
        y=pictures.percent_axis("Score, observed frequency", 1.02),
        names=[
            pictures.boxed("\u2501 calibrated score", 0.03, 0.9, palette.score, palette),
            pictures.boxed("\u25cf observed, other rows", 0.03, 0.77, palette.frequency, palette),
            pictures.boxed("- - uncalibrated score", 0.03, 0.64, palette.neutral, palette),
        ],
        margin=MARGIN,
    )
    gap = np.abs(result.fitted.predict(seen.mean_score) - seen.frequency).max()
    return LessonPicture(
        "slope",
        figure,
        f"Solid: the slope on the left. Dots: observed frequency in {BINS} bins of other rows, up"
        f" to {points(float(gap), FEWEST)} away from it. Dashed: uncalibrated.",
    )


def _slope_at(result: Result, fractile: Floats) -> Floats:
    calibrated = result.fitted.slope
    return result.drawn.spline.derivative(fractile).clip(calibrated.min(), calibrated.max())


def _knots(x: Floats, y: Floats, palette: Palette) -> pictures.Trace:
    return pictures.dots(x, y, palette.score, size=9, symbol="diamond", cliponaxis=False)


def _fractiles(result: Result) -> dict[str, object]:
    """Return the axis of both pictures: shares of rows, and below them the score there."""
    at = np.linspace(0, 1, 6)
    scores = result.scores[np.minimum(at * result.scores.size, result.scores.size - 1).astype(int)]
    texts = [f"{of_100(share)}<br>{of_100(score)}" for share, score in zip(at, scores, strict=True)]
    axis = pictures.percent_axis("Share of rows; below it the score")
    return {**axis, "tickvals": at.tolist(), "ticktext": texts}


@cache
def observed() -> BinTable:
    """Return how often the top prediction is correct in the test set, by score."""
    other = data.top_scores(NETWORK)
    return bin_scores(other.scores, other.hits, n_bins=BINS, binning="equal_mass")


LESSON = Lesson(
    key=KEY,
    title="Splines from fractiles",
    question=f"A smooth curve (spline) with {FEW} knots, fitted to {FEWEST} rows, calibrates"
    f" {NETWORK_NAME}. With **{MANY} knots**, what happens to the NLL on **other rows**?",
    guess=ChoiceGuess(
        {
            "falls": "It falls: more knots fit better",
            "stays": "It stays about the same",
            "rises": "It rises: more knots fit worse",
        }
    ),
    controls=(
        Steps("knots", "Knots", {str(n): str(n) for n in KNOTS}, str(MANY)),
        Steps(
            "rows", "Calibration rows", {str(n): f"{n:,}" for n in SIZES}, str(FEWEST),
            as_buttons=True,
        ),
    ),
    show=show,
    takeaway="The slope of the cumulative outcomes is the observed frequency. With too many knots"
    " for its rows, the spline fits noise (overfitting); with too few, it misses the shape"
    " (underfitting).",
    check=Check(
        f"On its calibration rows, a spline with {MANY} knots has the lowest NLL. Choose it?",
        {
            "yes": "Yes, it fits best",
            "no": "No, fewer knots are always better",
            "other": "Not yet: compare on rows it was not fitted on",
        },
        "other",
        "On the rows of the fit, more knots nearly always look better. With many rows they may be"
        " better; the dashboard can choose their number by cross-validation.",
    ),
    link=lambda state: Link(
        "maps",
        {
            "sample": NETWORK,
            "method": "spline",
            "spline_fit_to": "hits",
            "by_hand": "knots",
            "hand_knots": state.chosen["knots"],
        },
        "All 5,000 calibration rows in the dashboard",
    ),
    computed="A smooth curve is fitted to the correct predictions, added up; its slope at a score"
    " is the calibrated score. `SplineCalibration` (Gupta 2021, section 4): a cubic spline with"
    " natural ends and evenly spaced knots, fitted to the cumulative outcomes by least squares. Its"
    " slope is cut off before 0% and 100%, where the outcomes are likeliest, as is usual in the"
    " dashboard; the paper's own fit is clipped to 0% and 100%. Rows: the top predictions of"
    f" {NETWORK_NAME}; other rows: its test set.",
    draw="Draw other calibration rows",
    terms={
        "Fractile": "share of the rows up to a score, lowest first: the axis below.",
        "Cumulative outcomes": "correct predictions up to a row, lowest score first, divided by all"
        " rows.",
        "Spline": "a smooth curve made of pieces (cubic polynomials).",
        "Knots": "points, evenly spaced over the rows, where its pieces meet.",
        "NLL": words.NLL,
    },
)  # fmt: skip
