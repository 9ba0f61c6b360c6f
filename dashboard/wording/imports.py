"""The words of the import step: what to bring, what was read, and how to read it otherwise."""

from collections.abc import Mapping, Sequence

from dashboard.readers import FORMATS, Upload
from dashboard.readers.contents import ColumnUse
from dashboard.readers.refusal import visible
from dashboard.wording.numbers import SPACE, escape_markdown
from dashboard.wording.sentences import WITHOUT_LABELS

MAX_UPLOAD = 400 << 20
"""Most bytes of one file; the server is told the same in its settings."""

# While it is read ----------------------------------------------------------------------------

READING = "Reading the file"


def megabytes(n_bytes: int) -> str:
    """Write a size.

    Examples
    --------
    >>> megabytes(400 << 20).replace(SPACE, " ")
    '400 MB'
    """
    return f"{n_bytes / (1 << 20):,.0f}{SPACE}MB"


def reading_apart(n_bytes: int, seconds: int, most: float) -> str:
    """Say how long a large file has been read for."""
    return (
        f":small[{n_bytes / 1e6:,.0f}{SPACE}MB are read in a process of their own, with bounded"
        f" memory: {seconds} of at most {most:g} seconds. Taking the file away on the left stops"
        " it.]"
    )


# Nothing there yet ---------------------------------------------------------------------------

BRING = "Bring a model's answers"
REMOVE = "Take away"
UPLOADER = "Logits or probabilities with the true labels"
UPLOADER_HELP = (
    "One file with both, logits and labels apart, or calibration set and test set apart. Files stay"
    " on the computer that runs Fractile."
)
SETTINGS_KEPT = (
    "The settings in the address of this page are kept. A file is not: after a reload, bring it"
    " again."
)
WHAT = (
    "Upload the **logits** (or class probabilities) of a trained classifier together with the"
    " **true labels**, in the panel on the left. Fractile fits a calibrator on one part of the"
    " rows, judges it on the other, and shows both before and after."
)
PANEL_ON_PHONES = (
    ":material/keyboard_double_arrow_right: at the upper left opens the panel for files and"
    " choices, :material/keyboard_double_arrow_left: in it closes it again."
)
_WAYS = (
    ("NumPy arrays", '`np.savez("mine.npz", logits=..., labels=...)`, or two files', "npz npy"),
    (
        "calibration and test apart",
        (
            "`logits_calibration`, `labels_calibration`, `logits_test`, `labels_test` in one"
            " `.npz`, or a file for each; or a column `split` of a table, with `val` and `test`"
        ),
        "",
    ),
    (
        "a table or a spreadsheet",
        (
            "one column a class and a column `label`; or `true_label, pred_label, confidence`; or"
            " `score, label`; further columns are kept to tell rows apart"
        ),
        "csv tsv txt xlsx parquet",
    ),
    (
        "JSON",
        (
            '`{"logits": [[...], ...], "labels": [...]}`, or one row a line; a row may list classes'
            " with their scores, as pipelines and services write them"
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
OR_SAMPLE = "Nothing at hand? Choose **Sample** on the left."
EXAMPLES: Mapping[str, tuple[str, str]] = {
    "NumPy": (
        "python",
        (
            "import numpy as np\n\n"
            "# one row an image, one column a class; the numbers before softmax\n"
            'np.savez("mine.npz", logits=logits, labels=labels)'
        ),
    ),
    "PyTorch": (
        "python",
        (
            "import torch\n\n"
            "with torch.no_grad():\n"
            "    logits = model(images)\n"
            'torch.save({"logits": logits.cpu(), "labels": labels.cpu()}, "mine.pt")'
        ),
    ),
    "scikit-learn": (
        "python",
        (
            "import pandas as pd\n\n"
            "table = pd.DataFrame(model.predict_proba(X), columns=model.classes_)\n"
            'table.assign(label=y).to_csv("mine.csv", index=False)'
        ),
    ),
    "CSV": ("text", "cat,dog,label\n0.91,0.09,cat\n0.34,0.66,dog\n0.55,0.45,dog"),
    "JSON": ("json", '{"logits": [[2.5, -1.0], [0.3, 1.2]], "labels": [0, 1]}'),
}
TEMPLATE_NAME = "fractile_template.csv"
TEMPLATE_LABEL = "Download a small table to start from"


def endings() -> str:
    """List what can be read, as it is said beside the uploader."""
    return f"Reads {', '.join(FORMATS)}; at most {megabytes(MAX_UPLOAD)} a file."


def most() -> str:
    """Say how large a file may be."""
    return f"At most {megabytes(MAX_UPLOAD)} a file; it stays on the computer that runs Fractile."


def ways_to_bring() -> str:
    """Say for each kind of data how to bring it, as a table in Markdown."""
    lines = [
        f"| {' '.join((what, *(f'`.{ending}`' for ending in ends.split())))} | {how} |"
        for what, how, ends in _WAYS
    ]
    return "\n".join(("| what you have | how to bring it |", "|---|---|", *lines))


def template() -> str:
    """Write a small table that can be filled in, or uploaded as it is."""
    pairs = ((92, 1), (81, 1), (73, 0), (64, 1), (58, 1), (55, 0), (46, 0), (37, 1), (21, 0))
    rows = [
        f"{(share + k) / 100:.2f},{1 - (share + k) / 100:.2f},{'cat' if is_cat else 'dog'}"
        for k in range(4)
        for share, is_cat in pairs
    ]
    return "\r\n".join(("cat,dog,label", *rows, ""))


# What was read -------------------------------------------------------------------------------

WHAT_WAS_READ = "What was read, and how to read it otherwise"
FOUND, MENDED, DOUBTED, MISSING = "Found", "Mended", "Doubtful", "Not possible"
FIRST_ROWS = "The first rows, as they were read"
REFUSED_ROWS = "The first rows that cannot be used, as they were read"
UNMENDED = "The first rows of the file, before anything was mended"
TAKEN_AS, RIGHT, WRONG = "taken as", "right", "wrong"
ROW = "row"
ABOUT_SAMPLE = "What was read"
MEND_STEP = (
    "Read it otherwise below, or mend the file and upload it again; or choose another one or a"
    " sample on the left."
)
BY_ADDRESS = (
    "The address of this page says how to read the file, as chosen for another one or on an earlier"
    " visit. **Read it as found again**, below, takes that back."
)
USES: Mapping[ColumnUse, str] = {
    "class": "class",
    "label": "label",
    "prediction": "prediction",
    "score": "score",
    "hit": "right or not",
    "slice": "tells rows apart",
    "set": "tells the sets apart",
    "left out": "left out",
    "undecided": "",
}


def found_in(file: str) -> str:
    """Head what a file holds; its name is not needed where it is alone."""
    return f"{FOUND} in {escape_markdown(visible(file, 40))}" if file else FOUND


def first_rows_of(file: str, *, refused: bool = False) -> str:
    """Head the first rows of one of several files, or the first that cannot be used."""
    heading = REFUSED_ROWS if refused else FIRST_ROWS
    return f"{heading}: {escape_markdown(visible(file, 40))}" if file else heading


def bullets(sentences: Sequence[str]) -> str:
    """Write sentences as a list; text from files is escaped."""
    return "\n".join(f"- {escape_markdown(sentence)}" for sentence in sentences)


def warning(sentences: Sequence[str]) -> str:
    """Write one sentence as it is, and several as a list."""
    return escape_markdown(sentences[0]) if len(sentences) == 1 else bullets(sentences)


def size(upload: Upload) -> str:
    """Say how much there is, in one line."""
    parts = []
    if upload.class_names is not None:
        parts.append(f"{len(upload.class_names):,} classes")
    parts.append(f"{sum(rows.n_samples for rows in upload.sets.values()):,} rows")
    if upload.calibration is not None and upload.test is not None:
        parts.append(f"{upload.calibration.n_samples:,} to fit, {upload.test.n_samples:,} to judge")
    else:
        parts.append("split here into rows to fit and rows to judge")
    return " \u00b7 ".join(parts)


def counted(doubts: Sequence[str], repairs: Sequence[str]) -> str:
    """Say that there are doubts and repairs, which are told where the step is opened."""
    parts = [
        f"{len(what):,} {word}{'s' if len(what) > 1 else ''}"
        for what, word in ((doubts, "doubt"), (repairs, "repair"))
        if what
    ]
    return f"{' and '.join(parts)} of this file: see below what was read."


def split_here(upload: Upload) -> str:
    """Say how a file of one set is split."""
    return (
        f"It is split at random, {_each_kind(upload)}, into rows to fit and rows to judge; share"
        " and seed stand under Settings on the left."
    )


def split_help(upload: Upload) -> str:
    """Explain the share of the rows to fit on."""
    return f"The file has one set. It is split at random, {_each_kind(upload)}."


def _each_kind(upload: Upload) -> str:
    """Name the kinds of rows that a split deals out alike."""
    return "rights and wrongs alike" if upload.class_names is None else "class by class"


# How to read it otherwise --------------------------------------------------------------------

OTHERWISE = "Read it otherwise"
VALUES = "Read the values as"
VALUES_HELP = (
    "Logits are the numbers before softmax. Probabilities lie within 0 to 1 and sum to 1 in every"
    " row."
)
LABEL_COLUMN = "Column of the labels"
LABEL_COLUMN_HELP = "The true class of each row. A name can also be typed."
AS_FOUND = "as found"
AS_FOUND_AGAIN = "Read it as found again"
NOT_STATED = "not stated"
FIRST_LABEL = "Labels count from"
FIRST_LABEL_HELP = "The number of the first class in the labels."
HEADER = "First row holds"
HEADER_HELP = "Whether the first row of a text table names the columns."
SETS = "Sets"
SETS_HELP = (
    "Auto: a calibration and a test set, as a column or the parts of the file tell them apart. One:"
    " all rows are one set, which is split here at random."
)
CLASS_COLUMNS = "Columns of the classes"
CLASS_COLUMNS_HELP = (
    "In the order of the classes; or one column that holds the score of the second of two classes."
    " Empty: as found."
)
TAKE_COLUMNS = "Take these columns"
CLASS_NAMES = "Names of the classes"
CLASS_NAMES_HELP = (
    "In their order, one a line or separated by commas. Labels that are text are matched to them."
)
PREVALENCE = "True share where the model will be used (%)"
PREVALENCE_HELP = (
    "Of the second class, or of right predictions where only top-1 scores are there. It changes no"
    " number; Fractile warns where the rows differ from it."
)


def without_labels(columns: Sequence[str]) -> str:
    """Say that a file has no labels, or that one of some columns may hold them."""
    if not columns:
        return WITHOUT_LABELS
    listed = " or ".join(f'"{escape_markdown(visible(name, 40))}"' for name in columns)
    return (
        f"This file holds a table of values, and no column that is sure to hold their labels. If"
        f" {listed} does, choose it below under **{LABEL_COLUMN}**. Else add the file with"
        " the true labels beside it, in the panel on the left."
    )


def class_names_in(text: str) -> tuple[str, ...]:
    r"""Take the names of classes out of what was typed: lines, or parts between commas.

    Examples
    --------
    >>> class_names_in("ant, bee"), class_names_in("Bonn, old\nKiel")
    (('ant', 'bee'), ('Bonn, old', 'Kiel'))
    """
    parts = text.strip().splitlines() if "\n" in text.strip() else text.split(",")
    return tuple(part.strip() for part in parts if part.strip())


def as_found(name: str | None) -> str:
    """Say what is taken while nothing is chosen."""
    return AS_FOUND if name is None else f"{AS_FOUND}: {visible(name, 40)}"
