"""The laboratory: a model whose truth is known, drawn from a few numbers that the address holds."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from calibcore.calibrators import CATALOGUE
from calibcore.cumulative import CumulativeCurves, cumulative_curves
from calibcore.metrics import METRICS, EventMeasure, Options
from calibcore.results import result_class
from calibcore.synthetic import (
    CalibratorAgainstTruth,
    HandCurve,
    LogOddsCurve,
    NormalScores,
    Redraws,
    Truth,
    World,
    WorldSample,
    calibrators_against,
    redraws,
    zhang_world,
)
from calibcore.synthetic.world import WIDEST
from calibcore.tally import tally

ROWS = (50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000)

CLASSES = (2, 3, 10)

N_HANDLES = 11

EVENT = "event"
"""Name of class 1, where there are two classes."""

N_DRAWS, N_BINS = 200, 15

LIMITS: Mapping[str, tuple[int, int]] = {
    "sharpness": (5, 100), "rate": (0, 99), "slope": (10, 400), "shift": (-30, 30),
    "wave": (-20, 20), "groups": (0, 20), "beta0": (-20, 20), "beta1": (-40, -5),
    "seed": (0, 9_999), "draw": (1, 500),
}  # fmt: skip
"""Lowest and highest of each number of a model, as `LaboratoryModel` has them."""

ESTIMATES = (
    "mean_gap", "calibration_intercept", "calibration_slope", "ks_error", "ece", "ece_equal_mass",
    "debiased_ece", "smooth_ece", "kde_ece", "event_brier", "event_nll", "auroc",
)  # fmt: skip
"""Measures that are compared with the truth."""

REGRESSIONS = ("calibration_intercept", "calibration_slope")
"""Those that are fitted step by step: 200 times of 20,000 rows, they take 20 seconds."""

REDRAWN = tuple(key for key in ESTIMATES if key not in REGRESSIONS)
"""Measures of many draws."""

QUICK = ("temperature", "platt", "beta", "spline", "isotonic", "histogram", "bbq", "venn_abers")
"""Calibrators that are compared with the truth."""


@dataclass(frozen=True)
class LaboratoryModel:
    """A model of the laboratory, in whole numbers as the address holds them."""

    form: str = "curve"
    """What gives the true curve: numbers in log-odds, handles, or Zhang 2020's classifier."""
    rows: int = 2_000
    classes: int = 2
    """Rows of each set; classes."""
    sharpness: int = 50
    rate: int = 50
    """In percent: how far scores lie from their centre, and how often the event happens; 0: as
    often as the curve makes it, of scores around 50%.
    """
    slope: int = 50
    """In hundredths; `shift`, `wave`, `groups` in tenths, of `LogOddsCurve` and `World`."""
    shift: int = 0
    wave: int = 0
    groups: int = 0
    handles: tuple[int, ...] = tuple(range(0, 101, 10))
    """In percent, at equally spaced scores."""
    beta0: int = 5
    beta1: int = -15
    """In tenths, of `zhang_world`."""
    seed: int = 0
    draw: int = 1
    """Of what is drawn."""

    @property
    def code(self) -> str:
        """What stands for it in an address."""
        own: tuple[object, ...]
        match self.form:
            case "zhang":
                own = ("z", self.beta0, self.beta1)
            case "hand":
                handles = "-".join(map(str, self.handles))
                own = ("h", self.classes, self.sharpness, self.rate, self.groups, handles)
            case _:
                own = (
                    "c", self.classes, self.sharpness, self.rate, self.groups,
                    self.slope, self.shift, self.wave,
                )  # fmt: skip
        return ".".join(map(str, (*own, self.rows, self.seed, self.draw)))

    @property
    def model(self) -> World:
        """The model that it stands for; the same one whatever is drawn from it."""
        return _model(replace(self, rows=ROWS[0], seed=0, draw=1))


@lru_cache(maxsize=16)  # of 2 MB, with their truth
def _model(of: LaboratoryModel) -> World:
    if of.form == "zhang":
        return zhang_world(of.beta0 / 10, of.beta1 / 10)
    return World(
        HandCurve(tuple(one / 100 for one in of.handles))
        if of.form == "hand"
        else LogOddsCurve(of.slope / 100, of.shift / 10, of.wave / 10),
        n_classes=of.classes,
        sharpness=of.sharpness / 100,
        base_rate=of.rate / 100,
        group_shift=of.groups / 10,
        scores=None if of.rate else NormalScores(0.0, WIDEST * of.sharpness / 100),
    )


PRESETS: Mapping[str, LaboratoryModel] = {
    "overconfident": LaboratoryModel(),
    "calibrated": LaboratoryModel(slope=100),
    "underconfident": LaboratoryModel(slope=180),
    "too_high": LaboratoryModel(slope=100, shift=-8),
    "wavy": LaboratoryModel(slope=100, wave=12),
    "two_groups": LaboratoryModel(slope=100, groups=7),
    "many_classes": LaboratoryModel(classes=10, rate=70),
    "by_hand": LaboratoryModel(form="hand", handles=(0, 5, 12, 22, 35, 50, 65, 70, 60, 75, 100)),
    "zhang": LaboratoryModel(form="zhang"),
    "zhang_better": LaboratoryModel(form="zhang", beta0=2, beta1=-19),
}
"""Models to begin with, by a word of their own; the first one opens."""


def preset_of(chosen: LaboratoryModel) -> str | None:
    """Return the word of the model in `PRESETS` that this is, whatever is drawn; None for none."""
    alike = {
        word: replace(one, rows=chosen.rows, seed=chosen.seed, draw=chosen.draw)
        for word, one in PRESETS.items()
    }
    return next((word for word, one in alike.items() if one == chosen), None)


def chosen_of(code: str) -> LaboratoryModel | None:
    """Return the model that a code stands for; None where it stands for none."""
    if len(code) > 120 or not re.fullmatch(r"[a-z](\.-?\d[\d-]*)+", code):
        return None
    kind, *numbers = code.split(".")
    names = {
        "z": ("beta0", "beta1"),
        "h": ("classes", "sharpness", "rate", "groups", "handles"),
        "c": ("classes", "sharpness", "rate", "groups", "slope", "shift", "wave"),
    }.get(kind)
    if names is None or len(numbers) != len(names) + 3:
        return None
    values: dict[str, object] = {"form": {"z": "zhang", "h": "hand", "c": "curve"}[kind]}
    for name, text in zip((*names, "rows", "seed", "draw"), numbers, strict=True):
        value = _handles(text) if name == "handles" else _number(name, text)
        if value is None:
            return None
        values[name] = value
    return replace(LaboratoryModel(), **values)  # type: ignore[arg-type] # each is checked above


def _handles(text: str) -> tuple[int, ...] | None:
    heights = tuple(int(one) for one in text.split("-") if one)
    return heights if len(heights) == N_HANDLES and max(heights) <= 100 else None


def _number(name: str, text: str) -> int | None:
    if not re.fullmatch(r"-?\d{1,6}", text):
        return None
    value = int(text)
    if name in {"rows", "classes"}:
        return value if value in (ROWS if name == "rows" else CLASSES) else None
    low, high = LIMITS[name]
    return value if low <= value <= high else None


@result_class
class Result:
    """What is drawn from a model, beside its truth."""

    calibration: WorldSample
    test: WorldSample
    """As many rows each."""
    truth: Truth
    """Of the model."""
    curves: CumulativeCurves
    """Of the test rows."""
    values: dict[str, tuple[float, float]]
    """Of each of `ESTIMATES`: what the test rows show, and what it aims at."""
    calibrators: tuple[CalibratorAgainstTruth, ...]
    """Fitted to the calibration rows."""


@lru_cache(maxsize=16)  # of 7 to 12 MB
def result_of(chosen: LaboratoryModel) -> Result:
    """Draw both sets, measure the test rows, fit calibrators, and compare all with the truth."""
    model, options = chosen.model, Options(n_bins=N_BINS)
    calibration, test = (drawn_of(chosen, which) for which in (0, 1))
    truth, counted = model.truth(), tally(test.event.scores, test.event.hits)
    measures = {one.key: one for one in METRICS if isinstance(one, EventMeasure)}
    values = {
        key: (float(measures[key].compute(counted, options)), truth.aim(key, options))
        for key in ESTIMATES
    }
    quick = {one.key: one.make() for one in CATALOGUE if one.key in _usable(model)}
    return Result(
        calibration,
        test,
        truth,
        cumulative_curves(test.event.scores, test.event.hits),
        values,
        calibrators_against(model, quick, calibration),
    )


def drawn_of(chosen: LaboratoryModel, which: int) -> WorldSample:
    """Draw the calibration rows (0) or the test rows (1)."""
    return chosen.model.draw(chosen.rows, seed=[chosen.seed, chosen.draw, which])


def _usable(model: World) -> tuple[str, ...]:
    """Return the calibrators that map a score; temperature does with two classes alone."""
    return QUICK if model.n_classes == 2 else QUICK[1:]


@lru_cache(maxsize=256)
def redraws_of(chosen: LaboratoryModel) -> Redraws:
    """Draw the test rows again, many times."""
    seed = [chosen.seed, chosen.draw, 1]
    return redraws(chosen.model, chosen.rows, N_DRAWS, seed=seed, measures=REDRAWN, n_bins=N_BINS)
