"""What every page is drawn from."""

from dataclasses import dataclass, field

from calibcore.auditing import AuditResult
from calibcore.calibrators.base import FittedMap
from calibcore.data import Rows
from calibcore.evaluation import SetResult
from calibcore.splits import AnySplit
from dashboard.figures import LIGHT, Palette
from dashboard.readers import Upload
from dashboard.samples import Sample
from dashboard.settings import SetChoice, Settings
from dashboard.texts.events import EventWords, event_words, outcome_name
from dashboard.texts.rows import rows as rows_name

WHOLE_SET = "whole set"
"""The one set of a file that is fitted on and, by folds, evaluated."""


@dataclass(frozen=True)
class EvaluatedPart:
    """The part of one set that is evaluated."""

    name: str
    """Which rows it holds, as the file has it."""
    n_rows: int
    n_all: int
    """How many they are, of how many."""


@dataclass(frozen=True, eq=False)
class Scene:
    """The data, what was chosen, and what was found: the same for all pages."""

    upload: Upload
    """The data as read."""
    split: AnySplit
    """The rows to fit on, which are all there are, and the rows to evaluate."""
    rows: Rows
    """The rows that are looked at."""
    settings: Settings
    """All that decides the numbers, apart from the data."""
    result: AuditResult
    """The chosen calibrator, fitted and evaluated."""
    sample: Sample | None = None
    """The sample, where the data are one."""
    chosen: SetChoice = "test"
    """The set that is looked at."""
    n_resamples: int = 1000
    """For intervals; 0 for none."""
    expert: bool = False
    """Whether the words are for those who know the terms."""
    palette: Palette = LIGHT
    """Colours of the theme in use."""
    waiting: str | None = None
    """Key of the calibrator that waits for a click to be fitted; None if none does."""
    rows_are: str = field(default_factory=rows_name)
    """What rows are called."""
    part: EvaluatedPart | None = None
    """Which of the set's rows are looked at; None for all."""

    @property
    def evaluated(self) -> SetResult:
        """What was found on the set that is looked at."""
        return self.result.test if self.chosen == "test" else self.result.calibration

    @property
    def calibrated_by(self) -> FittedMap | None:
        """What calibrated the rows that are looked at; of `result` is the map to take home."""
        return self.result.of_test if self.chosen == "test" else self.result.fitted

    @property
    def in_folds(self) -> bool:
        """Whether the one set of the file serves both ends, by cross-fitting."""
        return self.upload.rows is not None and self.settings.calibration_share is None

    @property
    def where(self) -> str:
        """Name of the set that is looked at, and whether it is filtered."""
        whole = self.in_folds and self.chosen == "test"
        name = WHOLE_SET if whole else f"{self.chosen} set"
        return name if self.part is None else f"{name}, filtered"

    @property
    def class_names(self) -> tuple[str, ...] | None:
        """Names of the classes; None where only one event's scores are known."""
        return self.upload.class_names

    @property
    def event_words(self) -> EventWords:
        """How the event is called and spoken of."""
        names = self.class_names if self.upload.summary is None else self.upload.counted_event[1]
        return event_words(self.settings.event, names, outcome_name(self.upload))
