"""Eight views of the samples, whose pages are compared between two versions."""

SCENES: dict[str, dict[str, str]] = {
    "crash": {"sample": "crash_survival", "resamples": "200", "method": "spline"},
    "garments_rank": {"sample": "three_garments", "event": "top", "rank": "2", "resamples": "0"},
    "crash_expert": {"sample": "crash_survival", "event": "class", "method": "platt",
                     "wording": "expert", "resamples": "0"},
    "fashion": {"sample": "fashion_cnn_overconfident", "resamples": "200", "measures": "all"},
    "cities_within": {"sample": "city_country_100", "event": "within", "within": "3"},
    "garments": {"sample": "three_garments", "method": "temperature", "measures": "all",
                 "resamples": "0"},
    "perfect": {"sample": "perfect_synthetic", "resamples": "200"},
    "none": {"sample": "fashion_cnn_focal", "method": "none", "resamples": "0"},
}  # fmt: skip

ASKS = (
    "dashboard.compute.comparison.QUICK_SECONDS",
    "dashboard.views.calibrators.page.ASK_FROM",
    "dashboard.views.data_needed.page.ASK_FROM",
    "dashboard.views.models.table.ASK_FROM",
    "dashboard.widgets.fit_progress.ASK_FROM",
)
"""Seconds from which on one is asked before something is computed, which depends on the machine."""
