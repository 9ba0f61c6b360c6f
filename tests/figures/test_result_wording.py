"""Sentences of results made by hand: as reviewed in a text beside."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from calibcore.evaluation import Side
from calibcore.inference import Drift
from calibcore.metrics.binned import BinSweep
from dashboard.texts.advice import drift_line
from dashboard.texts.badges import ranges_sentence
from dashboard.texts.power import rounded_note
from dashboard.texts.reliability import (
    bins_caption,
    isotonic_caption,
    plot_caption,
    ranges_help,
    smoothed_caption,
    wander_sentence,
)
from dashboard.views.ks_graphs.words import gap_caption
from tests.figures.small_results import blocks, result_of, side_of
from tests.reviewed import check_reviewed

BOTH = (False, True)
"""Plain words, and those of experts."""

MONTHS = ("Jan 2025", "Feb 2025", "Mar 2025")
DRIFT = Drift(0.001, -4.0, 2, 0.003, -0.041, 400, 300, 1000, 0)
EARLIER, NONE = replace(DRIFT, since=1, gap_since=-0.02), replace(DRIFT, p_value=0.3)


def of_drift() -> dict[str, list[str]]:
    """A drift is never told without the unfavourable side."""

    def line(before: Drift, after: Drift | None, **how: bool) -> list[str]:
        return [drift_line("a_b", MONTHS, (before, after), **how)]

    return {
        "drift": line(DRIFT, None),
        "drift, and after": line(DRIFT, DRIFT),
        "drift, and after another one": line(DRIFT, EARLIER),
        "drift alone": line(DRIFT, None, alone=True),
        "drift before": line(DRIFT, NONE),
        "drift after": line(NONE, DRIFT),
        "drift for experts": line(DRIFT, None, expert=True),
        "no drift": [*line(NONE, None), *line(NONE, NONE)],
    }


def waves() -> Side:
    """Five scores, right but for those of 50% and 70%, which are far off."""
    five = ((0.1, 60), (0.3, 60), (0.5, 100), (0.7, 60), (0.9, 180))
    return blocks(*((score, 200, n_hits) for score, n_hits in five))


def of_ranges() -> dict[str, list[str]]:
    """Ranges of scores that are off."""
    rng = np.random.default_rng(0)
    scores = rng.random(2000)
    slight = side_of(scores, rng.random(2000) < np.clip(scores + 0.022, 0, 1))
    low = ((0.1, 300, 30), (0.3, 200, 60), (0.43, 100, 43))
    high = ((0.5, 60, 23), (0.56, 50, 21), (0.63, 46, 22), (0.7, 40, 22), (0.76, 34, 18),
            (0.83, 26, 17), (0.9, 22, 16), (0.97, 16, 13))  # fmt: skip
    many = [(0.03 + k / 15, 300, 0 if k % 2 else 300) for k in range(12)]
    few = blocks(*((place / 15 + 0.03, 4, 0) for place in range(5)), (0.9, 980, 882))
    return {
        "one range, of many bins": [ranges_sentence(blocks(*low, *high))],
        "two ranges, the worst first": [ranges_sentence(waves())],
        "many ranges": [ranges_sentence(blocks(*many))],
        "everywhere": [ranges_sentence(blocks((0.9, 400, 200)))],
        "nothing is off": [ranges_sentence(TRUE)],
        "a few rows, far off": [ranges_sentence(blocks((0.6, 5, 5)))],
        "all scores together": [ranges_sentence(slight)],
        "pale bins": [ranges_help(few, None), ranges_help(few, few), ranges_help(TRUE, few)],
        "no pale bins": [ranges_help(TRUE, None)],
    }


TRUE = blocks((0.5, 1000, 500), (0.9, 1000, 900))


def sweep(low: float, high: float) -> BinSweep:
    wide, even = np.full(99, low), np.full(99, low)
    even[40], wide[0] = high, 0.9  # two bins are not counted
    return BinSweep(np.arange(2, 101), wide, even, wide, ks_error=0.03)


def of_bins() -> dict[str, list[str]]:
    """Reliability diagrams, and how far the number of bins moves an error."""
    largest = blocks((0.5, 300, 240), (0.97, 100, 80))
    mixed = blocks((0.97, 10, 0), (0.5, 400, 200), (0.9, 600, 300), (0.3, 400, 320))
    drawn, sure = result_of(3000).test.before, side_of([0.0] * 20 + [1.0] * 20, [0] * 20 + [1] * 20)
    return {
        "the largest bin": [bins_caption(largest, expert=one) for one in BOTH],
        "the plot": [plot_caption(one) for one in (TRUE, mixed, blocks((0.5, 4, 2)))],
        "isotonic": [isotonic_caption(drawn, expert=one) for one in BOTH],
        "smoothed": [smoothed_caption(drawn, expert=one) for one in BOTH],
        "smoothed, below the narrowest kernel": [smoothed_caption(sure)],
        "how far the error wanders": [
            wander_sentence(sweep(0.05, 0.054), sweep(0.01, 0.026), 3_000),
            wander_sentence(sweep(0.05, 0.05000001), None, 3_000),
            wander_sentence(sweep(0.05, 0.05), None, 60_000),
        ],
    }


def of_gaps() -> dict[str, list[str]]:
    """The cumulative gap, and rows that are wrong at the ends of the scale."""
    ends = [0.0, 1.0, 1.0, 0.25, 0.75]
    return {
        "too high in total": [gap_caption(blocks((0.5, 400, 100)), expert=one) for one in BOTH],
        "too low in total": [gap_caption(blocks((0.5, 400, 300)))],
        "too low, then too high": [gap_caption(blocks((0.3, 400, 200), (0.7, 400, 100)))],
        "inside the band": [gap_caption(blocks((0.5, 400, 200)))],
        "no row is wrong at an end": [rounded_note(side_of(ends, [0, 1, 1, 0, 1]))],
        "one row is": [rounded_note(side_of(ends, [0, 1, 0, 0, 1]))],
        "two rows are": [rounded_note(side_of(ends, [1, 1, 0, 0, 1]))],
        "two are, among scores of all digits": [
            rounded_note(side_of([*ends, 0.12345], [1, 1, 0, 0, 1, 0]))
        ],
    }


def test_results_say_what_was_reviewed() -> None:
    rules = of_drift() | of_ranges() | of_bins() | of_gaps()
    lines = [line for about, says in rules.items() for line in (f"# {about}", *says)]
    check_reviewed(Path(__file__).with_name("results.txt"), lines)
