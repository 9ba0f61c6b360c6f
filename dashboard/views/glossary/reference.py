"""What the glossary says: most of it is what the program itself says of its parts."""

import inspect
import re

import calibcore.metrics
from calibcore.calibrators import CATALOGUE, Method
from calibcore.metrics import METRICS, Measure
from dashboard.texts.glossary import GLOSSARY, TERMS
from dashboard.texts.measures import GROUPS

INTRO = "Every word, measure and calibrator of the pages: what it is, its formula, its source."

WORDS, MEASURES, CALIBRATORS = "Words", "Measures", "Calibrators"

SITE = "Documentation: browser, command, Python"
SEEN_ON = "See what it does to the scores"

_UNITS = {
    "share": "a share", "squared": "squared", "small": "squared", "nats": "nats", "rows": "rows",
    "number": "",
}  # fmt: skip
_BETTER = {
    "lower": "lower is better", "higher": "higher is better", "nearer": "nearer to ideal is better",
    "neither": "neither high nor low is better",
}  # fmt: skip


_FORMULAS = {
    "ks_error": "max over scores t of |sum_i 1(s_i <= t) (s_i - h_i)| / N; s the score of a row, h"
    " its outcome, 1 or 0, N the number of rows. Rows of equal score are one block.",
    "kuiper": "max over t of D(t) minus min over t of D(t), D(t) = sum_i 1(s_i <= t) (s_i - h_i) /"
    " N, both with D = 0 at the start.",
    "ece_equal_mass": "sum_b n_b / N |mean score_b - frequency_b|, inner edges at the scores of the"
    " rows at places b N / n_bins.",
    "ece_l2": "Root of sum_b n_b / N (mean score_b - frequency_b)^2.",
    "mce": "max_b |mean score_b - frequency_b| over the bins that hold rows.",
    "mce_equal_mass": "max_b |mean score_b - frequency_b|, inner edges at the scores of the rows at"
    " places b N / n_bins.",
    "max_classwise_ks": "max_k KS error of the probability of class k against the others.",
    "classwise_ece_equal_mass": "(1 / K) sum_k sum_b n_kb / N |mean p_k - frequency of class k|,"
    " the inner edges of class k at its probabilities of the rows at places b N / n_bins.",
    "kde_ece_l2": "Root of int_0^1 (x - g(x) / m(x))^2 m(x) dx, g and m as in the KDE-ECE; the"
    " paper takes no root.",
    "max_classwise_ece": "max_k ECE of the probability of class k against the others.",
    "event_brier": "sum_i (s_i - h_i)^2 / N.",
    "miscalibration": "Brier score of the scores minus that of the isotonic fit to the outcomes.",
    "discrimination": "Uncertainty minus the Brier score of the isotonic fit to the outcomes.",
    "uncertainty": "f (1 - f), f the observed frequency.",
    "spiegelhalter_z": "sum_i (h_i - s_i)(1 - 2 s_i) / root of sum_i (1 - 2 s_i)^2 s_i (1 - s_i).",
    "hosmer_lemeshow": "sum_g (O_g - E_g)^2 / (E_g (1 - E_g / n_g)) over tenths of the rows; O_g"
    " outcomes that were 1, E_g the sum of the scores, n_g rows. About chi-squared with 10 degrees"
    " of freedom for rows that the model has not seen.",
    "nll_miscalibration": "NLL of the scores minus that of the isotonic fit to the outcomes.",
    "nll_discrimination": "Uncertainty minus the NLL of the isotonic fit to the outcomes.",
    "nll_uncertainty": "-f ln f - (1 - f) ln(1 - f), f the observed frequency.",
    "certain_misses": "Number of rows with s_i = 1 and h_i = 0, or s_i = 0 and h_i = 1.",
    "mean_score": "sum_i s_i / N.",
    "hit_rate": "sum_i h_i / N.",
    "mean_gap": "sum_i (s_i - h_i) / N.",
    "observed_expected_ratio": "sum_i h_i / sum_i s_i.",
    "top_2_accuracy": "Share of rows whose true class is one of the two most probable ones.",
    "top_5_accuracy": "Share of rows whose true class is one of the five most probable ones.",
}
"""Of the measures whose functions do not write it themselves."""


def words() -> list[tuple[str, str]]:
    """Return each term and its definition."""
    return [(name, GLOSSARY[key]) for key, name in TERMS.items()]


def measures() -> list[tuple[str, tuple[Measure, ...]]]:
    """Return the measures by group, each under its heading."""
    return [
        (title, tuple(one for one in METRICS if one.group == group))
        for group, title in GROUPS.items()
    ]


def facts(measure: Measure) -> str:
    """Return unit, direction, source and key of a measure."""
    parts = (_UNITS[measure.unit], _BETTER[measure.better], measure.source, f"`{measure.key}`")
    return " \u00b7 ".join(filter(None, parts))


def calibrators() -> tuple[Method, ...]:
    """Return every calibrator that is offered."""
    return CATALOGUE


def needs(method: Method) -> str:
    """Say when a calibrator can be used, and what it keeps."""
    if method.knows_groups:
        known = "the scores of one event, and the group of each row, are known"
    elif method.acts_on == "event":
        known = "only the scores of one event are known, or only they matter"
    else:
        known = "the logits or probabilities of all classes are known"
    text = "stay" if method.preserves_accuracy else "may change"
    return f"Use it where {known}; predicted classes {text}."


def notes_of_measure(measure: Measure) -> str:
    """Return formula and conventions of a measure, as its function has them where it does."""
    own = _FORMULAS.get(measure.key)
    return section(getattr(calibcore.metrics, measure.key, None), "Notes") if own is None else own


def notes_of_calibrator(method: Method) -> str:
    """Return formula and conventions of a calibrator, as its class has them; "" for none."""
    return section(type(method.make()), "Notes")


def section(of: object, name: str) -> str:
    """Return a section of a docstring as plain text; "" where there is none.

    >>> section(calibcore.metrics.ece, "Notes").endswith("empty bins weigh nothing.")
    True
    """
    text = inspect.getdoc(of) if callable(of) else None
    match = re.search(
        rf"^{name}\n-+\n(.*?)(?=\n\n[A-Z][A-Za-z ]*\n-+\n|\Z)", text or "", re.S | re.M
    )
    return match[1].strip() if match else ""
