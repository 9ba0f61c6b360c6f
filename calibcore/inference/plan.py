"""What to look into, and how closely."""

from dataclasses import dataclass, field, replace

from calibcore import validation
from calibcore.errors import CalibrationInputError
from calibcore.metrics.measure import ChangeMeasure, EventMeasure, Measure, Options, RowMeasure
from calibcore.metrics.registry import METRICS


@dataclass(frozen=True)
class Plan:
    """How uncertainty is looked for.

    Parameters
    ----------
    measures : tuple of Measure, default METRICS
        Which ones.
    options : Options
        Of the measures.
    n_resamples : int, default 1000
        Of the bootstrap, and draws under perfect calibration; at least 20.
    seed : int, default 0
        Of all draws.
    level : float, default 0.95
        Of the intervals.
    """

    measures: tuple[Measure, ...] = METRICS
    options: Options = field(default_factory=Options)
    n_resamples: int = 1000
    seed: int = 0
    level: float = 0.95

    def __post_init__(self) -> None:
        """Check the numbers."""
        validation.whole_number(self.n_resamples, "n_resamples", least=20, most=1_000_000)
        validation.whole_number(self.seed, "seed", least=0, most=2**63 - 1)
        if not 0.5 <= self.level < 1:
            raise CalibrationInputError("level", repr(self.level), "0.5 or more, below 1")

    @property
    def rough(self) -> Options:
        """The options for draws, whose spread alone counts."""
        return replace(self.options, rough=True)

    @property
    def of_events(self) -> list[EventMeasure]:
        """Those of one event."""
        return [measure for measure in self.measures if isinstance(measure, EventMeasure)]

    @property
    def of_rows(self) -> list[RowMeasure]:
        """Those that are means over the rows of the class table."""
        return [measure for measure in self.measures if isinstance(measure, RowMeasure)]

    @property
    def of_changes(self) -> list[ChangeMeasure]:
        """Those of what a change of the class table brings."""
        return [measure for measure in self.measures if isinstance(measure, ChangeMeasure)]
