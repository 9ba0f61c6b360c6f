"""Files to start from: accepted formats, templates, and how programs write their own."""

from collections.abc import Mapping

from dashboard.wording.imports import MAX_UPLOAD, megabytes

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
        "pickles",
        "a dictionary of arrays, or the files of NN_calibration; no code in them is run",
        "p pkl pickle",
    ),
)


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
