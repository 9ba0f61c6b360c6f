"""The sentences: what a result shows, in plain words with its numbers."""

import math
from collections.abc import Mapping

from calibcore.auditing import AuditResult
from calibcore.calibrators import FittedSpline, FittedTemperature
from calibcore.calibrators.base import FittedScoreMap
from calibcore.curves import ScoreCurve
from calibcore.evaluation import Comparison, SetResult, Side
from calibcore.inference import Omnibus
from calibcore.verdict import detected, mean_gap_of
from dashboard.settings import NO_METHOD, method_by_key, method_of
from dashboard.texts.badges import (
    CHANCE,
    CONSTANT,
    FITTED,
    IN_SUBGROUPS,
    IN_TIME,
    NOT_DETECTED,
    Badge,
    evidence,
    opposite_range,
    ranges_sentence,
    shape,
    side_badge,
)
from dashboard.texts.events import EventWords
from dashboard.texts.glossary import SHORT_NAMES
from dashboard.texts.measures import spelled_out
from dashboard.texts.methods import method_name
from dashboard.texts.numbers import (
    adds_up,
    detected_points,
    measured,
    null_source,
    p_words,
    percent,
)
from dashboard.texts.refusal import capitalised
from dashboard.texts.rows import rows, says_rows
from dashboard.texts.subgroups import Groups

KS = spelled_out("KS error")
"""In a headline."""

LOOKING_CLOSER = "Computing the 95% confidence intervals"


def how_far(
    side: Side, event: EventWords, badge: Badge, *, expert: bool = False, before: Side | None = None
) -> str:
    """Return what follows the words of a `badge` of one side: numbers from its result.

    With how large it was ``before`` calibration, where this is after it.

    Examples: " by 5.1 percentage points: mean score 95.7%, but 90.6% correct." and, of a class,
    " by 2.0 percentage points: class cat, mean score 10.0%, observed 12.0%."
    """
    curves, n_samples = side.curves, side.event.n_samples
    mean_score, observed = float(curves.cum_score[-1]), float(curves.cum_hits[-1])
    finer = adds_up(mean_score, observed, n_samples)
    means = event.means.format(
        score=percent(mean_score, n_samples, finer=finer),
        observed=percent(observed, n_samples, finer=finer),
    )
    if not badge.one_way:
        means = means.replace(", but ", ", ")
    shown = _how_much(badge, side, finer)
    other = opposite_range(side) if badge.one_way else ""
    if before is not None and badge.one_way and not other:
        gap = mean_gap_of(before)
        way = "" if gap * mean_gap_of(side) > 0 else f" too {'high' if gap > 0 else 'low'}"
        shown += f" (before: {percent(abs(gap), n_samples, finer=finer).removesuffix('%')}{way})"
    if badge.direction == "both":  # which has no mean gap for its size
        now = percent(curves.ks_error, n_samples)
        was = now if before is None else percent(before.curves.ks_error, n_samples)
        called = KS if shown == RIGHT else "KS error"  # a headline has about twenty words
        size = f"{called} {now}" if was == now else f"{called} {was} \u2192 {now}"
        means = size if shown else f"{means}, {size}"
    tested = ""
    if expert:
        tested = f" (joint test, {p_words(side.omnibus.p_value)})"
    text = f"{shown} on average, but {other}" if other else f"{shown}: {means}"
    return f"{text}{tested}."


@says_rows
def _how_much(badge: Badge, side: Side, finer: int) -> str:
    """Return the size of a finding: a mean gap, or, where its sign changes, its shape."""
    if badge is CHANCE:
        ends = f"{side.auroc.low:.2f}\u2013{side.auroc.high:.2f}"
        return f" (AUROC 95% CI {ends}). {NOT_DETECTED.word}"
    if badge is CONSTANT:
        return f" for all rows. {NOT_DETECTED.word}"
    if badge in {NOT_DETECTED, IN_SUBGROUPS, IN_TIME, FITTED}:
        return ""
    if badge.direction == "both":
        what = shape(side.omnibus, named=True)
        return f", {what}" if what else ""
    size = f" by {detected_points(abs(mean_gap_of(side)), side.event.n_samples, finer=finer)}"
    return size if detected(side) else f"{size}, though no longer detected"


def badge_markdown(name: str, badge: Badge) -> str:
    """Return the verdict of one side as a badge, for Markdown."""
    return f":{badge.colour}-badge[{badge.icon} {name}: {badge.in_sentence}]"


def named_sides(evaluated: SetResult) -> dict[str, Side]:
    """Return the sides by their names; Before alone where nothing was calibrated."""
    sides = {"Before": evaluated.before}
    return {**sides, "After": evaluated.after} if evaluated.calibrated else sides


def side_badges(
    result: AuditResult, evaluated: SetResult, event: EventWords, groups: Groups | None = None
) -> dict[str, Badge]:
    """Return the badge of each side by its name; Before alone where nothing was calibrated.

    That a calibrator suits the rows it was fitted on is no finding. Where subgroups are
    miscalibrated, or scores drift, "no miscalibration detected" is no verdict.
    """
    badges = {}
    for name, side in named_sides(evaluated).items():
        after = name == "After"
        one = side_badge(
            side, prediction=event.prediction, before=evaluated.before if after else None
        )
        if after and one.direction == "none" and (evaluated is not result.test or result.same_data):
            one = FITTED
        elif one is NOT_DETECTED and groups is not None and groups.worst(after=after):
            one = IN_SUBGROUPS
        elif one is NOT_DETECTED and groups is not None and groups.drifts[after]:
            one = IN_TIME
        badges[name] = one
    return badges


def verdict_lines(
    evaluated: SetResult,
    event: EventWords,
    badges: Mapping[str, Badge],
    method: str = NO_METHOD,
    *,
    expert: bool = False,
) -> dict[str, str]:
    """Return the verdict of each side by its name, for Markdown: a badge, and its size.

    ``badges``: `side_badges`. ``method``: key of the calibrator.
    """
    sides, lines = named_sides(evaluated), {}
    for name, badge in badges.items():
        before, called = None, name
        if name == "After":
            before, called = sides["Before"], f"After {SHORT_NAMES[method_of(method)]}"
        size = how_far(sides[name], event, badge, expert=expert, before=before)
        lines[name] = f"{badge_markdown(called, badge)}{size}"
    return lines


def where_off(
    evaluated: SetResult, badges: Mapping[str, Badge], groups: Groups | None = None
) -> dict[str, str]:
    """Return which subgroups and ranges of scores are off on each side, for Markdown.

    ``badges``: `side_badges`; of a side that is looked at on the rows of its fit, nothing is said.
    """
    where = {}
    for name, side in named_sides(evaluated).items():
        if badges[name] is not FITTED:
            counted = "" if groups is None else groups.counted(after=name == "After")
            which, colon, named = counted.partition(": ")
            start = f"**{which}**{colon}{named} " if counted else ""
            where[name] = f"{start}{ranges_sentence(side)}"
    return where


def set_name(result: AuditResult, evaluated: SetResult) -> str:
    """Return the name of the set that is evaluated."""
    if evaluated is not result.test:
        return "calibration set"
    return f"cross-validated {rows()}" if result.in_folds else "test set"


def outcome(
    result: AuditResult,
    evaluated: SetResult,
    method: str,
    *,
    expert: bool = False,
    prediction: bool = True,
    waiting: str | None = None,
) -> str:
    """Return what the calibrator did on one set; the verdict of After stands before it.

    Unless scores are of a prediction, predicted classes are named only where they changed: a risk
    is not acted on at 50%.
    """
    if method == NO_METHOD:
        what = (
            "No calibrator chosen"
            if waiting is None
            else f"{method_name(waiting)} is not fitted yet"
        )
        return f"{what} ({set_name(result, evaluated)})."
    n_samples, before, after = evaluated.n_samples, evaluated.before.curves, evaluated.after.curves
    name = method_name(method)
    if isinstance(result.fitted, FittedTemperature):
        name += f" (T = {result.fitted.temperature:.{4 if expert else 3}g})"
    if isinstance(result.fitted, FittedSpline):
        name += f" ({result.fitted.knot_values.size} knots)"
    was, now = percent(before.ks_error, n_samples), percent(after.ks_error, n_samples)
    change = f"KS error stays {now}" if was == now else f"KS error {was} \u2192 {now}"
    tested = ""
    p_value = evaluated.after.omnibus.p_value
    if detected(evaluated.after):
        still = "remaining " if detected(evaluated.before) else ""
        tested = f", {evidence(p_value)} of {still}miscalibration"
    if expert:
        tested += f" (joint test, {p_words(p_value)})"
    text = f"{name}: {change} on the {set_name(result, evaluated)}{tested}."
    text += "" if prediction else _order_changed(result, evaluated, method)
    if not prediction and not evaluated.changed_decisions:
        return text
    return f"{text} {capitalised(decisions(evaluated))}."


@says_rows
def _order_changed(result: AuditResult, evaluated: SetResult, method: str) -> str:
    """Return that a map which is not monotone changes the order of rows; nothing where none is."""
    fitted, scores = result.fitted, evaluated.before.counted.scores
    if not isinstance(fitted, FittedScoreMap) or method_by_key(method).knows_groups:
        return ""
    if not ScoreCurve(scores, fitted.predict(scores)).falls:
        return ""
    row, n_samples = evaluated.compare("auroc"), evaluated.n_samples
    was, now = (measured(row, value, n_samples) for value in (row.before, row.after))
    return (
        " Not monotone: some higher scores end up below lower ones, which changes the order of the"
        f" rows (AUROC {was} \u2192 {now})."
    )


def mean_moved(score: Comparison, rate: Comparison, n_samples: int) -> str:
    """Return where a calibrator moves the mean score to, as the end of a sentence.

    ``score``, ``rate``: of the measures ``mean_score`` and ``hit_rate``. ``n_samples``: rows of
    both.
    """
    was, now = (measured(score, value, n_samples) for value in (score.before, score.after))
    return (
        f"moves the mean score away from the observed frequency ({was} \u2192 {now}, observed"
        f" {measured(rate, rate.before, n_samples)})"
    )


def statistics(evaluated: SetResult) -> str:
    """Return the test statistics of both sides, for experts."""
    sides, parts = named_sides(evaluated), []
    for name, side in sides.items():
        curves = side.curves
        root = math.sqrt(curves.n_samples) * curves.ks_error
        parts.append(
            f"{name}: \u221aN\u00b7KS = {root:.3f}, KS/\u03c3 = {curves.ks_statistic:.3f},"
            f" {p_words(curves.ks_p_value)}; Kuiper/\u03c3 = {curves.kuiper_statistic:.3f},"
            f" {p_words(curves.kuiper_p_value)}. Joint test: {joint(side.omnibus)}."
        )
    return (
        f"{' '.join(parts)} \u03c3 is the standard deviation of the final gap under perfect"
        f" calibration; p-values: {null_source(*(side.curves for side in sides.values()))}."
    )


def bridge(sides: Mapping[str, Side]) -> str:
    """Return why sides are miscalibrated whose KS error is below its limit; empty if none is."""
    names = [
        name
        for name, side in sides.items()
        if detected(side) and side.curves.ks_error <= side.curves.ks_null_95
    ]
    if not names:
        return ""
    return (
        f"{' and '.join(names)}: the KS error is below its limit. The joint test that detects"
        " miscalibration also looks at slope and shape."
    )


_STATISTICS = {
    "mean": "mean",
    "spread": "slope",
    "smooth": "polynomials",
    "ks": "KS",
    "kuiper": "Kuiper",
}


def joint(omnibus: Omnibus) -> str:
    """Return the joint test's p-value, and that of each statistic within it, for experts."""
    parts = ", ".join(f"{_STATISTICS[part.key]} {part.adjusted:.3f}" for part in omnibus.parts)
    return (
        f"{p_words(omnibus.p_value)} (adjusted: {parts}; {omnibus.n_draws:,} draws, seed"
        f" {omnibus.seed})"
    )


def decisions(evaluated: SetResult) -> str:
    """Return what happened to accuracy and predicted classes."""
    accuracy, n_samples = evaluated.compare("accuracy"), evaluated.n_samples
    if evaluated.changed_decisions == 0:
        shown = "" if accuracy.before is None else percent(accuracy.before, n_samples)
        if evaluated.past_half:
            text = f", so accuracy stays {shown}" if shown else ""
            return (
                f"{across_half(evaluated.past_half)}, but predicted classes are not updated{text}"
            )
        return f"predicted classes{f' and accuracy ({shown})' if shown else ''} unchanged"
    after = measured(accuracy, accuracy.after, n_samples)
    before = measured(accuracy, accuracy.before, n_samples)
    change = f"accuracy {before} \u2192 {after}" if before != after else f"accuracy stays {after}"
    changed = evaluated.changed_decisions
    classes = "class" if changed == 1 else "classes"
    return f"{changed:,} predicted {classes} changed, {change}"


def across_half(n_scores: int) -> str:
    """Return how many scores of one of two classes crossed one half."""
    return f"{n_scores:,} score{'' if n_scores == 1 else 's'} crossed 50%"


RIGHT = ", right on average"
"""After a finding of both directions: then the means are as good as equal."""

DETAILS = "Where scores are off"

FITTED_HERE = (
    "These are the rows the calibrator was fitted on, so results After are optimistic. Use the test"
    " set."
)

SAME_DATA = (
    "Same data: the calibrator is evaluated on the rows it was fitted on, so results After are"
    " optimistic. Upload a second set for an unbiased evaluation."
)
