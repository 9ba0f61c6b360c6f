"""The four pictures of the laboratory; the truth is the strong line in each."""

from collections.abc import Sequence

import numpy as np

from calibcore.binning import bin_scores
from calibcore.metrics import METRICS
from calibcore.synthetic import Redraws
from calibcore.validation import Floats
from dashboard.figures import Palette
from dashboard.figures.layout import middles, parted
from dashboard.figures.thinning import thin
from dashboard.learn import pictures
from dashboard.learn.laboratory import N_BINS, N_HANDLES, LaboratoryModel, Result
from dashboard.learn.lesson import LessonPicture
from dashboard.texts.laboratory import calibrator_name
from dashboard.texts.numbers import percent, pp

CLICK_STEPS = 21
"""Places above each handle that can be clicked."""

_DASHES = ("solid", "dash", "longdash", "dashdot")


def diagram(result: Result, chosen: LaboratoryModel, palette: Palette) -> LessonPicture:
    """Draw the reliability diagram of the test rows, with the true curve."""
    event = result.test.event
    table = bin_scores(event.scores, event.hits, n_bins=N_BINS)
    filled = table.counts > 0
    middle, width = middles(table.edges), np.diff(table.edges)
    grid = np.linspace(float(result.truth.scores[0]), float(result.truth.scores[-1]), 101)
    traces = [
        pictures.bars(
            middle[filled], table.frequency[filled], palette.frequency, width[filled], opacity=0.55
        ),
        pictures.diagonal(palette),
        _truth(grid, result.truth.curve(grid), palette),
    ]
    if chosen.form == "hand":
        traces += _handles(chosen, palette)
    figure = pictures.by_score(
        "Reliability diagram and truth",
        traces,
        names=_names_of_lines(palette),
    )
    return LessonPicture(
        "diagram",
        figure,
        f"Bars: observed frequency of {event.n_samples:,} rows. Strong line: true frequency, on"
        f" average {pp(result.truth.mean_distance, event.n_samples)} from the scores.",
    )


def _truth(x: Floats, y: Floats, palette: Palette) -> pictures.Trace:
    """Return the true curve: stronger than any other line, as dots are perfect calibration's."""
    return pictures.line(x, y, palette.text, width=5, opacity=0.55, name="truth")


def _names_of_lines(palette: Palette) -> list[pictures.Trace]:
    return [
        pictures.label("<b>\u2501 truth</b>", 0.02, 0.9, palette.text),
        pictures.label("\u2508 perfectly calibrated", 0.02, 0.8, palette.neutral),
    ]


def _handles(chosen: LaboratoryModel, palette: Palette) -> list[pictures.Trace]:
    """Return the handles, and the places that can be clicked."""
    scores = np.linspace(0, 1, N_HANDLES)
    heights = np.array(chosen.handles) / 100
    across, up = np.meshgrid(scores, np.linspace(0, 1, CLICK_STEPS))
    places = pictures.dots(across.ravel(), up.ravel(), palette.neutral, size=7)
    places["marker"] |= {"opacity": 0.18}
    return [
        places | {"hoverinfo": "x+y"},
        pictures.dots(scores, heights, palette.text, size=11, symbol="square"),
    ]


def gap(result: Result, palette: Palette) -> LessonPicture:
    """Draw the gap of the running totals of the test rows, beside the true one."""
    curves, true = result.curves, result.truth.curves
    own = thin(curves.fractile, curves.gap, keep=[curves.ks_index])
    exact = thin(true.fractile, true.gap, most=200)
    limit = curves.ks_null_95
    top = 1.15 * max(limit, float(np.abs(curves.gap).max()), float(np.abs(true.gap).max()), 1e-3)
    figure = pictures.picture(
        "Cumulative gap: score minus outcomes",
        [
            pictures.luck(limit, palette),
            _truth(true.fractile[exact], true.gap[exact], palette),
            pictures.line(curves.fractile[own], curves.gap[own], palette.score),
        ],
        x=pictures.percent_axis("Share of rows, lowest score first"),
        y=pictures.percent_axis("Cumulative gap", top, -top),
    )
    return LessonPicture(
        "gap",
        figure,
        f"Blue: these rows, largest gap {percent(curves.ks_error, curves.n_samples)}. Strong: the"
        f" truth, {percent(result.truth.ks, curves.n_samples)}. Grey: where the largest gap of a"
        " perfectly calibrated model stays in about 95% of draws.",
    )


def maps(result: Result, keys: Sequence[str], palette: Palette) -> LessonPicture:
    """Draw fitted calibrators beside the true curve."""
    drawn = [one for one in result.calibrators if one.key in keys]
    low, high = float(result.truth.scores[0]), float(result.truth.scores[-1])
    grid = np.linspace(low, high, 101)
    traces = [
        pictures.diagonal(palette),
        _truth(grid, result.truth.curve(grid), palette),
    ]
    colours = (palette.score, palette.frequency, palette.score, palette.frequency)
    for one, dash, colour in zip(drawn, _DASHES, colours, strict=False):
        inside = (one.curve.score >= low) & (one.curve.score <= high)
        x, y = one.curve.score[inside], one.curve.calibrated[inside]
        traces.append(pictures.line(x, y, colour, dash=dash))
    named = list(zip(drawn, _DASHES, colours, strict=False))
    figure = pictures.picture(
        "Calibrators and truth",
        traces,
        x=pictures.percent_axis("Score"),
        y=pictures.percent_axis("Calibrated score"),
        names=[
            pictures.label(f"{calibrator_name(one.key)} ({dash})", 0.02, 0.93 - 0.08 * k, colour)
            for k, (one, dash, colour) in enumerate(named)
        ],
    )
    away = "; ".join(
        f"{calibrator_name(one.key)} {pp(one.distance.root_mean_squared, 1)}" for one in drawn
    )
    distances = f" Distance from it: {away}." if away else ""
    return LessonPicture("maps", figure, f"Strong line: the truth.{distances}")


def spread(many: Redraws, result: Result, palette: Palette) -> LessonPicture:
    """Draw how estimates of shares spread over many draws, with the truth and these rows."""
    names = {one.key: one.name for one in METRICS if one.unit == "share"}
    keys = [key for key in reversed(many.keys) if key in names]
    rows = np.arange(len(keys))
    ends = np.array([np.quantile(many.of(key), (0.025, 0.25, 0.75, 0.975)) for key in keys])
    own, aims = np.array([result.values[key] for key in keys]).T
    up = parted(rows, rows)
    top = max(float(np.abs(part).max()) for part in (ends, own, aims))
    low = min(0.0, float(ends.min()))
    ticks = {"tickvals": rows, "ticktext": [names[key] for key in keys]}
    figure = pictures.picture(
        f"Spread over {len(many.values)} draws",
        [
            pictures.line(parted(*ends[:, [0, 3]].T), up, palette.neutral),
            pictures.line(parted(*ends[:, [1, 2]].T), up, palette.neutral, width=9),
            pictures.dots(aims, rows, palette.text, size=20, symbol="line-ns-open"),
            pictures.dots(own, rows, palette.score, size=11, symbol="diamond"),
        ],
        x=pictures.percent_axis("Estimate", 1.1 * top, 1.1 * low),
        y=pictures.number_axis("", -0.7, len(keys) - 0.3, **ticks),
        margin=pictures.margin(170),
    )
    return LessonPicture(
        "spread",
        figure,
        "Thick: the middle half of the draws; thin: 95% of them. Diamond: these rows. Upright mark:"
        " what is aimed at.",
    )
