"""Words of the comparison of calibrators."""

from collections.abc import Sequence

from calibcore.comparison import (
    Advice,
    Contestant,
    EvaluatedOn,
    Picks,
    penalty,
    ranked,
    sides_shown,
)
from calibcore.evaluation import Comparison
from calibcore.inference import Finding, Interval
from calibcore.metrics import Measure
from dashboard.settings import NO_METHOD
from dashboard.texts.measures import MARKS, spelled_out
from dashboard.texts.methods import method_name
from dashboard.texts.numbers import (
    amount,
    duration,
    escape_markdown,
    finer_digits,
    listing,
    measured,
    measured_change,
    percent,
    span,
    written,
)
from dashboard.texts.rows import rows, rows_of
from dashboard.texts.subgroups import columns_named
from dashboard.texts.verdict import mean_moved

PAST_HALF = "Scores across 50%"

METHODS = "Calibrators"
METHODS_HELP = (
    "The calibrator chosen on the left keeps its options; the others use their defaults."
    " Uncalibrated scores are always included."
)
EVERY, USUAL = "Select all", "Default selection"
VARIANT, VARIANT_OF, ADD = "Add with other options", "Choose a calibrator", "Add"
VARIANT_HELP = "The same calibrator again, with options that differ from its defaults."
RANK_BY = "Rank by"
RANK_BY_HELP = "Sorts the picture and the table by the cross-validated value."
INTERVALS = "95% CI"
INTERVALS_HELP = (
    "Adds the 95% CI of each change from uncalibrated. It takes about a second per calibrator;"
    " switch it off to stop."
)
MEASURES = "Measures"
MEASURES_HELP = "Columns of the table. Accuracy and changed predicted classes are always shown."
ALL_COLUMNS = "Show every column"
CROSSED, TEST = "Cross-validation", "Test set"
HOW = "How calibrators are compared"
STOPPED = "Stopped."

NO_METHODS = "Choose a calibrator to compare."
ONLY_EVENT = (
    "This file has one score per row, so only calibrators of a single score are offered. The others"
    " need the logits of all classes."
)
NOT_CROSSED = "The calibration set has a single row. Cross-validation needs at least 2."
SAME_DATA = (
    "Same data: the test set is the calibration set, so only cross-validated figures are unbiased."
)
BOTH_SETS = "This page always shows both sets, whatever set is chosen on the left."

HOW_IT_WORKS = (
    "**In the picture** each line is one calibrator. The dot is its value in cross-validation, the"
    " diamond its value on the test set. The vertical lines are the uncalibrated values. An error"
    " bar is the 95% CI of the change from uncalibrated; it is not adjusted for several"
    " calibrators.\n\n"
    "**Why cross-validation?** The best of many calibrators on the test set owes part of its lead"
    " to luck. So the choice uses the calibration set alone.\n\n"
    "**Method.** The calibration rows are split into folds at random, stratified by class. Each"
    " calibrator is fitted without each fold and gives the scores of that fold. The measures are"
    " those of all these rows together. Then each calibrator is fitted on the whole calibration set"
    " and evaluated once on the test set."
)

HOW_IN_FOLDS = (
    "**In the picture** each line is one calibrator. The dot is its value in cross-validation, the"
    " vertical line the uncalibrated value. An error bar is the 95% CI of the change from"
    " uncalibrated; it is not adjusted for several calibrators.\n\n"
    "**Method.** The rows are split into folds at random, stratified by class, the same folds as on"
    " the other pages. Each calibrator is fitted without each fold and gives the scores of that"
    " fold. The measures are those of all rows together. The calibrator to use is fitted on all"
    " rows."
)

TABLE_HELP = (
    "Higher is better for accuracy, AUROC, calibration gain and discrimination; lower for the rest."
    " Figures written alike count as equal. \u2013: not available; this calibrator adjusts only"
    " the selected event. Fit time: one fit to the calibration set, on this machine."
)


DIAGRAMS, SHOW_DIAGRAMS = "Reliability diagrams", "Show the diagrams of all calibrators"
DIAGRAMS_HELP = "Side by side, each over the histogram of its scores, as in Guo 2017, figure 4."
TABLE_LINK = "Table of several models and calibrators"


def diagrams_note(evaluated_on: EvaluatedOn) -> str:
    """Return on which rows the diagrams are, and how to read them."""
    where = "Test set" if evaluated_on == "test" else "Cross-validation"
    return f"{where}. Uncalibrated first, then by rank. All histograms have one scale."


def calibrators_label(n_chosen: int) -> str:
    """Return the label of the choice of calibrators."""
    return f"{METHODS} ({n_chosen})"


def working_on(key: str, fold: int, n_folds: int) -> str:
    """Return what is being fitted."""
    part = f"fold {fold} of {n_folds}" if fold else "on the whole calibration set"
    return f"{method_name(key)}: {part}"


def looking_at(key: str) -> str:
    """Return whose interval is being computed."""
    return f"{method_name(key)}: 95% CI of the change"


def fit_cost_sentence(n_methods: int, seconds: float, n_folds: int) -> str:
    """Describe the cost of pending fits."""
    calibrators = "1 calibrator" if n_methods == 1 else f"{n_methods} calibrators"
    each = "" if n_methods == 1 else " each"
    return f"{calibrators} to fit ({n_folds + 1} fits{each}), about {duration(seconds)}."


def ended(times: int, *, alone: bool) -> str:
    """Say that processes were ended while they fitted, and what was done."""
    often = {1: "once", 2: "twice"}.get(times, f"{times} times")
    went_on = "the remaining fits ran one after another" if alone else "their fits ran again"
    return (
        f"Processes that fit calibrators were ended {often} by the system, perhaps for lack of"
        f" memory; {went_on}. The results are complete."
    )


def grouped_by(key: str, columns: Sequence[str]) -> str:
    """Return by which columns a calibrator groups the rows."""
    return f"{method_name(key)}: {columns_named(columns)}"


def refusal(key: str, reason: str) -> str:
    """Return why a calibrator is left out."""
    return f"{method_name(key)} cannot be fitted here. {escape_markdown(reason)}"


def warning(key: str, text: str) -> str:
    """Return a warning of a fit."""
    return f"{method_name(key)}: {escape_markdown(text)}"


def warnings_title(n_warnings: int) -> str:
    """Return the heading of the list of warnings."""
    return f"Fit warnings ({n_warnings})"


def level_with(picks: Picks, contestants: Sequence[Contestant]) -> list[Contestant]:
    """Return the calibrators whose cross-validated value is written as that of the best."""
    winner, measure = picks.winner, picks.measure
    best = _value(winner, measure, "crossed")
    return [
        one
        for one in contestants
        if one.key not in {winner.key, NO_METHOD} and _value(one, measure, "crossed") == best
    ]


def conclusion(
    picks: Picks,
    n_folds: int,
    level: Sequence[Contestant] = (),
    *,
    expert: bool,
    keeping: bool = False,
) -> str:
    """Return which calibrators lead in cross-validation, with their value.

    Where others are compared too, which change predicted classes, these are those ``keeping`` them.
    """
    winner, measure = picks.winner, picks.measure
    value, where = _value(winner, measure, "crossed"), _where(n_folds, expert=expert)
    if _gain(winner, measure, "crossed") == 0:
        which = f"calibrator{_KEEPING if keeping else ''}"
        of = spelled_out(measure.name)
        return f"No {which} improves on uncalibrated scores in {where}: {of} {value}."
    names = _few([method_name(one.key) for one in (winner, *level)])
    before = _before(winner, measure, "crossed")
    each = " each" if level else ""
    lead = {"lower": "Lowest", "higher": "Highest"}.get(measure.better, "Nearest to ideal")
    named = f"{spelled_out(measure.name)} in {where}{_OF_THOSE if keeping else ''}"
    return f"{lead} {named}: {names}, {value}{each} (uncalibrated {before})."


_KEEPING = " that keeps predicted classes"
_OF_THOSE = " of those that keep predicted classes"

TESTING = "Testing which leads are more than luck"
NOT_TESTED = "Whether this lead is more than luck is tested for NLL, Brier score and accuracy only."


def advice(
    choice: Advice,
    contestants: Sequence[Contestant],
    measure: Measure,
    n_folds: int,
    *,
    expert: bool,
    keeping: bool = False,
) -> str:
    """Return which calibrator to use by a loss, as far as the rows tell.

    Where others are compared too, which change predicted classes, these are those ``keeping`` them.
    """
    by_key, where = {one.key: one for one in contestants}, _where(n_folds, expert=expert)
    best = by_key[choice.best]
    before = _before(best, measure, "crossed")
    if choice.advised is None:
        which = f"No calibrator{_KEEPING if keeping else ''}"
        text = f"{which} clearly improves on uncalibrated scores in {where}:"
        text = f"{text} {spelled_out(measure.name)}"
        if _gain(best, measure, "crossed") <= 0:
            return f"{text} {before}."
        value = _value(best, measure, "crossed")
        return f"{text} {before}, at best {value} ({method_name(best.key)})."
    used = by_key[choice.advised]
    figures, name = figures_of(used, measure), method_name(choice.advised)
    first = ranked(contestants, measure, "crossed")[0]
    if not choice.level and _value(first, measure, "crossed") == _value(used, measure, "crossed"):
        of = _OF_THOSE if keeping else ""
        return f"Best in {where}{of}: {name}, {figures}."
    return f"Use {name}: {figures} in {where}."


ADVISED = "\u2713\u00a0advised"
"""Beside the name of the calibrator that is advised."""


def marked(name: str, *, advised: bool) -> str:
    """Return the name of a calibrator in the picture, marked where it is advised."""
    return f"{name} {ADVISED}" if advised else name


def use(method: str) -> str:
    """Return what the button says that chooses a calibrator."""
    return f"Use {method_name(method)}"


def figures_of(one: Contestant, measure: Measure) -> str:
    """Return a measure in cross-validation with and without a calibrator.

    Of a loss, also by what share it falls: the post-hoc improvement of CalArena.
    """
    value, before = _value(one, measure, "crossed"), _before(one, measure, "crossed")
    less, was, now = "", one.crossed.compare(measure.key).before, one.value(measure, "crossed")
    if measure.unit in {"nats", "squared"} and measure.better == "lower" and was and now:
        share = 1 - now / was
        less = f", {percent(share, one.crossed.n_samples)} less" if share > 0 else ""
    return f"{spelled_out(measure.name)} {value} (uncalibrated {before}{less})"


def level(choice: Advice) -> str:
    """Return which calibrators are not clearly worse than the best, that advised among them."""
    if choice.advised is None or not choice.level:
        return ""
    names = [method_name(key) for key in choice.level]
    simplest = "the simplest of them is advised" if names[1:] else "the simpler one is advised"
    return f"Not clearly different: {listing(names)}; {simplest}."


def moves_mean(one: Contestant) -> str:
    """Return that a calibrator moves the mean score away from the observed frequency.

    Example: "Not advised: Temperature scaling moves the mean score away from the observed frequency
    (11.6% \u2192 11.9%, observed 11.4%)."
    """
    score, rate = (one.crossed.compare(key) for key in ("mean_score", "hit_rate"))
    means = mean_moved(score, rate, one.crossed.n_samples)
    return f"Not advised: {method_name(one.key)} {means}."


def worse_there(one: Contestant, measures: Sequence[Measure]) -> str:
    """Return which other measures of all classes a calibrator makes worse; nothing if none."""
    lines = [
        f"{measure.name} {_before(one, measure, 'crossed')} \u2192"
        f" {_value(one, measure, 'crossed')}"
        for measure in measures
        if one.value(measure, "crossed") is not None and _gain(one, measure, "crossed") < 0
    ]
    return f"Worse with {method_name(one.key)}: {', '.join(lines)}." if lines else ""


def changers(
    choice: Advice | None, contestants: Sequence[Contestant], nll: Measure, accuracy: Measure
) -> str:
    """Return what is known of calibrators that change predicted classes, by NLL of all classes."""
    by_key = {one.key: one for one in contestants}
    if choice is None:
        return ""
    text = "Calibrators that change predicted classes are compared by NLL of all classes:"
    one = by_key[choice.advised or choice.best]
    before, value = _before(one, nll, "crossed"), _value(one, nll, "crossed")
    if choice.advised is None:
        return f"{text} none clearly improves on uncalibrated scores ({before})."
    was, now = _before(one, accuracy, "crossed"), _value(one, accuracy, "crossed")
    return (
        f"{text} {method_name(one.key)}, {value} (uncalibrated {before}), accuracy {was} \u2192"
        f" {now}."
    )


def better_still(picks: Picks, changing: Sequence[Contestant]) -> str:
    """Return which calibrators that change predicted classes are better by the same measure."""
    measure, best = picks.measure, _as_written(picks.winner, picks.measure, "crossed")
    values = {one.key: _as_written(one, measure, "crossed") for one in changing}
    better = [one for one in ranked(changing, measure, "crossed") if values[one.key] < best]
    if not better:
        return ""
    word = {"lower": "lower", "higher": "higher"}.get(measure.better, "nearer to ideal")
    name, value = method_name(better[0].key), _value(better[0], measure, "crossed")
    if len(better) == 1:
        return f"{name}, which changes predicted classes, is {word}: {value}."
    many = f"{len(better)} calibrators that change predicted classes are {word}"
    return f"{many}, first of them {name}: {value}."


def keeping_alone(picks: Picks, changing: Sequence[Contestant], side: EvaluatedOn) -> bool:
    """Return whether what is said to be best is so of those alone that keep predicted classes."""
    best = picks.winner if side == "crossed" else picks.on_test
    limit = _as_written(best, picks.measure, side)
    return any(_as_written(one, picks.measure, side) <= limit for one in changing)


def _as_written(one: Contestant, measure: Measure, side: EvaluatedOn) -> float:
    """Return what a calibrator's value costs, as it is written."""
    value, n_rows = one.value(measure, side), one.on(side).n_samples
    return penalty(measure, None if value is None else written(value, measure.unit, n_rows))


def _where(n_folds: int, *, expert: bool) -> str:
    return f"{n_folds}-fold cross-validation" if expert else "cross-validation"


def on_test(
    picks: Picks,
    contestants: Sequence[Contestant],
    level: Sequence[Contestant] = (),
    *,
    same_data: bool,
    keeping: bool = False,
) -> str:
    """Return what the best in cross-validation shows on the test set, and what is best there.

    Where no calibrator improves on uncalibrated scores, these are the best; where others are
    compared too, which change predicted classes, those ``keeping`` them are meant.
    """
    winner, measure = picks.winner, picks.measure
    value, best = (_value(one, measure, "test") for one in (winner, picks.on_test))
    before, gain = _before(winner, measure, "test"), _gain(winner, measure, "test")
    if _gain(winner, measure, "crossed") == 0:
        value = before
        shown = f"uncalibrated {before}"
    else:
        whose = f" for {method_name(winner.key)}" if level else ""
        shown = f"{value}{whose} (uncalibrated {before})"
        if gain <= 0:
            how = "worse than" if gain < 0 else "the same as"
            shown = f"{value}{whose}, {how} uncalibrated{f' ({before})' if gain < 0 else ''}"
    text = f"{f'Same {rows()} as the fit' if same_data else TEST}: {shown}."
    if value == best:
        return f"{text} No other{_KEEPING if keeping else ''} is clearly better there."
    if picks.on_test.key == NO_METHOD:
        which = f"calibrator{_KEEPING if keeping else ''}"
        return f"{text} No {which} improves on uncalibrated scores there."
    names = [
        method_name(one.key)
        for one in (picks.on_test, *contestants)
        if _value(one, measure, "test") == best
    ]
    better = list(dict.fromkeys(names))
    verb = "reaches" if len(better) == 1 else "reach"
    return f"{text} {_few(better)} {verb} {best} there, but choosing on the test set is biased."


def _value(one: Contestant, measure: Measure, side: EvaluatedOn) -> str:
    standing = one.on(side)
    return measured(standing.compare(measure.key), one.value(measure, side), standing.n_samples)


def _before(one: Contestant, measure: Measure, side: EvaluatedOn) -> str:
    standing = one.on(side)
    row = standing.compare(measure.key)
    return measured(row, row.before, standing.n_samples)


def _gain(one: Contestant, measure: Measure, side: EvaluatedOn) -> float:
    """Return how much better than the uncalibrated value a calibrator is, as both are written."""
    uncalibrated, n_rows = one.on(side).compare(measure.key).before, one.on(side).n_samples
    if uncalibrated is not None:
        uncalibrated = written(uncalibrated, measure.unit, n_rows)
    before, after = penalty(measure, uncalibrated), _as_written(one, measure, side)
    return 0.0 if after == before else before - after


def dots_caption(
    measure: Measure, contestants: Sequence[Contestant], *, ranks: bool, intervals: bool
) -> str:
    """Return how many calibrators are better than uncalibrated scores, as values are written."""
    if not ranks:
        text = f"{measure.name} does not rank calibrators."
    else:
        tried = [one for one in contestants if one.key != NO_METHOD]
        sides = sides_shown(contestants)
        crossed, *test = (sum(_gain(one, measure, side) > 0 for one in tried) for side in sides)
        text = "Better than uncalibrated, to the digits shown:"
        text += f" {crossed} of {len(tried)} in cross-validation"
        text += f", {test[0]} on the test set." if test else "."
    return f"{text} Error bars: 95% CI of the change." if intervals else text


def _few(names: Sequence[str]) -> str:
    """List names, of more than three the first two."""
    return listing([*names[:2], f"{len(names) - 2} others"] if len(names) > 3 else names)


MARKED = "**Bold**: best; underlined: second best."


def table_note(contestants: Sequence[Contestant], n_folds: int, commonest: str = "") -> str:
    """Return what the figures of the table are, one or two each, and what ``commonest`` says."""
    one = contestants[0]
    crossed = f"{n_folds}-fold cross-validation on {rows_of(one.crossed.n_samples)}"
    if len(sides_shown(contestants)) > 1:
        crossed = f"Upper figure: {crossed}; lower: {rows_of(one.test.n_samples)} of the test set"
    return f"{crossed}. {MARKED}{half_note(contestants)} {commonest}".rstrip()


def crosses_half(contestants: Sequence[Contestant]) -> bool:
    """Return whether scores of a calibrator cross 50% while predicted classes stay."""
    return any(one.crossed.past_half or one.test.past_half for one in contestants)


def half_note(contestants: Sequence[Contestant]) -> str:
    """Return what scores across 50% mean, where there are any."""
    if not crosses_half(contestants):
        return ""
    return (
        f" {PAST_HALF}: the other of two classes is then more probable, but predicted classes are"
        " not updated (\u2013: they are)."
    )


def change_words(finding: Finding, row: Comparison, n_samples: int) -> tuple[str, str, str, str]:
    """Return a change: its size, its interval, the sign with the word, and its kind."""
    finer = finer_digits(finding.change, row.measure.unit, n_samples)
    size = measured_change(row, n_samples, interval=finding.change)
    interval = "" if finding.change is None else _interval(finding.change, row, n_samples, finer)
    if finding.mark is None:
        return size, interval, "", "none"
    sign, word = MARKS[finding.mark]
    return size, interval, f"{sign} {word}", finding.mark.replace(" ", "-")


def _interval(change: Interval, row: Comparison, n_samples: int, finer: int) -> str:
    unit = " pp" if row.measure.unit == "share" else ""
    ends = (
        amount(end, row.measure.unit, n_samples, signed=True, finer=finer)
        for end in (change.low, change.high)
    )
    return span(*(f"{end}{unit}" for end in ends))
