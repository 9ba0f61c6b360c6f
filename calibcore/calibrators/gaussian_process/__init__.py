"""Gaussian process calibration: the process, its bound, search and averages."""
