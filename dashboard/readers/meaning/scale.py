"""Logits, probabilities or percentages: the scale of the values of all sets together."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NoReturn, TypeVar

import numpy as np

from calibcore.probabilities import sigmoid
from calibcore.strips import row_strips, row_totals
from calibcore.validation import ROUNDING, SUM_TOLERANCE, Floats
from dashboard.readers.meaning.value_summary import ValueSummary, measure, outside, together
from dashboard.readers.recognition import vocabulary as terms
from dashboard.readers.recognition.refused import HUNDREDTHS
from dashboard.readers.recognition.vocabulary import begins, is_called_odds, words_of
from dashboard.readers.records import SET_NAMES, Array, RawEvent, RawSet, ReadingOptions, Role
from dashboard.readers.refusal import Answer, FileError, Question, percent, quoted

RESCALED = 0.05
"""How far rows of probabilities may be from summing to 1 and still be rescaled."""

_OF_A_SUM = 1e-12
"""How far from 1 a row of probabilities may sum because of rounding, as in `LogitSet`."""

Values = TypeVar("Values")

_FEW = 20
_NEARLY_RULED_OUT, _SURE_ROWS = 0.01, 0.2
_SOME = 0.05
"""Share of rows within 0 to 1 that sum to 1 from which on they are no chance among logits."""

_HIGHEST_MARK = 20
"""Up to it the highest of whole numbers may be that of a scale of marks, not a percentage."""

_HIGHEST_RATING = 10
"""Up to it the highest of scores may be that of a rating, of which none is 100%."""

_MOST_MARGIN = 0.35
"""How far the sum of 1 / odds of a row is from 1 at most, by what a bookmaker earns."""

_FAR = 0.15
"""How far the mean of probabilities may be from the share of the event for logits to fit."""

_MOSTLY = 0.6
"""Share of scores within 0 to 1 from which on others are doubted."""

_REGRESSED = 0.5
"""How far a linear regression of the outcome goes beyond 0 and 1 at most."""

_NATS = 5.0
"""Log likelihood from which on scores up to 1 are shares among percentages."""

_PERCENT = re.compile(
    r"%|(?<![a-z])(percent|percentage|pct(?![a-z])|prozent|pourcent|porcent)", re.I
)
_SHARE = re.compile(r"(?<![a-z])(risk|risiko|risque|rischio|riesgo|prob|wahrschein|chance)", re.I)
_LOG_ODDS = re.compile(
    r"logit|log[\s_-]?odds|linear[\s_.-]?pred|(?:\A|[\s_])(?:lp|linpred)(?:\Z|[\s_])"
    r"|decision|margin|(?<![a-z])raw(?![a-z])",
    re.I,
)


@dataclass(frozen=True)
class Scale:
    """What the values are, and why: probabilities also where they were percentages.

    ``rescaled``: rows are to be divided by their sums; ``natural``: the logits are natural
    logarithms of probabilities.
    """

    kind: Literal["logits", "probabilities"]
    note: str
    repairs: tuple[str, ...] = ()
    divisor: float = 1.0
    rescaled: bool = False
    doubts: tuple[str, ...] = ()
    natural: bool = False


def _unless_none(options: ReadingOptions, read: Callable[[ReadingOptions], Values]) -> Values:
    """Read values, or refuse them as none that can be read: what is asked about is then needed."""
    if options.values != "none":
        return read(options)
    text, wanted = "neither probabilities, percentages nor logits, as chosen", _PROBABILITIES
    try:
        read(replace(options, values="auto"))
    except Question as asked:
        text = asked.actual
        wanted = next((a.why for a in asked.answers if a.change == _NONE), wanted)
    raise FileError("values", text, wanted.removeprefix(_NEEDS).rstrip("."))


def scale_of(sets: Mapping[Role, RawSet], options: ReadingOptions) -> Scale:
    """Distinguish logits from probabilities and percentages, in all sets together.

    Probabilities are within 0 to 1 and sum to 1 in every row, to within 5%; percentages are the
    same times 100.
    """
    return _unless_none(options, lambda known: _scale_of(sets, known))


def _scale_of(sets: Mapping[Role, RawSet], options: ReadingOptions) -> Scale:
    apart = {role: measure({role: raw}) for role, raw in sets.items()}
    rows = together([*apart.values()])
    if options.values == "logits":
        return Scale("logits", "Logits, because you said so.", doubts=(*_like_shares(apart),))
    if len(apart) > 1:
        _refuse_unlike(apart, options)
    return _of_all(rows, options)


def _of_all(rows: ValueSummary, options: ReadingOptions) -> Scale:
    if rows.one_column:
        return _of_scores(rows, options)
    for divisor in (1.0, 100.0):
        if rows.low >= -ROUNDING and rows.off(divisor) <= RESCALED:
            return _of_probabilities(rows, divisor, options)
    return _of_logits(rows, options)


def _refuse_unlike(apart: Mapping[Role, ValueSummary], options: ReadingOptions) -> None:
    """Refuse logits in one set and probabilities, or percentages, in the other."""
    kinds: dict[Role, str] = {}
    for role, rows in apart.items():
        if len(rows) < _FEW or (rows.one_value and not rows.one_column):
            continue
        try:
            of_all = _of_all(rows, options)
        except Question as error:
            field = f"{SET_NAMES[role]} {error.field}"
            raise Question(field, error.actual, error.ask, error.answers) from error
        except FileError as error:
            raise FileError.at(SET_NAMES[role], error) from error
        kinds[role] = "percentages" if of_all.divisor == 100 else of_all.kind
    if len(set(kinds.values())) > 1:
        raise FileError(
            "values", ", but ".join(f"{is_} in the {SET_NAMES[r]}" for r, is_ in kinds.items()),
            "the same in both sets",
        )  # fmt: skip


_NO_LOGITS = ("probabilities", "percentages")
_LOGITS = Answer("Logits", "Softmax makes them probabilities.", {"values": "logits"})
SHARES = Answer("Probabilities", "They stay as they are.", {"values": "probabilities"})
_MOVED = replace(SHARES, why="Those outside are moved to 0 or 1, as of a regression.")

_NONE = {"values": "none"}
_NEEDS = "Then the file needs "
_PROBABILITIES = "probabilities from 0 to 1, which sum to 1 where there is one per class"
_ONE_SCALE = "all scores on one scale: probabilities from 0 to 1 in every row"
_OF_MARKS = "a probability for each rating, such as how often the event happened at it elsewhere"
_OF_POINTS = (
    "probabilities: map the points to these first, by a calibrator fitted on other rows, or by how"
    " often the event happened at each elsewhere"
)
_OF_ODDS = "probabilities: 1 / odds, divided by the sum of these over the row"


def _ask(
    field: str,
    text: str,
    *answers: Answer,
    need: str = _PROBABILITIES,
    doubted: bool = False,
    none: str = "None of these",
) -> NoReturn:
    """Ask what the values are; the likeliest answer comes first, which may be none of them."""
    last = Answer(none, f"{_NEEDS}{need}.", _NONE)
    ordered = (last, *answers) if doubted else (*answers, last)
    raise Question(field, text, "What are these values?", ordered)


# One column a class -------------------------------------------------------------------------


def _of_probabilities(rows: ValueSummary, divisor: float, options: ReadingOptions) -> Scale:
    off, top = rows.off(divisor), f"{divisor:.0f}"
    because = f"every row is within 0 to {top} and sums to {top}"
    if off > 1e-9:
        near = np.format_float_positional(off * divisor, precision=1, fractional=False, trim="-")
        because += f" (to within {near})"
    if options.values == ("percentages" if divisor == 100 else "probabilities"):
        because = "you said so"
    repairs = []
    if divisor == 100:
        repairs.append(f"Percentages were divided by 100 in all {len(rows):,} rows.")
    if off > SUM_TOLERANCE:
        count = rows.where(lambda _, __, s: np.abs(s / divisor - 1) > SUM_TOLERANCE).count
        repairs.append(
            f"Probabilities that sum to {1 - off:.3g} to {1 + off:.3g} were rescaled to sum to 1"
            f" ({count:,} rows off by more than {SUM_TOLERANCE:g})."
        )
    repairs += _moved(rows, divisor)
    return Scale(
        "probabilities", f"Probabilities, because {because}.", tuple(repairs), divisor,
        off > SUM_TOLERANCE, (*_twice(rows),) if divisor == 1 else (),
    )  # fmt: skip


def _moved(rows: ValueSummary, top: float = 1.0) -> Iterator[str]:
    """Say which values are set to an end of the scale, and how far the farthest was off."""
    if rows.low < 0 or rows.high > top:
        far = max(-rows.low, rows.high - top)
        where = rows.where(lambda a, b, _: (a < 0) | (b > top))
        beyond = f"outside 0 to {top:.0f} {where}, by at most {far:.1g}"
        yield f"Values {beyond}, were moved to its ends."


def _of_logits(rows: ValueSummary, options: ReadingOptions) -> Scale:
    """Take values that are no probabilities for logits, or ask."""
    bad = rows.where(lambda low, _, s: (low < -ROUNDING) | (np.abs(s - 1) > RESCALED))
    misfit = f"rows sum to {rows.sums[0]:.4g} to {rows.sums[1]:.4g}, unfit {bad}"
    if options.values in _NO_LOGITS:
        wanted = "rows within 0 to 1 that sum to 1 (or 0 to 100)"
        raise FileError("probabilities", misfit, wanted)
    if rows.one_value:
        return Scale("logits", "Logits; all classes are equal in every row, so either fits.")
    if all(raw.headings and all(map(is_called_odds, raw.headings)) for raw in rows.sets.values()):
        _ask("values", "headings that speak of odds", _LOGITS, need=_OF_ODDS, doubted=True)
    _ask_of_sums(rows)
    natural = rows.high <= ROUNDING and rows.sum_to_one(np.exp)
    named = all(any(map(_LOG_ODDS.search, raw.headings or ())) for raw in rows.sets.values())
    if not rows.n_outside and not named:
        _ask("values", f"values within 0 to 1 whose {misfit}", _LOGITS, doubted=True)
    if rows.low >= 0 and not natural and not named:
        if rows.low >= 1 and rows.sum_to_one(np.reciprocal, _MOST_MARGIN):
            text = f"no value below 1, and 1 / value sums to about 1, as of odds; {misfit}"
            _ask("values", text, _LOGITS, need=_OF_ODDS, doubted=True)
        _ask("values", f"no value below 0, and {misfit}", _LOGITS)
    most = rows.where(lambda low, _, s: (low < 0) | ~(np.abs(s - 1) <= SUM_TOLERANCE))
    if 2 * most.count < len(rows):
        _ask("values", f"probabilities in most rows, but not {most}", _LOGITS)
    some = rows.where(lambda low, high, s: (low >= 0) & (high < 1) & (abs(s - 1) <= SUM_TOLERANCE))
    if some.count > max(1, _SOME * len(rows)):
        _ask("values", f"logits in most rows, but probabilities {some}", _LOGITS)
    text = f"Logits, because {rows.n_outside:,} of {len(rows):,} rows have values outside 0 to 1."
    if natural:
        text += " They are natural logarithms of probabilities, which softmax gives back."
    base = next((b for b in (10, 2) if rows.high <= ROUNDING and rows.sum_to_one(_power(b))), None)
    doubt = (
        f"These may be logarithms of probabilities to the base {base}, but softmax wants natural."
    )
    return Scale("logits", text, natural=natural, doubts=(doubt,) if base else ())


def _ask_of_sums(rows: ValueSummary) -> None:
    """Ask about rows of which some sum to 1 and all others to 100."""
    whole = rows.where(lambda low, _, s: (low >= 0) & (np.abs(s - 1) <= RESCALED))
    hundred = rows.where(lambda low, _, s: (low >= 0) & (np.abs(s / 100 - 1) <= RESCALED))
    if 0 < whole.count == len(rows) - hundred.count < len(rows):
        text = f"two scales: rows that sum to 1 {whole}, and to 100 {hundred}"
        _ask("values", text, _LOGITS, need=_ONE_SCALE, doubted=True)


def _power(base: float) -> Callable[[Floats], Floats]:
    return lambda table: np.power(base, table)


def _like_shares(apart: Mapping[Role, ValueSummary]) -> Iterator[str]:
    """Doubt the user's word that values are logits where all of a set look like probabilities."""
    like = [
        role
        for role, rows in apart.items()
        if not rows.n_outside and (rows.one_column or rows.off() <= SUM_TOLERANCE)
    ]
    if like:
        of = f" of the {SET_NAMES[like[0]]}" if len(like) < len(apart) else ""
        what = "is within 0 to 1" if apart[like[0]].one_column else "is within 0 to 1 and sums to 1"
        yield f"Every row{of} {what}, so these may be probabilities; softmax would flatten them."


def _twice(rows: ValueSummary) -> Iterator[str]:
    """Doubt rows that a softmax of probabilities would give.

    If q is the softmax of p, then p is log q - mean(log q) + 1 / K, so all of that is at least 0;
    and where the model is often sure of what is not so, much of it is nearly 0.
    """
    n_classes = rows.tables[0].shape[1]
    top = math.e / (math.e + n_classes - 1)
    if len(rows) < _FEW or rows.high > top + ROUNDING or rows.low <= 0:
        return
    n_sure = 0
    for table in rows.tables:
        for part in row_strips(*table.shape):
            logs = np.log(table[part], dtype=np.float64)
            lowest = logs.min(axis=1) - logs.mean(axis=1) + 1 / n_classes
            if lowest.min() < -ROUNDING:
                return
            n_sure += int(np.count_nonzero(lowest < _NEARLY_RULED_OUT))
    if n_sure >= _SURE_ROWS * len(rows):
        yield (
            f"No probability is above {top:.3g}, the highest that a softmax of probabilities gives"
            f" for {n_classes} classes: perhaps softmax was applied twice."
        )


# One score a row ----------------------------------------------------------------------------


def _of_scores(rows: ValueSummary, options: ReadingOptions) -> Scale:
    """Read a single column: the probability, or the logit, of class 1."""
    auto, heading = options.values == "auto", _heading(rows)
    signs = any(raw.divided for raw in rows.sets.values())
    stated = options.values == "percentages" and not signs
    if not rows.n_outside and not stated:
        text = f"{quoted(heading, 30)} from {rows.low:.4g} to {rows.high:.4g}"
        if auto and _PERCENT.search(heading) and not signs:
            _ask("scores", text, HUNDREDTHS, SHARES)
        if auto and _LOG_ODDS.search(heading) and rows.low < rows.high:
            _ask("scores", text, _LOGITS, SHARES)
        note = "Probabilities of class 1, because every score is within 0 to 1."
        return Scale("probabilities", note, (*_moved(rows),), doubts=(*_of_prediction(rows),))
    as_percent = _of_percent(rows, heading, options, stated=stated)
    return as_percent or _of_log_odds(rows, heading, options)


def _of_percent(
    rows: ValueSummary, heading: str, options: ReadingOptions, *, stated: bool
) -> Scale | None:
    """Read percentages that the heading or the user names, all or those beyond 0 to 1."""
    auto, n_rows = options.values == "auto", len(rows)
    named = _PERCENT.search(heading) or (_SHARE.search(heading) and _is_share(rows, heading))
    by_heading = auto and named and not _is_measure(heading)
    mostly = options.values == "probabilities" and 2 * rows.n_outside > n_rows
    if rows.low < 0 or rows.high > 100 or not (by_heading or stated or mostly):
        return None
    if auto:
        _ask_of_shares(rows)
    why = f"{quoted(heading, 30)} runs from {rows.low:.4g} to {rows.high:.4g}"
    why = f"because {why}" if auto else "as you said"
    repair = f"Percentages were divided by 100 in all {n_rows:,} rows."
    text = f"Probabilities of class 1 in percent, {why}."
    return Scale("probabilities", text, (repair,), 100.0, doubts=(*_of_one_set(rows),))


def _of_log_odds(rows: ValueSummary, heading: str, options: ReadingOptions) -> Scale:
    """Read logits of one class, ask about what a regression gives, or refuse."""
    auto, called = options.values == "auto", _LOG_ODDS.search(heading)
    text = f"{rows.n_outside:,} of {len(rows):,} scores are outside 0 to 1"
    if -_REGRESSED < rows.low < 0 and rows.high < 1 + _REGRESSED and not called:
        if options.values == "probabilities":
            return Scale(
                "probabilities", "Probabilities of class 1, as you said.", (*_moved(rows),)
            )
        if auto and len(rows) - rows.n_outside >= _MOSTLY * len(rows):
            far = max(-rows.low, rows.high - 1)
            _ask("scores", f"{text}, by at most {far:.2g}", _MOVED, _LOGITS)
    if auto and not called and rows.low < 0 < rows.high:
        _ask_of_points(rows, text)
    if auto and (called or rows.low < 0 < rows.high):
        return Scale(
            "logits", f"Logits of class 1, because {text}.", doubts=(*_mostly_within(rows),)
        )
    text = f"one column from {rows.low:.4g} to {rows.high:.4g}: {text} {rows.where(outside)}"
    if not auto:
        raise FileError("scores", text, "probabilities within 0 to 1, or percentages to 100")
    if rows.low >= 0 and rows.high <= 100:
        if _marks(rows):
            _ask("scores", text, HUNDREDTHS, _LOGITS, need=_OF_MARKS, doubted=True)
        _ask_of_shares(rows)
        other = _is_measure(heading) or rows.high <= _HIGHEST_RATING
        _ask("scores", text, HUNDREDTHS, _LOGITS, doubted=other)
    wanted = "a probability, a percentage or a logit of the event; convert points to these first"
    raise FileError("scores", text, wanted)


def _ask_of_points(rows: ValueSummary, text: str) -> None:
    """Ask about scores from -1 to 1, as of similarities, and of other scales.

    As logits these are on average far from how often the event happens.
    """
    if max(-rows.low, rows.high) <= 1 and len(rows) >= _FEW:
        text += f", none beyond {rows.low:.3g} to {rows.high:.3g}, as of similarities"
        _ask("scores", text, _LOGITS, need=_OF_POINTS, none="Points of another scale", doubted=True)
    sums = np.zeros(2)
    for raw in rows.sets.values():
        if raw.labels is None or raw.labels.ndim > 1 or not {*np.unique(raw.labels)} <= {0, 1}:
            return
        sums += float(sigmoid(np.asarray(raw.table, dtype=np.float64)).sum()), int(raw.labels.sum())
    mean, share = sums / len(rows)
    if len(rows) >= _FEW and abs(mean - share) > _FAR:
        text += (
            f"; as logits their mean probability would be {percent(mean)}, and the event happened"
            f" in {percent(share)} of the rows"
        )
        _ask("scores", text, _LOGITS, need=_OF_POINTS, none="Points of another scale", doubted=True)


def _ask_of_shares(rows: ValueSummary) -> None:
    """Ask about percentages of which those up to 1 foretell their outcomes far better as shares."""
    gain = 0.0
    for raw in rows.sets.values():
        if raw.labels is None or raw.labels.ndim > 1 or not {*np.unique(raw.labels)} <= {0, 1}:
            return
        low = np.asarray(raw.table) <= 1
        p, hit = np.clip(np.asarray(raw.table)[low], 1e-6, 1 - 1e-3), raw.labels[low] == 1
        # As shares, as percentages, and as those of the other outcome.
        fits = [float(np.log(np.where(hit, q, 1 - q)).sum()) for q in (p, p / 100, 1 - p / 100)]
        gain += fits[0] - max(fits[1:])
    if gain > _NATS:
        _ask_of_scales("scores", rows)


def _ask_of_scales(field: str, rows: ValueSummary) -> NoReturn:
    low, above = rows.where(lambda a, _, __: a <= 1), rows.where(lambda a, _, __: a > 1)
    text = f"two scales: from 0 to 1 {low}, above 1 {above}"
    _ask(field, text, HUNDREDTHS, need=_ONE_SCALE, doubted=True)


def _of_one_set(rows: ValueSummary) -> Iterator[str]:
    """Doubt percentages of which one set has none above 1."""
    low = [role for role, raw in rows.sets.items() if np.max(np.asarray(raw.table)) <= 1]
    if low and len(rows.sets) > 1:
        yield f"No score of the {SET_NAMES[low[0]]} is above 1, so these may be no percentages."


def _is_share(rows: ValueSummary, heading: str) -> bool:
    marks = _marks(rows) or rows.high <= _HIGHEST_RATING
    return not marks and not {"score", "points"} & {*words_of(heading)}


def _is_measure(heading: str) -> bool:
    """Return whether a heading that speaks of risk or percent has a word of another number."""
    words = {*words_of(heading)} - terms.PERCENT_WORDS
    return begins(words, terms.MEASURE_STEMS) or bool(words & terms.RELATIVE_WORDS)


def _marks(rows: ValueSummary) -> bool:
    """Return whether all scores are small whole numbers, or halves, as marks of a scale are."""
    whole = all(bool((2 * table == np.rint(2 * table)).all()) for table in rows.tables)
    return rows.low >= 0 and rows.high <= _HIGHEST_MARK and whole


def _heading(rows: ValueSummary) -> str:
    return next((raw.headings[0] for raw in rows.sets.values() if raw.headings), "")


def _of_prediction(rows: ValueSummary) -> Iterator[str]:
    """Doubt scores that are never below one half: perhaps those of the predicted class."""
    if len(rows) >= _FEW and rows.low >= 0.5:
        yield (
            f"No score of {len(rows):,} is below 0.5, so they may be of the predicted class instead"
            " of class 1."
        )


def _mostly_within(rows: ValueSummary) -> Iterator[str]:
    """Doubt logits that are within 0 to 1 in most rows."""
    n_within, n_rows = len(rows) - rows.n_outside, len(rows)
    called = _LOG_ODDS.search(_heading(rows))
    if n_rows >= _FEW and n_within >= _MOSTLY * n_rows and not called:
        yield (
            f"{n_within:,} of {n_rows:,} scores are within 0 to 1: if these are probabilities, fix"
            f" or leave out the rows outside, {rows.where(outside)}."
        )


def top_scores(raw: RawEvent, role: Role, repairs: list[str], options: ReadingOptions) -> Floats:
    """Convert scores of the predicted class to 0 to 1."""
    return _unless_none(options, lambda known: _top_scores(raw, role, repairs, known))


def _top_scores(raw: RawEvent, role: Role, repairs: list[str], options: ReadingOptions) -> Floats:
    scores = np.asarray(raw.scores, dtype=np.float64)
    place = f"confidence {SET_NAMES[role]}".strip()
    rows = measure({role: RawSet(scores, None, among=raw.among, first_row=raw.first_row)})
    if rows.low >= 0 and 2 <= rows.high <= 100 and 2 * rows.n_outside > len(rows):
        if _marks(rows) and options.values not in _NO_LOGITS:
            span = f"from {rows.low:.4g} to {rows.high:.4g}"
            _ask(place, f"whole numbers {span}", HUNDREDTHS, need=_OF_MARKS, doubted=True)
        if rows.low <= 1 and (raw.n_classes or 2) < 100 and options.values != "percentages":
            _ask_of_scales(place, rows)  # the likeliest of so few classes has more than 1%
        repairs.append(f"Percentages were divided by 100 in all {len(scores):,} rows.")
        return scores / 100
    if rows.n_outside:
        text = f"values outside 0 to 1 {rows.where(outside)}"
        raise FileError(place, text, "scores from 0 to 1, or percentages in every row")
    repairs += _moved(rows)
    return scores if 0 <= rows.low <= rows.high <= 1 else np.clip(scores, 0.0, 1.0)


# Probabilities to compute with ----------------------------------------------------------------


def as_probabilities(table: Array, scale: Scale) -> Floats:
    """Return rows that sum to 1, or the table itself where they do."""
    as_wanted = table.ndim == 2 and table.dtype == np.float64 and table.flags.c_contiguous
    if as_wanted and scale.divisor == 1 and not scale.rescaled and table.min() >= 0:
        return table
    values = np.empty((len(table), 2 if table.ndim == 1 else table.shape[1]))
    for rows in row_strips(*values.shape):
        values[rows] = _as_probabilities(table[rows], scale)
        _rescale(values[rows])
    return values


def _rescale(block: Floats) -> None:
    """Do in place, where `LogitSet` would make a further table, what it does with rounded rows."""
    near = np.abs(row_totals(block) - 1) <= SUM_TOLERANCE
    np.minimum(block, 1.0, out=block, where=near)
    totals = row_totals(block)
    np.divide(block, totals, out=block, where=near & (np.abs(totals - 1) > _OF_A_SUM))


def _as_probabilities(table: Array, scale: Scale) -> Floats:
    p = np.asarray(table, dtype=np.float64)
    if scale.divisor != 1:
        p = p / scale.divisor
    if p.ndim == 1:
        p = np.clip(p, 0.0, 1.0)
        return np.column_stack([1 - p, p])
    p = np.maximum(p, 0.0)
    return p / p.sum(axis=1, keepdims=True) if scale.rescaled else p
