"""How far peers are where they cut between rows at other places."""

WITHIN_TIES = "counts within ties, in the order of rows"

TIES = {"crash_survival, class 1": 1.5e-5}
"""Every prefix of the rows counts, so where scores tie the order of the rows does."""

EDGES_ELSEWHERE = {
    "city_country_100, class 1": 2.6e-7,
    "crash_survival": 1.1e-6,
    "crash_survival, class 1": 4.6e-5,
    "fashion_cnn_focal": 1.4e-6,
    "fashion_cnn_focal, class 1": 8.0e-8,
    "fashion_cnn_label_smoothing, class 1": 1.3e-5,
    "fashion_cnn_overconfident, class 1": 2.5e-8,
    "perfect_synthetic": 2.6e-4,
    "perfect_synthetic, class 1": 4.0e-5,
}
"""Difference in equal-mass ECE where a row at an edge changes bin, between gaps unlike in sign.

numpy.array_split gives a surplus to the first bins, where floor(k N / 15) spreads it; netcal's
edges are interpolated quantiles. If N is a multiple of 15 all cut at the same rows.
"""
