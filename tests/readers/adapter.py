"""The readers as the corpus of hostile files wants them."""

from typing import Any

import numpy as np

from dashboard.readers import FileError, Upload, read

REFUSAL = FileError


def check_adapter(name: str, data: bytes) -> Upload:
    """Read a file as the corpus of hostile files wants it."""
    return read(name, data)


def warnings_of(upload: Upload) -> tuple[str, ...]:
    """List what a careful tool would warn of."""
    return upload.repairs + upload.doubts + upload.missing


def arrays_of(upload: Upload) -> dict[str, np.ndarray[Any, Any]]:
    """Return the numbers for comparison with the truth."""
    if upload.piece is not None:
        parts = {"logits": upload.piece.table, "labels": upload.piece.labels}
        return {key: array for key, array in parts.items() if array is not None}
    first: Any = next(iter(upload.sets.values()))
    if not hasattr(first, "logits"):
        return {}
    key = "probs" if upload.values_kind == "probabilities" else "logits"
    table = first.probabilities if key == "probs" else first.logits
    return {key: table, "labels": first.labels}
