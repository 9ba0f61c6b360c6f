"""Words of the page of decisions: cut-offs, costs, net benefit, and what is kept."""

from collections.abc import Sequence
from typing import NamedTuple

from calibcore.data import EventScores
from calibcore.decisions import AtCutoff, DecisionCurve
from calibcore.inference import Interval
from calibcore.selective import HeldAccuracy
from dashboard.wording.numbers import ci, percent, span
from dashboard.wording.rows import rows_of, says_rows

BY = "Cut-off"
WAYS = {"slider": "Set", "costs": "By costs"}
"""How the cut-off is chosen, by their words in the address."""

CUTOFF = "Cut-off (%)"
CUTOFF_HELP = "Rows with this score or a higher one are called."
ALARM, MISS = "Cost of a false alarm", "Cost of a missed event"
COSTS_HELP = (
    "In any one unit. With calibrated scores, calling pays from this cut-off on: cost of a false"
    " alarm / (cost of a false alarm + cost of a missed event)."
)
ACCURACY_WANTED = "Accuracy wanted (%)"
ACCURACY_HELP = "The lowest score is sought above which this share of predictions is correct."

STEPS = (
    "This calibrator gives many rows the same score, in steps; fitted on other rows, the steps lie"
    " elsewhere. So the counts after calibration are less certain than their intervals say: in"
    " simulated sets a 95% interval held the truth 76 to 89% of the time."
)

CURVE_CAPTION = (
    "Net benefit: events called, less false alarms weighted by the odds of the cut-off, per 100"
    " rows. A model is of use where its line is above both calling all rows and calling none."
)
KEPT_CAPTION = "Accuracy among the rows with the highest scores, by how many of them are kept."

CALLED, RIGHT, FOUND = "Called", "Events among the called", "Events called"
MISSED, IN_VAIN, SPARED = "Events missed", "False alarms", "Others not called"
BENEFIT = "Net benefit per 100 rows"
GROUPS, GROUP_BY, ALL_ROWS = "Subgroups at this cut-off", "Group by", "All rows"
GROUP_HEAD = ("Subgroup", CALLED, RIGHT, FOUND, MISSED, IN_VAIN)
FILE_HEAD = [
    "rows", "side", "cut-off", "n of these", "events", "called", "events called", "events missed",
    "false alarms",
]  # fmt: skip
ARROW, CI_NAME = " \u2192 ", "95% CI"


def usual_sentence(cutoff: float) -> str:
    """Return that a cut-off is the event's frequency, which nobody chose to act on."""
    return (
        f"A cut-off of {100 * cutoff:.3g}% is how often the event is, a place to start. Set the"
        " one to act on."
    )


def sentence(found: AtCutoff, name: str, *, side: str) -> str:
    """Return what calling by a cut-off comes to, for Markdown.

    Parameters
    ----------
    found : AtCutoff
        The counts.
    name : str
        Of the event; for Markdown.
    side : str
        "Before" or "After" calibration.
    """
    n = found.n_samples
    cutoff = f"{100 * found.cutoff:.3g}%"
    called = f"{found.called:,} of {rows_of(n)} ({percent(found.called / n, n)})"
    text = f"{side} calibration, a cut-off of {cutoff} calls {called}"
    if not found.called:
        return f"{text}, and misses all {found.n_events:,} events."
    right = percent(found.right / found.called, found.called)
    return (
        f"{text}. {name} holds for {right} of them; {found.missed:,} of {found.n_events:,} events"
        " are missed."
    )


class Cell(NamedTuple):
    """A count with its share.

    Parameters
    ----------
    text : str
        The count, or the share where there is no room for both.
    note : str
        In small letters, perhaps of several lines: share and interval; empty for none.
    """

    text: str
    note: str = ""


def counts_rows(sides: Sequence[AtCutoff]) -> list[tuple[str, list[Cell]]]:
    """Return the table: what is counted, and each side's count with its share."""
    return [
        (CALLED, [_counted(s.called, s.n_samples, s.share_called) for s in sides]),
        (RIGHT, [_counted(s.right, s.called, s.precision) for s in sides]),
        (FOUND, [_counted(s.right, s.n_events, s.sensitivity) for s in sides]),
        (MISSED, [Cell(f"{s.missed:,}") for s in sides]),
        (IN_VAIN, [Cell(f"{s.in_vain:,}") for s in sides]),
        (SPARED, [_counted(s.left_alone, s.n_samples - s.n_events, s.specificity) for s in sides]),
        (BENEFIT, [_benefit(s) for s in sides]),
    ]


def _counted(count: int, of: int, interval: Interval | None) -> Cell:
    share = _share(count, of, interval)
    return Cell(f"{count:,}", f"{share.text} of {of:,}\n{share.note}") if interval else share


def _share(count: int, of: int, interval: Interval | None) -> Cell:
    if interval is None:
        return Cell("\u2013")
    low, high = percent(interval.low, of), percent(interval.high, of)
    return Cell(percent(count / of, of), ci(low, high))


def _benefit(side: AtCutoff) -> Cell:
    if not side.n_events or side.cutoff in {0, 1}:
        return Cell("\u2013")
    most = side.n_events / side.n_samples
    return Cell(f"{100 * side.net_benefit:.1f}", f"{side.net_benefit / most:.0%} of the highest")


def group_cells(sides: Sequence[AtCutoff]) -> list[Cell]:
    """Return a subgroup's cells under `GROUP_HEAD`: before and after in one."""
    columns = (
        [_share(s.called, s.n_samples, s.share_called) for s in sides],
        [_share(s.right, s.called, s.precision) for s in sides],
        [_share(s.right, s.n_events, s.sensitivity) for s in sides],
        [Cell(f"{s.missed:,}") for s in sides],
        [Cell(f"{s.in_vain:,}") for s in sides],
    )
    return [
        Cell(ARROW.join(c.text for c in cells), ARROW.join(_ends(c.note) for c in cells if c.note))
        for cells in columns
    ]


def _ends(note: str) -> str:
    """Return an interval without its name, which stands below the table."""
    return note.removeprefix(CI_NAME).strip()


def groups_note(n_shown: int, n_groups: int) -> str:
    """Return what the table of subgroups holds."""
    shown = f"The {n_shown} largest of {n_groups:,} subgroups; the file has all. "
    return f"{shown if n_shown < n_groups else ''}Small print: 95% CI (Wilson)."


def file_lines(found: Sequence[tuple[str, str, AtCutoff]]) -> list[list[str | float]]:
    """Return the lines of the file under `FILE_HEAD`: of all rows and each subgroup, each side."""
    return [
        [name, side, s.cutoff, s.n_samples, s.n_events, s.called, s.right, s.missed, s.in_vain]
        for name, side, s in found
    ]


@says_rows
def use_sentence(found: DecisionCurve, *, side: str) -> str:
    """Return in which range of cut-offs a model is of use."""
    ranges = found.useful()
    if not ranges:
        return f"{side} calibration, no cut-off is better than calling all rows or none."
    widest = max(ranges, key=lambda ends: ends[1] - ends[0])
    text = f"{side} calibration, the model is of use for cut-offs of {_range(widest)}"
    clear = [one for one in found.useful(clearly=True) if one[1] > one[0]]
    if not clear:
        return f"{text}; nowhere clearly (95% CI)."
    sure = max(clear, key=lambda ends: ends[1] - ends[0])
    return f"{text}, clearly for {_range(sure)} (95% CI)."


def _range(ends: tuple[float, float]) -> str:
    return span(*(f"{100 * end:.3g}%" for end in ends))


@says_rows
def reference_sentence(found: AtCutoff) -> str:
    """Return what needs no model: calling all rows, none, and as many at random."""
    n, events = found.n_samples, found.n_events
    share = percent(events / n, n)
    chance = round(found.called * events / n)
    return (
        f"Without a model: calling all {n:,} rows makes {n - events:,} false alarms ({share} are"
        f" events), calling none misses {events:,} events, calling {found.called:,} rows at random"
        f" finds about {chance:,}."
    )


@says_rows
def kept_sentence(score: float, kept: int, right: int, n_samples: int) -> str:
    """Return what keeping the rows from a score on comes to."""
    share, accuracy = percent(kept / n_samples, n_samples), percent(right / kept, kept)
    return (
        f"Acting on scores of at least {100 * score:.3g}% keeps {kept:,} of {n_samples:,} rows"
        f" ({share}); {accuracy} of these predictions are correct."
    )


@says_rows
def held_sentence(held: HeldAccuracy) -> str:
    """Return what such a threshold holds on rows that had no part in its choice."""
    interval = held.accuracy
    if interval is None:
        return "On rows that had no part in the choice, nothing would be kept."
    low, high = percent(interval.low, held.kept), percent(interval.high, held.kept)
    accuracy = percent(held.right / held.kept, held.kept)
    return (
        f"On rows that had no part in the choice (cross-validation) it holds {accuracy}"
        f" ({ci(low, high)})."
    )


@says_rows
def all_rows_sentence(areas: Sequence[float], event: EventScores) -> str:
    """Return what keeping all rows gives, and the area above the curve, on each side."""
    n, area = event.n_samples, ARROW.join(f"{one:.4f}" for one in areas)
    return (
        f"Keeping all {n:,} rows: {percent(float(event.hits.mean()), n)} correct. Mean risk over"
        f" all shares kept (AURC): {area}; lower is better."
    )


def out_of_reach(wanted: float) -> str:
    """Return that no threshold reaches an accuracy."""
    return f"No score has {100 * wanted:.3g}% correct predictions above it."
