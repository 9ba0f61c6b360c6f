"""A fitted calibrator as a few lines of Python that need nothing but numpy."""

from typing import Any

import numpy as np

from calibcore.calibrator_file import CalibratorFile
from calibcore.calibrators.linear.fitted import FittedLinear
from calibcore.errors import CalibrationInputError
from calibcore.numpy_recipes import recipe_of


def numpy_code(kept: CalibratorFile) -> str:
    """Write Python that applies a calibrator with numpy alone.

    Parameters
    ----------
    kept : CalibratorFile
        Of any calibrator of the catalogue but the Gaussian process and the one by group.

    Returns
    -------
    str
        A module with one function, ``calibrate``, that refuses what the calibrator does not take
        by a ValueError.

    Raises
    ------
    CalibrationInputError
        Another calibrator.

    Notes
    -----
    Equal to `CalibratorFile.apply` to 1e-12. Classes with a probability of 0 are taken by all but
    the linear calibrators, whose code refuses them. Of classes that a pooled map leaves equal to
    the last digit, any may be the largest.
    """
    made = recipe_of(kept.fitted)
    if made is None:
        raise CalibrationInputError(
            "calibrator",
            type(kept.fitted).__name__,
            "any but a Gaussian process and one by group",
        )
    numbers, lines = made
    of_scores = kept.takes == "scores" or not kept.class_names
    head, name = (_OF_SCORES, "scores") if of_scores else (_of_classes(kept), kept.takes)
    constants = [f"{key.upper()} = {_written(value)}" for key, value in numbers.items()]
    # What a file says stands in constants alone, where it stays text.
    facts = {"made_by": f"Fractile {kept.made_by}", "data_sha256": kept.data, "rows": kept.n_rows}
    text = [
        f'"""{type(kept.fitted).__name__}: calibrates {name} with numpy alone."""',
        "",
        "import numpy as np",
        "",
        *(f"{key.upper()} = {fact!r}" for key, fact in facts.items()),
        *([] if of_scores else [f"CLASSES = {kept.class_names!r}"]),
        *constants,
        "",
        "",
        f"def calibrate({name}{'' if of_scores else ', class_names=CLASSES'}):",
        f"    x = np.asarray({name}, dtype=float)",
        *(f"    {line}" for line in [*head, *lines]),
        "    return y",
        "",
    ]
    return "\n".join(text)


_OF_SCORES = [
    "if x.ndim != 1 or not (x.min() >= 0 and x.max() <= 1):",
    '    raise ValueError("expected scores from 0 to 1, one a row")',
]


def _of_classes(kept: CalibratorFile) -> list[str]:
    """Return the checks of a table, and what makes logits of it."""
    linear = isinstance(kept.fitted, FittedLinear)
    lines = [
        "if tuple(class_names) != CLASSES or x.ndim != 2 or x.shape[1] != len(CLASSES):",
        '    raise ValueError(f"expected a column for each of {CLASSES}, in this order")',
        "shares = x.min() >= 0 and np.allclose(x.sum(axis=1), 1, rtol=0, atol=1e-3)",
    ]
    if kept.takes == "probabilities":
        lines += [
            "if not shares:",
            '    raise ValueError("expected probabilities, rows of which sum to 1")',
            'with np.errstate(divide="ignore"):',
            "    x = np.log(x / x.sum(axis=1, keepdims=True))",
        ]
    else:
        lines += ["if shares:", '    raise ValueError("expected logits, not probabilities")']
    if linear:
        finite = 'raise ValueError("expected finite logits, or probabilities above 0")'
        lines += ["if not np.isfinite(x).all():", f"    {finite}"]
    return lines


def _written(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"np.array({value.tolist()!r})"
    if isinstance(value, list | tuple):
        inside = "".join(f"{_written(one)}, " for one in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    return repr(float(value))
