"""Why bins mislead: the ECE depends on how many there are, and is not 0 for a calibrated model."""

from functools import cache

import numpy as np

from calibcore.binning import Binning, BinTable, bin_tally
from calibcore.cumulative import ks_of
from calibcore.inference.draws import redrawn
from calibcore.metrics.binned import ece_of
from calibcore.results import result_class
from calibcore.tally import Tally, tally
from calibcore.validation import Floats
from dashboard.figures import Palette
from dashboard.learn import data, pictures
from dashboard.learn.lesson import (
    Check,
    Lesson,
    LessonPicture,
    LessonView,
    Link,
    NumberGuess,
    State,
    Steps,
)
from dashboard.texts.numbers import percent

KEY = "bins"

COUNTS = (2, 5, 10, 15, 20, 30, 50, 75, 100)

N_ROWS, N_DRAWS = 100, 200


@result_class
class Result:
    """The same rows in several numbers of bins."""

    table: BinTable
    """At the chosen number of bins."""
    ece: Floats
    """At each of `COUNTS`; shape (len(COUNTS)."""
    perfect: Floats
    """What rows with these scores would show if these were right: the median over draws; shape
    (len(COUNTS).
    """
    ks: float
    perfect_ks: float
    """KS error, which needs no bins; and its median if perfectly calibrated."""


def find(state: State, n_bins: int) -> Result:
    """Put 100 rows of the network into bins."""
    binning: Binning = "equal_mass" if state.chosen["binning"] == "equal_mass" else "equal_width"
    rng = state.rng(KEY)
    rows = data.drawn(N_ROWS, rng)
    counted = tally(rows.scores, rows.hits)
    alike = redrawn(rng, counted, counted.scores, N_DRAWS)

    def eces(of: Tally) -> list[Floats]:
        return [ece_of(bin_tally(of, n_bins=n, binning=binning)) for n in COUNTS]

    return Result(
        bin_tally(counted, n_bins=n_bins, binning=binning),
        np.array(eces(counted)),
        np.median(eces(alike), axis=-1),
        float(ks_of(counted)),
        float(np.median(ks_of(alike))),
    )


def show(state: State) -> LessonView:
    """Show the diagram, and the ECE by number of bins."""
    chosen = state.chosen["bins"] if state.revealed else "5"
    result = find(state, int(chosen))
    diagram = _diagram(result.table, state.palette)
    first, last = (percent(result.ece[k], N_ROWS) for k in (COUNTS.index(5), -1))
    if not state.revealed:
        first_only = f"With 5 bins, the ECE of these {N_ROWS} rows is {first}."
        return LessonView((diagram,), first_only)
    place = COUNTS.index(int(chosen))
    here = "" if chosen in {"5", "100"} else f", {percent(result.ece[place], N_ROWS)} with {chosen}"
    rows = [("Bins", "ECE", "If perfectly calibrated", "KS error")]
    rows += [
        (str(n), percent(result.ece[k], N_ROWS), percent(result.perfect[k], N_ROWS), ks)
        for ks in [percent(result.ks, N_ROWS)]
        for k, n in enumerate(COUNTS)
    ]
    return LessonView(
        (diagram, _sweep(result, place, state.palette)),
        f"The same {N_ROWS} rows: ECE **{first}** with 5 bins, **{last}** with 100{here}. The KS"
        f" error is {percent(result.ks, N_ROWS)}, whatever the number of bins. If the scores were"
        " right, luck alone"
        f" would still show an ECE of about {percent(result.perfect[place], N_ROWS)} with {chosen}"
        f" bins, and a KS error of about {percent(result.perfect_ks, N_ROWS)}.",
        answer=f"{last}, of these rows",
        note=_of_all(COUNTS[place]),
        numbers=tuple(rows),
    )


@cache
def _of_all(n_bins: int) -> str:
    """Say what the ECE of all rows is in as many bins, and what luck alone makes of it."""
    rows, rng = data.top_scores(), np.random.default_rng((n_bins, *KEY.encode()))
    counted = tally(rows.scores, rows.hits)
    alike = redrawn(rng, counted, counted.scores, N_DRAWS)
    error, perfect = (
        percent(float(np.median(ece_of(bin_tally(of, n_bins=n_bins)))), rows.n_samples)
        for of in (counted, alike)
    )
    return (
        f"An ECE depends on the number of rows, too: of all {rows.n_samples:,} rows, in {n_bins}"
        f" equally wide bins, it is {error}, and {perfect} by luck alone if perfectly calibrated."
    )


def _diagram(table: BinTable, palette: Palette) -> LessonPicture:
    filled = table.counts > 0
    figure = pictures.by_score(
        "Reliability diagram",
        pictures.bin_bars(table, palette),
    )
    return LessonPicture(
        "diagram",
        figure,
        f"{int(filled.sum())} of {table.counts.size} bins hold rows, the fullest"
        f" {int(table.counts.max())} of {N_ROWS}. Bars: observed frequency. Dots: mean score. A dot"
        " without a bar: 0%. No dot: no rows.",
    )


def _sweep(result: Result, place: int, palette: Palette) -> LessonPicture:
    top = 1.6 * max(float(result.ece.max()), float(result.perfect.max()), result.ks)
    figure = pictures.picture(
        "ECE by number of bins",
        [
            pictures.line(COUNTS, result.perfect, palette.neutral, dash="dot"),
            pictures.line(COUNTS, [result.ks] * len(COUNTS), palette.text, dash="dash"),
            pictures.line(COUNTS, result.ece, palette.score),
            pictures.dots([COUNTS[place]], [result.ece[place]], palette.score, size=15),
        ],
        x=pictures.number_axis("Bins", 0, 104),
        y=pictures.percent_axis("Error", top),
        names=[
            pictures.label("\u2501 ECE", 2, 0.88 * top, palette.score),
            pictures.label("\u2508 ECE if perfectly calibrated", 2, 0.78 * top, palette.neutral),
            pictures.label("- - KS error", 2, 0.68 * top, palette.text),
        ],
    )
    return LessonPicture(
        "sweep",
        figure,
        "Solid: ECE of these rows. Dotted: what they would show if perfectly calibrated"
        f" (median of {N_DRAWS} draws). Dashed: KS error, which needs no bins.",
    )


LESSON = Lesson(
    key=KEY,
    title="Why bins mislead",
    question=f"{N_ROWS} predictions of {data.NETWORK_NAME}. What is their **ECE with 100 bins**?",
    guess=NumberGuess(0, 20, 1, 4),
    controls=(
        Steps("bins", "Bins", {str(n): str(n) for n in COUNTS}, "100"),
        Steps(
            "binning",
            "Bins are",
            {"equal_width": "Equally wide", "equal_mass": "Equally full"},
            "equal_width",
            as_buttons=True,
        ),
    ),
    show=show,
    takeaway="An ECE means little without its number of bins, its number of rows, and the ECE of a"
    " perfectly calibrated model of that size.",
    check=Check(
        "With 100 bins the ECE of the same 100 rows is higher than with 5. Why?",
        {
            "luck": "With fewer rows in each bin, luck adds to the error",
            "exact": "More bins measure the error more exactly",
            "unknown": "That cannot be known",
        },
        "luck",
        "More bins, and fewer rows, raise the ECE even of a perfectly calibrated model. So an ECE"
        " of 4% with 10 bins and one of 5% with 100, of other rows, cannot be compared.",
    ),
    link=lambda state: Link(
        "reliability",
        {"sample": data.NETWORK, "method": "none", "bins": state.chosen["bins"]},
        "All 10,000 rows in the dashboard, in equally wide bins",
    ),
    computed="In each bin, the distance between mean score and observed frequency, times the share"
    " of the rows in it; these are added up. ECE: Guo 2017, eq. 3, by `calibcore.metrics.ece`."
    " Perfectly calibrated: outcomes"
    f" drawn {N_DRAWS} times from the scores. KS error: Gupta 2021. Rows: drawn from the test set"
    " of the first example.",
    draw="Draw 100 other rows",
    terms={
        "ECE": "expected calibration error: in each bin of scores, the distance between mean score"
        " and observed frequency, averaged over bins, each counted by its number of rows.",
        "KS error": "an error that needs no bins; the next lesson shows it.",
    },
)
