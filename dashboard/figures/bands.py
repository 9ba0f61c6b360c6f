"""A band: the region between two curves over one axis, drawn as one closed outline."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibcore.validation import Floats
from dashboard.figures.layout import Sketch
from dashboard.figures.thinning import thin

MOST_BAND_POINTS = 300
"""Places at which a band is drawn, at most."""


@dataclass(frozen=True)
class DrawnBand:
    """A region, with its name and the words of its hover."""

    x: Floats
    """Horizontal places, ascending; shape (n_points,)."""
    lower: Floats
    upper: Floats
    """Lowest and highest value there; NaN where there is none; shape (n_points,)."""
    name: str
    words: str
    """What it is called, and what stands over it."""

    def thinned(self, most: int = MOST_BAND_POINTS) -> "DrawnBand":
        """Return the same region at few places."""
        most = min(most, MOST_BAND_POINTS)
        if self.x.size <= most:
            return self
        along = self.x + np.maximum.accumulate(self.upper)  # a steep rise takes points too
        shown = thin(along, self.upper, most=most)
        return DrawnBand(self.x[shown], self.lower[shown], self.upper[shown], self.name, self.words)


def add_band(figure: Sketch, band: DrawnBand, colour: str, *, outlined: bool = False) -> None:
    """Add a band behind what is drawn after it; see `band_trace`."""
    figure.add_scatter(**band_trace(band, colour, outlined=outlined))


def band_trace(band: DrawnBand, colour: str, *, outlined: bool = False) -> dict[str, Any]:
    """Return a band as plotly takes it, filled or as a dotted outline.

    The outline runs along the lower curve and back along the upper one, once for each stretch
    without NaN. Its line has the colour of the fill, so that a band thinner than a pixel is seen.
    """
    return {
        "x": _outline(band, band.x, band.x).astype(np.float32),
        "y": _outline(band, band.lower, band.upper).astype(np.float32),
        "mode": "lines",
        "name": band.name,
        "line": {"color": colour, "width": 1, "dash": "dot" if outlined else "solid"},
        "fill": "toself",
        "fillcolor": "rgba(0,0,0,0)" if outlined else colour,
        "hoveron": "fills",
        "hoverinfo": "text",
        "text": band.words,
    }


def _outline(band: DrawnBand, there: Floats, back: Floats) -> Floats:
    known = ~(np.isnan(band.lower) | np.isnan(band.upper))
    borders = np.flatnonzero(np.diff(known, prepend=False, append=False))
    pieces: list[Floats] = []
    for start, end in zip(borders[::2], borders[1::2], strict=True):
        pieces += [there[start:end], back[start:end][::-1], np.array([np.nan])]
    return np.concatenate(pieces[:-1]) if pieces else np.empty(0)
