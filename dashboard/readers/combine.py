"""Several files that belong together."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dashboard.readers.columns.alike import same_classes
from dashboard.readers.columns.joined import in_order_of, of_index
from dashboard.readers.columns.named_sets import TRAINING
from dashboard.readers.columns.roles import further_sets, role_of
from dashboard.readers.columns.top_one import judged
from dashboard.readers.contents import Array, Contents, Options, RawSet, Role
from dashboard.readers.interpret import interpret
from dashboard.readers.refusal import FileError, only_refusals, quoted, visible
from dashboard.readers.text.headless import with_first_label
from dashboard.readers.upload import Upload

_WANTED = "one file; logits and labels; a calibration and a test file; or logits and labels of each"
_IN_SAMPLE = re.compile("(?<![a-z])in[^a-z]?sample(?![a-z])")
"""What rows are called that a model was trained on, where others are out of sample."""


@only_refusals()
def combine(uploads: Sequence[Upload]) -> Upload:
    """Join files that belong together, judging their contents as one.

    Parameters
    ----------
    uploads : sequence of Upload
        One file passes through. Two: logits and labels, or a calibration and a test set. Four:
        logits and labels of each. Which is which is told by the names, and by row counts. Files of
        a training set beside those of both sets are left out.

    Raises
    ------
    FileError
        Any other combination, or files that do not fit together.
    """
    if len(uploads) == 1:
        return uploads[0]
    uploads, left = _without_training(uploads)
    tables = [u for u in uploads if u.piece is not None and u.piece.table is not None]
    labels = [u for u in uploads if u.piece is not None and u.piece.table is None]
    whole = [u for u in uploads if u.piece is None and "rows" in u.contents.sets]
    if len(uploads) == 2 and len(tables) == 2:
        tables, labels = _one_hot_apart(tables)
    match len(uploads), len(tables), len(labels), len(whole):
        case 2, 1, 1, 0:
            return _join(uploads, _pair(tables[0], labels[0], "rows"), left)
        case 2, 0, 0, 2:
            return _join(uploads, _two_sets(whole), left)
        case 4, 2, 2, 0:
            return _join(uploads, _four(tables, labels), left)
    said = f"{len(tables)} with bare values, {len(labels)} with bare labels, {len(whole)} with both"
    lacking = "" if whole else _lacking(tables, labels)
    if two_sets := len(uploads) - len(tables) - len(labels) - len(whole):
        said += f", {two_sets} with two sets"
    beside = " beside those of a training set" if left else ""
    raise FileError("files", f"{len(uploads)} files{beside} ({said}){lacking}", _WANTED)


def _without_training(uploads: Sequence[Upload]) -> tuple[Sequence[Upload], tuple[str, ...]]:
    """Leave out files of a training set beside those of a calibration and of a test set."""
    left = [upload for upload in uploads if _of_set(upload) == "rows" and _is_training(upload)]
    rest = [upload for upload in uploads if upload not in left]
    if not left or {*map(_of_set, rest)} != {"calibration", "test"}:
        return uploads, ()
    listed = " and ".join(quoted(upload.name) for upload in left)
    said = (
        f"{listed} {'was' if len(left) == 1 else 'were'} left out, being of the training set by"
        " name: a calibrator is fitted on rows that the model has not seen."
    )
    return rest, (said,)


def _lacking(tables: Sequence[Upload], labels: Sequence[Upload]) -> str:
    """Say of which files the labels, or the values, are missing: by names, or by row counts."""
    more, fewer = (tables, labels) if len(tables) > len(labels) else (labels, tables)
    known = [_of_set(upload) for upload in fewer]
    counts = [_n_rows(upload) for upload in fewer]
    alone = [
        upload.name
        for upload in more
        if (_of_set(upload) not in known if "rows" not in known else _n_rows(upload) not in counts)
    ]
    if len(alone) != len(more) - len(fewer) or not alone:
        return ""
    what = "labels" if more is tables else "values"
    return f"; missing are the {what} of {' and '.join(quoted(name) for name in alone[:2])}"


def _of_set(upload: Upload) -> Role:
    return role_of(upload.name.rsplit(".", 1)[0])[0]


def _n_rows(upload: Upload) -> int:
    raw = _raw(upload)
    return len(np.asarray(raw.labels if raw.table is None else raw.table))


def _join(uploads: Sequence[Upload], contents: Contents, left: tuple[str, ...] = ()) -> Upload:
    options = {upload.options.of_values() for upload in uploads} - {Options()}
    if len(options) > 1:
        raise FileError("files", "different readings asked of them", "one reading for all files")
    digests = "".join(upload.digest for upload in uploads)
    return interpret(
        replace(contents, repairs=(*left, *contents.repairs)),
        options.pop() if options else Options(),
        name=visible(" + ".join(upload.name for upload in uploads)),
        kind=" + ".join(dict.fromkeys(upload.format for upload in uploads)),
        digest=hashlib.sha256(digests.encode("ascii")).hexdigest(),
    )


def _raw(upload: Upload) -> RawSet:
    return upload.piece if upload.piece is not None else RawSet(None, None)


def _pair(table: Upload, labels: Upload, role: Role) -> Contents:
    """Put bare logits and bare labels together."""
    values, truth = _raw(table), _raw(labels)
    n_rows = len(np.asarray(values.table))
    truth, said_first, unsure = with_first_label(truth, labels, n_rows)
    n_labels = len(np.asarray(truth.labels))
    if table.format == labels.format == "parquet":
        values, truth = of_index(values, truth)
    if n_rows != n_labels:
        raise FileError(
            "files",
            f"{n_rows:,} rows in {quoted(table.name)} and {n_labels:,} labels in"
            f" {quoted(labels.name)}",
            "as many labels as rows",
        )
    unused = [{name for name, use in u.uses.items() if use == "left out"} for u in (table, labels)]
    joined = in_order_of(values, truth, labels.name, in_both=sorted(set.intersection(*unused)))
    truth = joined.truth
    columns = {column.name: column for column in (*values.columns, *truth.columns)}
    whole = replace(
        values,
        labels=truth.labels,
        label_texts=truth.label_texts,
        columns=tuple(columns.values()),
        predicted=values.predicted or truth.predicted,
    )
    event = judged(whole) if values.top_one else Contents({"rows": whole})
    what = "Scores" if values.top_one else "Logits"
    said = f"{what} from {quoted(table.name)} with labels from {quoted(labels.name)}"
    place = "" if role == "rows" else f", as the {role} set"
    return Contents(
        {role: event.sets["rows"]}, (f"{said}{place}.", *joined.found, *event.found),
        (*_mended(table, labels), *said_first, *joined.repairs, *event.repairs),
        doubts=(*_doubted(table, labels), *unsure, *joined.doubts),
        uses={**labels.uses, **table.uses},
    )  # fmt: skip


def _mended(*uploads: Upload) -> tuple[str, ...]:
    return tuple(dict.fromkeys(s for upload in uploads for s in upload.contents.repairs))


def _doubted(*uploads: Upload) -> tuple[str, ...]:
    return tuple(dict.fromkeys(s for upload in uploads for s in upload.contents.doubts))


def _is_training(upload: Upload) -> bool:
    name = upload.name.rsplit(".", 1)[0].lower()
    words = re.split(r"[^a-z]+", name)
    return bool(TRAINING.intersection(words)) or _IN_SAMPLE.search(name) is not None


def _training(calibration: Sequence[Upload]) -> tuple[str, ...]:
    """Doubt a calibration set that is called a training set."""
    return tuple(
        f"File {quoted(upload.name)} is called a training set: a model looks better than it is on"
        " rows that it was trained on, and so does a calibrator that is fitted on them."
        for upload in calibration
        if _is_training(upload)
    )


def _one_hot_apart(pieces: list[Upload]) -> tuple[list[Upload], list[Upload]]:
    """Of two tables, take the one that holds a single 1 a row for the labels."""
    hot = [u for u in pieces if _is_one_hot(np.asarray(_raw(u).table))]
    if len(hot) != 1:
        return pieces, []
    turned = replace(hot[0], piece=replace(_raw(hot[0]), table=None, labels=_raw(hot[0]).table))
    return [u for u in pieces if u is not hot[0]], [turned]


def _is_one_hot(table: Array) -> bool:
    if table.ndim != 2:
        return False
    hot, cold = (table == 1).sum(axis=1), (table == 0).sum(axis=1)
    return bool(((hot == 1) & (cold == table.shape[1] - 1)).all())


def _by_role(uploads: Sequence[Upload]) -> tuple[Upload, Upload] | None:
    """Tell two files apart as calibration and test by their names, if that can be done."""
    first, second = (role_of(upload.name.rsplit(".", 1)[0])[0] for upload in uploads)
    training = [upload for upload in uploads if _is_training(upload)]
    if len(training) == 1:
        return training[0], uploads[0 if training[0] is uploads[1] else 1]
    if first == second:
        further = further_sets(upload.name.rsplit(".", 1)[0] for upload in uploads)
        if len(further) != 1:
            return None
        # Of two sets to judge the one that is not called test, of two to tune that called val.
        fitted = (uploads[0].name.rsplit(".", 1)[0] in further) == (first == "test")
        return (uploads[0], uploads[1]) if fitted else (uploads[1], uploads[0])
    if first == "test" or second == "calibration":
        return uploads[1], uploads[0]
    return uploads[0], uploads[1]


def _two_sets(uploads: Sequence[Upload]) -> Contents:
    named = _by_role(uploads)
    calibration, test = named or (uploads[0], uploads[1])
    last = quoted(test.name)
    why = "by its name" if named else "being the first of the two"
    fitted = calibration.contents.sets["rows"]
    judged, mended, doubts = same_classes(fitted, test.contents.sets["rows"])
    return Contents(
        {"calibration": fitted, "test": judged},
        (f"Calibration set from {quoted(calibration.name)}, {why}; test set from {last}.",),
        (*_mended(calibration, test), *mended),
        tuple(dict.fromkeys((*calibration.contents.missing, *test.contents.missing))),
        (
            *_doubted(calibration, test),
            *(() if named else _not_named(calibration, test)),
            *_training([calibration, test]),
            *doubts,
        ),
        uses={**test.uses, **calibration.uses},
        preview=calibration.contents.preview,
    )


def _not_named(calibration: Upload, test: Upload) -> tuple[str, ...]:
    """Doubt which of two files is which where only their order says so."""
    fitted, judged = quoted(calibration.name, 40), quoted(test.name, 40)
    said = (
        f"The names {fitted} and {judged} do not tell a calibration set from a test set, so the"
        " first was taken for calibration: the words val and test in them would tell."
    )
    return (said,)


def _four(tables: list[Upload], labels: list[Upload]) -> Contents:
    """Pair four bare files, by name where names tell and by row counts where they do."""
    n_rows = [len(np.asarray(_raw(u).table)) for u in tables]
    n_labels = [len(np.asarray(_raw(u).labels)) for u in labels]
    named_tables, named_labels = _by_role(tables), _by_role(labels)
    if named_labels is None and n_labels[0] == n_labels[1] and n_rows[0] == n_rows[1]:
        raise FileError(
            "files",
            "labels whose names do not tell calibration from test",
            "val or test in each name",
        )
    ordered = list(named_tables or tables)
    truths = list(named_labels or labels)
    by_name = named_tables is not None and named_labels is not None
    if not by_name and len(np.asarray(_raw(truths[0]).labels)) != len(
        np.asarray(_raw(ordered[0]).table)
    ):
        if named_labels is not None:
            ordered.reverse()
        else:
            truths.reverse()
    parts = [
        _pair(ordered[0], truths[0], "calibration"),
        _pair(ordered[1], truths[1], "test"),
    ]
    how = "Paired by name." if by_name else "Paired by row counts; the first is for calibration."
    if not by_name and (named_tables or named_labels):
        how = "Paired by row counts, and by the names that tell."
    fitted, judged = (next(iter(part.sets.values())) for part in parts)
    judged, mended, doubts = same_classes(fitted, judged)
    return Contents(
        {"calibration": fitted, "test": judged},
        (*parts[0].found, *parts[1].found, how),
        tuple(dict.fromkeys((*parts[0].repairs, *parts[1].repairs, *mended))),
        doubts=(*parts[0].doubts, *parts[1].doubts, *_training(tables), *doubts),
        uses={**parts[1].uses, **parts[0].uses},
    )
