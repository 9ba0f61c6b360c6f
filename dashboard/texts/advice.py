"""Recommendations in words: each step, and what it rests on."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from calibcore.auditing import AuditResult
from calibcore.calibrators import FittedSpline
from calibcore.comparison import moves_mean_away
from calibcore.evaluation import SetResult
from calibcore.events import OneClass, TopR, WithinTopR
from calibcore.inference import (
    ClassScreen,
    Drift,
    Inference,
    Mark,
    rows_that_show,
    smallest_gap_shown,
)
from calibcore.verdict import DETECTION_LEVEL, detected, mean_gap_of, remains
from dashboard.settings import NO_METHOD, ChosenEvent, method_by_key
from dashboard.texts.badges import badge_since, no_information, shape
from dashboard.texts.classes import shortened
from dashboard.texts.events import event_words
from dashboard.texts.methods import method_name
from dashboard.texts.numbers import ARROW, detected_points, escape_markdown, p_words, percent, pp
from dashboard.texts.refusal import capitalised
from dashboard.texts.rows import rows, rows_of
from dashboard.texts.subgroups import KNOWN_GROUPS, Groups, subgroup_name
from dashboard.texts.tiles import new_misses, nll_key, now_certain, raised_nll
from dashboard.texts.verdict import decisions, mean_moved, set_name

TOP = TopR(1)

_COMPARE = "calibrators", "Compare calibrators"
_CLASSES = "reliability", "See every class"
_SUBGROUPS = "subgroups", "See subgroups"
"""Address of the page that shows more, and what the link to it says."""


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

    @property
    def lead(self) -> str:
        """What, without why: the words in bold at its head."""
        return self.sentence.partition("**")[2].partition("**")[0]

    @property
    def as_next(self) -> str:
        """What is recommended first, as each page says it."""
        return f"{NEXT}: {self.lead}"

    since: tuple[str, ...] = ()
    """Column of dates, and the first and last period to which the link filters all pages; empty for
    none.
    """
    split_at: tuple[str, ...] = ()
    """Column of dates, and the period at which a second button splits the rows; empty for none."""


@dataclass(frozen=True, eq=False)
class Evidence:
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
    constrained: bool = False
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


def is_off(evidence: Evidence, *, after: bool) -> bool:
    """Return whether the scores as a whole are found to be miscalibrated, or still are."""
    before = evidence.evaluated.before
    side = evidence.evaluated.after if after else before
    return detected(side) or remains(before, side)


TOGETHER = (
    "Drift is tested over all periods together, so it can be detected where no single subgroup is."
)
"""Why drift is detected beside subgroups of which none is miscalibrated."""


def drifts(one: Drift | None) -> bool:
    """Return whether a drift is detected on one side."""
    return one is not None and one.p_value < DETECTION_LEVEL


def drift_line(
    by: str,
    shown: Sequence[str],
    sides: tuple[Drift, Drift | None],
    *,
    expert: bool = False,
    alone: bool = False,
) -> str:
    """Return since when scores differ from before, for Markdown.

    ``by``: the column of dates. ``shown``: its periods, as they are written. ``sides``: before and
    after calibration; after is None where nothing was fitted. ``expert``: whether p-values are
    named. ``alone``: whether no subgroup is miscalibrated on a side that drifts, which is
    explained.
    """
    before, after = sides
    drifting = [drifts(one) for one in sides]
    name = escape_markdown(by)
    if not any(drifting):
        when = "" if after is None else ", before or after calibration"
        return f"**Drift over {name}:** none detected{when}."
    one = before if drifting[0] else after
    if one is None:
        raise AssertionError(sides)
    when = "" if after is None else (" before calibration" if drifting[0] else " after calibration")
    line = f"**Drift over {name}{when}:** {_change(one, shown, expert=expert)}."
    if after is not None and drifting == [True, True]:
        line += f" It remains after calibration: {_change(after, shown, expert=expert)}."
    elif after is not None and drifting[0]:
        line += " After calibration: drift not detected."
    return f"{line} {TOGETHER}" if alone else line


def _change(one: Drift, shown: Sequence[str], *, expert: bool) -> str:
    evidence = f" ({p_words(one.p_value)})" if expert else ""
    return (
        f"since {escape_markdown(shown[one.since])} scores are"
        f" {_size(one.gap_since, one.rows_since)}; until then,"
        f" {_size(one.gap_before, one.rows_before)}{evidence}"
    )


def drift_step(by: str, shown: str, ends: tuple[str, str], split_at: tuple[str, ...] = ()) -> Step:
    """Advise to look at the rows since the scores have changed, with a filter and a split."""
    name, start = escape_markdown(by), escape_markdown(shown)
    split = (
        f" Split at {start} to see how a calibrator fitted before then does on the {rows()} since."
    )
    return Step(
        f"**Check recent {rows()}.** The scores drift over {name}: evaluate those since {start}"
        " alone. The filter changes what is evaluated, not what the calibrator is fitted on."
        f"{split if split_at else ''}",
        link=f"Filter to {shown} and later",
        since=(by, *ends),
        split_at=split_at,
    )


def _size(gap: float, rows: int) -> str:
    """Return a mean gap in words: "too low by 4.1 percentage points"."""
    size = detected_points(abs(gap), rows)
    return f"too {'high' if gap > 0 else 'low'} by {size}"


BY_GROUP = "by_group"
"""Key of calibration by group."""


@dataclass(frozen=True)
class GroupCorrection:
    """What calibration by a column comes to in the worst subgroup."""

    by: str
    name: str
    """The column and the subgroup; text of the file."""
    rows: int
    """Of the subgroup."""
    gap: float
    corrected: float
    """Its mean gap without and with it: mean score minus observed frequency."""


def with_correction(steps: Sequence[Step], correction: GroupCorrection | None) -> list[Step]:
    """Put the advice to calibrate by group behind that to look at subgroups.

    Where the comparison advises it already, only what it does to the worst subgroup is added.

    Example: "**Consider calibration by group (ward).** It takes the mean gap of ward = C from
    -10.0 to +0.2 pp (cross-validated). ..."
    """
    places = [place for place, step in enumerate(steps) if step.page == "subgroups"]
    advised = any(step.method == BY_GROUP for step in steps)
    if correction is None or not (places or advised):
        return list(steps)
    by = escape_markdown(shortened(correction.by))
    subgroup = escape_markdown(subgroup_name(correction.by, shortened(correction.name)))
    was, now = (
        pp(value, correction.rows, signed=True) for value in (correction.gap, correction.corrected)
    )
    size = f"It takes the mean gap of {subgroup} from {was} to {now}."
    if advised:
        return [
            replace(step, sentence=f"{step.sentence} {size}")
            if f"({by})" in step.sentence
            else step
            for step in steps
        ]
    advice = Step(
        f"**Consider calibration by group ({by}).** {size} {KNOWN_GROUPS}",
        link=f"Calibrate by {by}",
        groups=correction.by,
    )
    after = places[0] + 1
    return [*steps[:after], advice, *steps[after:]]


def classes_off(evidence: Evidence) -> Step | None:
    """Point to classes that are miscalibrated before calibration where the event is not."""
    if evidence.classes is None:
        return None
    before, after = evidence.classes
    text = f"No miscalibration detected for {_looked_at(evidence)}"
    if before.n_classes == 2:
        return _second_class(evidence, before, f"{text}. This class: ")
    n_off = _n_off(before)
    if not n_off:
        return None
    then = "" if after is None else f" before calibration, {_n_off(after):,} after"
    return Step(
        f"**Check the classes.** {text}. {_so_many(n_off, before.n_classes)} miscalibrated{then}.",
        *_CLASSES,
    )


def _looked_at(evidence: Evidence) -> str:
    """Return the name of the event, within a sentence."""
    shown = event_words(evidence.event, evidence.class_names, evidence.outcome).in_sentence
    return (
        f"the {shown}" if evidence.event == TOP or isinstance(evidence.event, WithinTopR) else shown
    )


def _so_many(n_off: int, n_classes: int) -> str:
    """Return how many of the classes, with their verb."""
    if n_off == n_classes:
        return f"All {n_classes:,} classes are"
    return f"{n_off:,} of {n_classes:,} classes {'is' if n_off == 1 else 'are'}"


def _n_off(screen: ClassScreen) -> int:
    return int(screen.off(DETECTION_LEVEL).sum())


def _second_class(evidence: Evidence, screen: ClassScreen, text: str) -> Step | None:
    """Point to the second of two classes, which the first mirrors, if it is miscalibrated."""
    left = bool(screen.remains[1])
    if (screen.p_value[1] >= DETECTION_LEVEL and not left) or evidence.class_names is None:
        return None
    n_samples, name = screen.n_samples, evidence.class_names[1]
    mean_score, observed = float(screen.mean_score[1]), float(screen.frequency[1])
    ks_error, p_value = float(screen.ks_error[1]), float(screen.p_value[1])
    what = badge_since(mean_score - observed, ks_error, p_value, remains=left, prediction=False)
    if what.direction == "both":
        size = f" (KS error {percent(ks_error, n_samples)})"
    else:
        gap = detected_points(abs(mean_score - observed), n_samples)
        means = f"mean score {percent(mean_score, n_samples)}, observed"
        size = f" by {gap} ({means} {percent(observed, n_samples)})"
    shown = event_words(OneClass(1), evidence.class_names, evidence.outcome).in_sentence
    return Step(
        f"**Check {shown}.** {capitalised(text)}{what.in_sentence}{size}.",
        link=f"Show {shown}",
        opens=name,
    )


def classes(evidence: Evidence) -> Step | None:
    """Point to classes that are individually miscalibrated."""
    if evidence.classes is None or (not is_off(evidence, after=False) and classes_off(evidence)):
        return None
    before, after = evidence.classes
    screen = before if after is None else after
    if screen.n_classes == 2:
        when = "before" if after is None or evidence.method == NO_METHOD else "after"
        return _second_class(evidence, screen, f"{when} calibration: ")
    n_off = _n_off(screen)
    if not n_off:
        return None
    text = f"{_so_many(n_off, screen.n_classes)} individually miscalibrated"
    text += "." if after is None or evidence.method == NO_METHOD else " after calibration."
    if after is None:
        text += " This calibrator corrects only the selected event."
    return Step(f"**Check the classes.** {text}", *_CLASSES)


HEADING, NEXT = "Recommendations", "Recommended"

MOST_STEPS = 3

COARSE, FINE = 0.05, 0.01
"""Mean gaps: rows that cannot detect the first are too few, rows that detect the second suffice."""

_BY_NLL, _KEEP = "Compare by NLL", 'turn on "Keep inside 0\u2013100%"'


def next_steps(evidence: Evidence) -> list[Step]:
    """Return one to three recommendations, the most pressing first."""
    if evidence.result.same_data:
        return [
            Step(
                f"**Upload a test set.** On the {rows()} it was fitted on, every calibrator looks"
                " better than it is."
            )
        ]
    if evidence.evaluated is not evidence.result.test:
        return [
            Step(
                "**Evaluate on the test set before you decide**, in the panel on the left: the"
                f" calibrator was fitted on these {rows()}."
            )
        ]
    steps = [_main(evidence)]
    if evidence.drift is not None:
        steps.append(evidence.drift)
    for look in (_too_few, _groups, _likelihood, _decisions, classes):
        step = look(evidence)
        if step is not None:
            steps.append(step)
    return steps[:MOST_STEPS]


def _main(evidence: Evidence) -> Step:
    """Return whether to use, to leave, or to try something else."""
    chosen = evidence.method != NO_METHOD
    was_off, still_off = is_off(evidence, after=False), is_off(evidence, after=True)
    if not was_off:
        return (
            classes_off(evidence)
            or (None if still_off else _cured(evidence))
            or _group_off(evidence, after=chosen and not still_off)
            or _no_information(evidence)
            or _leave(evidence, harmful=chosen and still_off)
        )
    name = method_name(evidence.method)
    where = set_name(evidence.result, evidence.evaluated)
    use = f"No miscalibration detected{_overall(evidence)} on the {where} after {name}"
    # What corrects a subgroup is not exchanged for what is better on the whole.
    cured = None if still_off else _cured(evidence)
    other = None if cured else _another(evidence)
    if other is not None:
        return other
    if not still_off:
        return (
            _certain_first(evidence, use)
            or _group_off(evidence, after=True)
            or cured
            or _use(evidence, use)
        )
    return _try_another(evidence, name)


def recommended(advised: str, advice: str, group: str = "") -> Step:
    """Advise what the comparison of calibrators advises, with a button that chooses it.

    ``group`` is the column of the groups that it is told, text of the file; empty for none.
    """
    by = f" ({escape_markdown(shortened(group))})" if group else ""
    return Step(
        f"**Use {method_name(advised)}{by}.** {advice}{_known_groups(advised)}",
        *_COMPARE,
        method=advised,
    )


def _another(evidence: Evidence) -> Step | None:
    """Advise a calibrator where none is chosen, or one that is not the one to use."""
    if evidence.waiting is not None:
        return Step(
            f"**Fit {method_name(evidence.waiting)}.** Press *Fit it* on this page, or choose a"
            " faster calibrator on the left."
        )
    if evidence.advised not in {"", evidence.method}:
        return recommended(evidence.advised, evidence.advice, evidence.advised_group)
    if evidence.method == NO_METHOD:
        what = "**Calibrate the scores.** Choose a calibrator on the left, or compare several."
        if evidence.advice:
            what = f"**Look at the comparison.** {evidence.advice}"
        return Step(what, *_COMPARE)
    if evidence.advised or not evidence.result.in_folds:  # one set's mean is not another's
        return None
    keys, n_samples = ("mean_gap", "mean_score", "hit_rate"), evidence.evaluated.n_samples
    gap, score, rate = (evidence.evaluated.compare(key) for key in keys)
    if not moves_mean_away(gap, rate, n_samples):
        return None
    return _other(evidence, f"{method_name(evidence.method)} {mean_moved(score, rate, n_samples)}.")


def _use(evidence: Evidence, why: str) -> Step:
    """Advise the calibrated scores, with the warning of a calibrator that must know groups."""
    text = f"**Use the calibrated scores.** {why}.{_known_groups(evidence.method)}"
    return Step(text, "maps", "See the calibration map")


def _known_groups(method: str) -> str:
    return f" {KNOWN_GROUPS}" if method_by_key(method).knows_groups else ""


def _cured(evidence: Evidence) -> Step | None:
    """Advise the calibrated scores where the calibrator corrected what was wrong in a subgroup."""
    groups = evidence.groups
    if groups is None or not groups.off(after=False) or groups.worst(after=True):
        return None
    name = method_name(evidence.method)
    was = groups.worst(after=False)
    return _use(
        evidence,
        f"After {name}, no miscalibration detected overall and no mean gap in subgroups."
        f" Before: {was}",
    )


def _no_information(evidence: Evidence) -> Step | None:
    """Warn of scores that are not shown to rank rows, however well they are calibrated."""
    why = no_information(evidence.evaluated.before)
    if not why:
        return None
    return Step(f"**Check the score.** {why}. No miscalibration detected.")


def _group_off(evidence: Evidence, *, after: bool) -> Step | None:
    """Point to a subgroup that is miscalibrated where the scores as a whole are not found to be."""
    worst = "" if evidence.groups is None else evidence.groups.worst(after=after)
    if not worst:
        return None
    text = f"overall after {method_name(evidence.method)}" if after else "overall"
    sentence = f"**Check subgroups first.** No miscalibration detected {text}, but in {worst}."
    return Step(sentence, *_SUBGROUPS)


def _subgroup_off(evidence: Evidence) -> bool:
    return evidence.groups is not None and evidence.groups.off(after=True)


def _groups(evidence: Evidence) -> Step | None:
    """Point to a subgroup with a fault of its own, if not said first."""
    if (
        evidence.groups is None
        or not _subgroup_off(evidence)
        or _main(evidence).page == "subgroups"
    ):
        return None
    when = "" if evidence.groups.after is evidence.groups.before else " after calibration"
    worst = evidence.groups.worst(after=True)
    return Step(f"**Check subgroups.** Worst{when}: {worst}.", *_SUBGROUPS)


def _overall(evidence: Evidence) -> str:
    """Return that nothing is detected overall, where scores drift over time."""
    return " overall" if evidence.groups is not None and evidence.groups.drifts[1] else ""


def _leave(evidence: Evidence, *, harmful: bool) -> Step:
    evaluated = evidence.evaluated
    if harmful:
        name = method_name(evidence.method)
        sentence = f"**Use the uncalibrated scores.** Miscalibration is detected only after {name}."
        return Step(sentence, *_COMPARE)
    gap = detected_points(smallest_gap_shown(evaluated.before.curves), evaluated.n_samples)
    n_groups = 0 if evidence.groups is None else evidence.groups.before.n_groups
    subgroups = "Subgroups may still be miscalibrated."
    if n_groups:
        subgroups = f"No mean gap detected in {n_groups:,} subgroup{'s' * (n_groups > 1)} either."
    return Step(
        f"**Use the uncalibrated scores.** No miscalibration detected{_overall(evidence)}. A mean"
        f" gap of {gap} would have been detected with 80% probability. {subgroups}",
        "subgroups",
        "Check subgroups",
    )


def _try_another(evidence: Evidence, name: str) -> Step:
    evaluated = evidence.evaluated
    n_samples, before, after = evaluated.n_samples, evaluated.before.curves, evaluated.after.curves
    if remains(evaluated.before, evaluated.after):
        gaps = (mean_gap_of(side) for side in (evaluated.before, evaluated.after))
        shown = ARROW.join(pp(gap, n_samples, signed=True).removesuffix(" pp") for gap in gaps)
        return _other(evidence, f"{name} leaves more than half of the mean gap ({shown} pp).")
    was, now = percent(before.ks_error, n_samples), percent(after.ks_error, n_samples)
    limit = percent(after.ks_null_95, n_samples)
    mark = evidence.mark("ks_error")
    worse = after.ks_error >= before.ks_error if mark is None else mark == "worse"
    lower, how = not worse and mark != "no evidence", shape(evaluated.after.omnibus)
    nll = evaluated.compare(nll_key(evaluated))
    if lower and after.ks_error > after.ks_null_95:
        use = f"KS error fell to {now}; its 95% limit under perfect calibration is {limit}"
    elif lower:
        use = f"KS error fell to {now}, but scores are {how}"
    elif evidence.mark(nll.measure.key) == "better":
        use = f"NLL fell from {nll.before:.3f} to {nll.after:.3f}, but scores are {how}"
    elif worse:
        return _other(evidence, f"{name} does not lower the KS error ({was} \u2192 {now}).")
    else:
        drop = f"The drop in KS error with {name} ({was} \u2192 {now}) is within chance."
        return _other(evidence, drop)
    first = _certain_first(evidence, use)
    if first is not None:
        return first
    use_them = "" if _subgroup_off(evidence) else "Use the calibrated scores, or try"
    return _other(evidence, f"{use}.", first=use_them or "Try")


def _other(evidence: Evidence, why: str, *, first: str = "Try") -> Step:
    """Advise another calibrator, unless this one is what the comparison advises."""
    advice = f"**{first} another calibrator.** {why}"
    if evidence.advised == evidence.method:
        name = method_name(evidence.method)
        advice = f"**Use {name}, with care.** {why} None of those compared is clearly better."
    return Step(advice, *_COMPARE)


def _certain_first(evidence: Evidence, use: str) -> Step | None:
    """Warn first of wrong scores of 0% or 100% that raise the NLL, whatever the calibration."""
    nll = raised_nll(evidence.evaluated, evidence.mark(nll_key(evidence.evaluated)))
    if not nll:
        return None
    do = _KEEP if _can_constrain(evidence) else "try another calibrator"
    return Step(f"**{capitalised(do)} first.** {nll}. {use}.", "calibrators", _BY_NLL)


def _too_few(evidence: Evidence) -> Step | None:
    """Ask for more rows where these show nothing but large gaps."""
    evaluated = evidence.evaluated
    gap = smallest_gap_shown(evaluated.before.curves)
    if gap <= COARSE or is_off(evidence, after=False):
        return None
    wanted = rows_that_show(evaluated.before.curves, FINE)
    digits = 2 - math.ceil(math.log10(wanted))
    return Step(
        f"**Collect more {rows()}.** {rows_of(evaluated.n_samples)} reveal only large gaps."
        f" Detecting a gap of 1 percentage point takes about {rows_of(int(round(wanted, digits)))}."
    )


def _likelihood(evidence: Evidence) -> Step | None:
    """Warn of wrong predictions at 0% or 100%, or a worse NLL, if not said first."""
    new = new_misses(evidence.evaluated)
    if _main(evidence).link == _BY_NLL:
        return None
    if new > 0:
        text = f"**Check extreme scores.** {now_certain(new)}."
    elif evidence.mark(nll_key(evidence.evaluated)) == "worse":
        text = "**Check the NLL.** It is worse."
    else:
        return None
    return Step(f"{text}{_cure(evidence)}", "calibrators", _BY_NLL)


def _cure(evidence: Evidence) -> str:
    """Return what leaves no prediction at 0% or 100%, as far as the file allows."""
    ways = []
    if _can_constrain(evidence):
        ways.append(_KEEP)
    if evidence.method != "temperature" and evidence.evaluated.compare("nll").before is not None:
        ways.append("use temperature scaling")
    return f" If individual predictions matter, {' or '.join(ways)}." if ways else ""


def _can_constrain(evidence: Evidence) -> bool:
    return isinstance(evidence.result.fitted, FittedSpline) and not evidence.constrained


def _decisions(evidence: Evidence) -> Step | None:
    if not evidence.evaluated.changed_decisions:
        return None
    return Step(
        f"**Check predicted classes.** {capitalised(decisions(evidence.evaluated))}."
        " Temperature scaling changes none.",
        *_COMPARE,
    )
