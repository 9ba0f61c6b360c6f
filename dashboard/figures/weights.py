"""The weights of a linear map between classes, as a heat map."""

from collections.abc import Sequence

import numpy as np
from plotly import graph_objects as go

from calibcore.validation import Floats
from dashboard.figures.layout import base_layout, harmless
from dashboard.figures.palette import Palette

MOST_CLASSES = 300
"""With more, the cells would be smaller than a pixel."""

_NAMED = 20
"""Classes whose names have room beside a heat map."""

_LETTERS = 14
_CELL, _LEAST, _MOST = 22, 280, 640
"""Pixels of a row, and of the whole figure at least and at most."""

BIAS = "b"


def weights_map(
    weights: Floats, bias: Floats, class_names: Sequence[str], title: str, palette: Palette
) -> go.Figure:
    """Draw W and b of a matrix, a row for each output.

    ``weights``: W; shape (n_classes, n_classes). ``bias``: b; shape (n_classes,). ``class_names``:
    as they came. ``title``: of the figure. ``palette``: colours: that of frequencies above 0, that
    of scores below, the ground at 0.

    Colours end where a hundredth of the cells are beyond, so that a few large ones do not pale all
    others; numbers are under the pointer.
    """
    names = [harmless(name) for name in class_names]
    cells = np.column_stack([weights, bias])
    most = float(np.quantile(np.abs(cells), 0.99)) or 1.0
    figure = go.Figure()
    figure.add_heatmap(
        z=cells.round(4).tolist(),
        zmin=-most,
        zmax=most,
        colorscale=[[0, palette.score], [0.5, palette.ground], [1, palette.frequency]],
        colorbar={"thickness": 10, "tickfont": {"size": 11}},
        hovertemplate="output %{y}<br>input %{x}<br>%{z:.3f}<extra></extra>",
        x=[*names, BIAS],
        y=names,
    )
    figure.update_layout(**base_layout(title))
    height = min(max(_CELL * len(names) + 90, _LEAST), _MOST)
    figure.update_layout(
        height=height,
        title={"y": 1 - 8 / height, "yanchor": "top"},
        xaxis=_axis([*names, BIAS], "Input"),
        yaxis=_axis(names, "Output") | {"autorange": "reversed"},
    )
    return figure


def _axis(names: Sequence[str], title: str) -> dict[str, object]:
    """Return an axis that names as many classes as there is room for."""
    step = -(-len(names) // _NAMED)
    shown = names[::step]
    texts = [name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}\u2026" for name in shown]
    return {
        "title": {"text": title, "font": {"size": 12}, "standoff": 4},
        "type": "category",
        "tickvals": shown,
        "ticktext": texts,
        "tickfont": {"size": 11},
        "fixedrange": True,
        "showgrid": False,
    }
