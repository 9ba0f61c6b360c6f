"""Sentences of the pages Calibration maps and Data needed: their numbers are the results'."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from calibcore.calibrators import CATALOGUE
from calibcore.curves import KnotSweep, Movement, ScoreCurve, TemperatureSweep
from calibcore.data_needed import (
    LEARNED,
    LearningCurve,
    LearningCurves,
    LearningPlan,
    LearningPoint,
    LearningProgress,
)
from calibcore.events import OneClass, TopR, WithinTopR
from dashboard.figures.maps import NamedCurve
from dashboard.settings import NO_METHOD
from dashboard.texts.glossary import SHORT_NAMES
from dashboard.views.data_needed import words as data_needed
from dashboard.views.maps import words as maps
from tests.reviewed import check_reviewed

# Maps -----------------------------------------------------------------------------------------


def moved(lowered: int, raised: int, n_rows: int = 1_000) -> Movement:
    return Movement(n_rows, lowered, raised, -0.0412, 0.0498, 0.712, 0.55)


def test_every_method_has_a_short_name_of_its_own() -> None:
    assert set(SHORT_NAMES) == {NO_METHOD, *(method.key for method in CATALOGUE)}
    assert len(set(SHORT_NAMES.values())) == len(SHORT_NAMES)
    assert max(map(len, SHORT_NAMES.values())) <= 12


def at(temperature: float, nll: float, ks_error: float = 0.0123) -> TemperatureSweep:
    one = np.array([1.0])
    return TemperatureSweep(
        one * temperature, one * nll, one * 0.5, one * 0.021, one * ks_error, n_bins=15
    )


def swept() -> KnotSweep:
    test = np.array([0.05, 0.03, 0.01, 0.02, 0.04])
    return KnotSweep(np.arange(3, 8), test / 2, test, test, test)


def falling(name: str, by: float = 0.05) -> NamedCurve:
    """A curve that falls at scores from 50% to 75%."""
    score = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
    return NamedCurve(name, ScoreCurve(score, np.array([0.1, 0.3, 0.4, 0.4 - by, 0.9])))


def of_maps() -> dict[str, object]:
    """What the page of maps says, by what it is about."""
    still, some, columns = moved(0, 0), moved(5, 5), (at(1.0, 0.371), at(1.944, 0.279, 0.002))
    rising = NamedCurve("Platt", ScoreCurve(np.array([0.0, 1.0]), np.array([0.1, 0.8])))
    shares = (1_000, 0), (0, 996), (830, 0), (2, 400), (700, 300)
    texts: dict[str, object] = {
        f"{lowered} of 1,000 lower, {raised} higher": [
            maps.movement_sentence("spline", moved(lowered, raised), "test set", expert=expert)
            for expert in (False, True)
        ]
        for lowered, raised in shares
    }
    unfitted = {"expert": False, "waiting": "dirichlet"}
    return texts | {
        "nothing moves": maps.movement_sentence("platt", still, "calibration set", expert=False),
        "no calibrator": maps.movement_sentence(NO_METHOD, some, "test set", expert=True),
        "not fitted yet": maps.movement_sentence(NO_METHOD, some, "test set", **unfitted),  # type: ignore[arg-type]
        "no triangle": [maps.no_triangle(NO_METHOD), maps.no_triangle(NO_METHOD, "dirichlet")],
        "flat, hardly, nowhere": [
            maps.flat_note(replace(still, flat=flat, n_flat=61))
            for flat in ((0.372, 0.981, 0.31), (0.372, 0.401, 0.31), None)
        ],
        "one falls": [
            maps.falls_note([falling("Spline"), rising], 1_000, expert=expert)
            for expert in (False, True)
        ],
        "three fall": maps.falls_note(
            [falling("Spline"), falling("BBQ", 1e-4), falling("Histogram")], 1_000, expert=False
        ),
        "none falls": maps.falls_note([rising], 1_000, expert=False),
        "shapes": [*maps.shapes([rising, falling("Beta"), falling("Spline")])],
        "rows": [maps.row_names(event) for event in (TopR(1), TopR(2), OneClass(2), WithinTopR(2))],
        "hot, cold, neither": [
            maps.temperature_sentence(*two, "test set")
            for two in ((1.944, 1.99), (0.7, 0.8), (1.004, 1.0))
        ],
        "entropy": [maps.entropy_sentence(one) for one in (None, 0.2595)],
        "temperatures": [
            maps.temperature_columns(1.0, 1.944),
            *(
                (row.name, *(cell.shown for cell in row.cells))
                for row in maps.temperature_rows(columns, (0.9061, None), 10_000)
            ),
        ],
        "6 knots": maps.knots_sentence(swept(), 6, 3_000),
        "5 knots": maps.knots_sentence(swept(), 5, 3_000),
        "6 knots of a part": maps.knots_sentence(swept(), 6, 3_000, part=True),
    }


# Data needed ----------------------------------------------------------------------------------


def curve(key: str, means: dict[int, float], refused: int = 0) -> LearningCurve:
    points = []
    for size, mean in means.items():
        values = np.full((2, len(LEARNED)), math.nan)
        values[:, LEARNED.index("ece")] = mean
        points.append(LearningPoint(size, values, ("rows: too few.",) * refused))
    return LearningCurve(key, tuple(points))


def curves_of(*curves: LearningCurve) -> LearningCurves:
    return LearningCurves(curves, LearningPlan((50, 200, 800), n_draws=5))


NOTHING = curve(NO_METHOD, {50: 0.05, 200: 0.05, 800: 0.05})
STEADY = curve("temperature", {50: 0.03, 200: 0.021, 800: 0.02})
HUNGRY = curve("isotonic", {50: 0.09, 200: 0.02, 800: 0.01})


def of_data_needed() -> dict[str, object]:
    """What the page of the data needed says, by what it is about."""

    def said(*curves: LearningCurve) -> str:
        return " ".join(data_needed.conclusion(curves_of(*curves), "ece", 5_000))

    def isotonic(few: float, more: float, all_rows: float) -> LearningCurve:
        return curve("isotonic", {50: few, 200: more, 800: all_rows})

    bad, refused = isotonic(0.09, 0.08, 0.07), curve("spline", {50: 0.05}, refused=3)
    half = LearningCurves((curve("temperature", {50: 0.03}),), LearningPlan((50, 200)))
    # Gains 2, 2.9 and 3 points: 2.7 at 50 * 4 ** (7 / 9) = 147 rows; the draws do not differ.
    needs = curves_of(NOTHING, STEADY, LearningCurve("beta", ()), bad)
    return {
        "leads everywhere": said(NOTHING, STEADY),
        "leads at both ends": said(
            NOTHING, STEADY, curve("beta", {50: 0.09, 200: 0.01, 800: 0.03})
        ),
        "overtakes": said(NOTHING, STEADY, HUNGRY),
        "overtakes late": said(NOTHING, STEADY, isotonic(0.09, 0.03, 0.019)),
        "uncalibrated with few rows": said(NOTHING, HUNGRY),
        "none better": said(NOTHING, bad),
        "uncalibrated with more rows": said(NOTHING, isotonic(0.04, 0.08, 0.07)),
        "uncalibrated at both ends": said(NOTHING, isotonic(0.09, 0.01, 0.07)),
        "half done": data_needed.conclusion(half, "ece", 100)[0],
        "nothing done": data_needed.conclusion(LearningCurves((), LearningPlan((50,))), "ece", 100)[
            0
        ],
        "needs": [
            data_needed.need_heads(needs),
            *map(tuple, data_needed.need_rows(needs, "ece", 5_000)),
        ],
        "rounded": data_needed.rounded(3_724.0),
        "refused": data_needed.missing_note(curves_of(NOTHING, refused), "ece"),
        "not defined": data_needed.missing_note(curves_of(curve("spline", {50: 0.05})), "nll"),
        "none missing": data_needed.missing_note(curves_of(NOTHING, STEADY), "ece"),
        "comparable": data_needed.comparable_nll(curves_of(NOTHING, refused)),
        "steps": [
            data_needed.step_words(LearningProgress("temperature", 1_100, 3, 10, 0.4)),
            data_needed.step_words(LearningProgress("temperature", 5_000, 1, 1, 0.9)),
        ],
        "captions": [data_needed.caption("accuracy"), data_needed.caption("ece")],
        "notes": [
            data_needed.marks_note(curves_of(STEADY)),
            data_needed.draws_note(curves_of(STEADY)),
        ],
    }


def test_pages_say_what_was_reviewed() -> None:
    lines = []
    for about, text in (of_maps() | of_data_needed()).items():
        each = text if isinstance(text, list) else [text]
        lines += [
            f"# {about}",
            *(" | ".join(one) if isinstance(one, tuple) else str(one) for one in each),
        ]
    check_reviewed(Path(__file__).with_name("maps_and_data_needed.txt"), lines)
