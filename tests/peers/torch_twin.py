"""The modules of PyTorch in docs/python.md: the calibrators that they are twins of."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import torch

from calibcore.calibrators import TemperatureScaling, VectorScaling

PAGE = Path(__file__).parents[2] / "docs" / "python.md"

OFF = 1e-12
"""By how much probabilities may differ."""


def check() -> None:
    """Raise if a module of the page is not its calibrator on new rows."""
    block = re.search(r"```py\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert block is not None
    space: dict[str, Any] = {}
    exec(block[1], space)  # noqa: S102 - what is checked
    rng = np.random.default_rng(0)
    logits = 3 * rng.normal(size=(600, 4))
    labels = (logits + 2 * rng.gumbel(size=logits.shape)).argmax(axis=1)
    new = 5 * rng.normal(size=(200, 4)) + 7
    for name, calibrator in (("Temperature", TemperatureScaling()), ("Vector", VectorScaling())):
        fitted = calibrator.fit(logits, labels)
        result = space[name](fitted)(torch.from_numpy(new)).numpy()
        np.testing.assert_allclose(result, fitted.predict_proba(new), rtol=0, atol=OFF)


if __name__ == "__main__":
    check()
