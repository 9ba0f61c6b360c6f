"""Which set a name speaks of: of an array, a sheet, a file, or a cell."""

import re
from collections.abc import Iterable
from functools import lru_cache

from dashboard.readers.contents import Role

_CALIBRATION = frozenset(
    {"cal", "calib", "calibration", "val", "valid", "validation", "validate", "dev"}
)
_TEST = frozenset({"test", "eval", "testing", "evaluation", "evaluate"})
_TUNED = frozenset({"tune", "tuning"})
_HELD_OUT = frozenset({"tst", "holdout", "heldout", "oot", "oos", "blind", "unseen"})
"""Words of a calibration and of a test set that stand beside the others in some files."""

_IN_WORDS = tuple(
    (re.compile(f"(?<![a-z]){several}(?![a-z])"), one)
    for several, one in (
        ("hold_out", "holdout"), ("held_out", "heldout"), ("out_of_time", "oot"),
        ("out_of_sample", "oos"),
    )
)  # fmt: skip
_FURTHER = _TUNED | _HELD_OUT


def role_of(name: str) -> tuple[Role, str]:
    """Tell which set a name speaks of, and give the rest of the name.

    Examples
    --------
    >>> role_of("y_val"), role_of("test-logits"), role_of("logits")
    (('calibration', 'y'), ('test', 'logits'), ('rows', 'logits'))
    >>> role_of("Holdout"), role_of("out-of-time probs")
    (('test', ''), ('test', 'probs'))
    """
    words = _words(name[:200])
    known = _CALIBRATION | _TEST | _FURTHER
    rest = "_".join(word for word in words if word not in known)
    calibration = not (_CALIBRATION | _TUNED).isdisjoint(words)
    test = not (_TEST | _HELD_OUT).isdisjoint(words)
    if calibration == test:
        return "rows", rest
    return ("calibration" if calibration else "test"), rest


def further_sets(names: Iterable[str]) -> set[str]:
    """List names of a second set to tune or to judge, such as ``holdout`` beside ``test``.

    Examples
    --------
    >>> further_sets(["val_y", "test_y", "holdout_y"]), further_sets(["val_y", "holdout_y"])
    ({'holdout_y'}, set())
    """
    told = [(name, role_of(name)[0]) for name in names]
    named = [(name, role) for name, role in told if role != "rows"]
    usual = {role for name, role in named if _FURTHER.isdisjoint(_words(name[:200]))}
    return {
        name
        for name, role in named
        if role in usual and not _FURTHER.isdisjoint(_words(name[:200]))
    }


@lru_cache(maxsize=1000)
def _words(name: str) -> tuple[str, ...]:
    spaced = re.sub(r"([a-z])([A-Z])", r"\1_\2", name)
    line = re.sub(r"[^a-z0-9]+", "_", spaced.lower())
    for several, one in _IN_WORDS:
        line = several.sub(one, line)
    return tuple(word for word in line.split("_") if word)
