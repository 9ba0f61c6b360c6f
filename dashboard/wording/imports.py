"""The words of the import step: what to upload, how it was read, and how to change that."""

from collections.abc import Mapping, Sequence

import numpy as np

from calibcore.data import EventScores, LogitSet
from dashboard.readers import FORMATS, Upload
from dashboard.readers.refusal import visible
from dashboard.readers.table import ColumnRole
from dashboard.wording.numbers import NO_BREAK, escape_markdown

MAX_UPLOAD = 400 << 20
"""Most bytes of one file; the server is told the same in its settings."""

# While it is read ----------------------------------------------------------------------------

READING = "Reading the file"


def megabytes(n_bytes: int) -> str:
    """Return a size in megabytes.

    Examples
    --------
    >>> megabytes(400 << 20).replace(NO_BREAK, " ")
    '400 MB'
    """
    return f"{n_bytes / (1 << 20):,.0f}{NO_BREAK}MB"


def reading_apart(n_bytes: int, seconds: int) -> str:
    """Describe how long a large file has been read for."""
    return (
        f":small[Reading {n_bytes / 1e6:,.0f}{NO_BREAK}MB with bounded memory: {seconds} s so far."
        " Remove the file on the left to stop.]"
    )


# Nothing there yet ---------------------------------------------------------------------------

BRING = "Upload predictions"
REMOVE = "Remove"
UPLOADER = "Predictions with the true labels"
UPLOADER_HELP = (
    "One file with both, scores and labels apart, or calibration and test set apart. Files stay on"
    " the computer that runs Fractile."
)
SETTINGS_KEPT = (
    "The settings in the address of this page are kept. A file is not: after a reload, upload it"
    " again."
)
WHAT = (
    "Upload a file with a classifier's **logits or probabilities** and the **true labels**, in the"
    " panel on the left."
)
PANEL_ON_PHONES = (
    ":material/keyboard_double_arrow_right: at the upper left opens the panel for files and"
    " choices, :material/keyboard_double_arrow_left: in it closes it again."
)
ACCEPTED = "Accepted formats"
_WAYS = (
    (
        "a table or a spreadsheet",
        (
            "`score, outcome`; or one column per class and a column `label`; or `true_label,"
            " pred_label, confidence`; further columns are kept for grouping"
        ),
        "csv tsv txt xlsx parquet",
    ),
    (
        "calibration and test apart",
        (
            "`logits_calibration`, `labels_calibration`, `logits_test`, `labels_test` in one"
            " `.npz`, or a file for each; or a column `split` of a table, with `val` and `test`"
        ),
        "",
    ),
    ("NumPy arrays", '`np.savez("mine.npz", logits=..., labels=...)`, or two files', "npz npy"),
    (
        "JSON",
        (
            '`{"logits": [[...], ...], "labels": [...]}`, or one row per line; a row may list'
            " classes with their scores, as pipelines and services write them"
        ),
        "json jsonl ndjson",
    ),
    (
        "PyTorch tensors",
        '`torch.save({"logits": ..., "labels": ...}, "mine.pt")`, or the same as safetensors',
        "pt pth safetensors",
    ),
    (
        "pickles",
        "a dictionary of arrays, or the files of NN_calibration; no code in them is run",
        "p pkl pickle",
    ),
)
OR_SAMPLE = "No file at hand? Choose **Sample** on the left."


def endings() -> str:
    """List what can be read, as it is said beside the uploader."""
    return f"Reads {', '.join(FORMATS)}; at most {megabytes(MAX_UPLOAD)} per file."


def most() -> str:
    """Return the size limit of a file as a sentence."""
    return f"At most {megabytes(MAX_UPLOAD)} per file."


def ways_to_bring() -> str:
    """Return the accepted formats, as a table in Markdown."""
    lines = [
        f"| {' '.join((what, *(f'`.{ending}`' for ending in ends.split())))} | {how} |"
        for what, how, ends in _WAYS
    ]
    return "\n".join(("| data | how to save it |", "|---|---|", *lines))


# How it was read -----------------------------------------------------------------------------

HOW_READ = "How the file was read"
FOUND, MENDED, DOUBTED, MISSING = "Detected", "Fixed automatically", "Check", "Not available"
COLUMNS = "Columns"
COLUMNS_HELP = "First rows as in the file. Change what a column is for in its heading."
COLUMNS_REFUSED = "First rows that cannot be used. Change what a column is for in its heading."
ARRAYS = "Arrays"
ARRAYS_HELP = "Change what an array is for here."
FIRST_ROWS = "First rows"
TAKEN_AS, RIGHT, WRONG = "Read as", "correct", "wrong"
ROW = "row"
ABOUT_SAMPLE = "About this example"
MEND_STEP = (
    "Change how the file is read below, or fix the file and upload it again, or choose another."
)
ROLES: Mapping[ColumnRole, str] = {
    "outcome": "Outcome (true class)",
    "score": "Score of the event",
    "class": "Class score",
    "prediction": "Predicted class",
    "correct": "Correct (yes/no)",
    "id": "Row ID",
    "set": "Calibration / test",
    "group": "Grouping",
    "date": "Date (by month)",
    "ranked class": "Ranked class",
    "ranked score": "Ranked score",
    "left out": "Left out",
}
"""What each role is called in the select of a column."""

NOT_DETECTED = "Not detected"
CHOSEN = "chosen by you"
UNNAMED = "no name"


def sideways(n_columns: int) -> str:
    """Say that not all columns are in sight at once."""
    return f"{n_columns:,} columns; scroll sideways to see all \u2192"


def more_columns(n_columns: int) -> str:
    """Label the select that brings further columns into sight."""
    return f"{n_columns:,} more columns"


MORE_PLACEHOLDER = "Choose one to set its role"


def array_of(shape: Sequence[int], kind: str) -> str:
    """Return the size and type of an array.

    Examples
    --------
    >>> array_of((10_000, 3), "float32")
    '10,000 \u00d7 3, float32'
    """
    size = " \u00d7 ".join(f"{n:,}" for n in shape)
    return f"{size}, {kind}"


def table_of(n_rows: int, columns: Sequence[str]) -> str:
    """Return the size and the first columns of a table.

    Examples
    --------
    >>> table_of(400, ["score", "label"])
    '400 rows; columns score, label'
    """
    named = ", ".join(visible(name, 30) for name in columns[:8])
    more = f" and {len(columns) - 8:,} more" if len(columns) > 8 else ""
    return f"{n_rows:,} rows; columns {named}{more}"


def bullets(sentences: Sequence[str]) -> str:
    """Return sentences as a list in Markdown; text from files is escaped."""
    return "\n".join(f"- {escape_markdown(sentence)}" for sentence in sentences)


def warning(sentences: Sequence[str]) -> str:
    """Return one sentence as it is, and several as a list."""
    return escape_markdown(sentences[0]) if len(sentences) == 1 else bullets(sentences)


def size(upload: Upload) -> str:
    """Return the size of the data in one line."""
    return " \u00b7 ".join((*_classes(upload), _rows(upload)))


def summary(upload: Upload, event: str = "") -> str:
    """Describe in one line what was read.

    Parameters
    ----------
    upload : Upload
        With at least one set.
    event : str
        The sentence of `event_count`, where two outcomes are known.
    """
    kind = {"scores": "confidence scores", None: ""}.get(
        upload.values_kind, str(upload.values_kind)
    )
    fixes = _count(len(upload.repairs), "automatic fix", "automatic fixes")
    checks = _count(len(upload.doubts), "warning", "warnings")
    noted = ", ".join(filter(None, (checks, fixes)))
    parts = (
        *(() if event else _classes(upload)),
        _rows(upload),
        kind,
        escape_markdown(event),
        f"{noted} (details below)" if noted else "",
    )
    return " \u00b7 ".join(filter(None, parts))


def _classes(upload: Upload) -> tuple[str, ...]:
    return () if upload.class_names is None else (f"{len(upload.class_names):,} classes",)


def _rows(upload: Upload) -> str:
    if upload.calibration is not None and upload.test is not None:
        fit, test = upload.calibration.n_samples, upload.test.n_samples
        return f"{fit:,} calibration \u00b7 {test:,} test rows"
    return f"{sum(rows.n_samples for rows in upload.sets.values()):,} rows, split at random"


def _count(n_things: int, one: str, several: str) -> str:
    return f"{n_things:,} {one if n_things == 1 else several}" if n_things else ""


def set_said(name: str, rows: LogitSet | EventScores) -> str:
    """Describe what one set holds."""
    called = {"calibration": "Calibration set", "test": "Test set", "rows": "All rows"}[name]
    if isinstance(rows, EventScores):
        return f"{called}: {rows.n_samples:,} rows, {_share(float(np.mean(rows.hits)))} correct."
    right = float(np.mean(rows.logits.argmax(axis=1) == rows.labels))
    names = [visible(rows.class_names[k], 20) for k in np.unique(rows.labels)]
    labels = ", ".join(names[:4]) + (f" and {len(names) - 4:,} more" if len(names) > 4 else "")
    return f"{called}: {rows.n_samples:,} rows, labels {labels}, accuracy {_share(right)}."


def _share(share: float) -> str:
    return f"{100 * share:.1f}%"


def split_here(upload: Upload) -> str:
    """Describe how a file of one set is split."""
    return (
        f"Split at random, {_each_kind(upload)}, into a calibration and a test set; change share"
        " and seed in Settings."
    )


def split_help(upload: Upload) -> str:
    """Explain the share of the calibration set."""
    return f"The file has one set. It is split at random, {_each_kind(upload)}."


def _each_kind(upload: Upload) -> str:
    """Name the kinds of rows that a split keeps in proportion."""
    return "stratified by correctness" if upload.class_names is None else "stratified by class"


# Event, questions, rows left out -------------------------------------------------------------

EVENT = "Which one is the event?"
EVENT_HELP = "The score is the probability of this outcome."
QUESTION = "One question about this file"
LIKELIEST = "Most likely."
LEFT_OUT = "Rows that cannot be used are left out."
PUT_BACK = "Undo"


def reason(why: str) -> str:
    """Return what speaks for an answer as a sentence.

    Examples
    --------
    >>> reason("named as the outcome, two values"), reason("1,191 rows remain."), reason("")
    ('Named as the outcome, two values.', '1,191 rows remain.', '')
    """
    return f"{why[:1].upper()}{why[1:].rstrip('.')}." if why else ""


def event_count(event: str, n_events: int, n_rows: int) -> str:
    """Describe how many rows are the event.

    Examples
    --------
    >>> event_count("Yes", 1_540, 7_400)
    '1,540 of 7,400 rows are Yes'
    """
    return f"{n_events:,} of {n_rows:,} rows are {visible(event, 40)}"


def event_choice(outcome: str, n_outcomes: int) -> str:
    """Label one of the two outcomes, with its count; text from the file is escaped."""
    return f"{escape_markdown(visible(outcome, 40))} ({n_outcomes:,})"


# What the address says -----------------------------------------------------------------------

BY_ADDRESS = (
    "The address of this page sets how the file is read, from another file or an earlier visit."
    " **Reset to detected** below removes that."
)


def wrong_in_address(key: str, value: str, expected: str) -> str:
    """Describe a part of the address that is not followed."""
    shown = visible(value, 60)
    return f'Address of the page, {key}: "{shown}" is not used. Expected {expected}.'


def no_such_column(name: str) -> str:
    """Describe a column of the address that the file does not have."""
    return f'Address of the page, roles: this file has no column "{visible(name, 40)}".'


# How to read it otherwise --------------------------------------------------------------------

OTHERWISE = "Change how it is read"
VALUES = "Values are"
VALUES_HELP = (
    "Logits are the numbers before softmax. Probabilities lie within 0 to 1 and sum to 1 in every"
    " row."
)
AS_FOUND = "detected"
AS_FOUND_AGAIN = "Reset to detected"
NOT_STATED = "not stated"
FIRST_LABEL = "Labels count from"
FIRST_LABEL_HELP = "The number of the first class in the labels."
HEADER = "First row holds"
HEADER_HELP = "Whether the first row of a text table names the columns."
SETS = "Sets"
SETS_HELP = (
    "Auto: a calibration and a test set, as a column or the parts of the file name them. One: all"
    " rows are one set, split here at random."
)
CLASS_NAMES = "Class names"
CLASS_NAMES_HELP = (
    "In their order, one per line or separated by commas. Labels that are text are matched to them."
)
LEAVE_OUT = "Leave out rows that cannot be used"
LEAVE_OUT_HELP = "Rows with blank cells, n/a or values out of range. How many is said above."
PREVALENCE = "True share where the model will be used (%)"
PREVALENCE_HELP = (
    "Of the event, or of correct predictions where only top-1 scores are there. It changes no"
    " number; Fractile warns where the rows differ from it."
)
WITHOUT_LABELS = (
    "No outcome in this file: no column holds true labels. If one does, choose it below as"
    " **Outcome (true class)**. Otherwise add the file with the true labels, in the panel on the"
    " left."
)


def without_labels(columns: Sequence[str]) -> str:
    """Describe a file without labels, or name the columns that may hold them."""
    if not columns:
        return WITHOUT_LABELS
    listed = " or ".join(f'"{escape_markdown(visible(name, 40))}"' for name in columns)
    return (
        f"Which column holds the true labels? If {listed} does, choose it below as **Outcome (true"
        " class)**. Otherwise add the file with the true labels, in the panel on the left."
    )


def class_names_in(text: str) -> tuple[str, ...]:
    r"""Return the class names in what was typed: lines, or parts between commas.

    Examples
    --------
    >>> class_names_in("ant, bee"), class_names_in("Bonn, old\nKiel")
    (('ant', 'bee'), ('Bonn, old', 'Kiel'))
    """
    parts = text.strip().splitlines() if "\n" in text.strip() else text.split(",")
    return tuple(part.strip() for part in parts if part.strip())
