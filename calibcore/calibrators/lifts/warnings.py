"""What a lift says of the maps it is made of."""

from collections.abc import Iterable, Sequence

from calibcore.calibrators.base import FittedScoreMap
from calibcore.calibrators.score_maps.beta import HARMLESS

_NAMED = 3
"""Warnings of single maps that are passed on; more are only counted."""


def gathered(what: str, maps: Sequence[FittedScoreMap], numbers: Iterable[int]) -> tuple[str, ...]:
    """Pass on what the first of the chosen maps with warnings say, and count the others."""
    each = ((number, maps[number].warnings) for number in numbers)
    told = ((number, [one for one in those if one not in HARMLESS]) for number, those in each)
    said = [(number, sentences) for number, sentences in told if sentences]
    found = [
        f"{what} {number}: {sentence}"
        for number, sentences in said[:_NAMED]
        for sentence in sentences
    ]
    if len(said) > _NAMED:
        found.append(
            f"The maps of {len(said):,} of {len(maps):,} have warnings; those of the first"
            f" {_NAMED} are shown."
        )
    return tuple(found)


def absent(n_classes: int, missing: list[int]) -> tuple[str, ...]:
    """Name the classes that no calibration row belongs to."""
    if not missing:
        return ()
    first = ", ".join(str(k) for k in missing[:5]) + (", ..." if len(missing) > 5 else "")
    have = "has" if len(missing) == 1 else "have"
    said = (
        f"{len(missing):,} of {n_classes:,} classes {have} no row in the calibration set ({first}),"
        " so nothing is known of them but that they did not happen."
    )
    return (said,)
