"""Rows of a range of scores, most confident mistakes first."""

import math
from collections.abc import Iterable

from calibcore.binning import BinTable
from calibcore.evaluation import SetResult
from dashboard.readers.records import Contents
from dashboard.texts.events import EventWords
from dashboard.texts.numbers import MINUS, escape_markdown, is_whole, percent, span
from dashboard.texts.rows import rows, rows_of, says_rows
from dashboard.texts.verdict import across_half

AFTER_SCORE = "after calibration"
HIT, BEFORE, AFTER = "Outcome", "Score before", "Score after"
CAME_TRUE = {True: "\u2713 yes", False: "\u2717 no"}
RANGE = "Score range (%)"
DOWNLOAD = "Download rows (CSV)"
HEADING = "Individual rows"


ORDERS: dict[str, str] = {
    "errors": "Largest errors first",
    "scores": "Highest score first",
    "file": "As in the file",
}
ORDER = "Order"
HOW = "Click a bin of the reliability diagram, or set a range of scores, to list what is in it."


def range_sentence(
    between: tuple[float, float], n_rows: int, n_misses: int, event: EventWords, when: str = ""
) -> str:
    """Return how many rows are in a range of scores, and how many are wrong, for Markdown.

    ``between``: the range, in percent. ``n_rows``, ``n_misses``: rows in it, and those whose
    outcome is not the event. ``event``: how the event is called. ``when``: which score it is, where
    that has to be said.
    """
    low, high = (f"{end:.1f}".removesuffix(".0") for end in between)
    scores = f"{span(f'{low}%', f'{high}%')}{f' {when}' if when else ''}"
    if n_rows == 0:
        return f"No {rows()} with a score of {scores}. Widen the range."
    share = percent(n_misses / n_rows, n_rows)
    return (
        f"{rows_of(n_rows)} with a score of {scores}, {n_misses:,} ({share})"
        f" {escape_markdown(event.missed)}."
    )


def list_head(
    columns: Iterable[str], *, classes: bool, hit: str, names: Iterable[str] = ()
) -> list[str]:
    """Return the names of the columns of the list of rows; of the outcome where it has one."""
    named = [*(("True", "Predicted") if classes else ()), *((hit,) if hit else ())]
    return ["Row", *names, *named, BEFORE, AFTER, *columns]


def list_note(
    shown: tuple[int, int], n_rows: int, event: EventWords, numbered: str, order: str = "errors"
) -> str:
    """Return which rows the list holds, and how they are numbered, for Markdown.

    ``shown`` is the place of the first one, from 0, and how many are shown.
    """
    start, n_shown = shown
    part = f"{start + 1:,}\u2013{start + n_shown:,} of {n_rows:,}"
    cut = part if n_shown < n_rows else f"All {n_rows:,}"
    how = ORDERS[order].lower()
    if order == "errors":
        how = "most confident mistakes" if event.top else f"highest scores {event.missed}"
        how = f"{escape_markdown(how)} first"
    return f"{cut} {rows()}, {how}. {numbered}"


@says_rows
def decided_note(evaluated: SetResult) -> str:
    """Return where predicted classes come from, where calibration changes some."""
    text = "Predicted classes are those before calibration"
    if evaluated.past_half:
        return f"{text}. In all {evaluated.n_samples:,} rows, {across_half(evaluated.past_half)}."
    changed = evaluated.changed_decisions
    return f"{text}. Calibration changes {changed:,} of them." if changed else ""


@says_rows
def numbered(contents: Contents, where: str) -> str:
    """Return how rows are numbered: as the preview and the refusals of their file number them."""
    if any(raw.first_row > 1 for raw in contents.sets.values()):
        return "Rows are numbered from the top of the file, as in an editor or a spreadsheet."
    place = "the file" if "rows" in contents.sets else f"the {where}"
    return f"Rows are numbered as in {place}, from 1."


def score(value: float) -> str:
    """Return the score of one row as it is written."""
    return f"{100 * value:.2f}%"


def histogram_caption(bins: BinTable, event: EventWords) -> str:
    """Return what the histogram of scores shows, for Markdown."""
    fullest = int(bins.counts.argmax())
    share = bins.counts[fullest] / bins.counts.sum()
    between = span(*(f"{100 * bins.edges[fullest + end]:.1f}%" for end in (0, 1)))
    return (
        f"Largest bin: {between}, {100 * share:.1f}% of the {rows()}. Hatched:"
        f" {escape_markdown(event.missed)}. Grey: listed range."
    )


def number(value: float) -> str:
    """Return a number of the file: whole in full, else with six digits; nothing for a blank one."""
    text = f"{value:.0f}" if is_whole(value) else f"{value:.6g}"
    return "" if math.isnan(value) else text.replace("-", MINUS)
