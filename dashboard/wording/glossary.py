"""Definitions, reading aids, and the names of options."""

GLOSSARY = {
    "ks_error": "The largest gap between what the model has claimed and what has happened, summed"
    " from the lowest score up. It needs no bins. 0% is perfect.",
    "kuiper": "The largest miscalibration of any range of scores: the highest minus the lowest gap"
    " between claim and truth, summed from the lowest score up.",
    "ece": "Expected calibration error: rows are put into bins of equal width by their score; the"
    " gap between mean score and observed frequency is averaged over the bins. It depends on the"
    " number of bins.",
    "ece_equal_mass": "Expected calibration error over bins that hold equally many rows.",
    "ece_l2": "Root of the average squared gap over bins of equally many rows; large gaps weigh"
    " more.",
    "debiased_ece": "The same, less what chance alone puts into the squared gaps; 0 where chance"
    " explains them all.",
    "sweep_ece": "Expected calibration error over as many equally filled bins as keep the observed"
    " frequency rising, so that the number of bins need not be chosen.",
    "mce": "Maximum calibration error: the largest gap of any bin. A bin with few rows can decide"
    " it.",
    "kde_ece": "The average gap between score and observed frequency, both smoothed by a kernel"
    " instead of cut into bins.",
    "kde_classwise_ece": "The KDE-ECE of each class against the others, averaged over the classes."
    " The smoothing alone lifts it where most probabilities are near 0, so compare it with what a"
    " perfect model of this size would show.",
    "smooth_ece": "The average gap after smoothing by a kernel that is as wide as the error itself;"
    " it changes only a little when the scores do.",
    "miscalibration": "The part of the Brier score that the best rising map of the scores would"
    " remove (CORP). The Brier score is miscalibration minus discrimination plus uncertainty.",
    "discrimination": "How much of the Brier score is saved by telling rows apart, after the best"
    " rising map. Higher is better.",
    "uncertainty": "The Brier score of always saying the observed frequency. For the event of one"
    " class it is the same whatever the model.",
    "event_brier": "Mean squared distance between the score and whether the event happened. Lower"
    " is better; it rewards calibration and sharpness together.",
    "event_nll": "Mean negative log-likelihood of the event happening or not, in nats. Lower is"
    " better; a confident mistake costs much.",
    "brier": "Mean squared distance between the class probabilities and the truth, summed over the"
    " classes. Lower is better.",
    "calibration_gain": "By how much calibration lowers the squared calibration error of all"
    " classes together, from the fall of their Brier score; no bins are needed. Higher is better,"
    " below 0 calibration did harm. Where decisions have changed, the error falls by this much or"
    " more.",
    "nll": "Mean negative log-likelihood of the true class, in nats (log loss). Lower is better; a"
    " confident mistake costs much.",
    "classwise_ece": "The expected calibration error of each class against the others, averaged"
    " over the classes.",
    "max_classwise_ece": "The largest expected calibration error of any class against the others.",
    "certain_misses": "Rows for which the model said 0% or 100%, to all 16 digits, and was wrong."
    " Each adds 37 to 708 nats, divided by the number of rows, to the NLL of the event; 708 where"
    " it would otherwise be infinite.",
    "mean_score": "How often the model says that the event happens: its average score.",
    "hit_rate": "How often the event did happen. For the event within top-r, this is the top-r"
    " accuracy.",
    "mean_gap": "How much more often the model says that the event happens than it does; below 0 it"
    " says so too rarely.",
    "observed_expected_ratio": "Observed frequency divided by the mean score; 1 is right, below 1"
    " the model claims too much.",
    "calibration_intercept": "What would have to be added to the log-odds of every score to agree"
    " with the hits on average; 0 is right.",
    "calibration_slope": "The factor by which log-odds should be stretched to agree with the hits:"
    " 1 is right, below 1 the scores are too extreme.",
    "auroc": "The chance that a row where the event happened scores higher than one where it did"
    " not (area under the ROC curve). It says nothing of calibration.",
    "accuracy": "How often the most probable class is the true one.",
    "top_2_accuracy": "How often the true class is one of the two most probable ones (top-r"
    " accuracy with r = 2).",
    "top_5_accuracy": "How often the true class is one of the five most probable ones (top-r"
    " accuracy with r = 5).",
    "calibration_set": "The rows on which the calibrator is fitted.",
    "test_set": "Rows the calibrator has not seen; they judge it.",
    "score": "The probability the model gives to the event: that its first choice is right, say.",
    "observed_frequency": "How often the event happened among the rows in question.",
    "probability": "How often the event happens: among rows of about the same score, or in all.",
    "cumulative": "Added up over the rows from the lowest score on, divided by the number of rows.",
    "null_band": "Where the line of the hits would stay, in 95 of 100 cases or more, if the scores"
    " were the true probabilities; outside it, chance is no likely reason.",
    "knots": "Places, evenly spaced over the rows, where the pieces of the spline's curve meet.",
    "calibrator": "A rule, learned on the calibration set, that changes the scores so that they"
    " agree with what happens.",
    "decision": "The class the model puts first.",
    "fractile": "The share of the rows whose score is at most this high: at fractile 50% half of"
    " the rows score lower.",
}

"""One-sentence definitions, by the key of the measure or term."""

TERMS = {
    "ks_error": "KS error",
    "fractile": "Fractile",
    "score": "Score",
    "probability": "Probability",
    "observed_frequency": "Observed frequency",
    "cumulative": "Cumulative",
    "null_band": "Perfect model",
    "knots": "Knots",
    "calibrator": "Calibrator",
    "calibration_set": "Calibration set",
    "test_set": "Test set",
    "decision": "Decision",
}
"""What terms of the glossary are called where they are listed."""

HOW_TO_READ = """
**(a)** Rows are sorted by score, lowest first, and both totals grow to the right: what the model
claims, and what happened. Where the lines part, claim and truth part; the black mark is the widest
gap, the KS error.

**(b)** The same totals, stretched so that the claim is a straight line.

**(c)** The slopes of (a): the score of each row, and how often rows like it were hits, estimated by
a spline with six knots. It cannot follow what happens within a small part of the rows; the
reliability diagram can.

**(d)** The same two, against the score itself. The claim is the diagonal.

**The grey region** is the band under perfect calibration. Suppose the scores were the true
probabilities. Chance alone would still part the lines a little. In (a) and (b) the orange line
then stays in the grey all the way in 95 of 100 cases. In (c) and (d) that holds at each place on
its own. Many rows make the grey as thin as the line.

**Reliability diagram in bins.** One bar a bin of scores, as high as the observed frequency; the
hatched part is the gap to the mean score, the dot. The whisker is Wilson's interval: where the true
frequency of the bin lies. Bins with less than 1% of the rows are pale. Below it, how many rows are
in each bin, with the mean of all scores and the observed frequency of all rows. The reliability
plot shows the same bins as points.

**Isotonic (CORP).** The curve that never falls and lies nearest to the hits. It needs no bins. A
perfect model of this size would rarely leave the grey consistency band. The dotted outline shows
how sure the curve is.

**Smoothed.** Each point is an average over the rows that score near it: blue of their scores,
orange of their hits. Close to 0% and 100% the blue line bends, as rows are near on one side only.
"""

_LOSS = ("Loss", "Minimised by the fit on the calibration set.")
_PENALTY = ("Penalty", "Regularises the matrix.")

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
    ("spline", "constrained"): (
        "Constrain to 0\u2013100%",
        "Keeps calibrated scores within 0\u2013100% during the fit, instead of clipping them.",
    ),
    ("temperature", "loss"): _LOSS,
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
    ("one_vs_rest", "score_map"): (
        "Calibrator per class",
        "Applied to the probability of each class.",
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
    ("histogram", "n_bins"): ("Calibrator bins", "Number of bins of the scores."),
    ("histogram", "binning"): (
        "Bin type",
        "Equal width, or equal mass: the same number of rows per bin.",
    ),
    ("isotonic", "interpolate"): (
        "Interpolate between steps",
        "Joins the steps by straight lines.",
    ),
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
