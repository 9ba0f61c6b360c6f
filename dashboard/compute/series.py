"""A series of networks by epoch, capacity or another number: read, and each at its temperature."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

from calibcore.calibrators.base import Progress
from calibcore.data import LogitSet
from calibcore.errors import CalibrationInputError
from calibcore.series import Checkpoint, checkpoint_of
from dashboard.compute.files import SourceFile, read_files
from dashboard.compute.models import evaluate_model, seconds
from dashboard.readers import Upload
from dashboard.samples import SampleSeries, stored
from dashboard.scene import Scene

_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
_WORD_BEFORE = re.compile(r"([^\W\d_]+)[\W_]*$")


@dataclass(frozen=True, eq=False)
class Member:
    """One file of a series."""

    number: float
    """Its place on the horizontal axis."""
    name: str
    """Of its file."""
    upload: Upload
    """What it holds."""


def numbers_in(names: Sequence[str]) -> tuple[list[float], str]:
    """Return the number of each file by its name, and the word before it.

    ``names``: of files.

    Of the numbers that differ between all names, the last; where the names do not agree, 1, 2, 3
    and no word.

    Examples
    --------
    >>> numbers_in(["resnet110_epoch2_seed7.npz", "resnet110_epoch10_seed7.npz"])
    ([2.0, 10.0], 'epoch')
    >>> numbers_in(["decay-1e-4.csv", "decay-0.01.csv"])
    ([0.0001, 0.01], 'decay')
    >>> numbers_in(["first.npz", "last.npz"])
    ([1.0, 2.0], '')
    """
    stems = [name.rsplit(".", 1)[0] or name for name in names]
    found = [list(_NUMBER.finditer(stem)) for stem in stems]
    for place in reversed(range(min(map(len, found), default=0))):
        numbers = [float(one[place].group()) for one in found]
        if len({*numbers}) == len(numbers) and len({*map(len, found)}) == 1:
            word = _WORD_BEFORE.search(stems[0][: found[0][place].start()])
            return numbers, word.group(1) if word else ""
    return [float(place) for place in range(1, len(names) + 1)], ""


def read_series(series: SampleSeries, most: int | None = None) -> list[Member]:
    """Read the files of a series that comes with Fractile: all, or so many of the first."""
    return [
        Member(number, f"{series.along} {number:g}", _read(name))
        for number, name in zip(series.numbers[:most], series.files[:most], strict=True)
    ]


def _read(name: str) -> Upload:
    file = f"{name.rsplit('/', 1)[-1]}.npz"
    return read_files((SourceFile(file, _digest(name), partial(stored, name), own=True),))


@cache
def _digest(name: str) -> str:
    return hashlib.sha256(stored(name)).hexdigest()


def seconds_of(scene: Scene, members: Sequence[Member]) -> float:
    """Estimate how many seconds the fits take that have not been made."""
    return seconds(_tempered(scene, members), [one.upload for one in members])


def follow(scene: Scene, members: Sequence[Member], progress: Progress) -> list[Checkpoint]:
    """Fit a temperature to each network, and evaluate it on the test set.

    ``scene``: the event, the bins, the split and the filter of the rows. ``members``: the networks,
    of the same rows. ``progress``: told the share done.

    Raises
    ------
    CalibrationInputError
        Files without the logits or probabilities of all classes.
    """
    at, found = _tempered(scene, members), []
    for place, one in enumerate(members):

        def report(share: float, place: int = place) -> None:
            progress((place + share) / len(members))

        model = evaluate_model(at, one.name, one.upload, report)
        if not isinstance(model.rows, LogitSet):
            raise CalibrationInputError(
                one.name, "scores of one event", "logits or probabilities of all classes"
            )
        found.append(checkpoint_of(one.number, model.rows, model.result, model.fitted))
    return sorted(found, key=lambda one: one.number)


def _tempered(scene: Scene, members: Sequence[Member]) -> Scene:
    """Return the scene at the temperature; of a series of examples, with rows of its own."""
    settings = replace(scene.settings, method="temperature", options=(), group=None)
    if scene.sample is None:
        return replace(scene, settings=settings)
    return replace(scene, upload=members[0].upload, settings=replace(settings, only=None))
