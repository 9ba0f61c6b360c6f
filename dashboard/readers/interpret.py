"""From bare arrays to sets: the one place where a file's contents are taken for something."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from calibcore.data import EventScores, LogitSet, Rows
from calibcore.errors import CalibrationInputError
from calibcore.strips import row_maxima, row_strips
from dashboard.readers.design import copied, design_sentences, standing
from dashboard.readers.limits import MAX_CLASSES
from dashboard.readers.meaning.doubts import called_otherwise, doubts_of
from dashboard.readers.meaning.labels import (
    LabelReading,
    class_names_of,
    counted_alike,
    read_labels,
)
from dashboard.readers.meaning.repeated import DEPENDENT, of_owners
from dashboard.readers.meaning.scale import Scale, as_probabilities, scale_of, top_scores
from dashboard.readers.meaning.spelling import looking_alike, shown_apart
from dashboard.readers.meaning.value_summary import by_rows, few_decimals
from dashboard.readers.preview import besides_prediction, known_afterwards, shared_columns, without
from dashboard.readers.recognition.groups import GROUPING, grouping_note
from dashboard.readers.records import (
    SET_NAMES,
    Array,
    Contents,
    FileSentences,
    RawEvent,
    RawSet,
    ReadingOptions,
    Role,
    ValuesKind,
    rows_of_file,
    sentences_of,
)
from dashboard.readers.refusal import FileError, type_name
from dashboard.readers.upload import Upload

ONE_ROW = "One row only: a single row says nothing about calibration."
_FEW_TIES = 0.02
"""Share of rows that may have several most probable classes before it is said."""

TOP_ONE_ONLY = (
    "Only the top-1 score is in this file, so top-2, classes, the NLL of all classes and"
    " temperature scaling are not available."
)


def interpret(
    contents: Contents, options: ReadingOptions, *, name: str, kind: str, digest: str
) -> Upload:
    """Take contents, as a format or `combine` handed them over, for what they are, and say so."""
    upload = Upload(
        name=name, format=kind, digest=digest, contents=contents, options=options,
        **sentences_of(contents),
    )  # fmt: skip
    events = {r: raw for r, raw in contents.sets.items() if isinstance(raw, RawEvent)}
    tables = {r: raw for r, raw in contents.sets.items() if isinstance(raw, RawSet)}
    if events and tables:
        raise FileError("files", "class values in one and top-1 scores in the other", "one layout")
    try:
        return _events(upload, events) if events else _tables(upload, tables)
    except FileError:
        raise
    except CalibrationInputError as error:
        raise FileError.at("", error) from error


def _add(
    upload: Upload,
    sets: Mapping[Role, Rows],
    raw: Mapping[Role, RawSet | RawEvent],
    kind: ValuesKind,
) -> Upload:
    """Add the sets, what is known of their rows beside, and what may be doubted."""
    sets, copies = standing(sets, raw)
    each = copied(raw, copies)
    doubts = (*upload.doubts, *doubts_of(sets, each, kind, upload.options))
    columns, left = shared_columns({role: part.columns for role, part in each.items()})
    if any(columns.values()):
        columns, repeated = besides_prediction(columns, sets)
        left += repeated
    after = known_afterwards(columns, sets, each, upload.options)
    columns = {
        role: {name: column for name, column in part.items() if name not in after}
        for role, part in columns.items()
    }
    doubts, notes = (*doubts, *after.values()), upload.notes
    if after:
        notes = tuple(note for note in notes if not note.startswith(GROUPING))
        notes += (*grouping_note([*next(iter(columns.values()))]),)
    contents = without(upload.contents, [*after])
    # Sets are made of the tables, which would stay in memory beside them.
    bare = {role: replace(one, table=None) for role, one in raw.items() if isinstance(one, RawSet)}
    return replace(
        upload,
        contents=replace(contents, sets={**contents.sets, **bare}),
        notes=(*notes, *design_sentences(sets, raw)),
        proposals=(*upload.contents.proposals, *of_owners(raw, doubts, upload.options)),
        copies=copies,
        calibration=sets.get("calibration"),
        test=sets.get("test"),
        rows=sets.get("rows"),
        values_kind=kind,
        columns=columns,
        missing=(*upload.missing, *left),
        # A page shows the first few: what is true of every p-value comes first.
        doubts=tuple(sorted(doubts, key=lambda doubt: DEPENDENT not in doubt)),
    )


def _with_sentences(upload: Upload, **added: tuple[str, ...]) -> Upload:
    """Add to what was found, repaired, is missing, or may be doubted."""
    return replace(upload, **sentences_of(upload, FileSentences(**added)))


def _tables(upload: Upload, sets: Mapping[Role, RawSet]) -> Upload:
    """Read logits or probabilities with their labels, or a piece of them."""
    tables = {role: raw.table for role, raw in sets.items() if raw.table is not None}
    if not tables:
        return _lone_labels(upload, sets["rows"])
    for role, table in tables.items():
        _check_shape(table, role)
    for role, raw in sets.items():
        _check_finite(raw, role)
    n_classes = _n_classes(tables)
    reading = scale_of(sets, upload.options)
    divided = reading.divisor != 1 or any(raw.divided for raw in sets.values())
    upload = replace(upload, in_percent=divided)
    if any(raw.labels is None for raw in sets.values()):
        return _lone_table(upload, sets["rows"], reading, n_classes)
    labels = read_labels(sets, n_classes, upload.options)
    logit_sets = {
        role: _logit_set(raw, labels, role, reading, upload.options) for role, raw in sets.items()
    }
    _refuse_ruled_out(logit_sets, reading, sets)
    upload = _with_sentences(
        upload,
        notes=(_sizes(logit_sets, n_classes), reading.note, *labels.notes, *_tied(logit_sets)),
        repairs=(*reading.repairs, *labels.repairs, *_masked(logit_sets, reading)),
        missing=(*_constant(logit_sets),),
        doubts=(
            *labels.doubts,
            *reading.doubts,
            *_named_otherwise(upload, tables, reading),
            *_impossible(logit_sets, reading, [*tables.values()]),
            *looking_alike(next(iter(logit_sets.values())).class_names),
        ),
    )
    return _add(upload, logit_sets, sets, reading.kind)


def _check_shape(table: Array, role: Role) -> None:
    """Refuse an array that is no table."""
    place = f"logits {SET_NAMES[role]}".strip()
    if table.dtype.kind not in "biuf":
        raise FileError(place, f"values of type {type_name(table.dtype)}", "numbers")
    if table.ndim not in (1, 2):
        raise FileError(
            place, f"{table.ndim} dimensions", "2: one row a sample and one column a class"
        )
    if table.ndim == 2 and table.shape[1] > MAX_CLASSES:
        raise FileError(place, f"{table.shape[1]:,} classes", f"at most {MAX_CLASSES:,}")
    if table.size == 0:
        raise FileError(place, f"no rows (shape {table.shape})", "at least one row")


def _check_finite(raw: RawSet, role: Role) -> None:
    """Refuse rows that rule every class out; others without end are left out before."""
    table = np.asarray(raw.table)
    if table.min() > -np.inf:
        return
    marks = np.concatenate([np.isneginf(high) for _, high, _ in by_rows(table)])
    if marks.any():
        text = f"minus infinity (-inf) for every class {rows_of_file(marks, raw)}"
        raise FileError(f"logits {SET_NAMES[role]}".strip(), text, "finite numbers")


def _lone_table(upload: Upload, raw: RawSet, reading: Scale, n_classes: int) -> Upload:
    n_rows = len(np.asarray(raw.table))
    return _with_sentences(
        replace(upload, piece=raw, values_kind=reading.kind),
        notes=(f"{n_rows:,} rows, {n_classes:,} classes.", reading.note),
        doubts=(ONE_ROW,) if n_rows == 1 else (),
    )


def _lone_labels(upload: Upload, raw: RawSet) -> Upload:
    labels = np.asarray(raw.labels)
    if labels.ndim not in (1, 2) or not labels.size or labels.dtype.kind not in "biuf":
        raise FileError("labels", f"an array of shape {labels.shape}", "one class number a row")
    low, high = float(labels.min()), float(labels.max())
    span = f"from {low:.6g} to {high:.6g}"
    if raw.label_texts is not None:
        span = f"of {len(raw.label_texts):,} different texts"
    return _with_sentences(
        replace(upload, piece=raw), notes=(f"{len(labels):,} labels {span}, no logits.",)
    )


def _n_classes(tables: Mapping[Role, Array]) -> int:
    counts = {2 if table.ndim == 1 else table.shape[1] for table in tables.values()}
    if len(counts) > 1 or len({table.ndim for table in tables.values()}) > 1:
        parts = (
            f"{'one score a row' if table.ndim == 1 else f'{table.shape[1]:,} classes'} in the"
            f" {SET_NAMES[role]}"
            for role, table in tables.items()
        )
        raise FileError("logits", " but ".join(parts), "the same classes in both sets")
    return counts.pop()


def _logit_set(
    raw: RawSet, labels: LabelReading, role: Role, reading: Scale, options: ReadingOptions
) -> LogitSet:
    table = np.asarray(raw.table)
    n_classes = 2 if table.ndim == 1 else table.shape[1]
    of_file = class_names_of(raw, options)
    of_file = of_file if options.class_names or len(of_file or ()) == n_classes else None
    given = (options.class_names and of_file) or labels.class_names or of_file
    names = None if given is None else shown_apart(given)
    truth = labels.labels[role]
    try:
        if reading.kind == "probabilities":
            return LogitSet.from_probabilities(as_probabilities(table, reading), truth, names)
        if table.ndim == 1:
            scores = table
            table = np.zeros((len(scores), 2), scores.dtype if scores.dtype.kind == "f" else float)
            table[:, 1] = scores
        return LogitSet(table, truth, names)
    except CalibrationInputError as error:
        raise FileError.at(SET_NAMES[role], error) from error


def _events(upload: Upload, events: Mapping[Role, RawEvent]) -> Upload:
    """Read top-1 scores with whether the prediction was right."""
    if upload.options.values == "logits":
        raise FileError("values", "top-1 scores that are called logits", "probabilities")
    repairs: list[str] = []
    events = counted_alike(events, upload.options, repairs)
    event_sets: dict[Role, EventScores] = {}
    for role, raw in events.items():
        scores = top_scores(raw, role, repairs, upload.options)
        event_sets[role] = EventScores(scores, raw.hits)
    divided = any(
        np.max(raw.scores) > 1.5 * np.max(event_sets[r].scores) for r, raw in events.items()
    )
    rows = "; ".join(
        f"{SET_NAMES[role]} {part.n_samples:,} rows".strip() for role, part in event_sets.items()
    )
    upload = _with_sentences(
        upload,
        notes=(f"Top-1 scores and whether the prediction was right: {rows}.",),
        repairs=tuple(dict.fromkeys(repairs)),
        missing=(TOP_ONE_ONLY,),
    )
    return _add(replace(upload, in_percent=divided), event_sets, events, "scores")


def _sizes(sets: Mapping[Role, LogitSet], n_classes: int) -> str:
    parts = (f"{SET_NAMES[role]} {part.n_samples:,} rows".strip() for role, part in sets.items())
    sentence = f"{', '.join(parts)}, {n_classes:,} classes."
    return sentence[0].upper() + sentence[1:]


def _ruled_out(part: LogitSet) -> NDArray[np.bool_]:
    """Mark rows whose true class is ruled out, some rows at a time."""
    impossible = -np.inf if part.values_kind == "logits" else 0.0
    marks = np.empty(part.n_samples, dtype=np.bool_)
    for rows in row_strips(*part.given.shape):
        truth = part.labels[rows, np.newaxis]
        marks[rows] = np.take_along_axis(part.given[rows], truth, axis=1)[:, 0] == impossible
    return marks


def _refuse_ruled_out(
    sets: Mapping[Role, LogitSet], reading: Scale, raw: Mapping[Role, RawSet]
) -> None:
    """Refuse logits that rule the true class out: every log loss would be infinite."""
    if reading.kind == "probabilities":
        return
    for role, part in sets.items():
        bad = _ruled_out(part)
        if bad.any():
            raise FileError(
                f"logits {SET_NAMES[role]}".strip(),
                f"minus infinity (-inf) for the true class {rows_of_file(bad, raw[role])}",
                "finite numbers for the true class",
            )


def _masked(sets: Mapping[Role, LogitSet], reading: Scale) -> Iterator[str]:
    """Say what minus infinity was read as."""
    if reading.kind == "logits":
        holed = [part.logits for part in sets.values() if part.logits.min() == -np.inf]
        if count := sum(int(np.isneginf(logits).sum()) for logits in holed):
            yield f"Minus infinity in {count:,} cells was read as a class that is ruled out."


def _impossible(
    sets: Mapping[Role, LogitSet], reading: Scale, tables: Sequence[Array]
) -> Iterator[str]:
    """Say what a probability of 0 does."""
    if reading.kind != "probabilities":
        return
    if count := sum(int(_ruled_out(part).sum()) for part in sets.values()):
        rows = "1 row" if count == 1 else f"{count:,} rows"
        yield (
            f"The true class has probability 0 in {rows}{few_decimals(tables)}: the NLL is"
            " infinite. Here each counts as a tiny probability instead, which can decide the NLL."
        )


def _tied(sets: Mapping[Role, LogitSet]) -> Iterator[str]:
    """Say in how many rows the order of the classes decides, if they are not few."""
    count = 0
    for part in sets.values():
        for rows in row_strips(*part.given.shape):
            block = part.given[rows]
            at_top = np.count_nonzero(block == row_maxima(block), axis=1)
            count += int(np.count_nonzero(at_top > 1))
    total = sum(part.n_samples for part in sets.values())
    if count > _FEW_TIES * total:
        have = "has" if count == 1 else "have"
        yield (
            f"{count:,} of {total:,} rows {have} several classes that are the most probable alike;"
            " the first of them counts as the decision."
        )


def _named_otherwise(upload: Upload, tables: Mapping[Role, Array], reading: Scale) -> Iterator[str]:
    """Doubt values that are called what they were not taken for, unless the user says so."""
    if upload.options.values == "auto":
        one_score = any(table.ndim == 1 for table in tables.values())
        yield from called_otherwise(upload.contents.uses, reading, one_score=one_score)


def _constant(sets: Mapping[Role, LogitSet]) -> Iterator[str]:
    if all(map(_one_row, sets.values())) and any(part.n_samples > 1 for part in sets.values()):
        yield "All rows have the same values, so no calibrator can give them different scores."


def _one_row(part: LogitSet) -> bool:
    """Recognise rows that are all the same, stopping where one differs."""
    blocks = (part.given[rows] for rows in row_strips(*part.given.shape))
    return all(bool((block == part.given[:1]).all()) for block in blocks)
