"""What a contest of methods shows, in plain words and in those of experts."""

from collections.abc import Sequence

from calibcore.contest import Contestant, JudgedOn, Picks, penalty
from calibcore.evaluation import Comparison
from calibcore.inference import Finding, Interval
from calibcore.metrics import Measure
from dashboard.settings import NO_METHOD, Settings
from dashboard.wording.measures import MARKS
from dashboard.wording.numbers import (
    MINUS,
    amount,
    duration,
    escape_markdown,
    finer_digits,
    measured,
    measured_change,
    written,
)
from dashboard.wording.sentences import method_name

NOTHING = "doing nothing"
PAST_HALF = "Scores across 50%"

METHODS_HELP = (
    "Doing nothing always takes part. The method chosen in the panel on the left takes part with"
    " its options, the others with their defaults."
)
MEASURES_HELP = "Columns of the table. Accuracy and decisions changed are always there."
ALL_COLUMNS = "Show every column"
STOPPED = "Stopped."
DECIDES_HELP = (
    "Sorts the table by its cross-fitted values, which is the order of their change from doing"
    " nothing, and is drawn above it."
)
INTERVALS_HELP = (
    "How sure each change from doing nothing is: the same rows are drawn again with both. It takes"
    " about a second a method. Switch it off to stop."
)
NO_RESAMPLES = "Intervals need resamples; the panel on the left is set to 0."

ONLY_NOTHING = "Choose a method to compare with doing nothing."
ONLY_EVENT = (
    "This file holds one score a row, so only methods that change the score of the event can take"
    " part; the others need the logits of all classes."
)
NOT_CROSSED = (
    "The calibration set has a single row. Cross-fitting needs at least 2, so that one can be left"
    " out."
)


def working_on(key: str, fold: int, n_folds: int) -> str:
    """Say what is being fitted."""
    part = f"fold {fold} of {n_folds}" if fold else "on the whole calibration set"
    return f"{method_name(key)}: {part}"


def looking_at(key: str) -> str:
    """Say whose interval is being found."""
    return f"{method_name(key)}: how sure its change is"


def dear(n_methods: int, seconds: float, n_folds: int) -> str:
    """Say what fits that have not been made will take."""
    methods = "1 method" if n_methods == 1 else f"{n_methods} methods"
    times = f"{n_folds + 1} times" if n_methods == 1 else f"each {n_folds + 1} times"
    return f"{methods} still to be fitted, {times}: about {duration(seconds)} on these data."


def refusal(key: str, reason: str) -> str:
    """Say why a method does not take part."""
    return f"{method_name(key)} cannot be fitted here. {escape_markdown(reason)}"


def warning(key: str, text: str) -> str:
    """Say what the fit of a method warns of."""
    return f"{method_name(key)}: {escape_markdown(text)}"


def warnings_title(n_warnings: int) -> str:
    """Head the list of what the fits warn of."""
    return f"What the fits warn of ({n_warnings})"


def level_with(picks: Picks, contestants: Sequence[Contestant]) -> list[Contestant]:
    """List the methods whose cross-fitted value is written as that of the winner."""
    winner, measure = picks.winner, picks.measure
    best = _value(winner, measure, "crossed")
    return [
        one
        for one in contestants
        if one.key not in {winner.key, NO_METHOD} and _value(one, measure, "crossed") == best
    ]


def conclusion(
    picks: Picks, n_folds: int, level: Sequence[Contestant] = (), *, expert: bool
) -> str:
    """Say who wins without the test set, in one sentence, and who is level with the winner."""
    winner, measure = picks.winner, picks.measure
    shown = f"{measure.name} {_value(winner, measure, 'crossed')}"
    held = f"by {n_folds}-fold cross-fitting" if expert else "on rows held out of the fit"
    if winner.key == NO_METHOD:
        return f"No method does better than {NOTHING} {held}: {shown}."
    name, row = method_name(winner.key), winner.crossed.compare(measure)
    if measured(row, row.before, winner.crossed.n_samples) == _value(winner, measure, "crossed"):
        return f"{name} comes first {held}, but no better than {NOTHING} in these digits: {shown}."
    gain = _gain(winner, measure, "crossed")
    if level:
        names = [name, *(method_name(one.key) for one in level)]
        verb = "win" if expert else "do best"
        return f"{_few(names)} {verb} {held}: {shown} each, {gain}."
    verb = "wins" if expert else "does best"
    return f"{name} {verb} {held}: {shown}, {gain}."


def on_test(
    picks: Picks, level: Sequence[Contestant] = (), *, expert: bool, same_data: bool
) -> str:
    """Say what the winner shows on the test set, and what picking there would have flattered."""
    winner, other, measure = picks.winner, picks.on_test, picks.measure
    n_rows = winner.test.n_samples
    where = "On the test set, which had no part in that choice"
    if same_data:
        where = "Judged on the very rows it was fitted on"
    who = f"{method_name(winner.key)}, first in finer digits," if level else "it"
    shown = f"{where}, {who} shows {_value(winner, measure, 'test')}"
    if winner.key != NO_METHOD:
        shown += f", {_gain(winner, measure, 'test')}"
    if other.key == winner.key:
        return f"{shown}. Picking on the test set would have found the same."
    value = _value(other, measure, "test")
    found = winner.value(measure, "test"), other.value(measure, "test")
    gap = _amount(_apart(measure, *found[::-1], n_rows), measure, n_rows)
    name = method_name(other.key)
    if gap is None:
        return (
            f"{shown}. Picking on the test set would have found {name}, no better in these digits."
        )
    ends = (
        f"{gap} better there, the bias of selecting on the test set included"
        if expert
        else f"{gap} better, on the very rows that picked it, so its lead may be luck"
    )
    return f"{shown}. Picking on the test set would have found {name} with {value}: {ends}."


def _value(one: Contestant, measure: Measure, side: JudgedOn) -> str:
    standing = one.on(side)
    return measured(standing.compare(measure), one.value(measure, side), standing.n_samples)


def _gain(one: Contestant, measure: Measure, side: JudgedOn) -> str:
    """Say how much better or worse than doing nothing a method is."""
    standing = one.on(side)
    row = standing.compare(measure)
    before = measured(row, row.before, standing.n_samples)
    gain = _apart(measure, row.after, row.before, standing.n_samples)
    text = _amount(abs(gain), measure, standing.n_samples)
    if text is None:
        return f"as {NOTHING} ({before})"
    return f"{text} {'better' if gain > 0 else 'worse'} than {NOTHING} ({before})"


def _apart(measure: Measure, value: float | None, other: float | None, n_samples: int) -> float:
    """Say how much better a value is than another, as both are written."""
    better, worse = (
        penalty(measure, None if one is None else written(one, measure.unit, n_samples))
        for one in (value, other)
    )
    return worse - better


def _amount(value: float, measure: Measure, n_samples: int) -> str | None:
    """Write a difference; None where it is 0 in the digits shown."""
    text = amount(value, measure.unit, n_samples)
    if not text.strip("0."):
        return None
    return f"{text} points" if measure.unit == "share" else text


def dots_caption(
    picks: Picks | None,
    measure: Measure,
    contestants: Sequence[Contestant] = (),
    *,
    intervals: bool,
) -> str:
    """Say what the dots show and how to read them; values written alike count as equal."""
    read = (
        "A row is a method. Dot: each row of the calibration set scored by a fit that had not seen"
        " it. Diamond: the fit on the whole calibration set, on the test set. Lines: doing nothing"
        " on each."
    )
    if intervals:
        read += (
            " Whisker: where the true change from doing nothing lies, counted from its line, for"
            " each method by itself; one that does not touch the line shows a change."
        )
    if picks is None:
        return f"{measure.name} does not say which method is better. {read}"
    dots = _best(picks.winner, contestants, measure, "crossed")
    diamonds = _best(picks.on_test, contestants, measure, "test")
    if set(dots) == set(diamonds):
        return f"{_are_best(dots)} by both. {read}"
    return f"{_are_best(dots)} by the dots, {_few(diamonds)} by the diamonds. {read}"


def _best(
    first: Contestant, contestants: Sequence[Contestant], measure: Measure, side: JudgedOn
) -> list[str]:
    """Name the best on one side, and those whose value is written alike."""
    best = _value(first, measure, side)
    keys = [first.key, *(one.key for one in contestants if _value(one, measure, side) == best)]
    return [method_name(key) for key in dict.fromkeys(keys)]


def _are_best(names: Sequence[str]) -> str:
    return f"{_few(names)} {'is' if len(names) == 1 else 'are'} best"


def _few(names: Sequence[str]) -> str:
    """List names, of more than three the first two."""
    if len(names) == 1:
        return names[0]
    if len(names) > 3:
        names = [*names[:2], f"{len(names) - 2} others"]
    return f"{', '.join(names[:-1])} and {names[-1]}"


def table_note(n_calibration: int, n_test: int, n_folds: int, seed: int) -> str:
    """Say what the figures of the table are."""
    return (
        f"Upper figure: cross-fitted on the {n_calibration:,} rows of the calibration set"
        f" ({n_folds} folds, seed {seed}). Lower: on the {n_test:,} rows of the test set. **Best**"
        " in bold, second best underlined, in each of the two by itself; figures written alike"
        " count as equal. Accuracy, calibration gain, discrimination and AUROC are better higher,"
        " errors and losses lower. \u2013: the method changes the score of the event alone, so"
        " there are no class probabilities to measure."
    )


def crosses_half(contestants: Sequence[Contestant]) -> bool:
    """Tell whether a method leaves decisions that its scores speak against."""
    return any(one.crossed.past_half or one.test.past_half for one in contestants)


def half_note(contestants: Sequence[Contestant]) -> str:
    """Say what scores across one half mean, where there are any."""
    if not crosses_half(contestants):
        return ""
    return (
        f" {PAST_HALF}: of two classes the other one is then the likelier. A method that changes"
        " the score of the event alone still leaves decisions and accuracy as they were; the others"
        " (\u2013) decide by their own probabilities."
    )


def options_note(settings: Settings, keys: Sequence[str]) -> str:
    """Say with which options the methods take part."""
    if settings.method not in keys or not settings.options:
        return "All methods take part with their default options."
    return (
        f"{method_name(settings.method)} takes part with the options chosen on the left, the"
        " others with their defaults."
    )


SAME_DATA = (
    "Same data: the test set is the calibration set, so only the cross-fitted figures are honest."
)

BOTH_SETS = (
    "This page always shows both: cross-fitted on the calibration set, and the test set. The choice"
    " of the set on the left does not change it."
)

HOW_IT_WORKS = (
    "Whoever tries many methods on the test set and takes the best one flatters it: part of its"
    " lead is luck, and no row is left to tell how much. Here the choice is made on the calibration"
    " set alone. Its rows are dealt to folds at random, class by class. Every method is fitted once"
    " without each fold, and scores the rows of that fold, so no row is scored by a fit that has"
    " seen its label. The measures are those of all these rows together. Then every method is"
    " fitted on the whole calibration set and judged once on the test set, beside it."
)


def change_words(finding: Finding, row: Comparison, n_samples: int) -> tuple[str, str, str, str]:
    """Write a change: its size, its interval, the sign with the word, and its kind."""
    finer = finer_digits(finding.change, row.measure.unit, n_samples)
    size = measured_change(row, n_samples, interval=finding.change)
    interval = "" if finding.change is None else _interval(finding.change, row, n_samples, finer)
    if finding.mark is None:
        return size, interval, "", "none"
    sign, word = MARKS[finding.mark]
    return size, interval, f"{sign} {word}", finding.mark.replace(" ", "-")


def _interval(change: Interval, row: Comparison, n_samples: int, finer: int) -> str:
    unit = row.measure.unit
    low, high = (
        amount(end, unit, n_samples, signed=True, finer=finer) for end in (change.low, change.high)
    )
    points = " points" if unit == "share" else ""
    return f"{low} to {high}{points}".replace("-", MINUS)
