"""Rows that cannot be used: left out if the user agrees, and counted by column and reason."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dashboard.readers.recognition import vocabulary as terms
from dashboard.readers.recognition.columns import (
    Hypothesis,
    Scores,
    by_affix,
    claims_score,
    may_say_classes,
    same_words,
    speaks_of_scores,
    sums_to,
    worth,
)
from dashboard.readers.recognition.events import names_event
from dashboard.readers.recognition.features import (
    Feature,
    feature_of,
    main_kinds,
    says_the_same,
    spread,
    table_of,
)
from dashboard.readers.recognition.groups import further_role
from dashboard.readers.recognition.outcomes import OR
from dashboard.readers.recognition.questions import say_the_same, which_scores
from dashboard.readers.recognition.vocabulary import (
    are_counts,
    begins,
    folded,
    missing_among,
    words_of,
)
from dashboard.readers.records import (
    Column,
    ColumnRole,
    FileTable,
    RawSet,
    Reading,
    ReadingOptions,
    picked,
    rows_of_file,
    within,
)
from dashboard.readers.refusal import Answer, FileError, Question, plain, quoted

_OF_NUMBERS = frozenset({"score", "class", "ranked score", "count", "events", "weight"})
_MATTER = _OF_NUMBERS | {"outcome", "prediction", "correct", "ranked class", "set", "cluster"}
_FEW_OUTSIDE = 0.05
"""Share of rows below which scores outside their range are faults of single cells."""

_MANY_ABOVE = 0.1
"""Share of rows above 1 from which an outcome of 0, 1 and 2 is a count, as with 3 it is."""

_NEEDLESS = frozenset({"prediction", "set", "class"})
_MARKS = _MOST_STRAYS = 0.5
_FEW_OF_TEXTS = 0.2
_CODES = [*map(float, terms.NEITHER_NUMBERS)]
_SCORES = {"score", "class", "ranked score"}
_BEYOND = re.compile('"[\u2039\u203a\u2264\u2265~]')
_LAST = re.compile(r"-?[0-9]+(?:\.[0-9]+)?\Z", re.ASCII)
_NEAR = 1e-6
_ABOVE = "outside 0 to 1"
HUNDREDTHS = Answer("Percentages", "They are divided by 100.", {"values": "percentages"})
_COLUMNS, _REASONS, _SAMPLE = 3, 3, 2_000


@dataclass(frozen=True, eq=False)
class _Fault:
    """The rows of one column that cannot be used, how many for which reason, and what none is."""

    column: Column
    role: ColumnRole
    rows: NDArray[np.bool_]
    reasons: Counter[str]
    none_is: str = ""
    events: tuple[str, ...] = ()  # that all other rows may be the opposite of
    more: str = ""
    """The event and the numbers above it, of a count."""

    def phrase(self) -> str:
        """Return as in ``age 3 (2 blank, 1 "n/a")`` or ``y 1 neither "0" nor "1" ("9")``."""
        listed = self.reasons.most_common(_REASONS)
        if len(self.reasons) == 1:
            why = listed[0][0]
        else:
            more = ", ..." if len(self.reasons) > _REASONS else ""
            why = ", ".join(f"{count:,} {reason}" for reason, count in listed) + more
        return f"{plain(self.column.name, 40)} {int(self.rows.sum()):,}{self.none_is} ({why})"


def usable_rows(
    table: FileTable, reading: Reading, options: ReadingOptions
) -> tuple[FileTable, tuple[str, ...]]:
    """Return the rows of a table that can be used, and a sentence on those left out."""
    faults = [*_faults(table, reading, options)]
    n_cut = 0 if table.cut is None else len(table.cut)
    if not faults and not n_cut:
        return table, ()
    bad = np.zeros(table.n_rows, dtype=np.bool_)
    for fault in faults:
        bad |= fault.rows
    n_bad, n_all = int(bad.sum()) + n_cut, table.n_rows + n_cut
    summary = _listed(faults, n_cut)
    remain = f"{n_all - n_bad:,} rows remain."
    rows_ = "row" if n_bad == 1 else "rows"
    reasons = [r for fault in faults if fault.role in _SCORES for r in fault.reasons]
    if any(map(_BEYOND.match, reasons)):
        remain += " The cells with limits are the lowest or highest: without them the mean changes."
    leave = Answer(f"Leave out {n_bad:,} {rows_}", remain, {"leave_out": True})
    _ask_of_columns(faults, leave, options, table.n_rows, everything=bool(bad.all()))
    if not options.leave_out:
        rows = RawSet(None, None, first_row=table.first_row, among=table.among)
        where = f"; {rows_of_file(bad, rows)}" if bad.any() else ""
        if n_cut and table.cut is not None:
            numbers = ", ".join(f"{row}" for row in table.cut[:3].tolist())
            where += f"; too few or too many in {'row' if n_cut == 1 else 'rows'} {numbers}"
        likelier = (*_as_percent(faults, table, reading), *_as_count(faults))
        raise Question(
            "rows", f"{n_bad:,} of {n_all:,} with missing or unusable cells: {summary}{where}",
            "Leave these rows out?", (*likelier, leave, *_as_other(faults)),
        )  # fmt: skip
    repair = f"{n_bad:,} of {n_all:,} rows left out: {summary}."
    return (_chosen(table, ~bad) if bad.any() else table), (repair,)


def _as_percent(faults: list[_Fault], table: FileTable, reading: Reading) -> Iterator[Answer]:
    """Offer to read scores as percentages where few are above 1, as of an event that is rare."""
    outcomes = reading.columns_of(table, "outcome")
    for fault in faults:
        beyond = fault.role == "score" and {*fault.reasons} == {_ABOVE}
        if not (beyond and len(outcomes) == 1 and np.min(fault.column.values) >= 0):
            continue
        outcome = feature_of(outcomes[0], 0, spread(table.n_rows, _SAMPLE), named=True)
        names, codes = outcome.kinds
        if outcome.main and names_event(names, outcome.main):
            share, mean = np.mean(codes == outcome.main[1]), np.mean(fault.column.values)
            if np.max(fault.column.values) <= 100 and abs(mean / 100 - share) < abs(mean - share):
                yield HUNDREDTHS


def _as_count(faults: list[_Fault]) -> Iterator[Answer]:
    """Offer to read a count as whether there was one or more."""
    for fault in faults:
        if fault.more:
            yield Answer("1 or more", "All rows above 0 have the event.", {"event": fault.more})


def _as_other(faults: list[_Fault]) -> Iterator[Answer]:
    """Offer to count outcomes that are neither as the other of the two."""
    for fault in faults:
        unknown = {"blank", "NaN", "infinite"} & fault.reasons.keys()
        for event in fault.events if not unknown and not fault.more else ():
            why = f"The event is {plain(event, 30)}; all other rows count alike."
            yield Answer(f"Count as {quoted(f'not {event}', 30)}", why, {"event": event})


def _listed(faults: list[_Fault], n_cut: int) -> str:
    parts = [fault.phrase() for fault in faults[:_COLUMNS]]
    if len(faults) > _COLUMNS:
        parts.append(f"{len(faults) - _COLUMNS} more columns")
    if n_cut:
        parts.append(f"{n_cut:,} with too few or too many cells")
    return ", ".join(parts)


def _ask_of_columns(
    faults: list[_Fault], leave: Answer, options: ReadingOptions, n_rows: int, *, everything: bool
) -> None:
    """Ask about a column of which most cells cannot be used, rather than about its rows.

    Of an outcome and a score the rows that can be used are worth more than all without it.
    """
    mostly = [
        fault for fault in faults
        if everything or (2 * int(fault.rows.sum()) > n_rows and fault.role in _NEEDLESS)
    ]  # fmt: skip
    if not mostly or (options.leave_out and not everything):
        return
    name = mostly[0].column.name
    change = options.with_roles((name, "left out"))
    ignore = Answer("Leave out the column", "Its rows stay.", change)
    raise Question(
        f"column {quoted(name)}", f"{mostly[0].phrase()} of {n_rows:,} cells that cannot be used",
        "Leave out this column?", (ignore,) if everything else (ignore, leave),
    )  # fmt: skip


def _chosen(table: FileTable, rows: NDArray[np.bool_]) -> FileTable:
    """Return some rows of a table, whose cells are all good where they matter."""
    columns = tuple(
        column if column.unread else replace(column, values=picked(column.values, rows), odd=None)
        for column in table.columns
    )
    among = within(table.among, rows)
    return replace(table, columns=columns, n_rows=int(rows.sum()), among=among)


def _faults(table: FileTable, reading: Reading, options: ReadingOptions) -> Iterator[_Fault]:
    in_words = any(column.texts is not None for column in table.columns)
    classes = {folded(name) for name in reading.class_names if in_words}
    for column, role in zip(table.columns, reading.roles, strict=True):
        if role not in _MATTER:
            continue
        if column.unread:
            text = f"{column.unread}, which were not read"
            raise FileError(f"column {quoted(column.name)}", text, "numbers or text")
        reasons: Counter[str] = Counter()
        if column.texts is not None:
            rows = _texts(column, role, classes, reasons)
        else:
            rows = _numbers(column, role, reasons)
            if role in ("score", "class") and options.values != "logits":
                rows |= _outside(column, rows, reasons, options)
        fault = _Fault(column, role, rows, reasons)
        if role == "outcome" and column.values.ndim == 1 and reading.roles.count(role) == 1:
            fault = _with_strays(fault, table, reading, options)
        if fault.rows.any():
            yield fault


def _with_strays(
    fault: _Fault, table: FileTable, reading: Reading, options: ReadingOptions
) -> _Fault:
    """Add outcomes that are none of those that the score, or one column a class, is of."""
    column, none_is, events = fault.column, " of no class", tuple[str, ...]()
    if "class" in reading.roles:
        fits = _fit_classes(column, table, reading, options) | fault.rows
    elif "score" in reading.roles and not {"prediction", "correct"} & {*reading.roles}:
        outcome = feature_of(column, 0, spread(table.n_rows, _SAMPLE), named=True)
        main = main_kinds(outcome, named=True)
        if main is None or outcome.n_kinds == 2 or (options.event and not options.leave_out):
            return fault
        names, codes = outcome.kinds
        no, yes = (names[k] for k in main)
        none_is = f" neither {quoted(no, 20)} nor {quoted(yes, 20)}"
        if names_event(names, main):
            score = reading.columns_of(table, "score")[0]
            own = np.zeros(table.n_rows) if score.is_text else np.nan_to_num(score.values)
            low, high = (own[codes == k].mean() for k in main)
            events = (no, yes) if low > high else (yes,)
        fits = np.isin(codes, main) | fault.rows
    else:
        return fault
    if fits.all():
        return fault
    kinds, counts = np.unique(column.values[~fits], return_counts=True)
    for kind, count in zip(kinds.tolist(), counts.tolist(), strict=True):
        text = f"{kind:g}" if column.texts is None else column.texts[kind]
        fault.reasons[quoted(text, 20)] += count
    counts_up = column.texts is None and "1" in events and kinds.tolist()[:1] == [2]
    in_turn = len(kinds) > 1 and kinds.tolist() == [*range(2, len(kinds) + 2)]
    counts_up = counts_up and (in_turn or np.mean(~fits) > _MANY_ABOVE)
    more = OR.join(["1", *(f"{kind:g}" for kind in kinds.tolist())]) if counts_up else ""
    return replace(fault, rows=fault.rows | ~fits, none_is=none_is, events=events, more=more)


def _fit_classes(
    column: Column, table: FileTable, reading: Reading, options: ReadingOptions
) -> NDArray[np.bool_]:
    """Mark labels that may be a class of a column; all where more are none than faults explain."""
    columns = reading.columns_of(table, "class")
    names = [*(options.class_names or reading.class_names)]
    values = column.values
    if column.texts is not None:
        known = {*map(folded, names)}
        ends = tuple(folded(c.name) for c in columns)
        keys = [folded(text) for text in column.texts]
        fit = [key in known or any(end.endswith(key) for end in ends if key) for key in keys]
        none = [begins(words_of(key), terms.NEITHER_STEMS) for key in keys]
        best, excused = (np.array(marks, dtype=np.bool_)[values] for marks in (fit, none))
    else:
        n_classes = sum(c.values[:1].size for c in columns)
        ranges = [np.arange(n_classes), np.arange(n_classes) + 1]
        ranges += [np.array([-1, 1])] if n_classes == 2 else []
        numbers = [match[0] for name in names if (match := _LAST.search(name))]
        ranges += [np.array([*map(float, numbers)]) + shift for shift in (0, 1, -1) if numbers]
        best = max((np.isin(values, classes) for classes in ranges), key=np.count_nonzero)
        excused = np.isin(values, _CODES) | (values < 0)
    most = _FEW_OUTSIDE if column.texts is None else _FEW_OF_TEXTS
    few = np.mean(~best & ~excused) < (_MOST_STRAYS if options.leave_out else most)
    if not (few and best.any()) or options.first_label != "auto":
        return np.ones(len(values), dtype=np.bool_)
    return np.asarray(best)


def _texts(
    column: Column, role: ColumnRole, classes: set[str], reasons: Counter[str]
) -> NDArray[np.bool_]:
    """Mark cells of text that cannot be used in a column of some role."""
    texts = column.texts or ()
    keys = [folded(text) for text in texts]
    if role in _OF_NUMBERS:
        bad = [True] * len(keys)
    elif role == "correct":
        bad = [key not in terms.YES | terms.NO for key in keys]
    else:
        none = missing_among(keys)
        bad = [key in none and (not key or key not in classes) for key in keys]
    marks = np.array(bad, dtype=np.bool_)[column.values]
    counts = np.bincount(column.values.ravel(), minlength=len(texts))
    for text, count, is_bad in zip(texts, counts.tolist(), bad, strict=True):
        if is_bad and count:
            reasons[_reason(text)] += count
    return marks if marks.ndim == 1 else np.asarray(marks.any(axis=1))


def _numbers(column: Column, role: ColumnRole, reasons: Counter[str]) -> NDArray[np.bool_]:
    """Mark cells that are no numbers, and of a column of hits those that are not 0 or 1."""
    values = column.values
    bad = np.zeros(len(values), np.bool_)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        # A class that is ruled out has a logit of minus infinity.
        endless = _any(np.isposinf(values) if role == "class" else np.isinf(values))
        bad = _any(np.isnan(values)) | endless
        if endless.any():
            reasons["infinite"] += int(endless.sum())
    if column.odd is not None:
        bad[column.odd.rows] = True
        for code in column.odd.codes.tolist():
            reasons[_reason(column.odd.texts[code])] += 1
    if unnamed := int(bad.sum()) - reasons.total():
        reasons["NaN"] += max(unnamed, 0)
    if role == "correct":
        other = _any((values != 0) & (values != 1)) & ~bad
        if other.any():
            reasons["neither 0 nor 1"] += int(other.sum())
        bad |= other
    return bad


def _outside(
    column: Column, known: NDArray[np.bool_], reasons: Counter[str], options: ReadingOptions
) -> NDArray[np.bool_]:
    """Mark the few values outside 0 to 1, or 0 to 100, of a column whose others are within."""
    words = {*words_of(column.name)}
    none = np.zeros(len(known), dtype=np.bool_)
    if words & terms.LOGIT_WORDS or column.values.dtype.kind not in "iuf":
        return none
    percent = column.percents or words & terms.PERCENT_WORDS or options.values == "percentages"
    tops = [100.0] if percent and np.max(column.values[~known], initial=0) > 1 else [1.0]
    for top in tops:
        values: NDArray[Any] = column.values
        bad = _any((values < -_NEAR) | (values > top + _NEAR)) & ~known
        share = bad.sum() / max((~known).sum(), 1)
        if len(out := np.unique(values[bad])) > 2 and out[0] > -0.5 and out[-1] < 1.5:
            return none  # as of a regression of the outcome, which is asked about as a whole
        # One value outside in many rows stands for a missing one, such as -1 or -999.
        if share < _FEW_OUTSIDE or (share < _MARKS and len(out) == 1):
            if bad.any():
                reasons[f"outside 0 to {top:.0f}"] += int(bad.sum())
            return bad
    return none


def _any(marks: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return marks if marks.ndim == 1 else np.asarray(marks.any(axis=1))


def _reason(text: str) -> str:
    return quoted(text, 20) if text.strip() else "blank"


# Tables that no reading fits: names beside sorted scores, long tables, two families of scores ---


_GROUP_SIZES = {"trials", "total", "size", "n_total", "cases", "exposed"}
_FEW_KINDS, _FEW_LIMITS = 6, 2
_PIVOT = "one row per sample: pivot the table so that each"
_IN_EACH_ROW = "; or give the role outcome to the column that says what happened in each row"
_LONGEST, _OFF, _FEW_TEXTS = 2_000_000, 0.02, 10


def refuse_names(best: Hypothesis, features: Sequence[Feature]) -> None:
    """Refuse lists of scores that fall in every row, beside lists of names that were not read."""
    texts = [
        f for f in features
        if f.column.unread.startswith("lists of texts") and {*f.words[-1:]} & terms.CLASS_LIST_WORDS
        and (len(f.words) == 1 or f.words[0].startswith("top"))
    ]  # fmt: skip
    lists = [features[k] for k in best.scores.places] if best.scores else []
    if texts and lists and lists[0].kind == "list":
        table = table_of(lists[:1])
        if (table[:, 1:] <= table[:, :-1]).all():
            raise FileError(
                f"column {quoted(texts[0].name)}", "lists of names beside scores that fall",
                "one column of scores a class, or top1_class, top1_prob and so on",
            )  # fmt: skip


def why_no_score(best: Hypothesis, features: Sequence[Feature]) -> str:
    """Return why no column beside the outcome can be a score: of what matters most, two reasons."""
    outcome = [features[place] for place in best.outcome]
    rest = [f for f in features if f.place not in best.outcome and f.words]
    kinds = frozenset[str]().union(*(f.folded_kinds for f in outcome))
    rest.sort(key=lambda f: not (speaks_of_scores(f.words) or f.column.unread))
    reasons = ((f, _no_score(f, kinds)) for f in rest)
    return "; ".join([f"{quoted(f.name, 30)} {why}" for f, why in reasons if why][:2])


def why_no_outcome(taken: Collection[int], features: Sequence[Feature]) -> str:
    """Return what of the columns that are not taken keeps each from being the outcome, of two."""
    rest = [f for f in features if f.place not in taken and f.words]
    limits = [f for f in rest if _needs_limit(f)]
    if len(limits) > _FEW_LIMITS:
        limits = [f for f in limits if f.claims_outcome]
    reasons = [
        f"{quoted(f.name, 30)} holds {f.n_kinds} values"
        for f in rest if 2 < f.n_kinds <= _FEW_KINDS
    ] + [
        f"{quoted(f.name, 30)} holds dates in {int(f.counts.sum()):,} rows: make a column that is 1"
        " there and 0 elsewhere"
        for f in rest if f.is_date and f.blank
    ] + [
        f"{quoted(f.name, 30)} holds numbers: make a column that is 1 where it is above (or below)"
        " your limit and 0 elsewhere"
        for f in limits
    ]  # fmt: skip
    return "; ".join(reasons[:2])


def _needs_limit(feature: Feature) -> bool:
    """Return whether numbers may say what happened once they are cut at a limit."""
    numbers = feature.is_number and feature.n_kinds > _FEW_KINDS
    numbers = numbers and not terms.ID_WORDS & {*feature.words}
    return numbers and further_role(feature)[0] == "group" and not claims_score(feature)


def no_reading(features: Sequence[Feature]) -> FileError:
    """Return that no columns can be an outcome and a score, and what would make one."""
    score = next((f for f in features if f.is_number and claims_score(f)), None)
    beside = ", and none that can be a score" if score is None else f" beside {quoted(score.name)}"
    text = f"no column that can be the outcome{beside}"
    text += next((f"; column {quoted(f.name)} is {f.spelt}" for f in features if f.spelt), "")
    if score is not None and (why := why_no_outcome({score.place}, features)):
        text += f"; {why}"
    return FileError("columns", text, "the true class and the score of each row, each in a column")


def refuse_sums(best: Hypothesis, features: Sequence[Feature]) -> None:
    """Refuse columns called as all values of another that are no numbers, or do not sum to 1."""
    places = best.scores.places if best.scores else ()
    shares = {
        folded(f.name): f for f in features
        if (f.is_share and not f.is_decided) or (f.kind == "text" and f.n_kinds > _FEW_TEXTS)
    }  # fmt: skip
    for f in features:
        own = f.folded_kinds if f.kind == "text" and f.n_kinds <= len(shares) else frozenset()
        if (
            len(own) > 2
            and own <= shares.keys()
            and not own <= {folded(features[k].name) for k in places}
        ):
            members = [shares[name] for name in sorted(own)]
            wanted = f"a sum of 1 in every row: they are called as the values of {quoted(f.name)}"
            if texts := [member for member in members if member.kind == "text"]:
                text = f"is text, such as {quoted((texts[0].column.texts or ('',))[0], 20)}"
                raise FileError(f"column {quoted(texts[0].name)}", text, f"numbers with {wanted}")
            table = table_of(members)
            if sums_to(table):
                continue
            sums = table.sum(axis=1)
            names = ", ".join(quoted(member.name, 20) for member in members[:4])
            text = f"rows that sum to {np.nanmin(sums):.3g} to {np.nanmax(sums):.3g}"
            raise FileError(f"columns {names}", text, wanted)


def _no_score(feature: Feature, kinds: frozenset[str]) -> str:
    """Return why a column is no score; nothing where it is plainly something else."""
    texts = [text for text in feature.column.texts or () if any(map(str.isdigit, text))]
    if feature.column.unread:
        return f"holds {feature.column.unread}"
    if feature.is_decided:
        return "is 0 or 1, as decisions are"
    if feature.n_kinds > 1 and feature.folded_kinds <= kinds:
        return "says classes, not how likely they are"
    plain = not feature.is_date and claims_score(feature) < 2  # else it is said anyway
    if texts and plain and feature.n_kinds > _FEW_TEXTS:
        return f"is {feature.spelt or f'text, such as {quoted(texts[0], 20)}'}"
    return ""


def refuse_words(best: Hypothesis, features: Sequence[Feature], options: ReadingOptions) -> None:
    """Refuse values of classes of which one column holds no numbers, though it is called alike."""
    if best.scores is None or best.scores.layout == "ranked" or "sums" in best.evidence:
        return
    by_user = {name for name, _ in options.roles}
    kinds = {kind for place in best.outcome for kind in features[place].folded_kinds}
    for group in by_affix([f for f in features if f.kind != "list" and f.name not in by_user]):
        odd = [f for f in features if f.place in group.places and not f.is_number]
        names = {folded(group.names[group.places.index(f.place)]) for f in odd}
        is_part = {*best.scores.places} < {*group.places}
        if odd and is_part and (group.is_numbered or names <= kinds):
            text = next((quoted(text, 20) for text in odd[0].column.texts or () if text), "")
            like = quoted(features[best.scores.places[0]].name)
            raise FileError(
                f"column {quoted(odd[0].name)}", f"words, such as {text}" if text else "blank",
                f"numbers, as in column {like}, or the role left out",
            )  # fmt: skip


def refuse_long(
    features: Sequence[Feature],
    table: FileTable,
    given: Mapping[int, ColumnRole],
    options: ReadingOptions,
) -> None:
    """Refuse one row per sample and class, whose scores sum to 1 within each sample.

    Where no other column says what happened, as of two players of a match, it is asked.
    """
    by_user = [f for f in features if given.get(f.place) == "outcome"]
    shares = [f for f in features if f.is_share and not f.is_decided and not f.blank]
    for f in features:
        n_samples = table.n_rows // max(f.n_kinds, 1)
        if not may_say_classes(f) or f.n_kinds < 2 or n_samples < 2 or table.n_rows > _LONGEST:
            continue
        if not (f.counts == n_samples).all() or f.counts.sum() != table.n_rows:
            continue
        classes = [k for k in features if _names_class(k, f, n_samples)]
        for score in shares:
            values = np.asarray(score.column.values, dtype=np.float64)
            ids = [k for k in features if k is not f and k.n_kinds == n_samples]
            decided = [np.isin(values[f.kinds[1] == k], (0, 1)).all() for k in range(f.n_kinds)]
            if ids and 0 < sum(decided) < f.n_kinds:
                text = f"one row per sample and measure, by column {quoted(f.name)}"
                raise FileError("table", text, f"{_PIVOT} measure has a column")
            if by_user and not {*by_user} & {*classes}:
                continue
            sums = [values.reshape(n_samples, -1).sum(axis=1), values.reshape(-1, n_samples).sum(0)]
            sums += [np.bincount(k.kinds[1], values, n_samples) for k in ids if not k.blank]
            if any((np.abs(s - 1) < _OFF).all() for s in sums):
                if not classes and not any(_marks(k, f, n_samples) for k in features):
                    _ask_of_long(f, given, options)
                wanted = f"{_PIVOT} class has a column" + _IN_EACH_ROW * (not classes)
                text = f"one row per sample and class, by column {quoted(f.name)}"
                raise FileError("table", text, wanted)


def _marks(feature: Feature, classes: Feature, n_samples: int) -> bool:
    """Return whether a column of a long table marks the row of the true class of each sample."""
    marked = feature.main is not None and feature.counts[feature.main[1]] == n_samples
    return bool(marked) and feature is not classes and not says_the_same(feature, classes)


def _names_class(feature: Feature, classes: Feature, n_samples: int) -> bool:
    """Return whether a column of a long table names the true class in all rows of a sample."""
    same = feature.n_kinds > 1 and feature.folded_kinds <= classes.folded_kinds
    return same and not _marks(feature, classes, n_samples) and not says_the_same(feature, classes)


def _ask_of_long(
    classes: Feature, given: Mapping[int, ColumnRole], options: ReadingOptions
) -> None:
    """Ask whether the only column with each value once a sample is of classes or of outcomes."""
    if given.get(classes.place) == "group":
        return
    name = classes.name
    raise Question(
        f"column {quoted(name)}", "each value once in each sample, whose scores sum to 1",
        "Does it say what happened in each row?",
        (Answer("Yes, it is the outcome", "Each row counts by itself; all values are as frequent.",
                options.with_roles((name, "outcome"))),
         Answer("No, it is the class that the score is of", "Then one row per sample is needed.",
                options.with_roles((name, "group")))),
    )  # fmt: skip


def ask_of_groups(best: Hypothesis, features: Sequence[Feature], options: ReadingOptions) -> None:
    """Ask whether rows each count several, with how many of them had the event."""
    if best.scores is None or best.outcome or best.correct is not None:
        return
    wholes = [f for f in features if f.is_number and f.whole and f.low >= 0]
    wholes = [f for f in wholes if (np.diff(f.column.values) != 1).any()]
    many = [f for f in wholes if f.n_kinds > min(_FEW_KINDS, len(f.column.values) / 2)]
    events, others = (
        [f for f in many if begins(f.words, stems)]
        for stems in (terms.EVENT_STEMS, terms.QUIET_STEMS)
    )
    if events and others:
        field = f"columns {quoted(others[0].name)} and {quoted(events[0].name)}"
        text = "rows of groups: how many are without the event, and how many with it"
        wanted = f"a column of their sum, named n, beside {quoted(events[0].name)}"
        raise FileError(field, text, wanted)
    rates = [f for f in features if f.is_share and {*f.words} & terms.LABEL_WORDS]
    for n in wholes:
        counts = [f for f in wholes if f is not n and (f.column.values <= n.column.values).all()]
        for f in (*counts, *rates):
            is_size = n.key in _GROUP_SIZES or are_counts(n.words)
            if n.high <= 1 or not (is_size or _foretells(best, n, f, features)):
                continue
            field = f"columns {quoted(n.name)} and {quoted(f.name)}"
            text = "rows of groups: how many each holds, and how often the event happened"
            if f in rates:
                wanted = "how many of them had the event, as whole numbers"
                raise FileError(field, text, wanted)
            roles = (*options.roles, (n.name, "count"), (f.name, "events"))
            why = "Each row then counts as so many with the event and so many without."
            ask = f"Did the event happen in {quoted(f.name)} of {quoted(n.name)} cases?"
            raise Question(field, text, ask, (Answer("Yes", why, {"roles": roles}),))


def _foretells(best: Hypothesis, n: Feature, f: Feature, features: Sequence[Feature]) -> bool:
    """Return whether so many events as are counted are about those of the scores of so many."""
    if best.one is None or not f.high:
        return False
    score = features[best.one]
    if not (f.claims_outcome or same_words(score, f)):
        return False
    expected = float(np.sum(score.column.values * n.column.values)) / (1 if score.is_share else 100)
    return 0.5 * expected < float(np.sum(f.column.values)) < 2 * expected


def ask_of_families(
    best: Hypothesis,
    others: Sequence[Hypothesis],
    features: Sequence[Feature],
    options: ReadingOptions,
) -> None:
    """Ask which of two groups of columns of the same classes is meant."""
    if best.scores is None or best.scores.layout != "classes" or not best.scores.names:
        return
    names = best.scores.folded_names
    for other in (*others, *_second_family(best, features, options)):
        scores = other.scores
        if scores is None or scores.folded_names != names:
            continue
        if {*scores.places} & {*best.scores.places} or "called unsure" in other.evidence:
            continue
        if not say_the_same(best.scores, scores, features):
            raise which_scores([best, other], features, options)


def _second_family(
    best: Hypothesis, features: Sequence[Feature], options: ReadingOptions
) -> list[Hypothesis]:
    """Return further columns that end with the names of the classes, such as calibrated ones."""
    if best.scores is None:
        return []
    by_user = dict(options.roles)
    rest = [
        f for f in features
        if f.is_number and f.place not in best.scores.places and f.name not in by_user
    ]  # fmt: skip
    places = []
    for name in best.scores.names:
        ends = [f for f in rest if words_of(f.name)[-len(words_of(name)) :] == words_of(name)]
        measures = [f for f in ends if begins(f.words, terms.UNSURE_STEMS) or f.whole]
        if len(ends) != 1 or measures or not words_of(name):
            return []
        places.append(ends[0].place)
    scores = Scores("classes", tuple(places), best.scores.names)
    return [Hypothesis(scores, best.outcome, evidence=worth(named_as_scores=1))]
