"""What the laboratory says."""

from collections.abc import Mapping, Sequence

import numpy as np

from calibcore.metrics import METRICS
from calibcore.metrics.measure import Unit
from calibcore.synthetic import CalibratorAgainstTruth, Redraws, Truth
from dashboard.learn.laboratory import N_BINS, N_DRAWS, Chosen, Found, preset_of
from dashboard.samples import Sample
from dashboard.wording.numbers import MINUS, amount, p_words, percent, pp
from dashboard.wording.sentences import method_name

TITLE = "Laboratory"
INTRO = (
    "A model made by you, so its true calibration curve is known. Rows are drawn from it; each"
    " estimate stands beside its true value."
)
PRESET = "Model"
PRESETS: Mapping[str, str] = {
    "overconfident": "Overconfident",
    "calibrated": "Perfectly calibrated",
    "underconfident": "Underconfident",
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
    "groups": ("Groups differ by", 10),
    "beta0": ("\u03b20", 10),
    "beta1": ("\u03b21", 10),
    "seed": ("Seed", 1),
}
"""Label of each number, and what one unit of it is in `Chosen`."""

HANDLE, HEIGHT = "Score of the handle (%)", "True frequency there (%)"
DRAW, DRAW_MANY = "Draw again", f"Draw {N_DRAWS} times"
HELP = {
    "sharpness": "How far scores lie from their centre. 0: all alike.",
    "rate": "How often the event happens. The scores adapt, as far as the curve allows.",
    "slope": "In log-odds. Below 1: scores too extreme. Above 1: not extreme enough.",
    "shift": "In log-odds. Below 0: scores too high. Above 0: too low.",
    "wave": "In log-odds: too low below 50% and too high above it, or the reverse.",
    "beta0": "A shift: the score's log-odds are \u03b20 + \u03b21 x; true ones are \u22122 x.",
    "beta1": "\u22122 with \u03b20 = 0 is perfectly calibrated; nearer to 0: not extreme enough.",
    "groups": "In log-odds: more frequent than the curve in one group, less in the other.",
    "hand": "Or click in the first picture.",
    "seed": "The same seed and numbers give the same rows, on any machine.",
    "classes": "With more than two, the event is that the top prediction is correct.",
}
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


def sample(chosen: Chosen) -> Sample:
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


def conclusion(found: Found) -> str:
    """Say what the rows show, and what is true: found, missed, or false alarm."""
    shown = found.curves.ks_p_value < 0.05
    told = "Miscalibration detected" if shown else "No miscalibration detected"
    p_value = p_words(found.curves.ks_p_value)
    ks = found.values["ks_error"]
    n_rows = found.curves.n_samples
    if found.truth.is_calibrated:
        truth = "In truth the model is perfectly calibrated"
        truth += ": a false alarm." if shown else ", so this is right."
    else:
        distance = pp(found.truth.mean_distance, n_rows)
        seen = "which these rows show" if shown else "which these rows do not show"
        truth = f"In truth, score and frequency are {distance} apart on average, {seen}."
    return (
        f"**{told}** (KS error {percent(ks[0], n_rows)}, {p_value}). {truth}"
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


def estimate_rows(found: Found, many: Redraws | None) -> list[tuple[str, ...]]:
    """Return the table of estimates, row by row."""
    rows = []
    for key, (value, truth) in found.values.items():
        name, unit = _NAMES[key]
        cells = [name, _written(value, unit), _written(truth, unit), _error(value - truth, unit)]
        if many is not None:
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


def _written(value: float, unit: Unit) -> str:
    text = amount(value, unit, 1_000)
    return f"{text}%" if unit == "share" else text


def _error(value: float, unit: Unit) -> str:
    text = amount(value, unit, 1_000, signed=True)
    return f"{text} pp" if unit == "share" else text.replace("-", MINUS)
