"""What the laboratory says."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from calibcore.metrics import METRICS
from calibcore.metrics.measure import Unit
from calibcore.synthetic import CalibratorAgainstTruth, EstimatorStudy, Redraws, Truth
from dashboard.learn.laboratory import N_BINS, N_DRAWS, LaboratoryModel, Result, preset_of
from dashboard.samples import Sample
from dashboard.texts.measures import spelled_out
from dashboard.texts.methods import method_name
from dashboard.texts.numbers import DASH, MINUS, amount, listing, p_words, percent, pp, with_unit

TITLE = "Laboratory"
INTRO = (
    "A model made by you, so its true calibration curve is known. Rows are drawn from it; each"
    " estimate stands beside its true value."
)
PRESET = "Model"
PRESETS: Mapping[str, str] = {
    "overconfident": "Too extreme",
    "calibrated": "Perfectly calibrated",
    "underconfident": "Not extreme enough",
    "too_high": "Scores too high",
    "wavy": "S-shaped",
    "two_groups": "Two groups with opposite errors",
    "many_classes": "Overconfident, 10 classes",
    "by_hand": "Drawn by hand",
    "zhang": "Zhang 2020, less calibrated",
    "zhang_better": "Zhang 2020, better calibrated",
}
OWN, OWN_MODEL = "Your own", "a model of your own"
ROWS, CLASSES = "Rows", "Classes"
NUMBERS: Mapping[str, tuple[str, int]] = {
    "sharpness": ("Sharpness (%)", 1),
    "rate": ("Base rate (%)", 1),
    "slope": ("Slope", 100),
    "shift": ("Shift", 10),
    "wave": ("Wave", 10),
    "groups": ("Groups differ by", 5),
    "beta0": ("\u03b20", 10),
    "beta1": ("\u03b21", 10),
    "seed": ("Seed", 1),
}
"""Label of each number, and what one unit of it is in `LaboratoryModel`."""

HANDLE, HEIGHT = "Score of the handle (%)", "True frequency there (%)"
DRAW, DRAW_MANY = "Draw again", f"Draw {N_DRAWS} times"
HELP = {
    "sharpness": "How far scores lie from their centre. 0: all alike.",
    "rate": "How often the event happens. The scores adapt, as far as the curve allows. At 0 they"
    " stay around 50%, and the event is as frequent as the curve makes it.",
    "slope": "In log-odds, before the wave is added. Below 1: scores too extreme. Above 1: not"
    " extreme enough.",
    "shift": "In log-odds. Below 0: scores too high. Above 0: too low.",
    "wave": "In log-odds: too low below 50% and too high above it, or the reverse.",
    "beta0": "A shift: the score's log-odds are \u03b20 + \u03b21 x; true ones are \u22122 x.",
    "beta1": "\u22122 with \u03b20 = 0 is perfectly calibrated; nearer to 0: not extreme enough.",
    "groups": "In log-odds, from one group to the other: half above the curve, half below.",
    "hand": "Or click a grey dot in the first picture.",
    "seed": "The same seed and numbers give the same rows, on any machine.",
    "classes": "With more than two, the event is that the top prediction is correct.",
}
MORE = "More"
COMPARED = "Calibrators drawn"
OPEN = "Open these rows on all pages"
ESTIMATES, CALIBRATORS = "Estimates beside the truth", "Calibrators beside the truth"
ESTIMATE_HEAD = ("Measure", "These rows", "Truth", "Error")
MANY_HEAD = (*ESTIMATE_HEAD, f"Mean of {N_DRAWS}", "Bias", "95% between")
CALIBRATOR_HEAD = ("Calibrator", "Distance from truth", "True ECE after", "True KS after")
CALIBRATORS_NOTE = (
    "Distance: root mean square over all scores, between the fitted map and the true curve. True"
    " values are those of infinitely many rows."
)
ESTIMATES_NOTE = (
    f"ECE in {N_BINS} bins. The truth of ECE is the mean distance of score and true frequency, of"
    " its squared forms the root mean square; of other measures, their value with infinitely many"
    " rows. Errors are those before rounding."
)
UNUSABLE = "This link stands for no model of the laboratory; the usual one is shown."

_NAMES = {measure.key: (measure.name, measure.unit) for measure in METRICS}


def sample(chosen: LaboratoryModel) -> Sample:
    """Describe a model of the laboratory as the samples are described."""
    alike = preset_of(chosen)
    return Sample(
        name=chosen.code,
        title=f"Laboratory: {OWN_MODEL if alike is None else PRESETS[alike]}",
        source="Drawn by the laboratory; no real data.",
        licence="none needed",
        model="Scores and true frequencies are chosen by hand in the laboratory.",
        training=f"None. Seed {chosen.seed}, draw {chosen.draw}.",
        teaches="The truth of these rows is known: it stands in the laboratory.",
    )


def conclusion(result: Result) -> str:
    """Say what the rows show, and what is true: found, missed, or false alarm."""
    shown = result.curves.ks_p_value < 0.05
    text = "Miscalibration detected" if shown else "No miscalibration detected"
    p_value = p_words(result.curves.ks_p_value)
    ks = result.values["ks_error"]
    n_rows = result.curves.n_samples
    if result.truth.is_calibrated:
        truth = "In truth the model is perfectly calibrated"
        truth += ": a false alarm." if shown else ", so this is right."
    else:
        distance = pp(result.truth.mean_distance, n_rows)
        seen = "detect it" if shown else "do not detect it"
        truth = f"True mean error {distance}; these {n_rows:,} rows {seen}."
    return (
        f"**{text}**: {spelled_out('KS error')} {percent(ks[0], n_rows)}, {p_value}. {truth}"
        f" True KS error: {percent(ks[1], n_rows)}."
    )


def spread(many: Redraws) -> str:
    """Say how far the KS error and the ECE spread over many draws."""
    parts = []
    for key in ("ece", "ks_error"):
        values = many.of(key)
        low, high = np.quantile(values, (0.025, 0.975))
        aim = many.aims[many.keys.index(key)]
        parts.append(
            f"{_NAMES[key][0]}: 95% of draws between {percent(float(low), many.n_rows)} and"
            f" {percent(float(high), many.n_rows)}, truth {percent(float(aim), many.n_rows)}"
        )
    return f"{N_DRAWS} draws of {many.n_rows:,} rows. {'. '.join(parts)}."


def estimate_rows(result: Result, many: Redraws | None) -> list[tuple[str, ...]]:
    """Return the table of estimates, row by row."""
    rows = []
    for key, (value, truth) in result.values.items():
        name, unit = _NAMES[key]
        cells = [name, _written(value, unit), _written(truth, unit), _error(value - truth, unit)]
        if many is not None and key not in many.keys:
            cells += [DASH] * (len(MANY_HEAD) - len(ESTIMATE_HEAD))
        elif many is not None:
            place = many.keys.index(key)
            low, high = np.nanquantile(many.of(key), (0.025, 0.975))
            cells += [
                _written(float(many.mean[place]), unit),
                _error(float(many.bias[place]), unit),
                f"{_written(float(low), unit)} to {_written(float(high), unit)}",
            ]
        rows.append(tuple(cells))
    return rows


def calibrator_name(key: str) -> str:
    """Return the name of a calibrator where all are of the event."""
    return method_name(key).removesuffix(" of the event")


def calibrator_rows(
    calibrators: Sequence[CalibratorAgainstTruth], truth: Truth
) -> list[tuple[str, ...]]:
    """Return the table of calibrators, nearest to the truth first."""
    before = float(np.sqrt(truth.squared_distance)), truth.mean_distance, truth.ks
    rows = [("Uncalibrated", *before)]
    rows += [
        (
            calibrator_name(one.key),
            one.distance.root_mean_squared,
            one.after.mean_distance,
            one.after.ks,
        )
        for one in calibrators
    ]
    rows.sort(key=lambda row: row[1])
    return [
        (name, pp(distance, 1_000), percent(ece, 1_000), percent(ks, 1_000))
        for name, distance, ece, ks in rows
    ]


def nearest(calibrators: Sequence[CalibratorAgainstTruth], truth: Truth) -> str:
    """Say which calibrator came nearest to the truth."""
    best = min(calibrators, key=lambda one: one.distance.root_mean_squared)
    before, distance = float(np.sqrt(truth.squared_distance)), best.distance.root_mean_squared
    if distance >= before:
        return f"Nearest to the truth: uncalibrated scores, {pp(before, 1)} away."
    return (
        f"Nearest to the truth: {calibrator_name(best.key)}, {pp(distance, 1)} away; uncalibrated"
        f" scores: {pp(before, 1)}."
    )


_written = partial(with_unit, n_samples=1_000)


def _error(value: float, unit: Unit) -> str:
    text = amount(value, unit, 1_000, signed=True)
    return f"{text}\u00a0pp" if unit == "share" else text.replace("-", MINUS)


ESTIMATORS = "How good are the estimators?"
ESTIMATORS_INTRO = (
    "Rows are drawn again and again from this model, and each estimate is compared with the true"
    " value of its own quantity."
)
NAMES: Mapping[str, str] = {
    "ece": "ECE (15 equal-width bins)",
    "ece_equal_mass": "ECE (15 equal-mass bins)",
    "ece_sturges": "ECE (Sturges, equal width)",
    "ece_equal_mass_sturges": "ECE (Sturges, equal mass)",
    "sweep_ece": "Sweep ECE",
    "debiased_ece": "Debiased ECE",
    "kde_ece": "KDE-ECE",
    "smooth_ece": "Smooth ECE",
    "ks_error": "KS error",
}
SHORT_NAMES = {
    **NAMES,
    "ece": "15 bins, width",
    "ece_equal_mass": "15 bins, mass",
    "ece_sturges": "Sturges, width",
    "ece_equal_mass_sturges": "Sturges, mass",
}
"""Names where there is little room."""

OF_ECE = ("kde_ece", "sweep_ece", "ece", "ece_equal_mass", "ece_sturges", "ece_equal_mass_sturges")
"""Estimates of one quantity: the mean distance of score and true frequency."""

_OWN_TRUTH = ("smooth_ece", "ks_error")
"""Estimates of quantities of their own."""

_NEARLY = 1.1
"""Times the lowest error: an estimate below is nearly as good."""

DRAWS, DRAWS_HELP = "Draws per size", "More draws give steadier means and take longer."
WHAT = "Computing the errors"
STOPPED = "Incomplete: some numbers of rows are missing."
GRAPH, AXIS = "Error of each estimate", "Mean absolute error (pp)"
NOTE = (
    "Mean absolute error; in brackets the 10th\u201390th percentile of the errors. The truth of ECE"
    " is the mean distance of score and true frequency; that of debiased ECE the root mean"
    " square. Sturges: 1 + log2(rows) bins. Same draws for all estimates."
)


def step(n_rows: int, n_draws: int) -> str:
    """Return what is being computed."""
    return f"{n_rows:,} rows, {n_draws:,} draws"


def estimators_conclusion(study: EstimatorStudy) -> str:
    """Return which estimates have the lowest error with few rows, and when it matters no more."""
    few = int(study.n_rows[0])
    lowest = study.lowest(OF_ECE)
    error = _error_of_estimates(study, lowest[0], 0)
    if lowest[0] == "ece":
        first = f"With {few:,} rows no estimate of ECE has a lower error than {NAMES['ece']}"
        first += f" ({error})."
    else:
        first = f"With {few:,} rows {NAMES[lowest[0]]} has the lowest error of an ECE estimate"
        alike = [f"{NAMES[key]} {_error_of_estimates(study, key, 0)}" for key in lowest[1:]]
        alike = [f"not clearly lower than {listing(alike)}"] if alike else []
        first += f" ({', '.join([error, *alike])})"
        first += (
            "." if "ece" in lowest else f"; {NAMES['ece']}: {_error_of_estimates(study, 'ece', 0)}."
        )
    others = " and ".join(
        f"{NAMES[key]} {_error_of_estimates(study, key, 0)}" for key in _OWN_TRUTH
    )
    return f"{first} {_level(study)} By their own truths: {others}."


def _level(study: EstimatorStudy) -> str:
    """Return from how many rows on 15 bins are nearly as good as the best estimate of ECE."""
    least = np.min([study.mean_error(key) for key in OF_ECE], axis=0)
    level = study.mean_error("ece") <= _NEARLY * least
    if not level[-1]:
        return f"Up to {int(study.n_rows[-1]):,} rows, 15 bins stay behind by more than 10%."
    since = int(np.flatnonzero(~level)[-1]) + 1 if not level.all() else 0
    if since == 0:
        return "At every size, 15 bins are within 10% of the lowest error."
    return f"From {int(study.n_rows[since]):,} rows on, 15 bins are within 10% of the lowest error."


def caption(study: EstimatorStudy) -> str:
    """Return what the picture shows here, and what its lines are."""
    return (
        f"{estimators_conclusion(study)} Grey: bins, of equal width or equal mass. Dark: kernels."
        f" Blue: KS. Each point: mean of {len(study.sizes[0].values):,} draws; both axes"
        " logarithmic."
    )


def heads(study: EstimatorStudy) -> tuple[str, ...]:
    """Return the column heads of the table."""
    return ("Estimate", "Truth", *(f"{int(study.n_rows[k]):,} rows" for k in _shown(study)))


def rows(study: EstimatorStudy) -> list[tuple[str, ...]]:
    """Return the table: the errors of each estimate at some sizes, lowest with few rows first."""
    lines = []
    for key in sorted(NAMES, key=lambda one: float(study.mean_error(one)[0])):
        low, high = (study.error_quantile(key, share) for share in (0.1, 0.9))
        cells = [
            f"{_error_of_estimates(study, key, k)} ({100 * low[k]:.2f}\u2013{100 * high[k]:.2f})"
            for k in _shown(study)
        ]
        lines.append((NAMES[key], f"{100 * study.truth(key):.2f}%", *cells))
    return lines


def _shown(study: EstimatorStudy) -> list[int]:
    """Return the places of the fewest rows, some between, and the most."""
    last = len(study.sizes) - 1
    return sorted({0, last // 3, 2 * last // 3, last})


def _error_of_estimates(study: EstimatorStudy, key: str, place: int) -> str:
    return f"{100 * study.mean_error(key)[place]:.2f} pp"
