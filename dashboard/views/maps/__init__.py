"""Calibration maps: what a calibrator does to scores."""
