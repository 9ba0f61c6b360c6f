"""A series of networks by epoch, capacity or another number: what each picture shows."""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from calibcore.errors import CalibrationInputError
from calibcore.series import Checkpoint
from calibcore.validation import Floats, Hits
from dashboard.texts.classes import shortened
from dashboard.texts.numbers import amount, escape_markdown, percent, pp, span
from dashboard.texts.refusal import refusal

SERIES = "Series"
NO_SERIES = (
    "The series of examples are of Fashion CNN: choose one of these examples on the left. Or choose"
    " **Your file** and upload one file per network."
)
NO_FILES = (
    "Upload the files of the other networks of the series: one file each, with the same rows in the"
    " same order. The number in a file's name, such as epoch_10.npz, is its place."
)
NOT_ALL_CLASSES = "A series needs logits or probabilities of all classes, with labels."
PLACES, ALONG = "Numbers of the files", "Horizontal axis"
PLACES_HELP = "As read from the names of the files."
ALONG_NUMBER = "Number"
TABLE = "Measures"
HEAD = ("T", "Error", "NLL", "Entropy", "ECE", "KS error", "Class-wise ECE")
WORK = "Fitting a temperature to {n} networks"
LEGEND = "Solid: before temperature scaling. Dashed: after."
NEAR = 0.05
"""A temperature so near to 1 counts as 1."""

ALIKE = 0.05
"""Share of the NLL by which the entropy of other rows than those fitted may differ from it."""

SIMILAR = 1.96
"""Standard errors of a difference on the same rows, below which it is not named."""


def refused(name: str, error: CalibrationInputError) -> str:
    """Return why a file is left out of the series, for Markdown."""
    return f"{escape_markdown(shortened(name))} is left out. {refusal(error)}"


def twice(number: float, names: Sequence[str]) -> str:
    """Return that several files have one number, for Markdown."""
    listed = ", ".join(escape_markdown(shortened(name)) for name in names)
    return f"Several files have the number {number:g}: {listed}."


def working_on(n_networks: int) -> str:
    """Return what is being fitted, at the start of a sentence."""
    return WORK.format(n=n_networks)


def overfit(checkpoints: Sequence[Checkpoint]) -> tuple[float, float] | None:
    """Return the numbers of the lowest NLL and of the lowest error, as in the figure of Guo 2017.

    None where the error is not lowest later, with an NLL that is higher beyond chance.
    """
    loss = min(range(len(checkpoints)), key=lambda place: checkpoints[place].nll[0])
    error = min(range(len(checkpoints)), key=lambda place: checkpoints[place].error)
    if error <= loss or not _rises(checkpoints[loss], checkpoints[error]):
        return None
    return checkpoints[loss].number, checkpoints[error].number


def conclusion(checkpoints: Sequence[Checkpoint], along: str) -> str:
    """Return what becomes of NLL and error after the lowest NLL, for Markdown.

    ``checkpoints``: the series, ascending. ``along``: what the
    number is.
    """
    last, least = checkpoints[-1], min(checkpoints, key=lambda one: one.nll[0])
    name = _axis(along)
    if least is last:
        return f"NLL is lowest at the last {name}, {last.number:g} ({last.nll[0]:.3f})."
    if not _rises(least, last):
        return (
            f"NLL is lowest at {name} {least.number:g} ({least.nll[0]:.3f}), with no clear rise up"
            f" to {last.number:g} ({last.nll[0]:.3f})."
        )
    change, width = last.error - least.error, _chance(least.correct, last.correct)
    ends = f"{percent(least.error, last.n_samples)} \u2192 {percent(last.error, last.n_samples)}"
    word = "falls" if change < 0 else "rises"
    if abs(change) < width:
        word = "shows no clear change"
    return (
        f"From {name} {least.number:g} to {last.number:g}, NLL rises ({least.nll[0]:.3f} \u2192"
        f" {last.nll[0]:.3f}) while error {word} ({ends})."
    )


def _rises(one: Checkpoint, later: Checkpoint) -> bool:
    return later.nll[0] - one.nll[0] >= _chance(one.losses, later.losses)


def _chance(one: Floats | Hits, other: Floats | Hits) -> float:
    """Return how far two means over the same rows may differ by chance."""
    apart = one.astype(np.float64) - other
    return SIMILAR * float(apart.std()) / sqrt(len(apart))


def _axis(along: str) -> str:
    """Return the name of the axis inside a sentence, for Markdown."""
    name = escape_markdown(shortened(along))
    return name[:1].lower() + name[1:] if name[1:2].islower() else name


def caption(field: str, checkpoints: Sequence[Checkpoint], along: str) -> str:
    """Return what the picture of a measure shows here, for Markdown.

    ``field``: of `Checkpoint`. ``checkpoints``: the series, ascending. ``along``: what the
    number is.
    """
    values, name = np.array([getattr(one, field) for one in checkpoints]), _axis(along)
    match field:
        case "error":
            return _error(checkpoints, name)
        case "temperature":
            return _temperature(values, checkpoints, name)
        case "entropy":
            return _entropy(checkpoints, name)
        case "nll":
            saved = values[:, 0] - values[:, 1]
            most = int(saved.argmax())
            return (
                f"Temperature scaling lowers NLL most at {name} {checkpoints[most].number:g}:"
                f" {values[most, 0]:.3f} \u2192 {values[most, 1]:.3f}."
            )
    rows, write = checkpoints[0].n_samples, per_class if field == "classwise_ece" else percent
    first, last = (write(values[place, 0], rows) for place in (0, -1))
    after = span(*(write(end, rows) for end in (values[:, 1].min(), values[:, 1].max())))
    return (
        f"Before: {first} at {name} {checkpoints[0].number:g}, {last} at the last. After: {after}."
    )


def _error(checkpoints: Sequence[Checkpoint], name: str) -> str:
    least = min(checkpoints, key=lambda one: one.error)
    half = SIMILAR * sqrt(least.error * (1 - least.error) / least.n_samples)
    return (
        f"Lowest at {name} {least.number:g}: {percent(least.error, least.n_samples)}"
        f" (95% CI \u00b1{pp(half, least.n_samples)}). T does not change it."
    )


def _temperature(values: Floats, checkpoints: Sequence[Checkpoint], name: str) -> str:
    ends = f"T goes from {values[0]:.3g} to {values[-1]:.3g}"
    above, below = values > 1 + NEAR, values < 1 - NEAR
    for side, where, word in ((above, "above", "high"), (below, "below", "low")):
        if side.all():
            return f"{ends}, {where} 1 at every {name}: scores are too {word} throughout."
        first = len(side) - int(np.argmin(side[::-1]))
        if side[-1] and not side[:first].any():
            since = (
                f"From {name} {checkpoints[first].number:g} on it is more than {NEAR:g} {where} 1"
            )
            return f"{ends}. {since}: scores are too {word}."
    if not above.any() and not below.any():
        return f"{ends}, about 1 at every {name}: scores need no correction."
    return f"{ends}; it is above 1 at {int(above.sum())} of {len(above)}."


def _entropy(checkpoints: Sequence[Checkpoint], name: str) -> str:
    last = checkpoints[-1]
    entropy, loss = last.entropy[1], last.nll[1]
    agree = "they nearly agree: " if abs(entropy - loss) < ALIKE * loss else ""
    return (
        f"At {name} {last.number:g}: entropy {last.entropy[0]:.3f}, NLL {last.nll[0]:.3f}."
        f" After temperature scaling {agree}{entropy:.3f} and {loss:.3f}."
    )


def per_class(value: float, n_samples: int) -> str:
    """Write a mean over classes, which is smaller the more there are: two decimals more.

    >>> per_class(0.00948, 10_000)
    '0.948%'
    """
    return f"{amount(value, 'share', n_samples, finer=2)}%"


def legend(shaded: tuple[float, float] | None, along: str) -> str:
    """Return how the pictures are read, for Markdown."""
    if shaded is None:
        return LEGEND
    loss, error = shaded
    name = _axis(along)
    return (
        f"{LEGEND} Shaded: from the lowest NLL ({name} {loss:g}) to the lowest error"
        f" ({name} {error:g})."
    )


def table_note(checkpoints: Sequence[Checkpoint], event: str, n_bins: int) -> str:
    """Return which rows the table is of."""
    rows = f"{checkpoints[0].n_samples:,} rows"
    return (
        f"Test set, {rows}. Small print: after temperature scaling, fitted on each network's"
        f" calibration set. ECE ({n_bins} bins) and KS error: {event}. Class-wise ECE: all classes."
    )
