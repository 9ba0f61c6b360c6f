"""The rows of the samples."""

from functools import cache

from calibcore.data import LogitSet
from calibcore.samples import load_sample


@cache
def sample_sets(name: str) -> tuple[LogitSet, LogitSet]:
    """Return the calibration and the test set of a sample."""
    rows = load_sample(name)
    names = tuple(map(str, rows["class_names"]))
    calibration, test = (
        LogitSet(rows[f"logits_{part}"], rows[f"labels_{part}"], names)
        for part in ("calibration", "test")
    )
    return calibration, test
