"""Definitions, reading aids, and the names of options."""

from calibcore.calibrators import CATALOGUE
from calibcore.metrics import METRICS
from dashboard.settings import NO_METHOD

GLOSSARY = {
    **{measure.key: measure.explained for measure in METRICS},
    "row": "One prediction: the probabilities of its classes, or one score, and what came true.",
    "event": "What a score is the probability of: the top prediction is correct, the true class is"
    " in the top-k set, or the true class is one that was chosen.",
    "outcome": "Whether the event happened in a row: 1 or 0.",
    "bin": "A range of scores whose rows are counted together; a bar of a reliability diagram.",
    "overconfident": "Scores above the observed frequency; underconfident: below it.",
    "ci95": "95% confidence interval: of intervals so made, 95% hold the true value.",
    "p_value": "How often chance alone shows an error at least as large, if scores are perfectly"
    " calibrated.",
    "chance": "What differs between samples of the same model; lessons call it luck.",
    "calibration_set": "Rows on which the calibrator is fitted.",
    "test_set": "Held-out rows, not used to fit; they evaluate the calibrator.",
    "score": "Predicted probability of the event; for the top prediction also called confidence.",
    "observed_frequency": "How often the event happened. Gupta 2021 calls it probability.",
    "probability": "How often the event happens, among rows of about the same score or overall.",
    "cumulative": "Summed over the rows from the lowest score up, divided by the number of rows.",
    "null_band": "95% band for the observed curve under perfect calibration. Outside it, chance is"
    " an unlikely explanation.",
    "knots": "Points, evenly spaced over the rows, where the pieces of the spline meet.",
    "calibrator": "A map, fitted on the calibration set, that adjusts scores to observed"
    " frequencies.",
    "decision": "The class with the highest probability.",
    "by_group": "One map for all rows and, for each group of a column, a shift and a slope in"
    " log-odds. Both are pulled towards none, most where a group has few rows and where groups are"
    " alike (partial pooling).",
    "multicalibration": "Corrections of the groups of all columns at once: a shift in log-odds of"
    " one group, or of one range of its scores, at a time, as long as rows left out of the fit"
    " confirm it.",
    "fractile": "Share of the rows with this score or a lower one (percentile of rows).",
    "net_benefit": "Events flagged, less false alarms times the odds of the cut-off, cut-off / (1"
    " \u2212 cut-off); per row, or per 100. Flagging none: 0 (Vickers 2006; page Decisions).",
    "abstaining": "Leaving to a person the predictions whose score is below a threshold. Coverage:"
    " the share that is kept (page Decisions, for predictions).",
}

"""One-sentence definitions, by the key of the measure or term."""

TERMS = {
    "ks_error": "KS error",
    "fractile": "Fractile",
    "row": "Row",
    "event": "Event",
    "outcome": "Outcome",
    "score": "Score",
    "probability": "Probability",
    "observed_frequency": "Observed frequency",
    "cumulative": "Cumulative",
    "bin": "Bin",
    "overconfident": "Overconfident, underconfident",
    "ci95": "95% CI",
    "p_value": "p-value",
    "chance": "Chance, luck",
    "null_band": "If perfectly calibrated",
    "knots": "Knots",
    "calibrator": "Calibrator",
    "calibration_set": "Calibration set",
    "test_set": "Test set",
    "decision": "Predicted class",
    "by_group": "Calibration by group",
    "multicalibration": "Multicalibration",
    "net_benefit": "Net benefit",
    "abstaining": "Abstaining",
}
"""What terms of the glossary are called where they are listed."""

HOW_TO_READ = """
**Cumulative gap.** Rows are sorted by score, lowest first; score minus outcome adds up to the
right. Between any two places, how far the line rises, over the share of rows between them, is how
much too high these scores are on average.

**(a)** Rows are sorted by score, lowest first; scores and outcomes add up to the right. The largest
gap between the two lines, the black mark, is the KS error.

**(b)** The same totals, stretched so that the cumulative score is a straight line.

**(c)** The slopes of (a): the score of each row, and the observed frequency among rows like it,
estimated by a spline with six knots (Gupta 2021 labels it probability). It cannot resolve a small
part of the rows; the reliability diagram can.

**(d)** The same two, against the score itself. The score is the diagonal.

**Grey.** The band under perfect calibration, where chance alone still separates the lines a little.
In the gap, (a) and (b) the whole line stays inside in 95% of samples; in (c) and (d) that holds at
each place. With many rows the grey is as thin as the line.

**Reliability diagram in bins.** One bar per bin of scores, as high as the observed frequency; the
hatched part is the gap to the mean score, the dot. Error bars: 95% CI (Wilson). Bins with less than
1% of the rows are pale. Below it: rows per bin, the mean score and the observed frequency of all
rows. The reliability plot shows the same bins as points.

**Isotonic (CORP).** The increasing step function nearest to the outcomes. No bins. A perfectly
calibrated model of this size would rarely leave the grey consistency band. Dotted: 95% confidence
band.

**Smoothed.** Each point averages the rows with nearby scores: blue their scores, orange their
outcomes. Close to 0% and 100% the blue line bends, as rows are near on one side only.
"""

_LOSS = (
    "Loss",
    (
        "Minimised by the fit on the calibration set. Guo 2017 fits the temperature by log loss;"
        " the experiments of Zhang 2020 fit temperature and ensemble by squared error."
    ),
)
_PENALTY = ("Penalty", "Regularises the matrix.")
_N_BINS = ("Calibrator bins", "Number of bins of the scores. Vasilev 2023 uses 20.")
_BINNING = ("Bin type", "Equal width, or equal mass: the same number of rows per bin.")
_CONSTRAINED = (
    "Keep inside 0\u2013100%",
    (
        "Cuts calibrated scores off before 0% and 100%, where the outcomes are likeliest. Off: they"
        " are clipped to 0% and 100%, as in the experiments of Gupta 2021."
    ),
)
_LINES = ("Interpolate between steps", "Joins the steps by straight lines, as scikit-learn does.")

OPTIONS = {
    ("spline", "n_knots"): (
        "Knots",
        "More knots follow the calibration rows more closely. The paper mostly uses 6.",
    ),
    ("spline", "runout"): ("Spline ends", "Run-out: straight, parabolic or cubic ends."),
    ("spline", "fit_to"): (
        "Fit to",
        (
            "Cumulative outcomes minus cumulative scores, as in the authors' program; or cumulative"
            " outcomes, as in the paper's text."
        ),
    ),
    ("spline", "cross_validated"): (
        "Cross-validate knots",
        (
            "Chooses 3\u201320 knots (4\u201320 with cubic ends) by 5-fold cross-validation on the"
            " calibration set."
        ),
    ),
    ("spline", "constrained"): _CONSTRAINED,
    ("one_vs_rest_spline", "constrained"): _CONSTRAINED,
    ("per_rank", "constrained"): _CONSTRAINED,
    ("temperature", "loss"): _LOSS,
    ("temperature", "smoothed"): (
        "Laplace smoothing",
        "Mixes in equal probabilities of all classes as one more row, so that none is 0.",
    ),
    ("ensemble_temperature", "loss"): _LOSS,
    ("vector", "bias"): (
        "Bias per class",
        "Adds a fitted number to each logit. Without it, logits are only multiplied.",
    ),
    ("vector", "space"): ("Input", "Logits, or logarithms of the probabilities."),
    ("matrix", "penalty"): _PENALTY,
    ("dirichlet", "penalty"): _PENALTY,
    ("pooled_isotonic", "normalised"): (
        "Normalise rows",
        (
            "Scales each row to sum to 1, as in the paper. The authors' program does not, which"
            " changes the KS error; then only the selected event is calibrated."
        ),
    ),
    ("temperature_isotonic", "then"): (
        "Second step",
        "One step function per class, or one shared by all.",
    ),
    ("temperature_isotonic", "first"): (
        "First step",
        "Temperature scaling, as in the paper, or its ensemble, from which it expects more.",
    ),
    ("one_vs_rest_spline", "n_knots"): ("Knots", "Of the spline of each class."),
    ("one_vs_rest", "score_map"): (
        "Calibrator per class",
        "Applied to the probability of each class.",
    ),
    ("by_group", "score_map"): (
        "Map of all rows",
        "Fitted on all rows; each group then adds its own shift and slope.",
    ),
    ("per_rank", "n_knots"): ("Knots", "Of the spline of each rank."),
    ("beta_ensemble", "n_maps"): ("Curves", "Number of beta curves in the mixture."),
    ("gaussian_process", "n_inducing"): (
        "Inducing points",
        "Places where the curve is learned. More follow it more closely and take longer.",
    ),
    ("platt", "smoothed_targets"): (
        "Smoothed targets",
        "Replaces outcomes 1 and 0 by targets slightly inside that range, as Platt did.",
    ),
    ("beta", "parameters"): ("Parameters", "Which parameters of the curve are fitted."),
    ("histogram", "n_bins"): _N_BINS,
    ("histogram", "binning"): _BINNING,
    ("one_vs_rest_histogram", "n_bins"): _N_BINS,
    ("one_vs_rest_histogram", "binning"): _BINNING,
    ("isotonic", "interpolate"): _LINES,
    ("one_vs_rest_isotonic", "interpolate"): _LINES,
    ("pooled_isotonic", "interpolate"): _LINES,
    ("temperature_isotonic", "interpolate"): _LINES,
}
"""Label and tooltip of each option, by method and name."""

CHOICES = {
    "natural": "Natural (straight)",
    "parabolic": "Parabolic",
    "cubic": "Cubic",
    "difference": "Outcomes minus scores",
    "hits": "Outcomes",
    "nll": "Log loss (NLL)",
    "squared_error": "Squared error",
    "logits": "Logits",
    "log_probabilities": "Log-probabilities",
    "none": "None",
    "odir": "Off-diagonal and bias (ODIR), cross-validated",
    "l2": "All entries (L2)",
    "one_vs_rest": "One function per class",
    "pooled": "One shared function",
    "temperature": "Temperature scaling",
    "ensemble_temperature": "Ensemble temperature scaling",
    "beta": "Beta calibration",
    "platt": "Platt scaling",
    "histogram": "Histogram binning",
    "bbq": "Bayesian binning (BBQ)",
    "spline": "Spline",
    "abm": "Three (a, b, m)",
    "am": "Two (a = b, m)",
    "ab": "Two (a, b; m = 1/2)",
    "equal_width": "Equal width",
    "equal_mass": "Equal mass",
}
"""What an option's words are called on screen."""

SHORT_NAMES = {NO_METHOD: "Uncalibrated"} | {method.key: method.short for method in CATALOGUE}
"""Names of calibrators where there is little room, at most 12 letters."""
