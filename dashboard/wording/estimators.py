"""Words of the study of estimators: how far estimates are from their own truths."""

from collections.abc import Mapping

import numpy as np

from calibcore.synthetic import EstimatorStudy

TITLE = "How good are the estimators?"
INTRO = (
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


def conclusion(study: EstimatorStudy) -> str:
    """Return which estimates have the lowest error with few rows, and when it matters no more."""
    few = int(study.n_rows[0])
    lowest = study.lowest(OF_ECE)
    error = _error(study, lowest[0], 0)
    if lowest[0] == "ece":
        first = f"With {few:,} rows no estimate of ECE has a lower error than {NAMES['ece']}"
        first += f" ({error})."
    else:
        first = f"With {few:,} rows {NAMES[lowest[0]]} has the lowest error of an ECE estimate"
        alike = [f"{NAMES[key]} {_error(study, key, 0)}" for key in lowest[1:]]
        alike = [f"not clearly lower than {_listed(alike)}"] if alike else []
        first += f" ({', '.join([error, *alike])})"
        first += "." if "ece" in lowest else f"; {NAMES['ece']}: {_error(study, 'ece', 0)}."
    others = " and ".join(f"{NAMES[key]} {_error(study, key, 0)}" for key in _OWN_TRUTH)
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
        f"{conclusion(study)} Grey: bins, of equal width or equal mass. Dark: kernels. Blue: KS."
        f" Each point: mean of {len(study.sizes[0].values):,} draws; both axes logarithmic."
    )


def heads(study: EstimatorStudy) -> tuple[str, ...]:
    """Return the column heads of the table."""
    return ("Estimate", "Truth", *(f"{int(study.n_rows[k]):,} rows" for k in _shown(study)))


def rows(study: EstimatorStudy) -> list[tuple[str, ...]]:
    """Return the table: the errors of each estimate at some sizes, lowest with few rows first."""
    found = []
    for key in sorted(NAMES, key=lambda one: float(study.mean_error(one)[0])):
        low, high = (study.error_quantile(key, share) for share in (0.1, 0.9))
        cells = [
            f"{_error(study, key, k)} ({100 * low[k]:.2f}\u2013{100 * high[k]:.2f})"
            for k in _shown(study)
        ]
        found.append((NAMES[key], f"{100 * study.truth(key):.2f}%", *cells))
    return found


def _shown(study: EstimatorStudy) -> list[int]:
    """Return the places of the fewest rows, some between, and the most."""
    last = len(study.sizes) - 1
    return sorted({0, last // 3, 2 * last // 3, last})


def _error(study: EstimatorStudy, key: str, place: int) -> str:
    return f"{100 * study.mean_error(key)[place]:.2f} pp"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
