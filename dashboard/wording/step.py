"""A recommendation, and what it rests on."""

from dataclasses import dataclass

from calibcore.auditing import AuditResult
from calibcore.evaluation import SetResult
from calibcore.events import TopR
from calibcore.inference import ClassScreen, Inference, Mark
from dashboard.settings import ChosenEvent
from dashboard.wording.groups import Groups
from dashboard.wording.verdicts import DETECTION_LEVEL, remains

TOP = TopR(1)


@dataclass(frozen=True)
class Step:
    """One recommendation."""

    sentence: str
    """What and why, for Markdown."""
    page: str = ""
    """Address of the page that shows more; empty for none."""
    link: str = ""
    """What the link to it says."""
    opens: str = ""
    """Name of the class that the link shows instead of a page; empty for none."""
    groups: str = ""
    """Column by which the link calibrates instead; empty for none."""
    method: str = ""
    """Key of the calibrator that a button chooses; empty for none."""
    since: tuple[str, ...] = ()
    """Column of dates, and the first and last period to which the link filters all pages; empty for
    none.
    """
    split_at: tuple[str, ...] = ()
    """Column of dates, and the period at which a second button splits the rows; empty for none."""


@dataclass(frozen=True, eq=False)
class Found:
    """All that the recommendations rest on."""

    result: AuditResult
    """The calibrator, fitted and evaluated."""
    evaluated: SetResult
    """The results on the set that is shown."""
    method: str
    """Key of the calibrator."""
    inference: Inference | None = None
    """What is known of the uncertainty."""
    classes: tuple[ClassScreen, ClassScreen | None] | None = None
    """Every class before and after, as far as the calibrator leaves class probabilities; None where
    the classes were not looked at.
    """
    event: ChosenEvent = TOP
    """The event that is evaluated."""
    class_names: tuple[str, ...] | None = None
    """Of all classes, as the file has them."""
    waiting: str | None = None
    """Key of a calibrator that waits for a click to be fitted."""
    kept_within: bool = False
    """Whether the option that holds a spline within 0 to 100% is on."""
    groups: Groups | None = None
    """Of all groupings; None where they were not looked at."""
    outcome: str | None = None
    """Name of the column of the true class, where the file has one."""
    advised: str = ""
    """Key of the calibrator that the comparison of calibrators advises; empty for none."""
    advice: str = ""
    """What the comparison found, for Markdown; empty where none was made."""
    drift: Step | None = None
    """What to do about scores that drift; None where no drift is detected."""
    advised_group: str = ""
    """Column of the groups that the advised calibrator is told; empty for none."""

    def mark(self, key: str) -> Mark | None:
        """Return the mark of the change of a measure; None while it is not known."""
        if self.inference is None or all(f.key != key for f in self.inference.findings):
            return None
        return self.inference.find(key).mark


def is_off(found: Found, *, after: bool) -> bool:
    """Return whether the scores as a whole are found to be miscalibrated, or still are."""
    before, side = (
        found.evaluated.before,
        found.evaluated.after if after else found.evaluated.before,
    )
    return side.omnibus.p_value < DETECTION_LEVEL or remains(before, side)
