"""Errors of estimates against the number of rows, one line per estimate, named where they part."""

from collections.abc import Mapping

import numpy as np
from plotly import graph_objects as go

from calibcore.synthetic import EstimatorStudy
from calibcore.validation import Floats
from dashboard.figures.intervals import LineEnd, Look, looks, name_ends
from dashboard.figures.layout import base_layout, share_axis
from dashboard.figures.palette import Palette

HEIGHT, MARGIN = 420, 122
_ROOM = 0.04
"""Kept free above and below the lines, in powers of ten."""

_KERNELS = ("kde_ece", "smooth_ece")


def error_graph(
    study: EstimatorStudy, names: Mapping[str, str], title: str, axis: str, palette: Palette
) -> go.Figure:
    """Draw the mean absolute error of each estimate by the number of rows, both logarithmic.

    ``study``: what is drawn. ``names``: name of each estimate, by its key; those of
    `calibcore.synthetic.study.ESTIMATES`. ``title``, ``axis``: of the figure and its vertical axis.

    Names stand at the left, as errors with few rows differ most.
    """
    figure, ends = go.Figure(), []
    means = {key: 100 * study.mean_error(key) for key in names}
    drawn = np.log10(np.maximum(np.concatenate(list(means.values())), 1e-4))
    low, high = float(drawn.min()) - _ROOM, float(drawn.max()) + _ROOM
    for (key, name), look in zip(names.items(), _looks(names, palette), strict=True):
        _add_line(figure, study, key, name, look, means[key])
        height = (float(np.log10(max(means[key][0], 1e-4))) - low) / (high - low)
        ends.append(LineEnd(name, height, look))
    name_ends(figure, ends, pixels=HEIGHT - 90, side="left")
    rows = study.n_rows.tolist()
    across, up = (share_axis(text, (0, 1)) for text in ("Rows", axis))
    across |= {
        "type": "log", "range": [np.log10(rows[0]) - 0.02, np.log10(rows[-1]) + 0.04],
        "tickvals": rows[::2], "tickformat": ",", "nticks": None,
    }  # fmt: skip
    up |= {
        "type": "log", "range": [low, high], "side": "right", "tickformat": "~g",
        "tickvals": [a * 10.0**b for b in range(-4, 3) for a in (1, 2, 5)], "nticks": None,
    }  # fmt: skip
    layout = base_layout(title, l=MARGIN, r=52, t=44, b=46)
    return figure.update_layout(layout, height=HEIGHT, xaxis=across, yaxis=up)


def _add_line(
    figure: go.Figure, study: EstimatorStudy, key: str, name: str, look: Look, mean: Floats
) -> None:
    low, high = (100 * study.error_quantile(key, share) for share in (0.1, 0.9))
    figure.add_scatter(
        x=study.n_rows,
        y=mean,
        mode="lines",
        name=name,
        line=look.line,
        customdata=[f"{a:.2f}\u2013{b:.2f}" for a, b in zip(low, high, strict=True)],
        hovertemplate=f"{name}, %{{x:,}} rows: %{{y:.2f}} pp"
        "<br>80% of the errors: %{customdata} pp<extra></extra>",
    )


def _looks(keys: Mapping[str, str], palette: Palette) -> list[Look]:
    """Return grey dashes for bins, dark lines for kernels, blue for the KS error."""
    dashes = iter(looks(len(keys), palette))
    styles = []
    for key in keys:
        if key in _KERNELS:
            styles.append(Look(palette.text, "dash" if key == _KERNELS[1] else "solid", 2.5))
        elif key == "ks_error":
            styles.append(Look(palette.score, "solid", 2.5))
        else:
            styles.append(Look(palette.neutral, next(dashes).dash, 1.75))
    return styles
