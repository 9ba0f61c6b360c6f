"""Maps that move scores by an offset in log-odds, and maps one after the other."""

import math

import numpy as np
from numpy.typing import ArrayLike

from calibcore import validation
from calibcore.calibrators.base import Breaks, FittedScoreMap
from calibcore.calibrators.descriptions import Description, Recipe, rounded
from calibcore.results import result_class
from calibcore.validation import Floats


@result_class
class FittedOffset(FittedScoreMap):
    """A shift of all log-odds.

    Examples
    --------
    >>> FittedOffset(math.log(1 / 9)).predict([0.5, 0.9]).round(3).tolist()
    [0.1, 0.5]
    """

    offset: float
    """Added to the log-odds: above 0 where the event is more frequent than where scores were right.
    """

    def predict(self, scores: ArrayLike) -> Floats:
        checked = validation.scores(scores)
        # Half of the offset on either side, so that neither overflows.
        odds, against = (
            checked * math.exp(self.offset / 2),
            (1 - checked) * math.exp(-self.offset / 2),
        )
        return np.asarray(odds / (odds + against))

    def recipe(self) -> Recipe:
        lines = ["odds, against = x * np.exp(OFFSET / 2), (1 - x) * np.exp(-OFFSET / 2)"]
        return {"offset": self.offset}, [*lines, "y = odds / (odds + against)"]

    def describe(self) -> Description:
        raised = "raised" if self.offset > 0 else "lowered"
        return Description(f"All log-odds are {raised} by {rounded(abs(self.offset))}.")


@result_class
class FittedScoreChain(FittedScoreMap):
    """Two fitted maps of a score, one after the other."""

    first: FittedScoreMap
    second: FittedScoreMap
    """It takes what the first gives."""

    def predict(self, scores: ArrayLike) -> Floats:
        return self.second.predict(self.first.predict(scores))

    def recipe(self) -> Recipe | None:
        first, second = self.first.recipe(), self.second.recipe()
        if first is None or second is None or first[0].keys() & second[0].keys():
            return None
        return first[0] | second[0], [*first[1], "x = y", *second[1]]

    def breaks(self) -> Breaks:
        """Return where the first map has some, and what it sends to where the second has some.

        Only of a first map that rises and can be inverted, which an offset does.
        """
        if not isinstance(self.first, FittedOffset):
            return self.first.breaks()
        back, breaks = FittedOffset(-self.first.offset), self.second.breaks()
        return Breaks(*(back.predict(one) if one.size else one for one in breaks))
