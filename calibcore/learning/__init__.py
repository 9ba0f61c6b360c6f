"""Learning curves: how good a calibrator is that was given fewer rows to fit on."""

from calibcore.learning.curves import (
    LEARNED,
    LearningCurve,
    LearningCurves,
    LearningPoint,
    Plan,
)
from calibcore.learning.fits import (
    Keep,
    Step,
    drawn_rows,
    learning_curves,
    learning_point,
    learning_sizes,
)

__all__ = [
    "LEARNED",
    "Keep",
    "LearningCurve",
    "LearningCurves",
    "LearningPoint",
    "Plan",
    "Step",
    "drawn_rows",
    "learning_curves",
    "learning_point",
    "learning_sizes",
]
