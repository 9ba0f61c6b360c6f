"""What the user should know of the fit of a linear map, in words."""

import numpy as np
from numpy.typing import NDArray

from calibcore.calibrators.linear.blocks import linear_outputs, turn_to_probabilities
from calibcore.calibrators.linear.model import LinearModel
from calibcore.calibrators.linear.newton import CONVERGED, Optimum
from calibcore.calibrators.linear.odir import Chosen, strengths_tried
from calibcore.validation import Floats

_NO_PART = 1e-7
"""Mean distance of a class's probabilities from 0 or 1 at which its weights hardly have a part.

To shift its outputs by 1 would change the loss by twice as many nats, at most.
"""

_PERHAPS = 4e-7
"""Mean of 1 - p over a class's own rows, a part of that distance, above which it is surely more.

It may be rounded to single precision.
"""

_WORSE = 1e-3
"""Share by which a loss on rows held out is higher that is said to be."""

_NEXT_TO_NOTHING = 1e-6

_ARBITRARY = (
    "Other weights fit the calibration rows as well and may give other rows other probabilities."
    " Do not rely on them: {}."
)
_ADD = "add a penalty"
_LEFT_FREE = "the penalty leaves some weights free (that of structured matrix scaling leaves none)"
_NO_PENALTY = "structured vector scaling has a penalty"

_HELD_OUT = (
    "On calibration rows held out, the best strengths tried have a mean NLL of {:.4g}, temperature"
    " scaling of {:.4g}. So expect worse probabilities than from temperature scaling, or from"
    " structured matrix scaling, which penalises all weights."
)
_LARGEST = (
    "Cross-validation ended at the largest {} tried, {:g}, which leaves next to nothing of the {}."
)
_SMALLEST = "Cross-validation ended at the smallest {} tried, {:g}; a smaller one may do better."

_SEPARATED = (
    "Some weights get every calibration row right. The larger they are the better, so none are"
    " best; the search stopped at the first it met."
)
_ESCAPING = (
    "The loss hardly falls any more, but the weights still grow: for some class no finite weights"
    " are best."
)


def said_of(
    found: Optimum, model: LinearModel, absent: NDArray[np.int64], left: float, *, held: bool
) -> tuple[str, ...]:
    """Return warnings of weights that are not to be relied on.

    ``found``: where the search ended. ``model``: what was fitted. ``absent``: classes that no row
    belongs to. ``left``: how far above the least loss the search might end. ``held``: whether the
    penalty is on every class's own weight and bias.

    A sentence or more on each doubt.
    """
    unpenalised = not model.penalty.strength.any()
    perhaps = not held and bool(model.missed().min() <= _PERHAPS * model.n_rows)
    said, loose = _said_of_size(model) if unpenalised else (), np.empty(0, dtype=np.int64)
    if len(absent) or perhaps:
        off, largest = _last_look(model, found.parameters)
        said = _said_of_absent(absent, largest, held=held) + said
        if not held:
            loose = np.setdiff1d(np.flatnonzero(off <= _NO_PART), absent)
    instead = _ADD if unpenalised else _LEFT_FREE
    doubt = "" if held else _ARBITRARY.format(instead if model.full else _NO_PENALTY)
    apart = _said_of_loose(loose, doubt)
    return said + _said_of_end(found, left, apart, doubt, unpenalised=unpenalised)


def said_of_choice(chosen: Chosen, n_classes: int) -> tuple[str, ...]:
    """Return warnings of cross-validated strengths that do badly or end their grid.

    ``chosen``: what was chosen, and what it did on the rows held out. ``n_classes``: says which
    strengths were tried.
    """
    most, *_, least = strengths_tried(n_classes)
    said = []
    if chosen.held_out > (1 + _WORSE) * chosen.by_temperature:
        said.append(_HELD_OUT.format(chosen.held_out, chosen.by_temperature))
    names = ("lambda", "mu"), ("weights off the diagonal", "biases")
    for name, what, strength in zip(*names, chosen.strengths, strict=True):
        if strength == most:
            said.append(_LARGEST.format(name, strength, what))
        elif strength == least:
            said.append(_SMALLEST.format(name, strength))
    return tuple(said)


def _last_look(model: LinearModel, parameters: Floats) -> tuple[Floats, Floats]:
    """Return each class's mean distance from its labels, 0 or 1, and its largest probability."""
    off, largest = np.zeros(len(parameters)), np.zeros(len(parameters))
    for block in model.watched(model.blocks):
        found = linear_outputs(block.inputs, parameters, block.ruled_out)
        found -= found.max(axis=0)
        turn_to_probabilities(found)
        np.maximum(largest, found.max(axis=1), out=largest)
        found.put(block.places, 1 - found.take(block.places))
        off += found.sum(axis=1)
    return off / model.n_rows, largest


def _listed(classes: NDArray[np.int64]) -> str:
    some = ", ".join(str(k) for k in classes[:5]) + (", ..." if len(classes) > 5 else "")
    return f"class {some}" if len(classes) == 1 else f"classes {some}"


def _said_of_absent(absent: NDArray[np.int64], largest: Floats, *, held: bool) -> tuple[str, ...]:
    if len(absent) == 0:
        return ()
    has, its, gets = ("has", "its", "it a probability")
    if len(absent) > 1:
        has, its, gets = ("have", "their", "them probabilities")
    kept = "are held by the penalty alone" if held else "stay those of temperature scaling"
    most = float(largest[absent].max())
    in_fact = ": ruled out in fact" if most <= _NEXT_TO_NOTHING else ""
    said = f"In the calibration set {_listed(absent)} {has} no rows: {its} weights {kept}. The fit"
    return (f"{said} leaves {gets} of at most {most:.2g} there{in_fact}.",)


def _said_of_loose(loose: NDArray[np.int64], doubt: str) -> tuple[str, ...]:
    if len(loose) == 0:
        return ()
    apart = f"The fit tells {_listed(loose)} from the others with near certainty in every"
    return (f"{apart} calibration row, so these weights hardly matter there. {doubt}",)


def _said_of_size(model: LinearModel) -> tuple[str, ...]:
    n_classes = len(model.free)
    n_parameters = (n_classes + 1) * (n_classes - 1)
    if not model.full or n_parameters <= model.n_rows:
        return ()
    said = f"{n_parameters:,} parameters are fitted on {model.n_rows:,} rows without a penalty:"
    return (f"{said} expect worse probabilities on other data.",)


def _said_of_end(
    found: Optimum, left: float, loose: tuple[str, ...], doubt: str, *, unpenalised: bool
) -> tuple[str, ...]:
    if found.separated or found.escaping:
        return (f"{_SEPARATED if found.separated else _ESCAPING} {doubt}".rstrip(),)
    if found.gradient_norm <= CONVERGED or found.left <= left:
        return loose
    near = f" It is at most {found.left:.1e} nats above the least." if found.left < 0.01 else ""
    short = (
        f"The fit stopped short of its optimum: the loss still has a slope of"
        f" {found.gradient_norm:.1e}, where at most {CONVERGED:.0e} is wanted.{near}"
    )
    if unpenalised and not loose:
        return (f"{short} {doubt}",)
    return (*loose, short)
