"""Recommendations, from what was found."""

import math
from dataclasses import dataclass

from calibcore.calibrators import FittedSpline
from calibcore.evaluation import AuditResult, SetResult
from calibcore.events import OneClass, TopR, WithinTopR
from calibcore.inference import (
    ClassScreen,
    Inference,
    Mark,
    rows_that_show,
    smallest_gap_shown,
)
from dashboard.settings import NO_METHOD, ChosenEvent
from dashboard.wording.certainty import new_misses, now_certain, raised_nll
from dashboard.wording.events import event_words
from dashboard.wording.groups import Groups
from dashboard.wording.numbers import detected_points, percent
from dashboard.wording.rows import rows, rows_of
from dashboard.wording.sentences import capitalised, decisions, method_name, set_name
from dashboard.wording.tiles import nll_key
from dashboard.wording.verdicts import DETECTION_LEVEL, finding, no_information, shape

HEADING = "Recommendations"

MOST_STEPS = 3

COARSE, FINE = 0.05, 0.01
"""Mean gaps: rows that cannot detect the first are too few, rows that detect the second suffice."""


_TOP = TopR(1)
_BY_NLL, _KEEP = "Compare by NLL", 'turn on "Constrain to 0\u2013100%"'


@dataclass(frozen=True)
class Step:
    """One recommendation.

    Parameters
    ----------
    sentence : str
        What and why, for Markdown.
    page : str
        Address of the page that shows more; empty for none.
    link : str
        What the link to it says.
    opens : str
        Name of the class that the link shows instead of a page; empty for none.
    """

    sentence: str
    page: str = ""
    link: str = ""
    opens: str = ""


@dataclass(frozen=True, eq=False)
class Found:
    """All that the recommendations rest on.

    Parameters
    ----------
    result : AuditResult
        The calibrator, fitted and evaluated.
    evaluated : SetResult
        The results on the set that is shown.
    method : str
        Key of the calibrator.
    inference : Inference or None
        What is known of the uncertainty.
    classes : tuple of ClassScreen and ClassScreen or None, or None
        Every class before and after, as far as the calibrator leaves class probabilities; None
        where the classes were not looked at.
    event : TopR, WithinTopR or OneClass
        The event that is evaluated.
    class_names : tuple of str or None
        Of all classes, as the file has them.
    waiting : str or None
        Key of a calibrator that waits for a click to be fitted.
    kept_within : bool
        Whether the option that holds a spline within 0 to 100% is on.
    groups : Groups or None
        The subgroups of all groupings; None where they were not looked at.
    outcome : str or None
        Name of the column of the true class, where the file has one.
    """

    result: AuditResult
    evaluated: SetResult
    method: str
    inference: Inference | None = None
    classes: tuple[ClassScreen, ClassScreen | None] | None = None
    event: ChosenEvent = _TOP
    class_names: tuple[str, ...] | None = None
    waiting: str | None = None
    kept_within: bool = False
    groups: Groups | None = None
    outcome: str | None = None

    def mark(self, key: str) -> Mark | None:
        """Return the mark of the change of a measure; None while it is not known."""
        if self.inference is None or all(f.key != key for f in self.inference.findings):
            return None
        return self.inference.find(key).mark


def next_steps(found: Found) -> list[Step]:
    """Return one to three recommendations, the most pressing first."""
    if found.result.same_data:
        return [
            Step(
                f"**Upload a test set.** On the {rows()} it was fitted on, every calibrator looks"
                " better than it is."
            )
        ]
    if found.evaluated is not found.result.test:
        return [
            Step(
                "**Evaluate on the test set before you decide**, in the panel on the left: the"
                f" calibrator was fitted on these {rows()}."
            )
        ]
    steps = [_main(found)]
    for look in (_too_few, _groups, _likelihood, _decisions, _classes):
        step = look(found)
        if step is not None:
            steps.append(step)
    return steps[:MOST_STEPS]


def _off(found: Found, *, after: bool) -> bool:
    side = found.evaluated.after if after else found.evaluated.before
    return side.omnibus.p_value < DETECTION_LEVEL


def _main(found: Found) -> Step:
    """Return whether to use, to leave, or to try something else."""
    chosen = found.method != NO_METHOD
    was_off, is_off = _off(found, after=False), _off(found, after=True)
    if not was_off:
        return (
            _classes_off(found)
            or _group_off(found, after=False)
            or _no_information(found)
            or _leave(found, harmful=chosen and is_off)
        )
    if found.waiting is not None:
        return Step(
            f"**Fit {method_name(found.waiting)}.** Press *Fit it* on this page, or choose a faster"
            " calibrator on the left."
        )
    if not chosen:
        return Step(
            "**Calibrate the scores.** Choose a calibrator on the left, or compare several.",
            "compare",
            "Compare calibrators",
        )
    name = method_name(found.method)
    where = set_name(found.result, found.evaluated)
    use = f"No miscalibration detected on the {where} after {name}"
    if not is_off:
        return (
            _certain_first(found, use)
            or _group_off(found, after=True)
            or Step(
                f"**Use the calibrated scores.** {use}.",
                "maps",
                "See the calibration map",
            )
        )
    return _try_another(found, name)


def _no_information(found: Found) -> Step | None:
    """Warn of scores that are not shown to rank rows, however well they are calibrated."""
    why = no_information(found.evaluated.before)
    if not why:
        return None
    return Step(f"**Check the score.** {why}. No miscalibration detected.")


def _group_off(found: Found, *, after: bool) -> Step | None:
    """Point to a subgroup that is miscalibrated where the scores as a whole are not found to be."""
    worst = "" if found.groups is None else found.groups.worst(after=after)
    if not worst:
        return None
    told = f"overall after {method_name(found.method)}" if after else "overall"
    sentence = f"**Check subgroups first.** No miscalibration detected {told}, but in {worst}."
    return Step(sentence, "slices", "See subgroups")


def _subgroup_off(found: Found) -> bool:
    return found.groups is not None and found.groups.off(after=True)


def _groups(found: Found) -> Step | None:
    """Point to a subgroup with a fault of its own, if not said first."""
    if found.groups is None or not _subgroup_off(found) or _main(found).page == "slices":
        return None
    when = "" if found.groups.after is found.groups.before else " after calibration"
    worst = found.groups.worst(after=True)
    return Step(f"**Check subgroups.** Worst{when}: {worst}.", "slices", "See subgroups")


def _leave(found: Found, *, harmful: bool) -> Step:
    evaluated = found.evaluated
    if harmful:
        name = method_name(found.method)
        sentence = f"**Use the uncalibrated scores.** Miscalibration is detected only after {name}."
        return Step(sentence, "compare", "Compare calibrators")
    gap = detected_points(smallest_gap_shown(evaluated.before.curves), evaluated.n_samples)
    n_groups = 0 if found.groups is None else found.groups.before.n_groups
    subgroups = "Subgroups may still be miscalibrated."
    if n_groups:
        subgroups = f"None detected in {n_groups:,} subgroup{'s' * (n_groups > 1)} either."
    return Step(
        "**Use the uncalibrated scores.** No miscalibration detected. A mean gap of"
        f" {gap} would have been detected with 80% probability. {subgroups}",
        "slices",
        "Check subgroups",
    )


def _try_another(found: Found, name: str) -> Step:
    evaluated = found.evaluated
    n_samples, before, after = evaluated.n_samples, evaluated.before.curves, evaluated.after.curves
    was, now = percent(before.ks_error, n_samples), percent(after.ks_error, n_samples)
    limit = percent(after.ks_null_95, n_samples)
    mark = found.mark("ks_error")
    worse = after.ks_error >= before.ks_error if mark is None else mark == "worse"
    if worse:
        sentence = (
            f"**Try another calibrator.** {name} does not lower the KS error ({was} \u2192 {now})."
        )
    elif mark == "no evidence":
        sentence = (
            f"**Try another calibrator.** The drop in KS error with {name} ({was} \u2192 {now}) is"
            " within chance."
        )
    else:
        use = f"KS error fell to {now}; its 95% limit under perfect calibration is {limit}"
        if after.ks_error <= after.ks_null_95:
            use = f"KS error fell to {now}, but scores are {shape(evaluated.after.omnibus)}"
        first = _certain_first(found, use)
        if first is not None:
            return first
        use_them = "" if _subgroup_off(found) else "Use the calibrated scores, or try"
        sentence = f"**{use_them or 'Try'} another calibrator.** {use}."
    return Step(sentence, "compare", "Compare calibrators")


def _certain_first(found: Found, use: str) -> Step | None:
    """Warn first of wrong scores of 0% or 100% that raise the NLL, whatever the calibration."""
    told = raised_nll(found.evaluated, found.mark(nll_key(found.evaluated)))
    if not told:
        return None
    do = _KEEP if _can_be_kept(found) else "try another calibrator"
    return Step(f"**{capitalised(do)} first.** {told}. {use}.", "compare", _BY_NLL)


def _too_few(found: Found) -> Step | None:
    """Ask for more rows where these show nothing but large gaps."""
    evaluated = found.evaluated
    gap = smallest_gap_shown(evaluated.before.curves)
    if gap <= COARSE or _off(found, after=False):
        return None
    wanted = rows_that_show(evaluated.before.curves, FINE)
    digits = 2 - math.ceil(math.log10(wanted))
    return Step(
        f"**Collect more {rows()}.** {rows_of(evaluated.n_samples)} reveal only large gaps."
        f" Detecting a gap of 1 percentage point takes about {rows_of(int(round(wanted, digits)))}."
    )


def _likelihood(found: Found) -> Step | None:
    """Warn of wrong predictions at 0% or 100%, or a worse NLL, if not said first."""
    new = new_misses(found.evaluated)
    if _main(found).link == _BY_NLL:
        return None
    if new > 0:
        told = f"**Check extreme scores.** {now_certain(new)}."
    elif found.mark(nll_key(found.evaluated)) == "worse":
        told = "**Check the NLL.** It is worse."
    else:
        return None
    return Step(f"{told}{_cure(found)}", "compare", _BY_NLL)


def _cure(found: Found) -> str:
    """Return what leaves no prediction at 0% or 100%, as far as the file allows."""
    ways = []
    if _can_be_kept(found):
        ways.append(_KEEP)
    if found.method != "temperature" and found.evaluated.compare("nll").before is not None:
        ways.append("use temperature scaling")
    return f" If individual predictions matter, {' or '.join(ways)}." if ways else ""


def _can_be_kept(found: Found) -> bool:
    return isinstance(found.result.fitted, FittedSpline) and not found.kept_within


def _decisions(found: Found) -> Step | None:
    if not (found.evaluated.changed_decisions or found.evaluated.past_half):
        return None
    other = (
        "Calibrators that act on all classes can change predicted classes"
        if found.evaluated.past_half
        else ""
    )
    return Step(
        f"**Check predicted classes.** {capitalised(decisions(found.evaluated))}."
        f" {other or 'Temperature scaling changes none'}.",
        "compare",
        "Compare calibrators",
    )


def _classes_off(found: Found) -> Step | None:
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
    return f"the {shown}" if found.event == _TOP or isinstance(found.event, WithinTopR) else shown


def _so_many(n_off: int, n_classes: int) -> str:
    """Return how many of the classes, with their verb."""
    if n_off == n_classes:
        return f"All {n_classes:,} classes are"
    return f"{n_off:,} of {n_classes:,} classes {'is' if n_off == 1 else 'are'}"


def _number_off(screen: ClassScreen) -> str:
    return f"{int(screen.off(DETECTION_LEVEL).sum()):,}"


def _second_class(found: Found, screen: ClassScreen, told: str) -> Step | None:
    """Point to the second of two classes, which the first mirrors, if it is miscalibrated."""
    if screen.p_value[1] >= DETECTION_LEVEL or found.class_names is None:
        return None
    n_samples, name = screen.n_samples, found.class_names[1]
    mean_score, observed = float(screen.mean_score[1]), float(screen.frequency[1])
    ks_error, p_value = float(screen.ks_error[1]), float(screen.p_value[1])
    what = finding(mean_score - observed, ks_error, p_value, prediction=False)
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


def _classes(found: Found) -> Step | None:
    """Point to classes that are individually miscalibrated."""
    if found.classes is None or (not _off(found, after=False) and _classes_off(found)):
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
