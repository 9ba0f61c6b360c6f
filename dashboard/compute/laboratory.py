"""A model of the laboratory as data for every page: the bytes of a file, and what it is."""

import hashlib
import io
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dashboard.compute.files import SourceFile
from dashboard.learn.laboratory import EVENT, Chosen, chosen_of, drawn_of
from dashboard.samples import Sample
from dashboard.wording import laboratory as words

FILE = "laboratory.npz"


def source_of(code: str) -> tuple[SourceFile, Sample] | None:
    """Return a model of the laboratory as a file and its description; None where there is none.

    Parameters
    ----------
    code : str
        As the laboratory's address has it.
    """
    chosen = chosen_of(code)
    if chosen is None:
        return None
    data = file_of(chosen)
    digest = hashlib.sha256(data).hexdigest()
    return SourceFile(FILE, digest, lambda: data, own=True), words.sample(chosen)


@lru_cache(maxsize=16)
def file_of(chosen: Chosen) -> bytes:
    """Write both sets of a model, as a sample is kept."""
    arrays: dict[str, NDArray[np.generic]] = {}
    for which, name in enumerate(("calibration", "test")):
        drawn = drawn_of(chosen, which)
        arrays[f"logits_{name}"] = drawn.rows.logits
        arrays[f"labels_{name}"] = drawn.rows.labels
        if drawn.groups is not None:
            arrays[f"column_group_{name}"] = np.array(["A", "B"])[drawn.groups]
    n_classes = arrays["logits_test"].shape[1]
    names = ["none", EVENT] if n_classes == 2 else [f"class {k}" for k in range(n_classes)]
    arrays["class_names"] = np.array(names)
    held = io.BytesIO()
    np.savez(held, **arrays)  # type: ignore[arg-type] # names are ours
    return held.getvalue()
