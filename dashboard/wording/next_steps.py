"""What to do next, from what was found."""

import math
from dataclasses import dataclass

from calibcore.calibrators import FittedSpline
from calibcore.evaluation import AuditResult, SetResult
from calibcore.events import TopR
from calibcore.inference import (
    ClassScreen,
    Inference,
    Mark,
    rows_that_show,
    smallest_gap_shown,
)
from dashboard.settings import NO_METHOD, ChosenEvent
from dashboard.wording.certainty import new_misses, now_certain, raised_nll
from dashboard.wording.classes import shortened
from dashboard.wording.events import event_words
from dashboard.wording.numbers import detected_points, escape_markdown, percent
from dashboard.wording.sentences import decisions, method_name
from dashboard.wording.tiles import nll_key
from dashboard.wording.verdicts import DETECTION_LEVEL

HEADING = "What to do next"

MOST_STEPS = 3

COARSE, FINE = 0.05, 0.01
"""Average gaps: rows that cannot show the first are too few, rows that show the second suffice."""


_TOP = TopR(1)
_BY_NLL, _KEEP = "Compare by NLL", "switch on {0}Keep within 0 to 100 %{0}"


@dataclass(frozen=True)
class Step:
    """One thing to do.

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
    """All that the steps rest on.

    Parameters
    ----------
    result : AuditResult
        The calibrator, fitted and judged.
    judged : SetResult
        The judgement on the set that is looked at.
    method : str
        Key of the calibrator.
    inference : Inference or None
        What is known of the uncertainty.
    classes : tuple of ClassScreen and ClassScreen or None, or None
        Every class before and after, as far as the calibrator leaves class probabilities; None
        where the classes were not looked at.
    event : TopR, WithinTopR or OneClass
        What is looked at.
    class_names : tuple of str or None
        Of all classes, as the file has them.
    waiting : str or None
        Key of a calibrator that waits for a click to be fitted.
    kept_within : bool
        Whether the option that holds a spline within 0 to 100% is on.
    """

    result: AuditResult
    judged: SetResult
    method: str
    inference: Inference | None = None
    classes: tuple[ClassScreen, ClassScreen | None] | None = None
    event: ChosenEvent = _TOP
    class_names: tuple[str, ...] | None = None
    waiting: str | None = None
    kept_within: bool = False

    def mark(self, key: str) -> Mark | None:
        """Give what is known of the change of a measure; None while it is not."""
        if self.inference is None or all(f.key != key for f in self.inference.findings):
            return None
        return self.inference.find(key).mark


def next_steps(found: Found) -> list[Step]:
    """Say in one to three sentences what to do, the most pressing first."""
    if found.result.same_data:
        return [
            Step(
                "**Bring other rows to judge on.** On the rows it was fitted on every calibrator"
                " looks better than it is."
            )
        ]
    if found.judged is not found.result.test:
        return [
            Step(
                "**Look at the test set before you decide**, in the panel on the left: these are"
                " the rows that the calibrator was fitted on."
            )
        ]
    steps = [_main(found)]
    for look in (_too_few, _likelihood, _decisions, _classes):
        step = look(found)
        if step is not None:
            steps.append(step)
    return steps[:MOST_STEPS]


def _off(found: Found, *, after: bool) -> bool:
    side = found.judged.after if after else found.judged.before
    return side.curves.ks_p_value < DETECTION_LEVEL


def _main(found: Found) -> Step:
    """Say whether to use, to leave, or to try something else."""
    chosen = found.method != NO_METHOD
    was_off, is_off = _off(found, after=False), _off(found, after=True)
    if not was_off:
        return _classes_off(found) or _leave(found, harmful=chosen and is_off)
    if found.waiting is not None:
        return Step(
            f"**Fit {method_name(found.waiting)}**: press *Fit it* on this page, or choose a"
            " calibrator on the left that takes less."
        )
    if not chosen:
        return Step(
            "**Mend the scores**: choose a calibrator on the left, or let several compete.",
            "compare",
            "Compare calibrators",
        )
    name = method_name(found.method)
    use = f"after {name}, no miscalibration is detected on the test set"
    if not is_off:
        return _certain_first(found, use) or Step(
            f"**Use the calibrated scores**: {use}.",
            "maps",
            "What it makes of each score",
        )
    return _try_another(found, name)


def _leave(found: Found, *, harmful: bool) -> Step:
    judged = found.judged
    if harmful:
        name = method_name(found.method)
        sentence = (
            "**Leave the scores as they are**: no miscalibration is detected before"
            f" {name}, and some is after it."
        )
        return Step(sentence, "compare", "Compare calibrators")
    gap = detected_points(smallest_gap_shown(judged.before.curves), judged.n_samples)
    return Step(
        "**Leave the scores as they are**: no miscalibration is detected, and an average gap of"
        f" {gap} would be in 80 of 100 cases. Parts of the rows may still be off.",
        "slices",
        "Look at parts of the rows",
    )


def _try_another(found: Found, name: str) -> Step:
    judged = found.judged
    n_samples, before, after = judged.n_samples, judged.before.curves, judged.after.curves
    was, now = percent(before.ks_error, n_samples), percent(after.ks_error, n_samples)
    limit = percent(after.ks_null_95, n_samples)
    mark = found.mark("ks_error")
    worse = after.ks_error >= before.ks_error if mark is None else mark == "worse"
    if worse:
        sentence = f"**Try another calibrator**: {name} does not lower the KS error ({was}, {now})."
    elif mark == "no evidence":
        sentence = (
            f"**Try another calibrator**: that {name} brings the KS error from {was} to {now} may"
            " be chance."
        )
    else:
        use = f"the KS error falls to {now}, where chance explains up to {limit}"
        first = _certain_first(found, use)
        if first is not None:
            return first
        sentence = f"**Use the calibrated scores, or try another calibrator**: {use}."
    return Step(sentence, "compare", "Compare calibrators")


def _certain_first(found: Found, use: str) -> Step | None:
    """Warn first of certain misses that raise the NLL, however well calibrated the scores are."""
    told = raised_nll(found.judged)
    if not told:
        return None
    do = _KEEP.format("") if _can_be_kept(found) else "try another calibrator"
    return Step(f"**First {do}**: {use}, but {told}.", "compare", _BY_NLL)


def _too_few(found: Found) -> Step | None:
    """Ask for more rows where these show nothing but large gaps."""
    judged = found.judged
    gap = smallest_gap_shown(judged.before.curves)
    if gap <= COARSE or _off(found, after=False):
        return None
    wanted = rows_that_show(judged.before.curves, FINE)
    digits = 2 - math.ceil(math.log10(wanted))
    return Step(
        f"**Collect more rows**: {judged.n_samples:,} show only large gaps; about"
        f" {round(wanted, digits):,.0f} would show one of 1 point."
    )


def _likelihood(found: Found) -> Step | None:
    """Warn of predictions that became certain and wrong, or a worse NLL, if not said first."""
    new = new_misses(found.judged)
    if _main(found).link == _BY_NLL:
        return None
    if new > 0:
        told = f"**Mind certainty**: {now_certain(new)}."
    elif found.mark(nll_key(found.judged)) == "worse":
        told = "**Mind the NLL**: it gets worse."
    else:
        return None
    return Step(f"{told}{_cure(found)}", "compare", _BY_NLL)


def _cure(found: Found) -> str:
    """Say what leaves no prediction certain, of that which the file allows."""
    ways = []
    if _can_be_kept(found):
        ways.append(_KEEP.format("**"))
    if found.method != "temperature" and found.judged.compare("nll").before is not None:
        ways.append("take temperature scaling")
    return f" If single predictions count, {', or '.join(ways)}." if ways else ""


def _can_be_kept(found: Found) -> bool:
    return isinstance(found.result.fitted, FittedSpline) and not found.kept_within


def _decisions(found: Found) -> Step | None:
    if not (found.judged.changed_decisions or found.judged.past_half):
        return None
    other = (
        "A calibrator of all classes decides by its own probabilities"
        if found.judged.past_half
        else ""
    )
    return Step(
        f"**Check the decisions**: {decisions(found.judged)}."
        f" {other or 'Temperature scaling changes none'}.",
        "compare",
        "Compare calibrators",
    )


def _classes_off(found: Found) -> Step | None:
    """Point to classes that are off before calibration where what is looked at is not."""
    if found.classes is None:
        return None
    before, after = found.classes
    told = f"no miscalibration is detected for {_looked_at(found)}"
    if before.n_classes == 2:
        return _second_class(found, before, f"{told}, but this class is")
    n_off = int(before.off(DETECTION_LEVEL).sum())
    if not n_off:
        return None
    each = "is" if n_off == 1 else "are"
    then = "" if after is None else f" before calibration and {_number_off(after)} after it"
    return Step(
        f"**Look at the classes**: {told}, but {n_off:,} of {before.n_classes:,} classes {each} off"
        f" one by one{then}.",
        "reliability",
        "See every class",
    )


def _looked_at(found: Found) -> str:
    """Name what is looked at, within a sentence."""
    name = event_words(found.event, found.class_names).name
    shown = f"{name[0].lower()}{name[1:]}"
    return f"the {shown}" if found.event == _TOP else shown


def _number_off(screen: ClassScreen) -> str:
    return f"{int(screen.off(DETECTION_LEVEL).sum()):,}"


def _second_class(found: Found, screen: ClassScreen, told: str) -> Step | None:
    """Point to the second of two classes, which the first mirrors, where it is off by itself."""
    if screen.p_value[1] >= DETECTION_LEVEL or found.class_names is None:
        return None
    n_samples, name = screen.n_samples, found.class_names[1]
    says, was = float(screen.mean_score[1]), float(screen.frequency[1])
    gap = abs(says - was)
    if gap < screen.ks_error[1] / 2:
        far = detected_points(float(screen.ks_error[1]), n_samples)
        how = (
            "too sure at some scores and not sure enough at others: the running totals part by up"
            f" to {far}"
        )
    else:
        how = (
            f"{'over' if says > was else 'under'}confident by {detected_points(gap, n_samples)}:"
            f" scored {percent(says, n_samples)} on average, it was the true one"
            f" {percent(was, n_samples)} of the time"
        )
    shown = escape_markdown(shortened(name))
    return Step(
        f"**Look at class {shown}**: {told} {how}.",
        link=f"Show class {shown}",
        opens=name,
    )


def _classes(found: Found) -> Step | None:
    """Point to classes that are off one by one."""
    if found.classes is None or (not _off(found, after=False) and _classes_off(found)):
        return None
    before, after = found.classes
    screen = before if after is None else after
    if screen.n_classes == 2:
        when = "before" if after is None or found.method == NO_METHOD else "after"
        return _second_class(found, screen, f"{when} calibration it is")
    n_off = int(screen.off(DETECTION_LEVEL).sum())
    if not n_off:
        return None
    each = "is" if n_off == 1 else "are"
    when = "" if found.method == NO_METHOD else ", after calibration"
    if after is None:
        when = f" before calibration, and {method_name(found.method)} mends the chosen event alone"
    return Step(
        f"**Look at the classes**: {n_off:,} of {screen.n_classes:,} {each} off one by one{when}.",
        "reliability",
        "See every class",
    )
