"""Words of the page of decisions: cut-offs, costs, net benefit, and what is kept."""

from collections.abc import Sequence

from calibcore.decisions import AtCutoff, DecisionCurve, HeldAccuracy
from calibcore.inference import Interval
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

CURVE_CAPTION = (
    "Net benefit: events called, less false alarms weighted by the odds of the cut-off, per 100"
    " rows. A model is of use where its line is above both calling all rows and calling none."
)
KEPT_CAPTION = "Accuracy among the rows with the highest scores, by how many of them are kept."
NO_CALLS = "No row is called at this cut-off."


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


def counts_rows(sides: Sequence[AtCutoff]) -> list[tuple[str, ...]]:
    """Return the table: what is counted, and each side's count with its share."""
    return [
        ("Called", *(_share(s.called, s.n_samples, s.share_called) for s in sides)),
        ("Events among the called", *(_share(s.right, s.called, s.precision) for s in sides)),
        ("Events called", *(_share(s.right, s.n_events, s.sensitivity) for s in sides)),
        ("Events missed", *(f"{s.missed:,}" for s in sides)),
        ("False alarms", *(f"{s.in_vain:,}" for s in sides)),
        (
            "Others not called",
            *(_share(s.left_alone, s.n_samples - s.n_events, s.specificity) for s in sides),
        ),
    ]


def _share(count: int, of: int, interval: Interval | None) -> str:
    if interval is None:
        return "\u2013"
    low, high = percent(interval.low, of), percent(interval.high, of)
    return f"{count:,} of {of:,}, {percent(count / of, of)} ({ci(low, high)})"


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
def reference_sentence(event_share: float, n_samples: int) -> str:
    """Return what calling all rows gives."""
    return f"Calling all rows would be right for {percent(event_share, n_samples)} of them."


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
def alone_sentence(accuracy: float, commonest: float, n_samples: int) -> str:
    """Return the accuracy of all rows, and what the commonest class alone would give."""
    return (
        f"All rows: accuracy {percent(accuracy, n_samples)}; the commonest class alone:"
        f" {percent(commonest, n_samples)}."
    )


def out_of_reach(wanted: float) -> str:
    """Return that no threshold reaches an accuracy."""
    return f"No score has {100 * wanted:.3g}% correct predictions above it."
