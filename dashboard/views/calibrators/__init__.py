"""Calibrators: which one to choose."""
