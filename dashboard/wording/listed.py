"""Rows of a range of scores, most confident mistakes first."""

import math
from collections.abc import Iterable

from calibcore.binning import BinTable
from calibcore.evaluation import SetResult
from calibcore.events import TopR
from dashboard.readers.contents import Contents
from dashboard.settings import ChosenEvent
from dashboard.wording.numbers import MINUS, is_whole, percent
from dashboard.wording.sentences import across_half

HIT, BEFORE, AFTER = "Came true", "Score before", "After"
CAME_TRUE = {True: "\u2713 yes", False: "\u2717 no"}
RANGE = "Scores from, to (%)"
DOWNLOAD = "Download these rows (CSV)"


def missed(event: ChosenEvent) -> str:
    """Name the rows for which the event did not happen."""
    return "mistakes" if event == TopR(1) else "rows where it did not come true"


def missed_sign(event: ChosenEvent) -> str:
    """Say of a row that the event did not happen for it, where there is little room."""
    return "wrong" if event == TopR(1) else "did not come true"


def heading(event: ChosenEvent) -> str:
    """Head the list of rows."""
    return f"Rows by score, {_first(event)}"


def _first(event: ChosenEvent) -> str:
    """Say which rows come first."""
    mistakes = "most confident mistakes" if event == TopR(1) else "highest that did not come true"
    return f"{mistakes} first"


def range_sentence(between: tuple[int, int], n_rows: int, n_misses: int, event: ChosenEvent) -> str:
    """Say how many rows are in a range of scores, and how many of them were wrong."""
    scored = f"scored {between[0]} to {between[1]}%"
    if n_rows == 0:
        return f"No row is {scored}. Widen the range."
    rows = "1 row is" if n_rows == 1 else f"{n_rows:,} rows are"
    share = percent(n_misses / n_rows, n_rows)
    return f"{rows} {scored}; {n_misses:,} of them ({share}) are {missed(event)}."


def list_head(columns: Iterable[str], *, classes: bool, hits: bool) -> list[str]:
    """Name the columns of the list of rows."""
    named = [*(("True", "Predicted") if classes else ()), *((HIT,) if hits else ())]
    return ["Row", *named, BEFORE, AFTER, *columns]


def list_note(n_listed: int, n_rows: int, event: ChosenEvent, numbered: str) -> str:
    """Say which rows the list holds, and how they are numbered."""
    cut = f"The first {n_listed:,} of {n_rows:,}" if n_listed < n_rows else f"All {n_listed:,}"
    return f"{cut} rows, {_first(event)}. {numbered}"


def decided_note(judged: SetResult) -> str:
    """Say what predicted classes are taken from, where calibration speaks against some."""
    text = "Predicted: by the scores before calibration"
    if judged.past_half:
        of = f"of all {judged.n_samples:,} rows judged"
        return f"{text}; {of}, {across_half(judged.past_half)}."
    changed = judged.changed_decisions
    return f"{text}; {changed:,} decisions change." if changed else ""


def numbered(contents: Contents, where: str) -> str:
    """Say how rows are numbered: as the preview and the refusals of their file number them."""
    if any(raw.first_row > 1 for raw in contents.sets.values()):
        return "Rows are numbered from the top of the file, as an editor and a spreadsheet do."
    place = "the file" if "rows" in contents.sets else f"the {where}"
    return f"Rows are numbered as in {place}, from 1."


def score(value: float) -> str:
    """Write the score of one row."""
    return f"{100 * value:.2f}%"


def histogram_caption(bins: BinTable, event: ChosenEvent) -> str:
    """Say what the histogram of scores shows."""
    fullest = int(bins.counts.argmax())
    share = bins.counts[fullest] / bins.counts.sum()
    between = f"{100 * bins.edges[fullest]:.1f} to {100 * bins.edges[fullest + 1]:.1f}%"
    return (
        f"Fullest: scores {between}, with {100 * share:.1f}% of the rows. Hatched:"
        f" {missed(event)}. Grey ground: the range that is listed, where it is a part."
    )


def number(value: float) -> str:
    """Write a number of the file: whole in full, else with six digits; nothing for a blank one.

    Examples
    --------
    >>> number(1234567.0), number(-0.12345678), number(float("nan"))
    ('1234567', '\u22120.123457', '')
    """
    text = f"{value:.0f}" if is_whole(value) else f"{value:.6g}"
    return "" if math.isnan(value) else text.replace("-", MINUS)
