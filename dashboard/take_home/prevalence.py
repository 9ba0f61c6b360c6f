"""The share of the event where there are no outcomes yet, estimated by a calibrator."""

from collections.abc import Callable
from dataclasses import dataclass

from calibcore.calibrators.base import FittedScoreMap
from calibcore.data import EventScores
from calibcore.errors import CalibrationInputError
from calibcore.events import OneClass
from calibcore.inference import Interval
from calibcore.prevalence import estimated_prevalence, prevalence_interval
from calibcore.weights import RowWeights, frequency_weights, row_mean, sampling_weights
from dashboard.headless import scene_of
from dashboard.readers import Upload
from dashboard.readers.records import Design, ReadingOptions
from dashboard.settings import ChosenEvent
from dashboard.take_home.calibrated import calibrated_values, rows_for
from dashboard.take_home.files import calibrator_file


@dataclass(frozen=True)
class EstimatedShare:
    """The share of the event among rows without outcomes."""

    share: float
    interval: Interval
    """Of 95%."""
    n_rows: int
    """Without outcomes."""
    among: float
    """Share among the rows whose outcomes are known."""
    event: str
    """What the event is called; plain text."""
    doubts: tuple[str, ...]
    """About the rows without outcomes."""

    @property
    def stated(self) -> float | None:
        """The share as it is stated: of four digits; None of 0 and 1, which nobody states."""
        share = float(f"{self.share:.4g}")
        return share if 0 < share < 1 else None


def share_of_new(
    known: Upload, event: ChosenEvent, method: str, read: Callable[[ReadingOptions], Upload]
) -> EstimatedShare:
    """Estimate the share of the event among rows without outcomes.

    ``known``: rows with outcomes, of which no share is stated. ``event``: of these. ``method``: key
    of the calibrator that is fitted to them, and calibrates the others. ``read``: reads these.

    Raises `CalibrationInputError` for what has no share in a population, a calibrator that is not
    of a score, rows with outcomes, and what `rows_for` and `estimated_prevalence` refuse.
    """
    options = known.options
    if not isinstance(event, OneClass) or known.summary is not None:
        raise CalibrationInputError("event", "none of a population", "--event with one class")
    scene = scene_of(known, event=event, method=method, progress=lambda _: None)
    file, rows = calibrator_file(scene), scene.split.calibration
    if file is None or not isinstance(file.fitted, FittedScoreMap) or file.needs_groups:
        raise CalibrationInputError("calibrator", method, "one of a score, such as platt")
    weighted = tuple(one for one in options.roles if one[1] in {"weight", "count"})
    alike = ReadingOptions(values=options.values, leave_out=options.leave_out, roles=weighted)
    new = rows_for(file, alike, read)
    if new.piece is None:
        wanted = "rows without, as the share of outcomes that are known is no question"
        raise CalibrationInputError("new", "rows with outcomes", wanted)
    seen = (
        rows if isinstance(rows, EventScores) else event.outcomes(rows.probabilities, rows.labels)
    )
    given, among = calibrated_values(new, file), row_mean(seen.hits, rows.weights)
    weights = _weights_of(new.piece.design)
    return EstimatedShare(
        estimated_prevalence(given, among, sample_weight=weights),
        prevalence_interval(given, among, sample_weight=weights),
        given.size,
        among,
        scene.event_words.plain,
        new.doubts,
    )


def _weights_of(design: Design | None) -> RowWeights | None:
    if design is None or design.weights is None:
        return None
    return (frequency_weights if design.counts else sampling_weights)(design.weights)
