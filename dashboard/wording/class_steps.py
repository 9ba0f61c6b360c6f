"""Recommendations to look at single classes."""

from calibcore.events import OneClass, WithinTopR
from calibcore.inference import ClassScreen
from dashboard.settings import NO_METHOD
from dashboard.wording.events import event_words
from dashboard.wording.numbers import detected_points, percent
from dashboard.wording.sentences import capitalised
from dashboard.wording.step import TOP, Found, Step, is_off
from dashboard.wording.verdicts import DETECTION_LEVEL, finding_since


def classes_off(found: Found) -> Step | None:
    """Point to classes that are miscalibrated before calibration where the event is not."""
    if found.classes is None:
        return None
    before, after = found.classes
    told = f"No miscalibration detected for {_looked_at(found)}"
    if before.n_classes == 2:
        return _second_class(found, before, f"{told}. This class: ")
    n_off = int(before.off(DETECTION_LEVEL).sum())
    if not n_off:
        return None
    then = "" if after is None else f" before calibration, {_number_off(after)} after"
    return Step(
        f"**Check the classes.** {told}. {_so_many(n_off, before.n_classes)} miscalibrated{then}.",
        "reliability",
        "See every class",
    )


def _looked_at(found: Found) -> str:
    """Return the name of the event, within a sentence."""
    shown = event_words(found.event, found.class_names, found.outcome).in_sentence
    return f"the {shown}" if found.event == TOP or isinstance(found.event, WithinTopR) else shown


def _so_many(n_off: int, n_classes: int) -> str:
    """Return how many of the classes, with their verb."""
    if n_off == n_classes:
        return f"All {n_classes:,} classes are"
    return f"{n_off:,} of {n_classes:,} classes {'is' if n_off == 1 else 'are'}"


def _number_off(screen: ClassScreen) -> str:
    return f"{int(screen.off(DETECTION_LEVEL).sum()):,}"


def _second_class(found: Found, screen: ClassScreen, told: str) -> Step | None:
    """Point to the second of two classes, which the first mirrors, if it is miscalibrated."""
    left = bool(screen.remains[1])
    if (screen.p_value[1] >= DETECTION_LEVEL and not left) or found.class_names is None:
        return None
    n_samples, name = screen.n_samples, found.class_names[1]
    mean_score, observed = float(screen.mean_score[1]), float(screen.frequency[1])
    ks_error, p_value = float(screen.ks_error[1]), float(screen.p_value[1])
    what = finding_since(mean_score - observed, ks_error, p_value, remains=left, prediction=False)
    if what.colour == "violet":
        size = f" (KS error {percent(ks_error, n_samples)})"
    else:
        gap = detected_points(abs(mean_score - observed), n_samples)
        means = f"mean score {percent(mean_score, n_samples)}, observed"
        size = f" by {gap} ({means} {percent(observed, n_samples)})"
    shown = event_words(OneClass(1), found.class_names, found.outcome).in_sentence
    return Step(
        f"**Check {shown}.** {capitalised(told)}{what.in_sentence}{size}.",
        link=f"Show {shown}",
        opens=name,
    )


def classes(found: Found) -> Step | None:
    """Point to classes that are individually miscalibrated."""
    if found.classes is None or (not is_off(found, after=False) and classes_off(found)):
        return None
    before, after = found.classes
    screen = before if after is None else after
    if screen.n_classes == 2:
        when = "before" if after is None or found.method == NO_METHOD else "after"
        return _second_class(found, screen, f"{when} calibration: ")
    n_off = int(screen.off(DETECTION_LEVEL).sum())
    if not n_off:
        return None
    told = f"{_so_many(n_off, screen.n_classes)} individually miscalibrated"
    told += "." if after is None or found.method == NO_METHOD else " after calibration."
    if after is None:
        told += " This calibrator corrects only the selected event."
    return Step(
        f"**Check the classes.** {told}",
        "reliability",
        "See every class",
    )
