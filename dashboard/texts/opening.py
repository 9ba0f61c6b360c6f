"""The words of the import step: what to upload, how it was read, and how to change that."""

from collections.abc import Mapping, Sequence

import numpy as np

from calibcore.counted import CountedScores
from calibcore.data import EventScores, LogitSet, Rows
from calibcore.splits import N_FOLDS
from dashboard.readers import FORMATS, Upload
from dashboard.readers.limits import MAX_UPLOAD, megabytes
from dashboard.readers.records import ColumnRole
from dashboard.readers.refusal import visible
from dashboard.texts.numbers import NO_BREAK, escape_markdown
from dashboard.texts.subgroups import period_name

# While it is read ----------------------------------------------------------------------------

READING = "Reading the file"


def _size(n_bytes: int) -> str:
    return megabytes(n_bytes).replace(" ", NO_BREAK)


def reading_apart(n_bytes: int, seconds: int) -> str:
    """Describe how long a large file has been read for."""
    return (
        f":small[Reading {_size(n_bytes)} with bounded memory: {seconds} s so far."
        " Remove the file on the left to stop.]"
    )


# Nothing there yet ---------------------------------------------------------------------------

BRING = "Upload predictions"
SIGN_IN_HEAD, SIGN_IN, SIGN_OUT = "Fractile", "Sign in", "Sign out"
REMOVE = "Remove"
UPLOADER = "Predictions with the true labels"
UPLOADER_HELP = (
    "One file with both, separate files for scores and labels, or separate files for calibration"
    " and test set. Files stay on the computer that runs Fractile."
)
SETTINGS_STAY = (
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
OR_SAMPLE = "No file at hand? Choose **Example** on the left."


def endings() -> str:
    """Return what can be read, as the help of the uploader."""
    return f"Reads {', '.join(FORMATS)}; at most {_size(MAX_UPLOAD)} per file."


# How it was read -----------------------------------------------------------------------------

HOW_READ = "How the file was read"
DETECTED, FIXED, CHECK, MISSING = "Detected", "Fixed automatically", "Check", "Not available"
FIRST_ROWS = "First rows"
RIGHT, WRONG = "correct", "wrong"
ABOUT_SAMPLE = "about this example"
DETAILS = "details"

MOST_CHECKS = 2
"""Warnings that are shown above the results; further ones are among the details."""

FIX_STEP = (
    "Change how the file is read below, or fix the file and upload it again, or choose another."
)


def array_of(shape: Sequence[int], kind: str) -> str:
    """Return the size and type of an array."""
    size = " \u00d7 ".join(f"{n:,}" for n in shape)
    return f"{size}, {kind}"


def table_of(n_rows: int, columns: Sequence[str]) -> str:
    """Return the size and the first columns of a table."""
    named = ", ".join(visible(name, 30) for name in columns[:8])
    more = f" and {len(columns) - 8:,} more" if len(columns) > 8 else ""
    return f"{n_rows:,} rows; columns {named}{more}"


def bullets(sentences: Sequence[str]) -> str:
    """Return sentences as a list in Markdown; text from files is escaped."""
    return "\n".join(f"- {escape_markdown(sentence)}" for sentence in sentences)


def warning(sentences: Sequence[str]) -> str:
    """Return one sentence as it is, and several as a list."""
    return escape_markdown(sentences[0]) if len(sentences) == 1 else bullets(sentences)


def of_extremes(doubts: Sequence[str]) -> list[str]:
    """Return the warnings of scores of exactly 0 or 1, which question no reading of the file."""
    return [
        doubt for doubt in doubts if " has probability 0 in " in doubt or " is exactly " in doubt
    ]


def first_checks(sentences: Sequence[str]) -> str:
    r"""Return the first warnings, and how many more the details hold.

    >>> print(first_checks(["One", "Two", "Three"]).replace("\\", ""))
    - One
    - Two
    - 1 more warning in the details.
    """
    more = len(sentences) - MOST_CHECKS
    further = [f"{_count(more, 'more warning', 'more warnings')} in the details."] * (more > 0)
    return warning([*sentences[:MOST_CHECKS], *further])


def size(upload: Upload) -> str:
    """Return the size of the data."""
    return " \u00b7 ".join((*_classes(upload), _rows(upload)))


def line(name: str, about: str, details: str) -> str:
    """Return the one line that names data and opens details; the name is escaped here."""
    named = f"**{escape_markdown(name)}** \u00b7 " if name else ""
    return f"{named}{about} \u2014 {details}"


def summary(upload: Upload, columns: Sequence[str], *, n_checks: int) -> str:
    """Return in one line what was read.

    ``upload``: with at least one set. ``columns``: `score_column` and `outcome_column`, where the
    score is of one of two outcomes. ``n_checks``: how many warnings are shown nowhere else on the
    page.
    """
    kind = {"scores": "confidence scores", None: ""}.get(
        upload.values_kind, str(upload.values_kind)
    )
    if upload.summary is not None:
        by = f"counted by {', '.join(('score', *upload.columns['rows']))}"
        return f"{_rows(upload)} \u00b7 {escape_markdown(by)}"
    parts = (
        _rows(upload),
        *(map(escape_markdown, columns) if columns else _classes(upload)),
        "" if columns and kind != "logits" else kind,
        _count(n_checks, "warning", "warnings"),
        _count(len(upload.repairs), "automatic fix", "automatic fixes"),
    )
    return " \u00b7 ".join(filter(None, parts))


def score_column(name: str, *, percent: bool) -> str:
    """Return which column the score is."""
    return f"score {visible(name, 30)}{' (%)' if percent else ''}"


def outcome_column(name: str, event: str, n_events: int) -> str:
    """Return which column the outcome is, and how many rows are the event."""
    return f"outcome {visible(name, 30)} = {visible(event, 30)} ({n_events:,})"


def _classes(upload: Upload) -> tuple[str, ...]:
    return () if upload.class_names is None else (f"{len(upload.class_names):,} classes",)


def _rows(upload: Upload) -> str:
    if upload.calibration is not None and upload.test is not None:
        fit, test = upload.calibration.n_samples, upload.test.n_samples
        return f"{fit:,} calibration \u00b7 {test:,} test rows"
    return f"{sum(rows.n_samples for rows in upload.sets.values()):,} rows"


def _count(n_things: int, one: str, several: str) -> str:
    return f"{n_things:,} {one if n_things == 1 else several}" if n_things else ""


def set_sentence(name: str, rows: Rows) -> str:
    """Describe what one set holds."""
    called = {"calibration": "Calibration set", "test": "Test set", "rows": "All rows"}[name]
    if isinstance(rows, EventScores):
        share = _share(rows.n_hits / rows.n_samples)
        what = "with the event" if isinstance(rows, CountedScores) else "correct"
        return f"{called}: {rows.n_samples:,} rows, {share} {what}."
    right = float(np.mean(rows.given.argmax(axis=1) == rows.labels))
    names = [visible(rows.class_names[k], 20) for k in np.unique(rows.labels)]
    labels = ", ".join(names[:4]) + (f" and {len(names) - 4:,} more" if len(names) > 4 else "")
    return f"{called}: {rows.n_samples:,} rows, labels {labels}, accuracy {_share(right)}."


def _share(share: float) -> str:
    return f"{100 * share:.1f}%"


EVALUATION = "Evaluation"
EVALUATIONS = {"crossed": "Cross-validated", "split": "Split"}
"""How a file of one set is evaluated, by their words in the address."""


SPLIT_BY_DATE = "Split by date"
SPLIT_BY_DATE_HELP = (
    "Fits see the rows before a date, results those from it on, as in use, where a calibrator is"
    " fitted on the past. Rows without a date are left out."
)


def split_name(split_at: tuple[str, ...]) -> str:
    """Return a column of dates and the period at which it is split; "No" for no split.

    >>> split_name(("booked", "2025-10")), split_name(())
    ('booked: Oct 2025', 'No')
    """
    return f"{split_at[0]}: {period_name(split_at[1])}" if split_at else "No"


def split_here(upload: Upload) -> str:
    """Describe how a file of one set is evaluated unless a split is chosen."""
    instead = "" if upload.summary is not None else ", or a split instead,"
    return (
        f"All rows are evaluated, after calibration by {N_FOLDS}-fold cross-validation"
        f" ({_each_kind(upload)}). The seed{instead} is chosen under Settings."
    )


def split_help(upload: Upload) -> str:
    """Explain how a file of one set is evaluated."""
    return (
        f"The file has one set. Cross-validated: before and after are of all rows, each calibrated"
        f" by a fit on the other folds ({N_FOLDS} folds, {_each_kind(upload)}); the calibrator to"
        " use is fitted on all rows. Split: fits see one part and results the other, so both have"
        " fewer rows."
    )


def _each_kind(upload: Upload) -> str:
    """Return the kinds of rows that a split keeps in proportion."""
    if upload.summary is not None:
        return "stratified by outcome"
    return "stratified by correctness" if upload.class_names is None else "stratified by class"


# Event, questions, rows left out -------------------------------------------------------------

EVENT = "Which one is the event?"
EVENT_HELP = "The score is the probability of this outcome."
QUESTION = "One question about this file"
LIKELIEST = "Most likely."
LEFT_OUT = "Rows that cannot be used are left out."
PUT_BACK = "Undo"


def reason(why: str) -> str:
    """Return the reason for an answer as a sentence.

    >>> reason("named as the outcome, two values"), reason("1,191 rows remain."), reason("")
    ('Named as the outcome, two values.', '1,191 rows remain.', '')
    """
    return f"{why[:1].upper()}{why[1:].rstrip('.')}." if why else ""


def event_choice(outcome: str, n_outcomes: int) -> str:
    """Return the label of one of two outcomes, with its count; text from the file is escaped."""
    return f"{escape_markdown(visible(outcome, 40))} ({n_outcomes:,})"


# What the address says -----------------------------------------------------------------------

BY_ADDRESS = (
    "The address of this page sets how the file is read, from another file or an earlier visit."
    " **Reset to detected** undoes that."
)


def wrong_in_address(key: str, value: str, expected: str) -> str:
    """Describe a part of the address that is not followed."""
    shown = visible(value, 60)
    return f'Address of the page, {key}: "{shown}" is not used. Expected {expected}.'


def not_followed(key: str, value: str) -> str:
    """Describe a choice that does not fit the files, as the address writes it.

    >>> not_followed("roles", "score:PD model v3")
    'Not used: score PD model v3. This file has no such column.'
    >>> not_followed("labels_from", "1")
    'Not used: labels_from 1, which does not fit this file.'
    """
    if key == "roles":
        role, _, name = value.partition(":")
        return f"Not used: {role} {visible(name, 40)}. This file has no such column."
    return f"Not used: {key} {visible(value, 60)}, which does not fit this file."


OF_OTHER_FILES = "Choices that were made for files that are gone are not used."

REMOVE_ONE = "Files that do not belong together are read one at a time. Remove one:"


def remove(name: str) -> str:
    """Return the label of the button that removes a file."""
    return f"{REMOVE} {escape_markdown(visible(name, 40))}"


# Change how it is read ------------------------------------------------------------------------

OTHERWISE = "Change how it is read"
VALUES = "Values are"
VALUES_HELP = (
    "Logits are the numbers before softmax. Probabilities lie within 0 to 1 and sum to 1 in every"
    " row."
)
AS_DETECTED = "detected"
DETECT_AGAIN = "Reset to detected"
EVERY_ROW = "Keep every row"
NOT_STATED = "not stated"
FIRST_LABEL = "Labels count from"
FIRST_LABEL_HELP = "The number of the first class in the labels."
HEADER = "First row holds"
HEADER_HELP = "Whether the first row of a text table names the columns."
SETS = "Sets"
SETS_HELP = (
    "Auto: calibration and test set as a column, or the parts of the file, name them. One: all rows"
    " are one set, split here at random."
)
CLASS_NAMES = "Class names"
CLASS_NAMES_HELP = (
    "In their order, one per line or separated by commas. Labels that are text are matched to them."
)
LEAVE_OUT = "Leave out rows that cannot be used"
LEAVE_OUT_HELP = "Rows with blank cells, n/a or values out of range."
PREVALENCE = "True share where the model will be used (%)"
PREVALENCE_HELP = (
    "Of the event, where it differs from that of these rows, as in case-control data: scores,"
    " verdict and calibrator are moved by an offset in log-odds. Where the file has top-1 scores"
    " only, of correct predictions: it then changes no number."
)
ESTIMATE = "Estimate it from new rows"
ESTIMATE_HELP = (
    "A file with scores in the columns of this one, of where the model will be used, without"
    " outcomes. Nothing else changes until the share is taken over."
)
NO_ESTIMATE = "Share not estimated"


def take_share(share: float) -> str:
    """Return what the button that takes an estimated share over is called.

    >>> take_share(0.1234)
    'State 12.34%'
    """
    return f"State {100 * share:.4g}%"


WITHOUT_LABELS = (
    "No outcome in this file. If a column holds the true labels, choose it below as **Outcome (true"
    " class)**. Otherwise add the file with the labels, in the panel on the left."
)


def class_names_in(text: str) -> tuple[str, ...]:
    r"""Return the class names in what was typed: lines, or parts between commas.

    >>> class_names_in("ant, bee"), class_names_in("Bonn, old\nKiel")
    (('ant', 'bee'), ('Bonn, old', 'Kiel'))
    """
    parts = text.strip().splitlines() if "\n" in text.strip() else text.split(",")
    return tuple(part.strip() for part in parts if part.strip())


def event_of(upload: Upload) -> str | None:
    """Return which of two outcomes the score is of; None where there is no such choice."""
    names, preview = upload.class_names, upload.preview
    if names is None or len(names) != 2 or "score" not in preview.roles:
        return None
    return upload.options.event if upload.options.event in names else names[1]


def outcome_counts(upload: Upload) -> dict[str, int]:
    """Return how many rows of all sets have each of the outcomes."""
    sets = [rows for rows in upload.sets.values() if isinstance(rows, LogitSet)]
    names = sets[0].class_names if sets else ()
    counts = sum(
        (np.bincount(rows.labels, minlength=len(names)) for rows in sets),
        np.zeros(len(names), dtype=np.int64),
    )
    return dict(zip(names, counts.tolist(), strict=True))


def columns_read(upload: Upload) -> tuple[str, ...]:
    """Return which columns score and outcome are, where the score is of one of two outcomes."""
    event, preview = event_of(upload), upload.preview
    if event is None or "outcome" not in preview.roles:
        return ()
    score, outcome = (preview.headings[preview.roles.index(role)] for role in ("score", "outcome"))
    percent = any(one.startswith("Percentages") for one in upload.repairs)
    return (
        score_column(score, percent=percent),
        outcome_column(outcome, event, outcome_counts(upload)[event]),
    )


def as_read(upload: Upload) -> tuple[str, ...]:
    """Return how a file was read: in one line, with what was changed; then what is to be checked.

    ``upload``: with at least one set.

    Markdown.
    """
    if upload.summary is not None:
        return upload.notes
    line = "Read: " + summary(upload, columns_read(upload), n_checks=0)
    if upload.repairs:
        line = " ".join((f"{line}.", *upload.repairs))
    return line, *(f"Check: {doubt}" for doubt in upload.doubts)


LABEL, OF_SHEETS = "Files are", "Sheets are"
HELP = (
    "What several files, or sheets, are of one another: one table, a calibration and a test set, or"
    " models of the same rows, of which one is read here. The page Models compares models."
)


def way_name(way: Sequence[str], files: Sequence[str]) -> str:
    """Return what files may be of one another, as a choice.

    >>> way_name((), ("a.csv", "b.csv")), way_name(("rows",), ("a.csv", "b.csv"))
    ('Auto', 'One table')
    >>> way_name(("sets", "a.csv"), ("a.csv", "b.csv"))
    'Calibration set a.csv, test set b.csv'
    >>> way_name(("without", "b.csv"), ("a.csv", "b.csv"))
    'Only a.csv'
    """
    named = way[1:]
    here = [visible(file, 40) for file in files if file in named]
    others = [visible(file, 40) for file in files if file not in named]
    if way[:1] in ((), ("rows",), ("models",)):
        return {(): "Auto", ("rows",): "One table"}.get(tuple(way[:1]), f"Only {others[0]}")
    if way[0] == "sets":
        here, others = (here, others) if here else (others[:1], others[1:])
        return f"Calibration set {' + '.join(here)}, test set {' + '.join(others)}"
    return f"Only {' + '.join(others)}"


EXAMPLES: Mapping[str, str] = {
    "NumPy": (
        "import numpy as np\n\n"
        "# one row per image, one column per class; the numbers before softmax\n"
        'np.savez("mine.npz", logits=logits, labels=labels)'
    ),
    "PyTorch": (
        "import torch\n\n"
        "with torch.no_grad():\n"
        "    logits = model(images)\n"
        'torch.save({"logits": logits.cpu(), "labels": labels.cpu()}, "mine.pt")'
    ),
    "scikit-learn": (
        "import pandas as pd\n\n"
        "table = pd.DataFrame(model.predict_proba(X), columns=model.classes_)\n"
        'table.assign(label=y).to_csv("mine.csv", index=False)'
    ),
    "CSV": "cat,dog,label\n0.91,0.09,cat\n0.34,0.66,dog\n0.55,0.45,dog",
    "JSON": '{"logits": [[2.5, -1.0], [0.3, 1.2]], "labels": [0, 1]}',
}
"""Shown without colours, as those of Streamlit are too pale to read on its grey."""

TEMPLATES_HEAD = "Templates with example rows"
TEMPLATES: Mapping[str, str] = {
    "Score and outcome": "fractile_score_outcome.csv",
    "One column per class": "fractile_classes.csv",
    "True, predicted, confidence": "fractile_top1.csv",
}
"""The label of each template's button, and the name of its file."""

_PAIRS = ((92, 1), (81, 1), (73, 0), (64, 1), (58, 1), (55, 0), (46, 0), (37, 1), (21, 0), (8, 0))


def template(file_name: str) -> str:
    """Return a small table that can be filled in, or uploaded as it is.

    ``file_name``: one of those in `TEMPLATES`.
    """
    heads, write = {
        "fractile_score_outcome.csv": ("score,outcome", _score_row),
        "fractile_classes.csv": ("bird,cat,dog,label", _classes_row),
        "fractile_top1.csv": ("true_label,pred_label,confidence", _top_row),
    }[file_name]
    rows = [write(share + k, hit) for k in range(4) for share, hit in _PAIRS]
    return "\r\n".join((heads, *rows, ""))


def _score_row(percent: int, hit: int) -> str:
    return f"{percent / 100:.2f},{'yes' if hit else 'no'}"


def _classes_row(percent: int, hit: int) -> str:
    cat = percent / 100
    dog = round((1 - cat) * 0.7, 3)
    bird = 1 - cat - dog
    label = "cat" if hit else ("bird" if percent % 3 == 0 else "dog")
    return f"{bird:.3f},{cat:.3f},{dog:.3f},{label}"


def _top_row(percent: int, hit: int) -> str:
    # A confidence is at least an even share of the three classes.
    predicted = ("bird", "cat", "dog")[percent % 3]
    true = predicted if hit else ("bird", "cat", "dog")[(percent + 1) % 3]
    return f"{true},{predicted},{0.34 + 0.65 * percent / 100:.2f}"


# Accepted formats ---------------------------------------------------------------------------

ACCEPTED = "Accepted formats"
_WAYS = (
    (
        "a table or a spreadsheet",
        (
            "`score, outcome`; or one column per class and a column `label`; or `true_label,"
            " pred_label, confidence`; further columns are kept for grouping"
        ),
        "csv tsv txt tab dat psv xlsx parquet",
    ),
    (
        "separate calibration and test set",
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
        "summaries of more rows than memory holds",
        "what `fractile summarise` writes; several are added up",
        "",
    ),
    (
        "pickles",
        "a dictionary of arrays, or the files of NN_calibration; no code in them is run",
        "p pkl pickle",
    ),
)


def most() -> str:
    """Return the size limit of a file as a sentence."""
    return f"At most {_size(MAX_UPLOAD)} per file."


def ways_to_bring() -> str:
    """Return the accepted formats, as a table in Markdown."""
    lines = [
        f"| {' '.join((what, *(f'`.{ending}`' for ending in ends.split())))} | {how} |"
        for what, how, ends in _WAYS
    ]
    return "\n".join(("| data | how to save it |", "|---|---|", *lines))


COLUMNS = "Columns"
COLUMNS_HELP = "First rows as in the file. Change what a column is for in its heading."
COLUMNS_REFUSED = "First rows that cannot be used. Change what a column is for in its heading."
ARRAYS = "Arrays"
ARRAYS_HELP = "Change what an array is for here."
ROW = "row"
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
    "count": "Number of rows",
    "events": "Events among them",
    "weight": "Sampling weight",
    "cluster": "Rows belong to",
    "ranked class": "Ranked class",
    "ranked score": "Ranked score",
    "left out": "Left out",
}
"""What each role is called in the select of a column."""

OF_USE: Mapping[str, ColumnRole] = {
    "label": "outcome", "hit": "correct", "group": "group", "prediction": "prediction",
    "class": "class", "score": "score", "set": "set", "left out": "left out",
}  # fmt: skip
"""Roles of what is known by its use alone: arrays, and columns beyond the preview's."""

UNDECIDED = "Not decided yet"
CHOSEN = "chosen by you"
UNNAMED = "no name"


def sideways(n_columns: int) -> str:
    """Return the hint that not all columns are in sight at once."""
    return f"{n_columns:,} columns; scroll sideways to see all \u2192"


def more_columns(n_columns: int) -> str:
    """Return the label of the select for further columns."""
    return f"{n_columns:,} more columns"


MORE_PLACEHOLDER = "Choose one to set its role"
