"""Subgroups of the rows: which of them are miscalibrated, and the table."""

from collections.abc import Sequence
from dataclasses import dataclass

from calibcore.subgroups import JointScreen, SubgroupScreen
from calibcore.verdict import DETECTION_LEVEL
from dashboard.readers import Upload
from dashboard.texts.badges import Badge, badge_since
from dashboard.texts.classes import shortened
from dashboard.texts.numbers import detected_points, escape_markdown, p_words, percent
from dashboard.texts.rows import rows, rows_of, say_rows, says_rows
from dashboard.texts.subgroups import PREDICTED, SCORES, TRUE, subgroup_name

BY = "Group by"
BY_HELP = (
    "Classes, ranges of the score, or a further column of the file. Numbers are cut into ranges"
    " at round values."
)
OPEN, OPEN_PLACE = "Filter all pages to", "Choose a subgroup"
OPEN_HELP = "Only subgroups with rows in both sets are listed."
ORDERS = {"after": "Worst after", "before": "Worst before"}
SUBGROUP = "Subgroup"
ALL_GROUPINGS = "All groupings together:"
NO_CLASSES = (
    "This file has one score per row and no class probabilities, so rows cannot be grouped by"
    " class."
)
NO_COLUMNS = "The file has no extra column to group by (e.g. hospital, age band)."
NOT_BY_TRUTH = (
    "Subgroups by true class are not tested: even perfectly calibrated scores look miscalibrated"
    " within a true class."
)


# The conclusion ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Wording:
    """How the conclusion is put."""

    after_first: bool
    """Whether the worst subgroup after calibration is meant."""
    prediction: bool
    """Whether scores are of a prediction, rather than of a class or a risk."""
    expert: bool
    """Whether p-values are named."""


def conclusion(
    screens: tuple[SubgroupScreen, SubgroupScreen | None],
    by: str,
    shown: Sequence[str],
    how: Wording,
) -> tuple[str, ...]:
    """Return which subgroup is worst, and how many are miscalibrated; a sentence each.

    ``screens``: before and after; after is None where nothing was fitted. ``by``, ``shown``: how
    the subgroups are called; the text is escaped here. ``how``: how it is put.
    """
    before, after = screens
    first = after if after is not None and how.after_first else before
    worst = int(first.order(DETECTION_LEVEL)[0])
    name = escape_markdown(subgroup_name(by, shortened(shown[worst])))
    n_tested = int(before.evaluated.sum())
    if not n_tested:
        return (_not_tested(before, worst, name),)
    # What is there now comes first.
    counts = [int(one.off(DETECTION_LEVEL).sum()) for one in (after, before) if one is not None]
    if not any(counts):
        which = "the only subgroup" if n_tested == 1 else f"any of {n_tested:,} subgroups"
        enough = f" with enough {rows()}" if n_tested == 1 else ""
        when = "" if after is None else ", before or after calibration"
        what = "mean gap" if isinstance(before, JointScreen) else "miscalibration"
        return (f"No {what} detected in {which}{enough}{when}.",)
    start = list[str]()
    if first.off(DETECTION_LEVEL)[worst]:
        side = "after" if first is not before else "before"
        when = "" if after is None else f" {side} calibration"
        size = _size(first, worst, prediction=how.prediction, expert=how.expert)
        start.append(f"Worst by {escape_markdown(by)}{when}: {name}, {size}.")
    adjusted = _adjusted(before, n_tested, expert=how.expert)
    return (*start, _counted(counts, n_tested, escape_markdown(by), adjusted))


def _size(screen: SubgroupScreen, k: int, *, prediction: bool, expert: bool) -> str:
    """Return what is found of a subgroup that is miscalibrated, and how large it is."""
    badge = badge_of(screen, k, prediction=prediction).in_sentence
    rows, p_value = int(screen.rows[k]), p_words(float(screen.adjusted[k]))
    if isinstance(screen, JointScreen):
        size = detected_points(abs(float(screen.mean_gap[k])), rows)
        evidence = f" ({p_value})" if expert else ""
        return f"{badge} by {size}{evidence}, {compared(screen, k)}"
    evidence = f" ({p_value}, Holm)" if expert else ""
    return f"{badge}, KS error {percent(float(screen.ks_error[k]), rows)}{evidence}"


@says_rows
def compared(screen: JointScreen, k: int) -> str:
    """Return how a miscalibrated subgroup compares with other rows of such scores."""
    if screen.adjusted[k] >= DETECTION_LEVEL:
        return "though no longer detected"
    return "more than the rest" if screen.differs[k] else "about as much as the rest"


def _adjusted(screen: SubgroupScreen, n_tested: int, *, expert: bool) -> str:
    """Return how many tests the findings are adjusted for."""
    if isinstance(screen, JointScreen):
        return f"adjusted for {screen.n_tests:,} subgroups of all columns"
    return f"Holm, {n_tested:,} tests" if expert else f"adjusted for {n_tested:,} tests"


@says_rows
def _counted(counts: Sequence[int], n_tested: int, by: str, adjusted: str) -> str:
    """Return how many subgroups are miscalibrated, on each side."""
    sides = zip(counts, (" after", " before") if len(counts) > 1 else ("",), strict=True)
    if n_tested == 1:
        lines = [
            f"{'miscalibrated' if count else 'no miscalibration detected'}{side}"
            for count, side in sides
        ]
        return f"The only subgroup with enough rows: {', '.join(lines)}."
    first, *then = [f"{f'{count:,}' if count else 'none'}{{of}}{side}" for count, side in sides]
    numbers = ", ".join(
        [first.format(of=f" of {n_tested:,}"), *(one.format(of="") for one in then)]
    )
    return f"Miscalibrated subgroups by {by}: {numbers} ({adjusted})."


def badge_of(screen: SubgroupScreen, k: int, *, prediction: bool) -> Badge:
    """Return what a subgroup's test comes to."""
    gap, error = float(screen.mean_gap[k]), float(screen.ks_error[k])
    if isinstance(screen, JointScreen):  # it is of the mean gap
        error = abs(gap)
    adjusted, left = float(screen.adjusted[k]), bool(screen.remains[k])
    return badge_since(gap, error, adjusted, remains=left, prediction=prediction)


def _not_tested(screen: SubgroupScreen, worst: int, name: str) -> str:
    """Return why no subgroup is tested: all are small, or they are made by the true class."""
    rows = int(screen.rows[worst])
    if rows < screen.least:
        return f"No subgroup has the {rows_of(screen.least)} that a test needs."
    if isinstance(screen, JointScreen):
        return f"{say_rows('All rows')} are in one subgroup, {name}, so none is tested."
    score, observed = (
        percent(float(value[worst]), rows) for value in (screen.mean_score, screen.frequency.share)
    )
    return f"Largest gap: {name}, mean score {score}, observed {observed}. {NOT_BY_TRUTH}"


# Beside the table -----------------------------------------------------------------------------


def about(screen: SubgroupScreen, *, expert: bool) -> str:
    """Return what the columns of the table are."""
    text = (
        "Mean gap: mean score minus observed frequency; above 0, scores are too high on average. KS"
        " error: largest cumulative gap."
    )
    if isinstance(screen, JointScreen):
        how = " (min-p over drawn labels)" if expert else ""
        return (
            f"{text} The mean gap is tested, as on Overview: findings are adjusted for"
            f" {screen.n_tests:,} subgroups of all columns{how}, and their 95% CIs hold for all"
            ' subgroups at once. "About as much as the rest": not shown to differ from other rows'
            " with such scores."
        )
    text += " Each 95% CI is of one subgroup by itself."
    n_tested = int(screen.evaluated.sum())
    if n_tested < 2:
        return text
    how = " (Holm; p-values from the Brownian limit or a Poisson tail)" if expert else ""
    return f"{text} Findings are adjusted for {n_tested:,} tests{how}."


@says_rows
def table_note(screen: SubgroupScreen, n_shown: int, *, by: str, worst_first: bool = True) -> str:
    """Return the order, what the small print is, and which subgroups are not tested."""
    at_once = " (all subgroups at once)" if isinstance(screen, JointScreen) else ""
    lines = ["Worst first."] if worst_first else []
    lines.append(f"Small print: 95% CI{at_once} and finding.")
    if isinstance(screen, JointScreen):
        lines.append(
            "Only the mean gap is tested: scores right on average may still be too extreme."
        )
    small = int(((screen.rows > 0) & (screen.rows < screen.least)).sum())
    if small:
        which = "1 subgroup" if small == 1 else f"{small:,} subgroups"
        verb = "is" if small == 1 else "are"
        lines.append(f"{which} with fewer than {screen.least} rows {verb} shown but not tested.")
    empty = screen.n_subgroups - n_shown
    if empty:
        lines.append(f"{'1 subgroup has' if empty == 1 else f'{empty:,} subgroups have'} no rows.")
    if by in SCORES:
        lines.append("Ranges are of the score before calibration.")
    return " ".join(lines)


def dots_caption(screen: SubgroupScreen, after: SubgroupScreen | None) -> str:
    """Return what the dots show here."""
    filled = screen.rows > 0
    was, now = (
        int(((one.gap_low <= 0) & (one.gap_high >= 0))[filled].sum())
        for one in (screen, screen if after is None else after)
    )
    when = "" if after is None else f" after calibration, {was:,} before"
    return f"Mean gap with 95% CI. {now:,} of {filled.sum():,} intervals include 0{when}."


def worst_caption(shown: Sequence[str], screen: SubgroupScreen) -> str:
    """Return which period is marked in the picture of all periods; empty for none."""
    worst = screen.widest
    return "" if worst is None else f"Ringed: {escape_markdown(shown[worst])}, the largest gap."


def missing(upload: Upload, by: str) -> list[str]:
    """Return what rows cannot be grouped by, and why."""
    if upload.summary is not None:
        return []
    reasons = [NO_CLASSES] if upload.class_names is None else []
    if not any(upload.columns.values()) and by not in {
        PREDICTED,
        TRUE,
    }:
        reasons.append(NO_COLUMNS)
    return reasons
