"""Loss of one row against the score of its true class, as curves."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibcore.validation import Floats
from dashboard.figures import Palette
from dashboard.learn import pictures
from dashboard.learn.lesson import Picture

_HIGH = 3.0
"""Top of the axis, in nats."""

_LINES = {"smoothing": "dash", "focal": "dot"}


@dataclass(frozen=True)
class Loss:
    """A loss for training: cross-entropy, smoothed labels, or focal."""

    name: str
    """As on screen."""
    smoothing: float = 0.0
    """Share of the label that all classes get alike, in [0, 1)."""
    gamma: float = 0.0
    """Exponent of the focal loss, at least 0."""

    def at(self, score: Floats, n_classes: int) -> Floats:
        """Return the loss of a row, in nats.

        ``score``: of the true class, in (0, 1); the other classes share the rest alike.
        ``n_classes``: at least 2.

        Notes
        -----
        With smoothing a and K classes (Vasilev 2023, eq. 17), -(1 - a) ln p - (a / K) sum ln p_k;
        with gamma g (eq. 18), -(1 - p)^g ln p. With neither, -ln p.

        Examples
        --------
        >>> half = np.array([0.5])
        >>> float(Loss("", gamma=1).at(half, 2)[0] / Loss("").at(half, 2)[0])
        0.5
        """
        own, others = np.log(score), np.log((1 - score) / (n_classes - 1))
        spread = (own + (n_classes - 1) * others) / n_classes
        smoothed = (1 - self.smoothing) * own + self.smoothing * spread
        return np.asarray(-((1 - score) ** self.gamma) * smoothed, dtype=np.float64)

    def lowest(self, n_classes: int) -> float:
        """Return the score of the true class at which the loss is lowest."""
        return 1 - self.smoothing + self.smoothing / n_classes

    @property
    def formula(self) -> str:
        """The loss as lines of a picture, p being the score of the true class."""
        if self.smoothing:
            rest, part = f"{1 - self.smoothing:g}", f"{self.smoothing:g}"
            return f"\u2212{rest} ln p<br>\u2212 {part} \u00d7 mean of ln over all classes"
        if not self.gamma:
            return "\u2212ln p"
        power = {1.0: "", 2.0: "\u00b2", 3.0: "\u00b3"}[float(self.gamma)]
        return f"\u2212(1 \u2212 p){power} ln p"


def loss_picture(losses: Sequence[Loss], chosen: Loss, n_classes: int, palette: Palette) -> Picture:
    """Draw the losses against the score of the true class, one of them heavily.

    ``losses``: the first is the usual one. ``chosen``: drawn heavily, and described. ``n_classes``:
    of the model.
    """
    score, usual = np.linspace(0.001, 0.9995, 400), losses[0]
    traces = []
    for one in sorted(losses, key=lambda one: one == chosen):
        kind = "smoothing" if one.smoothing else "focal" if one.gamma else ""
        colour = palette.score if one == chosen else palette.neutral
        width = 4 if one == chosen else 1.5
        look = {"color": colour, "width": width, "dash": _LINES.get(kind, "solid")}
        line = pictures.line(score, one.at(score, n_classes), colour, name=one.name)
        traces.append(line | {"line": look})
    name = pictures.label(
        chosen.formula, 0.98, _HIGH, palette.score, xanchor="right", yanchor="top", align="right"
    )
    figure = pictures.picture(
        f"Loss of a row: {chosen.name.lower()}",
        traces,
        x=pictures.percent_axis("Score of the true class, p"),
        y=pictures.number_axis("Loss (nats)", 0, _HIGH),
        names=[name],
    )
    return Picture("loss", figure, _said(chosen, usual, n_classes))


def _said(chosen: Loss, usual: Loss, n_classes: int) -> str:
    lines = "Solid: cross-entropy. Dashed: label smoothing. Dotted: focal loss."
    if chosen.smoothing:
        best = f"{100 * chosen.lowest(n_classes):.3g}%"
        return f"{lines} The loss is lowest at a score of {best}, not at 100%."
    if chosen.gamma:
        at = np.array([0.9])
        share = float(chosen.at(at, n_classes)[0] / usual.at(at, n_classes)[0])
        return f"{lines} At a score of 90% the loss is {100 * share:.3g}% of cross-entropy."
    return f"{lines} The loss falls up to a score of 100%."
