"""Recommendations, from what was found."""

import math

from calibcore.calibrators import FittedSpline
from calibcore.comparison import moves_mean_away
from calibcore.inference import (
    rows_that_show,
    smallest_gap_shown,
)
from dashboard.settings import NO_METHOD, method_by_key
from dashboard.wording.certainty import new_misses, now_certain, raised_nll
from dashboard.wording.class_steps import classes, classes_off
from dashboard.wording.classes import shortened
from dashboard.wording.numbers import detected_points, escape_markdown, percent, pp
from dashboard.wording.rows import rows, rows_of
from dashboard.wording.sentences import (
    capitalised,
    decisions,
    mean_moved,
    method_name,
    set_name,
)
from dashboard.wording.slice_names import KNOWN_GROUPS
from dashboard.wording.step import Found, Step, is_off
from dashboard.wording.tiles import nll_key
from dashboard.wording.verdicts import mean_gap_of, no_information, remains, shape

HEADING = "Recommendations"

MOST_STEPS = 3

COARSE, FINE = 0.05, 0.01
"""Mean gaps: rows that cannot detect the first are too few, rows that detect the second suffice."""

_BY_NLL, _KEEP = "Compare by NLL", 'turn on "Constrain to 0\u2013100%"'


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
    if found.drift is not None:
        steps.append(found.drift)
    for look in (_too_few, _groups, _likelihood, _decisions, classes):
        step = look(found)
        if step is not None:
            steps.append(step)
    return steps[:MOST_STEPS]


def _main(found: Found) -> Step:
    """Return whether to use, to leave, or to try something else."""
    chosen = found.method != NO_METHOD
    was_off, still_off = is_off(found, after=False), is_off(found, after=True)
    if not was_off:
        return (
            classes_off(found)
            or (None if still_off else _cured(found))
            or _group_off(found, after=chosen and not still_off)
            or _no_information(found)
            or _leave(found, harmful=chosen and still_off)
        )
    name = method_name(found.method)
    where = set_name(found.result, found.evaluated)
    use = f"No miscalibration detected{_overall(found)} on the {where} after {name}"
    # What corrects a subgroup is not exchanged for what is better on the whole.
    cured = None if still_off else _cured(found)
    other = None if cured else _another(found)
    if other is not None:
        return other
    if not still_off:
        return (
            _certain_first(found, use) or _group_off(found, after=True) or cured or _use(found, use)
        )
    return _try_another(found, name)


def recommended(advised: str, advice: str, group: str = "") -> Step:
    """Advise what the comparison of calibrators advises, with a button that chooses it.

    ``group`` is the column of the groups that it is told, text of the file; empty for none.
    """
    by = f" ({escape_markdown(shortened(group))})" if group else ""
    warning = f" {KNOWN_GROUPS}" if method_by_key(advised).knows_groups else ""
    return Step(
        f"**Use {method_name(advised)}{by}.** {advice}{warning}",
        "compare",
        "Compare calibrators",
        method=advised,
    )


def _another(found: Found) -> Step | None:
    """Advise a calibrator where none is chosen, or one that is not the one to use."""
    if found.waiting is not None:
        return Step(
            f"**Fit {method_name(found.waiting)}.** Press *Fit it* on this page, or choose a faster"
            " calibrator on the left."
        )
    if found.advised not in {"", found.method}:
        return recommended(found.advised, found.advice, found.advised_group)
    if found.method == NO_METHOD:
        what = "**Calibrate the scores.** Choose a calibrator on the left, or compare several."
        if found.advice:
            what = f"**Look at the comparison.** {found.advice}"
        return Step(what, "compare", "Compare calibrators")
    if found.advised or not found.result.in_folds:  # one set's mean is not another's
        return None
    keys, n_samples = ("mean_gap", "mean_score", "hit_rate"), found.evaluated.n_samples
    gap, score, rate = (found.evaluated.compare(key) for key in keys)
    if not moves_mean_away(gap, rate, n_samples):
        return None
    return _other(found, f"{method_name(found.method)} {mean_moved(score, rate, n_samples)}.")


def _use(found: Found, why: str) -> Step:
    """Advise the calibrated scores, with the warning of a calibrator that must know groups."""
    warning = f" {KNOWN_GROUPS}" if method_by_key(found.method).knows_groups else ""
    return Step(
        f"**Use the calibrated scores.** {why}.{warning}", "maps", "See the calibration map"
    )


def _cured(found: Found) -> Step | None:
    """Advise the calibrated scores where the calibrator corrected what was wrong in a subgroup."""
    groups = found.groups
    if groups is None or not groups.off(after=False) or groups.worst(after=True):
        return None
    name = method_name(found.method)
    was = groups.worst(after=False)
    return _use(
        found,
        f"After {name}, no miscalibration detected overall and no mean gap in subgroups."
        f" Before: {was}",
    )


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


def _overall(found: Found) -> str:
    """Return that nothing is detected overall, where scores drift over time."""
    return " overall" if found.groups is not None and found.groups.drifts[1] else ""


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
        subgroups = f"No mean gap detected in {n_groups:,} subgroup{'s' * (n_groups > 1)} either."
    return Step(
        f"**Use the uncalibrated scores.** No miscalibration detected{_overall(found)}. A mean gap"
        f" of {gap} would have been detected with 80% probability. {subgroups}",
        "slices",
        "Check subgroups",
    )


def _try_another(found: Found, name: str) -> Step:
    evaluated = found.evaluated
    n_samples, before, after = evaluated.n_samples, evaluated.before.curves, evaluated.after.curves
    if remains(evaluated.before, evaluated.after):
        gaps = (mean_gap_of(side) for side in (evaluated.before, evaluated.after))
        shown = " \u2192 ".join(pp(gap, n_samples, signed=True).removesuffix(" pp") for gap in gaps)
        return _other(found, f"{name} leaves more than half of the mean gap ({shown} pp).")
    was, now = percent(before.ks_error, n_samples), percent(after.ks_error, n_samples)
    limit = percent(after.ks_null_95, n_samples)
    mark = found.mark("ks_error")
    worse = after.ks_error >= before.ks_error if mark is None else mark == "worse"
    lower, how = not worse and mark != "no evidence", shape(evaluated.after.omnibus)
    nll = evaluated.compare(nll_key(evaluated))
    if lower and after.ks_error > after.ks_null_95:
        use = f"KS error fell to {now}; its 95% limit under perfect calibration is {limit}"
    elif lower:
        use = f"KS error fell to {now}, but scores are {how}"
    elif found.mark(nll.measure.key) == "better":
        use = f"NLL fell from {nll.before:.3f} to {nll.after:.3f}, but scores are {how}"
    elif worse:
        return _other(found, f"{name} does not lower the KS error ({was} \u2192 {now}).")
    else:
        drop = f"The drop in KS error with {name} ({was} \u2192 {now}) is within chance."
        return _other(found, drop)
    first = _certain_first(found, use)
    if first is not None:
        return first
    use_them = "" if _subgroup_off(found) else "Use the calibrated scores, or try"
    return _other(found, f"{use}.", first=use_them or "Try")


def _other(found: Found, why: str, *, first: str = "Try") -> Step:
    """Advise another calibrator, unless this one is what the comparison advises."""
    advice = f"**{first} another calibrator.** {why}"
    if found.advised == found.method:
        name = method_name(found.method)
        advice = f"**Use {name}, with care.** {why} None of those compared is clearly better."
    return Step(advice, "compare", "Compare calibrators")


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
    if gap <= COARSE or is_off(found, after=False):
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
    if not found.evaluated.changed_decisions:
        return None
    return Step(
        f"**Check predicted classes.** {capitalised(decisions(found.evaluated))}."
        " Temperature scaling changes none.",
        "compare",
        "Compare calibrators",
    )
