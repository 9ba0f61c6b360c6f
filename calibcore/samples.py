"""The sample logits that come with Fractile, as arrays."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibcore.errors import CalibrationInputError

_PACKAGED = Path(__file__).parent / "sample_logits"
_CHECKOUT = Path(__file__).parents[1] / "sample_logits"
SAMPLES_FOLDER = _PACKAGED if _PACKAGED.is_dir() else _CHECKOUT
"""Holds ``NAME.npz`` and ``manifest.toml``, in an installed package as in a checkout."""


def load_sample(name: str) -> dict[str, NDArray[Any]]:
    """Load the logits, true labels and class names of a sample.

    Parameters
    ----------
    name : str
        Such as ``"crash_survival"``.

    Returns
    -------
    dict of ndarray
        ``logits_calibration``, ``labels_calibration``, ``logits_test``, ``labels_test``,
        ``class_names``; in some samples ``column_NAME_calibration`` and ``column_NAME_test`` too.

    Raises
    ------
    CalibrationInputError
        No sample has this name; the message lists those there are.

    Examples
    --------
    >>> load_sample("fashion_cnn_overconfident")["logits_test"].shape
    (10000, 10)
    """
    known = sorted(path.stem for path in SAMPLES_FOLDER.glob("*.npz"))
    if name not in known:
        raise CalibrationInputError("sample", repr(name), f"one of {', '.join(known)}")
    with np.load(SAMPLES_FOLDER / f"{name}.npz", allow_pickle=False) as stored:
        return {key: stored[key] for key in stored.files}
