"""Spline calibration: score plus slope of the cumulative gap, hits minus scores, at a fractile."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.calibrators.base import (
    RISING_PARTS,
    Breaks,
    FittedScoreMap,
    Lengths,
    Rules,
    ScoreMap,
)
from calibcore.calibrators.descriptions import MINUS, Description, DescriptionTable, Recipe, percent
from calibcore.calibrators.method import Choice, Cost, Fits, Method, Switch, WholeNumber
from calibcore.reliability import FitTo, FrequencyCurve, SplineFit, running_totals, spline_frequency
from calibcore.results import result_class
from calibcore.splines import LEAST_KNOTS, CubicSpline, Runout, check_knots
from calibcore.validation import Floats, Hits
from calibcore.weights import EventRows, SampleWeight, event_rows

MOST_KNOTS = 20
"""Most knots that cross-validation tries."""

_FOLDS = 5


@result_class
class FittedSpline(FittedScoreMap):
    """A fitted spline calibration."""

    scores: Floats
    slope: Floats
    """Distinct scores of the calibration set, ascending, and what each becomes before clipping.
    Those that become the same as both their neighbours are left out: they change nothing; shape
    (n_kept,).
    """
    knot_values: Floats
    """The spline over fractile, at its knots; shape (n_knots,)."""

    HAS_BREAKS: ClassVar[bool] = True
    RULES: ClassVar[Rules] = {"scores": RISING_PARTS}
    ALIKE: ClassVar[Lengths] = ({"scores": 0, "slope": 0},)

    def predict(self, scores: ArrayLike) -> Floats:
        """Calibrate scores: linear between those of the calibration set, constant outside."""
        checked = validation.scores(scores)
        order = np.argsort(checked)  # in order, interpolation takes a fifth of the time
        result = np.empty(checked.size)
        result[order] = np.interp(checked[order], self.scores, self.slope)
        return np.clip(result, 0.0, 1.0, out=result)

    def recipe(self) -> Recipe:
        numbers = {"scores": self.scores, "slope": self.slope}
        return numbers, ["y = np.clip(np.interp(x, SCORES, SLOPE), 0.0, 1.0)"]

    def breaks(self) -> Breaks:
        return Breaks(corners=self.scores)

    def describe(self) -> Description:
        places = np.linspace(0, 1, self.knot_values.size)
        rows = [
            (f"{place}", percent(at), f"{100 * value:.2f}".replace("-", MINUS))
            for place, (at, value) in enumerate(zip(places, self.knot_values, strict=True), 1)
        ]
        return Description(
            "The cubic spline through these knots is the smoothed cumulative curve.",
            DescriptionTable(("Knot", "Fractile", "Value (pp)"), rows),
        )


@dataclass(frozen=True)
class SplineCalibration(ScoreMap):
    """Read the calibrated score off the slope of a spline through the running totals.

    It acts on the score of the chosen event alone, so the classes keep their order and accuracy
    cannot change. It may map a higher score to a lower one.

    Parameters
    ----------
    n_knots : int, default 6
        Evenly spaced in fractile. The paper uses 6 in Tables 1-2, 14 in Table 4, 13 in Table 6.
    runout : {"natural", "parabolic", "cubic"}, default "natural"
        How the spline ends.
    fit_to : {"difference", "hits"}, default "difference"
        Fit cumulative hits minus cumulative scores, as the authors' program does, or the cumulative
        hits, as the paper's text says.
    constrained : bool, default True
        Keep the calibrated scores inside (0, 1): cut them off at the two bounds under which the
        outcomes are likeliest. ``constrained=False``: at 0 and 1, as the paper's experiments do.
    cross_validated : bool, default False
        Choose the number of knots, up to `MOST_KNOTS`, on the calibration set; ``n_knots`` is then
        of no effect.

    Notes
    -----
    Cross-validation deals the sorted rows to five folds in turn, and takes the number of knots
    with the smallest squared error on the rows left out, the smaller of equals.

    A cubic of few knots overshoots 0 and 1, and no one was ever certain. A bound is the share of
    hits among the rows below it (above it), with half a hit and half a miss beside, as Jeffreys'
    prior has it; so it nears 0 or 1 as rows come that agree. Holding the whole spline in [0, 1] as
    it is fitted, which the paper names, bends it where it fits: `spline_frequency` does it.

    References
    ----------
    Gupta et al., ICLR 2021, section 4.

    Examples
    --------
    >>> fitted = SplineCalibration().fit([0.6] * 50 + [0.9] * 50, [1, 0] * 50)
    >>> fitted.predict([0.6, 0.9]).round(3).tolist()
    [0.5, 0.5]
    """

    HAS_BREAKS: ClassVar[bool] = True

    n_knots: int = 6
    runout: Runout = "natural"
    fit_to: FitTo = "difference"
    constrained: bool = True
    cross_validated: bool = False

    def __post_init__(self) -> None:
        """Check the options."""
        check_knots(self.n_knots, self.runout)
        validation.choice(self.fit_to, "fit_to", allowed=("difference", "hits"))

    def fit(
        self, scores: ArrayLike, hits: ArrayLike, *, sample_weight: SampleWeight = None
    ) -> FittedSpline:
        if sample_weight is None and not self.cross_validated:
            rows = EventRows(*validation.scores_and_hits(scores, hits), None)
        else:
            rows = event_rows(scores, hits, sample_weight)
        n_knots = self._choose_knots(rows) if self.cross_validated else self.n_knots
        curve = self._fit_curve(*rows, n_knots)
        needed = _needed_points(curve.frequency)
        return FittedSpline(
            curve.score[needed],
            curve.slope[needed],
            curve.spline.values,
            warnings=_warnings(curve, rows.hits),
        )

    def shown(
        self,
        fitted: FittedSpline,
        scores: ArrayLike,
        hits: ArrayLike,
        *,
        sample_weight: SampleWeight = None,
    ) -> SplineFit:
        """Set a fitted spline beside the totals of the calibration set it was fitted to.

        Parameters
        ----------
        fitted : FittedSpline
            Fitted with these options.
        scores : array_like of float, shape (n_samples,)
            Those it was fitted on, in [0, 1].
        hits : array_like of {0, 1}, shape (n_samples,)
            Whether the event happened.
        sample_weight : array_like or RowWeights, shape (n_samples,), optional
            Of the rows, as in the fit.

        Returns
        -------
        SplineFit

        Raises
        ------
        CalibrationInputError
            Scores and hits out of range.

        Examples
        --------
        >>> rows = [0.8, 0.9, 0.9, 1.0], [1, 0, 1, 0]
        >>> spline = SplineCalibration(n_knots=2)
        >>> spline.shown(spline.fit(*rows), *rows).total.round(3).tolist()
        [0.05, -0.05, -0.15, -0.4]
        """
        rows = running_totals(event_rows(scores, hits, sample_weight), self.fit_to)
        spline = CubicSpline(fitted.knot_values, self.runout)
        return SplineFit(rows.fractile, rows.total, spline, self.fit_to)

    def _fit_curve(
        self, scores: Floats, hits: Hits, weights: Floats | None, n_knots: int
    ) -> FrequencyCurve:
        curve = spline_frequency(
            scores, hits,
            n_knots=n_knots, runout=self.runout, fit_to=self.fit_to, sample_weight=weights,
        )  # fmt: skip
        if not self.constrained:
            return curve
        n_rows = scores.size if weights is None else float(weights.sum())
        rows = np.diff(curve.fractile, prepend=0.0) * n_rows
        return replace(
            curve, slope=curve.slope.clip(*_likeliest(curve.slope, curve.observed, rows))
        )

    def _choose_knots(self, rows: EventRows) -> int:
        """Find the number of knots with the smallest squared error on rows left out."""
        ordered, ordered_hits, weights = rows
        fold = np.arange(ordered.size) % _FOLDS
        least = max(LEAST_KNOTS[self.runout], 3)
        # Every fit leaves a fold out and still needs a row a knot.
        most = min(MOST_KNOTS, ordered.size - int(np.count_nonzero(fold == 0)))
        errors = []
        for n_knots in range(least, most + 1):
            total = 0.0
            for left_out in range(_FOLDS):
                out = fold == left_out
                inside = None if weights is None else weights[~out]
                curve = self._fit_curve(ordered[~out], ordered_hits[~out], inside, n_knots)
                predicted = np.clip(np.interp(ordered[out], curve.score, curve.slope), 0, 1)
                squares = np.square(predicted - ordered_hits[out])
                total += float(squares.sum() if weights is None else weights[out] @ squares)
            errors.append(total)
        return least + int(np.argmin(errors)) if errors else self.n_knots


def _likeliest(slope: Floats, observed: Floats, rows: Floats) -> tuple[float, float]:
    """Return the bounds of the slope under which the outcomes are likeliest.

    ``slope``, ``observed``, ``rows``: of each block the estimate, the share of hits, the rows.
    """
    slope = np.round(slope, 9)  # so that what is equal but for rounding has one order
    order = np.argsort(slope, kind="stable")
    slope, rows = slope[order], rows[order]
    hits = rows * observed[order]
    low = _lower(slope, hits, rows)
    high = 1 - _lower(1 - slope[::-1], (rows - hits)[::-1], rows[::-1])
    if low > high:  # outcomes rise where the spline falls: all rows together
        low = high = (float(hits.sum()) + 0.5) / (float(rows.sum()) + 1)
    return low, high


def _lower(slope: Floats, hits: Floats, rows: Floats) -> float:
    """Return the likeliest lower bound of an ascending slope: the share of hits below it."""
    below = (np.cumsum(hits) + 0.5) / (np.cumsum(rows) + 1)
    following = np.append(slope[1:], np.inf)
    # The likelihood rises while the rows below a bound have more hits than it says.
    last = int(np.argmax((below <= following) & (slope < following)))
    return max(float(below[last]), float(slope[last]))


def _needed_points(frequency: Floats) -> NDArray[np.bool_]:
    """Mark all but those that have the frequency of both their neighbours."""
    needed = np.ones(frequency.size, dtype=np.bool_)
    changes = np.diff(frequency) != 0
    needed[1:-1] = changes[:-1] | changes[1:]
    return needed


def _warnings(curve: FrequencyCurve, hits: Hits) -> tuple[str, ...]:
    warnings = []
    if hits.min() == hits.max():
        row = "a hit" if hits[0] else "a miss"
        warnings.append(f"Every calibration row is {row}, so every score comes near {hits[0]}.")
    n_blocks = len(curve.score)
    clipped = int(np.count_nonzero(np.abs(curve.slope - curve.frequency) > 1e-9))
    if n_blocks == 1:
        only = curve.score[0]
        warnings.append(
            f"Every calibration row has the score {only:.4g}, so every score becomes the same."
        )
    if clipped:
        warnings.append(
            f"The spline passed 0 or 1 at {clipped:,} of {n_blocks:,} distinct calibration scores"
            " and was cut off there, so some predictions are now certain; constrained, none is."
        )
    return tuple(warnings)


SPLINE_OPTIONS = WholeNumber("n_knots", 6, 4, 30), Switch("constrained", default=True)
"""Options of every calibrator that is made of splines."""


SPLINE = Method(
    key="spline",
    name="Spline",
    short="Spline",
    factory=SplineCalibration,
    options=(
        *SPLINE_OPTIONS,
        Switch("cross_validated", default=False),
        Choice("runout", "natural", ("natural", "parabolic", "cubic")),
        Choice("fit_to", "difference", ("difference", "hits")),
    ),
    paper="Gupta 2021, section 4; kept inside 0-100%, as its experiments are not",
    explained="Replaces each score with the observed frequency at similar scores, estimated by"
    " a smooth curve on the calibration set.",
    formula="calibrated score = score + slope, at its fractile, of a cubic spline fitted to"
    " cumulative outcomes minus cumulative scores; fitted to outcomes alone: the slope",
    acts_on="event",
    preserves_accuracy=True,
    fits=Fits("curves", 1),
    cost=Cost((25, 25, 8)),
)
