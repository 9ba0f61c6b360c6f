"""Addresses as they were: texts on screen where there are words now, which links still hold."""

from collections.abc import Mapping

_METHODS = {
    "None (leave as it is)": "none",
    "Spline": "spline",
    "Temperature scaling": "temperature",
    "Ensemble temperature scaling": "ensemble_temperature",
    "Vector scaling": "vector",
    "Matrix scaling": "matrix",
    "Dirichlet calibration": "dirichlet",
    "Structured vector scaling (SVS)": "structured_vector",
    "Structured matrix scaling (SMS)": "structured_matrix",
    "Isotonic, all classes pooled (IRM)": "pooled_isotonic",
    "Isotonic, one class against the rest (IROvA)": "one_vs_rest_isotonic",
    "Temperature, then isotonic (IROvA-TS, IRM-TS)": "temperature_isotonic",
    "One class against the rest": "one_vs_rest",
    "Spline on every rank": "per_rank",
    "Beta ensemble": "beta_ensemble",
    "Gaussian process": "gaussian_process",
    "Platt scaling": "platt",
    "Beta calibration": "beta",
    "Histogram binning": "histogram",
    "Isotonic regression": "isotonic",
    "Bayesian binning (BBQ)": "bbq",
    "Venn-Abers": "venn_abers",
    "By group": "by_group",
}

_LOSSES = {"Log loss (NLL)": "nll", "Squared error": "squared_error"}

_PENALTIES = {
    "None": "none",
    "Off-diagonal and bias (ODIR), cross-validated": "odir",
    "All entries (L2)": "l2",
}

OLD_WORDS: Mapping[str, Mapping[str, str]] = {
    "data": {"Sample": "sample", "Your file": "file"},
    "sample": {
        "Fashion CNN, trained too long": "fashion_cnn_overconfident",
        "Fashion CNN, label smoothing 0.05": "fashion_cnn_label_smoothing",
        "Fashion CNN, focal loss with gamma 3": "fashion_cnn_focal",
        "Country from a city's name, 100 classes": "city_country_100",
        "Who survives a crash, naive Bayes": "crash_survival",
        "Three garments that look alike": "three_garments",
        "Synthetic: labels drawn from the scores": "perfect_synthetic",
    },
    "event": {"Top-r": "top", "Within": "within", "Class": "class"},
    "set": {"Test set": "test", "Calibration set": "calibration"},
    "wording": {"Plain": "plain", "Expert": "expert"},
    "method": _METHODS,
    "methods": _METHODS,
    "curves": _METHODS,
    "score_learners": _METHODS,
    "learners": _METHODS,
    "spline_runout": {
        "Natural (straight)": "natural",
        "Parabolic": "parabolic",
        "Cubic": "cubic",
    },
    "spline_fit_to": {"Hits minus scores": "difference", "Hits": "hits"},
    "temperature_loss": _LOSSES,
    "ensemble_temperature_loss": _LOSSES,
    "vector_space": {
        "Logits": "logits",
        "Logarithms of the probabilities": "log_probabilities",
    },
    "matrix_penalty": _PENALTIES,
    "dirichlet_penalty": _PENALTIES,
    "temperature_isotonic_then": {
        "A staircase for each class": "one_vs_rest",
        "One staircase for all": "pooled",
    },
    "one_vs_rest_score_map": {"Beta calibration": "beta", "Platt scaling": "platt"},
    "by_group_score_map": {
        "Beta calibration": "beta",
        "Platt scaling": "platt",
        "Histogram binning": "histogram",
        "Bayesian binning (BBQ)": "bbq",
        "Spline": "spline",
    },
    "beta_parameters": {
        "Three (a, b, m)": "abm",
        "Two (a = b, m)": "am",
        "Two (a, b; m = 1/2)": "ab",
    },
    "second": {f"Top-{r}": f"top_{r}" for r in range(2, 6)}
    | {f"Within top-{r}": f"within_{r}" for r in range(2, 6)}
    | {"Top-1 prediction": "top_1"},
    "histogram_binning": {"Equally wide": "equal_width", "Equally many rows": "equal_mass"},
}
"""By the setting's name: the text of then, and the word of now."""

MOVED: Mapping[str, str] = {
    "histogram": "one_vs_rest_histogram",
    "Histogram binning": "one_vs_rest_histogram",
    "bbq": "one_vs_rest_bbq",
    "Bayesian binning (BBQ)": "one_vs_rest_bbq",
    "spline": "one_vs_rest_spline",
    "Spline": "one_vs_rest_spline",
}
"""Calibrators that once were choices of ``one_vs_rest_score_map``."""
