"""Words of the page of decisions: cut-offs, costs, net benefit, and what is kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from calibcore.data import EventScores
from calibcore.decisions import AtCutoff, DecisionCurve
from calibcore.inference import Interval
from calibcore.selective import GroupAccuracies, OutOfFoldAccuracy, RiskCoverage
from calibcore.verdict import DETECTION_LEVEL
from calibcore.weights import row_mean
from dashboard.document.blocks import Cell
from dashboard.texts.classes import shortened
from dashboard.texts.numbers import ARROW, MINUS, ci, escape_markdown, percent, span, with_sign
from dashboard.texts.rows import rows_of, says_rows
from dashboard.texts.subgroups import subgroup_name

BY = "Cut-off"
WAYS = {"slider": "Set", "costs": "By costs"}
"""How the cut-off is chosen, by their words in the address."""

CUTOFF = "Cut-off (%)"
CUTOFF_HELP = "Rows with this score or a higher one are flagged."
ALARM, MISS = "Cost of a false alarm", "Cost of a missed event"
COSTS_HELP = (
    "In any one unit. With calibrated scores, flagging pays from this cut-off on: cost of a false"
    " alarm / (cost of a false alarm + cost of a missed event)."
)
MORE, TEST_HARM = "More", "Test harm per 100 rows"
TEST_HARM_HELP = (
    "What it costs to have 100 scores, in events flagged: 1 if one would score 100 rows to find one"
    " event, 0 if scores are to hand. It is taken off the model's net benefit."
)
ACCURACY_WANTED = "Accuracy wanted (%)"
USUAL_ACCURACY = 95.0
ACCURACY_HELP = "The lowest score is sought above which this share of predictions is correct."

WEIGHTED = "Rows are counted by their weights, scaled to a mean of 1."
STEPS = (
    "This calibrator gives many rows the same score, in steps; fitted on other rows, the steps lie"
    " elsewhere. So the counts after calibration are less certain than their intervals say: in"
    " simulated sets a 95% interval held the truth 76 to 89% of the time."
)

CURVE_CAPTION = (
    "Net benefit: events flagged, less false alarms weighted by the odds of the cut-off, per 100"
    " rows. A model is of use where its line is above both flagging all rows and flagging none;"
    " where it leaves the picture below, acting on its scores does more harm than flagging none."
)
COVERAGE_CAPTION = (
    "Accuracy among the rows with the highest scores, by how many of them are kept. The others get"
    " no decision by the model: a person or another test decides them."
)

CALLED, RIGHT, EVENTS_FLAGGED = "Flagged", "Of flagged: had the event", "Of events: flagged"
MISSED, IN_VAIN, SPARED = "Events missed", "False alarms", "Others not flagged"
BENEFIT, COST = "Net benefit per 100 rows", "Total cost"
GROUP_PLACE = "Choose a grouping"
GROUPS, GROUP_BY, ALL_ROWS = "Subgroups at this cut-off", "Group by", "All rows"
GROUP_HEAD = ("Subgroup", CALLED, RIGHT, EVENTS_FLAGGED, MISSED, IN_VAIN)
FILE_HEAD = [
    "rows", "side", "cut-off", "n of these", "events", "flagged", "events flagged",
    "events missed",
    "false alarms",
]  # fmt: skip
CI_NAME = "95% CI"


def usual_sentence(cutoff: float) -> str:
    """Return that a cut-off is the event's frequency, which nobody chose to act on."""
    return (
        f"A cut-off of {100 * cutoff:.3g}% is how often the event is, a place to start. Set the"
        " one to act on."
    )


def sentence(counts: AtCutoff, *, side: str) -> str:
    """Return what flagging by a cut-off comes to, for Markdown.

    ``counts``: what is counted. ``side``: "Before" or "After" calibration.
    """
    n = counts.n_samples
    cutoff = f"{100 * counts.cutoff:.3g}%"
    called = f"{counts.called:,.0f} of {rows_of(n)} ({percent(counts.called / n, n)})"
    text = f"{side} calibration, at a cut-off of {cutoff}, {called} are flagged"
    if not counts.called:
        return f"{text}, and all {counts.n_events:,.0f} events missed."
    right = percent(counts.right / counts.called, counts.called)
    return (
        f"{text}; {right} of them have the event. {counts.missed:,.0f} of {counts.n_events:,.0f}"
        " events are missed."
    )


def counts_rows(
    sides: Sequence[AtCutoff], costs: tuple[float, float] | None = None, harm: float = 0.0
) -> list[tuple[str, list[Cell]]]:
    """Return the table: what is counted, and each side's count with its share.

    With the costs of a false alarm and of a missed event, where these were given, also the total.
    ``harm``: of the test, a row, which is taken off the net benefit.
    """
    total = [] if costs is None else [(COST, [Cell(_cost(s.cost(*costs).acting)) for s in sides])]
    return [
        (CALLED, [_counted(s.called, s.n_samples, s.share_called) for s in sides]),
        (RIGHT, [_counted(s.right, s.called, s.precision) for s in sides]),
        (EVENTS_FLAGGED, [_counted(s.right, s.n_events, s.sensitivity) for s in sides]),
        (MISSED, [Cell(f"{s.missed:,.0f}") for s in sides]),
        (IN_VAIN, [Cell(f"{s.in_vain:,.0f}") for s in sides]),
        (SPARED, [_counted(s.left_alone, s.n_samples - s.n_events, s.specificity) for s in sides]),
        (BENEFIT, [_benefit(s, harm) for s in sides]),
        *total,
    ]


def _cost(value: float) -> str:
    return f"{value:,.2f}".removesuffix(".00")


def cost_sentence(sides: Mapping[str, AtCutoff], costs: tuple[float, float]) -> str:
    """Return what acting costs in all, against flagging none and all.

    ``sides``: the counts "Before" and "After" calibration. ``costs``: of a false alarm, and of a
    missed event.
    """
    totals = {side: at.cost(*costs) for side, at in sides.items()}
    amounts = " and ".join(f"{_cost(one.acting)} {side.lower()}" for side, one in totals.items())
    *_, last = totals.values()
    least = min(last.nobody, last.everybody)
    cheaper = "none" if last.nobody <= last.everybody else "all"
    change = least - last.acting
    text = (
        f"Total cost at this cut-off: {amounts} calibration. Flagging none would cost"
        f" {_cost(last.nobody)}, flagging all {_cost(last.everybody)}"
    )
    share = f" ({abs(change) / least:.0%})" if least else ""
    when = f"{[*sides][-1].lower()} calibration, the scores"
    if change < 0:
        return f"{text}; {when} cost {_cost(-change)}{share} more than flagging {cheaper}."
    saved = f"{_cost(change)}{share}" if change else "nothing"
    return f"{text}; {when} save {saved} against flagging {cheaper}."


def as_many_sentence(own: AtCutoff, calibrated: AtCutoff, before: AtCutoff) -> str:
    """Return the cut-off in the file's own scores that flags as many, and what that comes to.

    ``own``: by the file's own scores, at that cut-off. ``calibrated``: by calibrated ones, at
    theirs. ``before``: by the file's own scores, at the cut-off of the calibrated ones.
    """
    right = percent(own.right / own.called, own.called)
    fewer = round(calibrated.missed - own.missed)
    beside = f", {abs(fewer):,} {'fewer' if fewer > 0 else 'more'} than by calibrated scores"
    return (
        f"This cut-off is of calibrated scores. In the file's own scores (before calibration), a"
        f" cut-off of {100 * own.cutoff:.3g}% flags as many: {rows_of(own.called)}; {right}"
        f" of them have the event, {own.missed:,.0f} of {own.n_events:,.0f} events are missed"
        f"{beside if fewer else ''}. At {100 * calibrated.cutoff:.3g}% they flag"
        f" {before.called:,.0f} and miss {before.missed:,.0f}."
    )


def _counted(count: float, of: float, interval: Interval | None) -> Cell:
    share = _share(count, of, interval)
    return Cell(f"{count:,.0f}", f"{share.shown} of {of:,.0f}\n{share.note}") if interval else share


def _share(count: float, of: float, interval: Interval | None) -> Cell:
    if interval is None:
        return Cell("\u2013")
    low, high = percent(interval.low, of), percent(interval.high, of)
    return Cell(percent(count / of, of), ci(low, high))


def _benefit(side: AtCutoff, harm: float) -> Cell:
    if not side.n_events or side.cutoff in {0, 1}:
        return Cell("\u2013")
    most, benefit = side.n_events / side.n_samples, side.net_benefit - harm
    shown, note = f"{100 * benefit:.2f}", f"{benefit / most:.0%} of the most possible"
    return Cell(shown.replace("-", MINUS), note.replace("-", MINUS))


def group_cells(sides: Sequence[AtCutoff]) -> list[Cell]:
    """Return a subgroup's cells under `GROUP_HEAD`, each with what it was before."""
    columns = (
        [_share(s.called, s.n_samples, s.share_called) for s in sides],
        [_share(s.right, s.called, s.precision) for s in sides],
        [_share(s.right, s.n_events, s.sensitivity) for s in sides],
        [Cell(f"{s.missed:,.0f}") for s in sides],
        [Cell(f"{s.in_vain:,.0f}") for s in sides],
    )
    # The name of the intervals stands below the table.
    short = [
        [replace(one, note=one.note.removeprefix(CI_NAME).strip()) for one in cells]
        for cells in columns
    ]
    return [replace(cells[-1], before=cells[0] if cells[1:] else None) for cells in short]


def groups_note(n_shown: int, n_groups: int) -> str:
    """Return what the table of subgroups holds."""
    shown = f"The {n_shown} largest of {n_groups:,} subgroups; the file has all. "
    return f"{shown if n_shown < n_groups else ''}Small print: 95% CI (Wilson)."


def file_lines(groups: Sequence[tuple[str, str, AtCutoff]]) -> list[list[str | float]]:
    """Return the lines of the file under `FILE_HEAD`: of all rows and each subgroup, each side."""
    return [
        [name, side, s.cutoff, s.n_samples, s.n_events, s.called, s.right, s.missed, s.in_vain]
        for name, side, s in groups
    ]


@says_rows
def use_sentence(curve: DecisionCurve, *, side: str) -> str:
    """Return in which range of cut-offs a model is of use."""
    ranges = curve.useful()
    if not ranges:
        return f"{side} calibration, no cut-off is better than flagging all rows or none."
    widest = max(ranges, key=lambda ends: ends[1] - ends[0])
    text = f"{side} calibration, the model is of use for cut-offs of {_range(widest)}"
    clear = [one for one in curve.useful(clearly=True) if one[1] > one[0]]
    if not clear:
        return f"{text}; nowhere clearly (95% CI)."
    sure = max(clear, key=lambda ends: ends[1] - ends[0])
    return f"{text}, clearly for {_range(sure)} (95% CI)."


def _range(ends: tuple[float, float]) -> str:
    return span(*(f"{100 * end:.3g}%" for end in ends))


@says_rows
def change_sentence(change: float, interval: Interval) -> str:
    """Return by how much calibration changes the net benefit, and whether luck can explain it."""
    if change == 0 == interval.low == interval.high:
        return "Calibration changes no decision at this cut-off."
    size, low, high = (with_sign(100 * one) for one in (change, interval.low, interval.high))
    luck = "which luck can explain" if interval.low <= 0 <= interval.high else "more than by luck"
    return f"Calibration changes the net benefit by {size} per 100 rows ({ci(low, high)}), {luck}."


@says_rows
def harm_sentence(harm: float) -> str:
    """Return what is taken off for having the scores. ``harm``: a row."""
    return (
        f"A test harm of {100 * harm:.4g} per 100 rows is taken off the model's net benefit;"
        " flagging all or none needs no scores."
    )


@says_rows
def reference_sentence(cutoff: AtCutoff) -> str:
    """Return what needs no model: flagging all rows, none, and as many at random."""
    n, events = cutoff.n_samples, cutoff.n_events
    share = percent(events / n, n)
    chance = round(cutoff.called * events / n)
    return (
        f"Without a model: flagging all {n:,.0f} rows makes {n - events:,.0f} false alarms"
        f" ({share} are events), flagging none misses {events:,.0f} events, flagging"
        f" {cutoff.called:,.0f} rows at random finds about {chance:,}."
    )


@dataclass(frozen=True, eq=False)
class Selection:
    """The threshold in one side's scores for an accuracy, and what it holds."""

    curve: RiskCoverage
    """The accuracy by what is kept."""
    at: AtCutoff | None
    """Rows that are kept, and right ones among them; None where no score reaches the accuracy."""
    elsewhere: OutOfFoldAccuracy
    """The same on rows that had no part in the choice."""
    groups: GroupAccuracies | None = None
    """The same in every subgroup; None where `at` is."""
    names: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """What each grouping is by, and what its groups are called; text of the file."""
    mistaken: AtCutoff | None = None
    """Before calibration, what the threshold of the calibrated scores would keep."""


def selection_lines(sides: Sequence[Selection], wanted: float) -> list[str]:
    """Return what a threshold for an accuracy holds, for Markdown: first in the scores in use.

    ``sides``: before and, where a calibrator is in use, after. ``wanted``: accuracy.
    """
    *own, last = sides
    lines = [out_of_reach(wanted, calibrated=bool(own))]
    if last.at is not None:
        lines = [selection_sentence(last.at, calibrated=bool(own)), _holds(last, wanted)]
    for one in own:
        own_sentences = [out_of_reach(wanted, calibrated=False)]
        if one.at is not None:
            own_sentences = [own_sentence(one.at), _holds(one, wanted)]
        if last.at is not None and one.mistaken is not None and one.mistaken.called:
            own_sentences.append(mistaken_sentence(one.mistaken))
        lines.append(" ".join(own_sentences))
    return lines


def _holds(one: Selection, wanted: float) -> str:
    text = "" if one.groups is None else groups_sentence(one.groups, one.names, wanted)
    return f"{elsewhere_sentence(one.elsewhere)} {text}".strip()


@says_rows
def selection_sentence(at: AtCutoff, *, calibrated: bool) -> str:
    """Return what keeping the rows from a score on comes to."""
    n, called = at.n_samples, at.called
    share, accuracy = percent(called / n, n), percent(at.right / called, called)
    rows = f"{called:,.0f} of {n:,.0f} rows ({share})"
    return (
        f"Acting on {'calibrated ' if calibrated else ''}scores of at least"
        f" {100 * at.cutoff:.3g}% keeps {rows}; {accuracy} of these predictions are correct."
    )


@says_rows
def own_sentence(at: AtCutoff) -> str:
    """Return the threshold in the file's own scores, and what it keeps."""
    n, right = at.n_samples, percent(at.right / at.called, at.called)
    rows = f"{at.called:,.0f} of {n:,.0f} rows ({percent(at.called / n, n)})"
    return (
        f"In the file's own scores (before calibration) the threshold is {100 * at.cutoff:.3g}%: it"
        f" keeps {rows}, {right} correct."
    )


def mistaken_sentence(at: AtCutoff) -> str:
    """Return what the threshold of calibrated scores would hold in the file's own."""
    right = percent(at.right / at.called, at.called)
    return (
        f"The threshold of calibrated scores does not hold here: of the file's own scores of at"
        f" least {100 * at.cutoff:.3g}%, {right} are correct."
    )


@says_rows
def elsewhere_sentence(elsewhere: OutOfFoldAccuracy) -> str:
    """Return what such a threshold holds on rows that had no part in its choice."""
    interval = elsewhere.accuracy
    if interval is None:
        return "On rows that had no part in the choice, nothing would be kept."
    low, high = percent(interval.low, elsewhere.rows), percent(interval.high, elsewhere.rows)
    accuracy = percent(elsewhere.right / elsewhere.rows, elsewhere.rows)
    return (
        f"On rows that had no part in the choice (cross-validation) it holds {accuracy}"
        f" ({ci(low, high)})."
    )


def groups_sentence(
    groups: GroupAccuracies, names: Sequence[tuple[str, Sequence[str]]], wanted: float
) -> str:
    """Return which subgroups of the kept rows have fewer correct than wanted, the worst by name.

    ``groups``: every subgroup. ``names``: what each grouping is by, and what its groups are called;
    escaped here, for Markdown. ``wanted``: accuracy.
    """
    n_groups, aim, below = groups.rows.size, f"{100 * wanted:.3g}%", groups.below(DETECTION_LEVEL)
    if not n_groups:
        return ""
    adjusted = f"adjusted for {n_groups:,} subgroup{'s' * (n_groups > 1)}"
    if not below.size:
        return f"No subgroup of them is shown to be below {aim} ({adjusted})."
    worst, more = int(below[0]), below.size - 1
    by, shown = names[int(groups.grouping[worst])]
    name = escape_markdown(subgroup_name(by, shortened(shown[int(groups.place[worst])])))
    number, interval = float(groups.rows[worst]), groups.accuracy(worst)
    right = percent(float(groups.right[worst]) / number, number)
    ends = ci(percent(interval.low, number), percent(interval.high, number))
    other = f"; {more:,} other subgroup{'s' * (more > 1)} too" if more else ""
    return (
        f"**Not in every subgroup: of {name}, {right} of {rows_of(number)} are correct** ({ends}),"
        f" below {aim}{other} ({adjusted})."
    )


@says_rows
def all_rows_sentence(areas: Sequence[float], event: EventScores) -> str:
    """Return what keeping all rows gives, and the area above the curve, on each side."""
    n, area = event.n_samples, ARROW.join(f"{one:.4f}" for one in areas)
    right = percent(row_mean(event.hits, event.weights), n)
    return (
        f"Keeping all {n:,} rows: {right} correct. Mean risk over"
        f" all shares kept (AURC): {area}; lower is better."
    )


def out_of_reach(wanted: float, *, calibrated: bool) -> str:
    """Return that no threshold reaches an accuracy."""
    which = "calibrated score" if calibrated else "score"
    return f"No {which} has {100 * wanted:.3g}% correct predictions above it."
