"""Pickles of arrays, read without Python's unpickler: nothing is imported, nothing is called."""

from dashboard.readers.pickles.layouts import read_pickle

__all__ = ["read_pickle"]
