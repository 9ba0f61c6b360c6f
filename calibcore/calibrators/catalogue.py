"""Every calibrator once: what the page, the command line, the benchmarks and the tests offer."""

from calibcore.calibrators import methods_of_logits, methods_of_scores
from calibcore.calibrators.method import Method

CATALOGUE: tuple[Method, ...] = (
    methods_of_scores.SPLINE,
    *methods_of_logits.METHODS,
    *methods_of_scores.METHODS,
)
"""Every method, in the order in which they are offered: a map of the event and its forms for all
classes beside each other."""

SIMPLEST_FIRST = (
    "temperature",
    "platt",
    "beta",
    "ensemble_temperature",
    "spline",
    "histogram",
    "isotonic",
    "venn_abers",
    "bbq",
    "by_group",
    "temperature_isotonic",
    "pooled_isotonic",
    "structured_vector",
    "vector",
    "one_vs_rest_histogram",
    "one_vs_rest_isotonic",
    "one_vs_rest_bbq",
    "one_vs_rest",
    "one_vs_rest_spline",
    "per_rank",
    "beta_ensemble",
    "gaussian_process",
    "structured_matrix",
    "matrix",
    "dirichlet",
)
"""Keys of the catalogue by what is fitted: one number, two, a curve, a curve a class, a matrix."""
