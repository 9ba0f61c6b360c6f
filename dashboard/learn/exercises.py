"""Exercises for pencil and paper, drawn by a seed; their solutions are computed."""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape

import numpy as np

from calibcore.binning import bin_scores
from calibcore.cumulative import cumulative_curves
from calibcore.data import EventScores
from calibcore.decisions import at_cutoff, cutoff_of_costs
from calibcore.events import OneClass, TopR, WithinTopR
from calibcore.metrics import ece, event_brier, event_nll, observed_expected_ratio
from calibcore.probabilities import softmax
from calibcore.selective import risk_coverage
from calibcore.synthetic import LogOddsCurve
from calibcore.synthetic.world import at_other_odds
from calibcore.validation import Floats
from dashboard.document.style import STYLE
from dashboard.learn.binomial import chances_of, share_within, usual_range
from dashboard.texts import learn as words
from dashboard.texts.numbers import MINUS, with_sign

Row = tuple[str, ...]


@dataclass(frozen=True)
class Exercise:
    """One exercise."""

    lesson: str
    """Key of the lesson that it belongs to."""
    task: str
    """What is to be found, plain text."""
    table: tuple[Row, ...]
    """The data, the first row its head; empty for none."""
    solution: tuple[str, ...]
    """Lines of plain text, with the intermediate steps."""


def exercises(seed: int) -> tuple[Exercise, ...]:
    """Draw the exercises of a seed.

    ``seed``: the same seed gives the same exercises, on any machine.
    """
    kinds = (
        _people, _bins, _totals, _ratio, _slope, _temperature, _useful, _events, _groups,
        _prevalence, _cutoff, _benefit, _abstaining,
    )  # fmt: skip
    return tuple(_drawn(make, seed) for make in kinds)


def _drawn(make: Callable[[np.random.Generator], Exercise], seed: int) -> Exercise:
    words = (seed, *make.__name__.encode())
    return make(np.random.default_rng(np.random.SeedSequence(words)))


def _rows(rng: np.random.Generator, n: int = 10) -> EventScores:
    """Draw rows whose scores have one decimal, none alike, both outcomes among them."""
    while True:
        scores = np.sort(rng.choice(np.arange(5, 100, 5), n, replace=False)) / 100
        hits = rng.random(n) < 0.25 + 0.5 * scores
        if 2 < hits.sum() < n - 2:
            return EventScores(scores, hits)


def _table(rows: EventScores, digits: int = 2) -> tuple[Row, ...]:
    pairs = zip(rows.scores, rows.hits, strict=True)
    return (("Score", "Outcome"), *((f"{s:.{digits}f}", str(int(h))) for s, h in pairs))


def _people(rng: np.random.Generator) -> Exercise:
    n, percent = int(rng.choice([20, 30, 50])), int(rng.choice([60, 70, 80, 90]))
    chances = chances_of(percent / 100, n)
    low, high = usual_range(chances)
    return Exercise(
        "eighty",
        f"A well-calibrated model gives each of {n} people a risk of {percent}%. How many have the"
        " event on average? Between which two counts do at least 95% of such groups lie, with at"
        " most 2.5% on either side (binomial distribution)? How many exactly?",
        (),
        (
            (
                f"On average {n * percent / 100:g}; {low} to {high} in {share_within(chances)} of"
                " groups. Counts are whole, so it cannot be exactly 95%."
            ),
        ),
    )


def _bins(rng: np.random.Generator) -> Exercise:
    rows = _rows(rng)
    table = bin_scores(rows.scores, rows.hits, n_bins=2)
    steps = [
        f"Bin {k + 1}: {table.counts[k]} rows, mean score {table.mean_score[k]:.3f}, observed"
        f" frequency {table.frequency[k]:.3f}, gap {with_sign(float(table.gap[k]), 3)}."
        for k in range(2)
    ]
    weights = " + ".join(
        f"{table.counts[k]}/{rows.n_samples} \u00d7 {abs(table.gap[k]):.3f}" for k in range(2)
    )
    error = ece(rows.scores, rows.hits, n_bins=2)
    return Exercise(
        "bins",
        "Put the rows into two bins, scores up to 0.5 and above it. Find mean score and observed"
        " frequency of each, and the ECE.",
        _table(rows),
        (*steps, f"ECE = {weights} = {error:.3f}."),
    )


def _totals(rng: np.random.Generator) -> Exercise:
    rows = _rows(rng)
    curves = cumulative_curves(rows.scores, rows.hits)
    gaps = ", ".join(with_sign(float(gap), 3) for gap in curves.gap[1:])
    place = curves.ks_index
    return Exercise(
        "ks",
        "The rows are sorted by score. Add up score minus outcome from the top, divided by the"
        " number of rows. Where is the largest gap, and how large is the KS error?",
        _table(rows),
        (
            f"Gaps after each row: {gaps}.",
            f"KS error = {curves.ks_error:.3f}, after row {place} of {rows.n_samples}.",
        ),
    )


def _ratio(rng: np.random.Generator) -> Exercise:
    rows = _rows(rng)
    ratio = observed_expected_ratio(rows.scores, rows.hits)
    expected, observed = float(rows.scores.sum()), int(rows.hits.sum())
    spread = float(np.sqrt((rows.scores * (1 - rows.scores)).sum()))
    by_luck = abs(observed - expected) < 2 * spread
    luck = "it may be luck" if by_luck else "luck is rarely so large"
    verdict = f"the risks are {'too high' if ratio < 1 else 'too low'}"
    if by_luck:
        verdict = "with so few, this cannot be told from 1"
    return Exercise(
        "large",
        "How many events does the model expect in these patients, and how many happened? Find O/E."
        " Are its risks too high or too low in total? May this be luck?",
        _table(rows),
        (
            f"Expected: the scores added up, {expected:.2f}. Observed: {observed}.",
            (f"O/E = {observed} / {expected:.2f} = {ratio:.2f}: for these patients, {verdict}."),
            (
                f"If the risks were right, the number would have a standard deviation of"
                f" {spread:.2f},"
                f" the root of the sum of score \u00d7 (1 \u2212 score). The difference is"
                f" {abs(observed - expected) / spread:.1f} of it: {luck}."
            ),
        ),
    )


def _slope(rng: np.random.Generator) -> Exercise:
    slope, shift = float(rng.choice([0.5, 0.8, 2.0])), float(rng.choice([-1.0, 0.0, 0.5]))
    scores = np.array([0.1, 0.5, 0.9])
    true = LogOddsCurve(slope=slope, shift=shift).frequency(scores)
    pairs = "; ".join(f"{s:.2f} \u2192 {t:.3f}" for s, t in zip(scores, true, strict=True))
    kind = "too extreme" if slope < 1 else "not extreme enough"
    return Exercise(
        "large",
        f"In a hospital, log-odds of the true risk = {_plain(shift)} + {slope:g} \u00d7 log-odds of"
        " the score (natural logarithms). Which true risks belong to scores of 0.10, 0.50 and"
        " 0.90? Are the scores too extreme? And at 0.50, too high or too low?",
        (),
        (
            f"Score \u2192 true risk: {pairs}.",
            (
                f"The slope is {'below' if slope < 1 else 'above'} 1: the scores are {kind}."
                f" {_at_half(shift, float(true[1]))}"
            ),
        ),
    )


def _at_half(shift: float, true: float) -> str:
    """Say what a shift does to a score of one half, whose log-odds are 0, whatever the slope."""
    if not shift:
        return "The shift is 0: a score of 0.50 is right."
    way = ("lowers", "high") if shift < 0 else ("raises", "low")
    return (
        f"The shift {way[0]} all true risks: at a score of 0.50 it is {true:.3f}, so this score is"
        f" too {way[1]}, too."
    )


def _prevalence(rng: np.random.Generator) -> Exercise:
    here, there = 0.01 * rng.choice([40, 50, 60]), 0.01 * rng.choice([5, 10, 20])
    score = float(rng.choice([0.2, 0.5, 0.8]))
    ratio = there / (1 - there) / (here / (1 - here))
    true = float(at_other_odds(np.array([score]), float(np.log(ratio)))[0])
    return Exercise(
        "transport",
        f"A model is calibrated in a hospital where {100 * here:.0f}% of patients have the event."
        f" In another one {100 * there:.0f}% have it; patients with the event are alike in both,"
        f" and those without it, too. What is the true risk there at a score of {score:.2f}?",
        (),
        (
            (
                f"All odds change by ({there:.2f}/{1 - there:.2f}) / ({here:.2f}/{1 - here:.2f}) ="
                f" {ratio:.4f}."
            ),
            (
                f"Odds {score:.2f}/{1 - score:.2f} \u00d7 {ratio:.4f} ="
                f" {score / (1 - score) * ratio:.4f}; risk = odds / (1 + odds) = {true:.3f}."
            ),
        ),
    )


def _benefit(rng: np.random.Generator) -> Exercise:
    rows, cutoff = _rows(rng), float(rng.choice([0.2, 0.25, 0.5]))
    at = at_cutoff(rows, cutoff)
    n, events, weight = rows.n_samples, int(rows.hits.sum()), cutoff / (1 - cutoff)
    everybody = (events - (n - events) * weight) / n
    return Exercise(
        "acting",
        f"Patients with a score of {cutoff:g} or more are treated. The net benefit weighs an"
        " unnecessary treatment against a needed one, as the cut-off does. Find it, per patient:"
        " those treated with the event, less those treated without it times cut-off / (1 \u2212"
        " cut-off), divided by all. Compare it with treating all and none.",
        _table(rows),
        (
            f"Treated: {at.right} with the event, {at.in_vain} without. Weight: {weight:.4f}.",
            (
                f"Net benefit = ({at.right} \u2212 {at.in_vain} \u00d7 {weight:.4f}) / {n} ="
                f" {_plain(round(at.net_benefit, 3))}; all: {_plain(round(everybody, 3))}; none: 0."
            ),
        ),
    )


def _abstaining(rng: np.random.Generator) -> Exercise:
    rows = _rows(rng)
    scores = np.round((1 + rows.scores) / 2, 3)  # of two classes, the top one has 0.5 or more
    n_kept = int(rng.choice([4, 5, 6]))
    curve, n = risk_coverage(EventScores(scores, rows.hits)), rows.n_samples
    place = int(np.count_nonzero(curve.score >= scores[-n_kept])) - 1
    accuracy, every = float(curve.accuracy[place]), float(curve.accuracy[-1])
    return Exercise(
        "acting",
        "A model's top predictions, with outcome 1 where they are correct. It abstains where its"
        f" score is below {scores[-n_kept]:.3f}: a person decides there. Of how many rows is a"
        " prediction kept (coverage)? How many of these are correct, and of all?",
        _table(EventScores(scores, rows.hits), digits=3),
        (
            f"Kept: {n_kept} of {n}, a coverage of {100 * curve.coverage[place]:.0f}%.",
            (
                f"Correct: {n_kept * accuracy:.0f} of {n_kept} kept, {accuracy:.3f}; of all,"
                f" {n * every:.0f} of {n}, {every:.3f}."
            ),
        ),
    )


def _plain(value: float) -> str:
    return f"{value:g}".replace("-", MINUS)


def _temperature(rng: np.random.Generator) -> Exercise:
    logits = np.sort(rng.choice(np.arange(0, 6), 3, replace=False))[::-1].astype(np.float64)
    temperature = float(rng.choice([2.0, 4.0, 0.5]))
    before, after = softmax(logits[np.newaxis])[0], softmax(logits[np.newaxis] / temperature)[0]
    written = ", ".join(f"{one:g}" for one in logits)
    return Exercise(
        "confident",
        f"The logits of one row are {written}. Find the class probabilities at temperature 1 and"
        f" at {temperature:g}. Which class is predicted in each case?",
        (),
        (
            f"T = 1: {_shares(before)}. T = {temperature:g}: {_shares(after)}.",
            (
                "The first class is predicted in both: dividing all logits by one number keeps"
                " their order."
            ),
        ),
    )


def _useful(rng: np.random.Generator) -> Exercise:
    rows, always, rate = _rows(rng), np.empty(0), 0.0
    while not always.size or not _knows_more(rows, always):
        rows = _rows(rng)
        rate = float(rows.hits.mean())
        always = np.full(rows.n_samples, rate)
    values = [
        f"{name}: Brier score {event_brier(scores, rows.hits):.3f}, NLL"
        f" {event_nll(scores, rows.hits):.3f}, ECE in one bin"
        f" {ece(scores, rows.hits, n_bins=1):.3f}."
        for name, scores in (("The model", rows.scores), (f"Always {rate:.2f}", always))
    ]
    return Exercise(
        "useful",
        "A second forecaster gives every row the observed frequency of all rows. Find Brier score,"
        " NLL, and ECE in one bin, of both. Which one is of more use?",
        _table(rows),
        (*values, ("The second has an ECE of 0 and gives all rows the same score. The model"
         " is of more use: both proper scores are lower.")),
    )  # fmt: skip


def _knows_more(rows: EventScores, always: Floats) -> bool:
    """Return whether both proper scores are lower than those of the observed frequency."""
    return all(
        of(rows.scores, rows.hits) < of(always, rows.hits) for of in (event_brier, event_nll)
    )


def _events(rng: np.random.Generator) -> Exercise:
    weights = rng.choice(np.arange(1, 12), 4, replace=False)
    probabilities = np.round(weights / weights.sum(), 2)
    probabilities[0] = round(1 - float(probabilities[1:].sum()), 2)
    label, names = int(rng.integers(4)), "ABCD"
    outcomes = [
        (name, event.outcomes(probabilities[np.newaxis], [label]))
        for name, event in (
            ("top prediction", TopR(1)),
            ("2nd prediction", TopR(2)),
            ("top-2 set", WithinTopR(2)),
            ("class C", OneClass(2)),
        )
    ]
    written = ", ".join(f"{n} {p:.2f}" for n, p in zip(names, probabilities, strict=True))
    solved = "; ".join(f"{n}: {e.scores[0]:.2f}, {int(e.hits[0])}" for n, e in outcomes)
    return Exercise(
        "events",
        f"Class probabilities of one row: {written}. The true class is {names[label]}. Find score"
        " and outcome of four events: top prediction, 2nd prediction, top-2 set, class C.",
        (),
        (f"Score and outcome. {solved[0].upper()}{solved[1:]}.",),
    )


def _groups(rng: np.random.Generator) -> Exercise:
    gap, first = int(rng.integers(4, 12)), int(rng.choice([100, 200, 300]))
    second = int(rng.choice([100, 200, 300]))
    pooled = (first * gap - second * gap) / (first + second)
    return Exercise(
        "groups",
        f"In group A ({first} rows) the mean score is {gap} percentage points too high, in group B"
        f" ({second} rows) {gap} too low. What is the mean gap of all rows? What does it hide?",
        (),
        (
            (
                f"({first} \u00d7 {gap} {MINUS} {second} \u00d7 {gap}) / {first + second} ="
                f" {with_sign(pooled, 1)} percentage points."
            ),
            (
                f"In each group scores are {gap} percentage points off the observed frequency, in"
                " opposite directions."
            ),
        ),
    )


def _cutoff(rng: np.random.Generator) -> Exercise:
    rows, ratio = _rows(rng), int(rng.choice([3, 4, 9]))
    cutoff = cutoff_of_costs(1.0, float(ratio))
    called = rows.scores >= cutoff
    alarms, misses = (
        int(np.count_nonzero(called & (rows.hits == 0))),
        int(np.count_nonzero(~called & (rows.hits == 1))),
    )
    return Exercise(
        "acting",
        f"A miss costs {ratio} times as much as a false alarm. At which cut-off should one act if"
        " scores are calibrated? How many false alarms and misses are there in these rows?",
        _table(rows),
        (
            f"Cut-off = 1 / (1 + {ratio}) = {cutoff:.2f}.",
            (
                f"Rows flagged: {int(called.sum())}. False alarms: {alarms}. Misses: {misses}."
                f" Cost: {alarms} + {ratio} \u00d7 {misses} = {alarms + ratio * misses}."
            ),
        ),
    )


def _shares(values: Floats) -> str:
    return ", ".join(f"{one:.3f}" for one in values)


_OWN = """
.exercise { break-inside: avoid; margin: 1.2em 0; } .solutions { break-before: page; }
.exercise table { width: auto; } .exercise td, .exercise th { padding: 2px 14px 2px 0; }
"""


def sheet(seed: int, *, solutions: bool = True) -> str:
    """Write the exercises of a seed.

    ``seed``: of the exercises. ``solutions``: whether their solutions follow.

    HTML that needs nothing else: no script, no other file.
    """
    drawn = exercises(seed)
    tasks = "".join(_task(number, one) for number, one in enumerate(drawn, start=1))
    solved = "".join(_solved(number, one) for number, one in enumerate(drawn, start=1))
    of_seed = f"<p>{escape(words.of_seed(seed))}</p>" if solutions else ""  # it is the key
    behind = f'<section class="solutions"><h2>{words.SOLUTIONS}</h2>{solved}</section>'
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{words.SHEET}</title><style>{STYLE}{_OWN}</style></head><body>"
        f"<header><h1>{words.SHEET}</h1>{of_seed}</header>"
        f"<main><section>{tasks}</section>{behind if solutions else ''}</main></body></html>"
    )


def _task(number: int, exercise: Exercise) -> str:
    text = f"<p><b>{number}.</b> {escape(exercise.task)}</p>"
    return f'<div class="exercise">{text}{_sheet_table(exercise)}</div>'


def _sheet_table(exercise: Exercise) -> str:
    """Write the data along the page, one row of the table per quantity."""
    columns = zip(*exercise.table, strict=True)
    rows = (
        f'<tr><th scope="row">{escape(head)}</th>'
        f"{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
        for head, *cells in columns
    )
    return f"<table>{''.join(rows)}</table>" if exercise.table else ""


def _solved(number: int, exercise: Exercise) -> str:
    lines = "".join(f"<p>{escape(line)}</p>" for line in exercise.solution)
    return f'<div class="exercise"><p><b>{number}.</b></p>{lines}</div>'
