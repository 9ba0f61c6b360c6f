"""Calibrators fitted to rows of a world, against its truth."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.calibrators import Calibrator
from calibcore.calibrators.base import FittedScoreMap, FittedVectorMap
from calibcore.curves import ScoreCurve, score_curve
from calibcore.errors import CalibrationInputError
from calibcore.fitting import fit, prepare
from calibcore.probabilities import log_probabilities
from calibcore.results import result_class
from calibcore.synthetic.truth import MapDistance, Population
from calibcore.synthetic.world import Drawn, World
from calibcore.validation import Floats


@result_class
class FittedTwoClassMap(FittedScoreMap):
    """A vector map of two classes as a map of the score of class 1."""

    vector_map: FittedVectorMap
    """Of two classes."""

    def predict(self, scores: ArrayLike) -> Floats:
        """Calibrate scores, as `FittedScoreMap.predict` does."""
        checked = validation.scores(scores)
        table = np.column_stack([1 - checked, checked])
        return self.vector_map.predict_proba(log_probabilities(table))[:, 1]


@result_class
class CalibratorAgainstTruth:
    """A fitted calibrator of a world's event, against the truth.

    Attributes
    ----------
    key : str
        Under which the calibrator was given.
    fitted : FittedScoreMap
        Its map of scores.
    curve : ScoreCurve
        That map, at enough places to draw it.
    distance : MapDistance
        From the true frequency, over all rows of the world.
    after : Population
        What is true of the calibrated scores: every measure with rows without number.
    """

    key: str
    fitted: FittedScoreMap
    curve: ScoreCurve
    distance: MapDistance
    after: Population


def calibrators_against(
    world: World, calibrators: Mapping[str, Calibrator], calibration: Drawn
) -> tuple[CalibratorAgainstTruth, ...]:
    """Fit calibrators to drawn rows and compare each with the truth.

    Parameters
    ----------
    world : World
        Whose truth it is.
    calibrators : mapping of str to Calibrator
        By any keys. Those that act on all classes need a world of two, as with more what they do
        to a score depends on the others; one by group is given the groups to fit, and compared
        by its map of all rows.
    calibration : Drawn
        Rows of that world to fit on.

    Returns
    -------
    tuple of CalibratorAgainstTruth
        In the order of ``calibrators``.

    Raises
    ------
    CalibrationInputError
        Too few rows for a calibrator, or one that needs two classes.

    Examples
    --------
    >>> from calibcore.calibrators import IsotonicCalibration, PlattScaling
    >>> from calibcore.synthetic import LogOddsCurve
    >>> world = World(LogOddsCurve(slope=0.5))
    >>> both = {"platt": PlattScaling(), "isotonic": IsotonicCalibration()}
    >>> platt, isotonic = calibrators_against(world, both, world.draw(200, seed=1))
    >>> platt.distance.mean_absolute < isotonic.distance.mean_absolute
    True
    """
    truth, prepared = world.truth(), prepare(calibration.rows, world.event)
    found = []
    for key, calibrator in calibrators.items():
        fitted = fit(calibrator, prepared, None)
        if isinstance(fitted, FittedVectorMap) and world.n_classes == 2:
            fitted = FittedTwoClassMap(vector_map=fitted)
        if not isinstance(fitted, FittedScoreMap):
            expected = "one that acts on the event's score alone, or a world of 2 classes"
            raise CalibrationInputError("calibrators", key, expected)
        after = truth.after(fitted)
        found.append(
            CalibratorAgainstTruth(key, fitted, score_curve(fitted), after.distance, after)
        )
    return tuple(found)
