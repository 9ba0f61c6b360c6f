"""From rows to a reliability diagram: each bar is a share of the rows in its bin."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly import graph_objects as go

from calibcore.data import EventScores
from calibcore.reliability.bins import BinnedReliability, binned_reliability, binomial_interval
from calibcore.results import result_class
from dashboard.figures import Palette
from dashboard.figures.layout import strip
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
from dashboard.texts.numbers import ci, difference, percent, points, pp, span

KEY = "diagram"

N_ROWS, N_BINS, PER_BIN = 60, 10, 10
"""Rows, bins from 0% to 100%, and rows in each of those that hold any."""

BINS = range(4, N_BINS)
"""Those that hold rows: no score is below 40%."""

QUESTION_BIN = 8
"""The bin of the question, from 80% to 90%."""

SEED = 3
"""Of the order of the rows: one in which the bar of the question starts at 100%."""

LOW = BINS[0] / N_BINS

Place = tuple[float, float]


@result_class
class Result:
    """The rows that are in their bins so far."""

    rows: EventScores
    """In the order in which they came."""
    heights: NDArray[np.int64]
    """Place of each in the pile of its bin, from 1: the correct ones below; shape (n_rows,)."""
    diagram: BinnedReliability
    """The diagram of these rows."""

    def counted(self, k: int) -> tuple[int, int]:
        """Return how many rows of a bin are correct, and how many it holds."""
        bins = self.diagram.bins
        n_rows = int(bins.counts[k])
        return (round(float(bins.frequency[k]) * n_rows) if n_rows else 0), n_rows


@cache
def find(n_rows: int) -> Result:
    """Put the first of the rows into their bins."""
    every = data.few_rows(N_ROWS)
    rows = every.rows(np.random.default_rng(SEED).permutation(N_ROWS)[:n_rows])
    bins = np.searchsorted(np.arange(1, N_BINS) / N_BINS, rows.scores)
    order = np.lexsort((np.arange(n_rows), 1 - rows.hits, bins))
    heights = np.empty(n_rows, dtype=np.int64)
    heights[order] = np.arange(n_rows) - np.searchsorted(bins[order], bins[order]) + 1
    return Result(rows, heights, binned_reliability(rows.scores, rows.hits, n_bins=N_BINS))


def rows_until(n: int) -> int:
    """Return how many rows are in their bins when that of the question first holds so many."""
    return next(k for k in range(1, N_ROWS + 1) if find(k).counted(QUESTION_BIN)[1] == n)


def show(state: State) -> LessonView:
    """Show the rows in their bins, and the bars that come of them."""
    if not state.revealed:
        return LessonView((_hidden_rows(state.palette), _empty_diagram(state.palette)), "")
    n_rows, k = int(state.chosen["rows"]), int(state.chosen["bin"])
    result, (correct, n) = find(n_rows), find(N_ROWS).counted(QUESTION_BIN)
    note = f"Move the slider to 1, then to the right: watch the bars rise and fall. {_of_all()}"
    return LessonView(
        (_piles(result, k, state.palette), _diagram(result, k, state)),
        _sentence(result, k),
        answer=f"{100 * correct / n:.0f}%: {correct} of {n} rows",
        note=note if n_rows == N_ROWS else "",
        numbers=_table(result),
    )


def _of_all() -> str:
    """Say why so few of these rows are correct, where other lessons speak of all."""
    every, few = data.top_scores(), find(N_ROWS).rows
    return (
        f"Of these {N_ROWS} rows {int(few.hits.sum())} are correct, of all {every.n_samples:,}"
        f" {percent(float(every.hits.mean()), every.n_samples)}: most have a score near 100%."
    )


def _name(k: int) -> str:
    return span(f"{100 * k // N_BINS}%", f"{100 * (k + 1) // N_BINS}%")


def _ends(k: int) -> Place:
    return k / N_BINS, (k + 1) / N_BINS


def _sentence(result: Result, k: int) -> str:
    (correct, n), bins = result.counted(k), result.diagram.bins
    if n == 0:
        return f"**Scores of {_name(k)}**: no row yet, so there is no bar."
    frequency, score = float(bins.frequency[k]), float(bins.mean_score[k])
    low, high = (percent(float(end[k]), n) for end in (result.diagram.lower, result.diagram.upper))
    return (
        f"**Scores of {_name(k)}**: {correct} of {n} {'row is' if n == 1 else 'rows are'} correct,"
        f" so the bar stands at **{percent(frequency, n)}** ({ci(low, high)}).  \n"
        f"The mean score is {percent(score, n)}, {_compared(result, k)}. {_in_all(k)}"
    )


@cache
def _in_all(k: int) -> str:
    """Say how far scores of a bin are from what is observed in many more rows."""
    every = data.top_scores()
    bins = binned_reliability(every.scores, every.hits, n_bins=N_BINS).bins
    n_rows, gap = int(bins.counts[k]), float(bins.mean_score[k] - bins.frequency[k])
    side = "high" if gap > 0 else "low"
    return (
        f"In all {every.n_samples:,} predictions, {n_rows:,} scores are in that bin: too {side} by"
        f" **{points(abs(gap), n_rows)}**."
    )


def _compared(result: Result, k: int) -> str:
    """Return where the mean score of a bin lies, and what that amounts to."""
    bins, n = result.diagram.bins, int(result.diagram.bins.counts[k])
    gap = difference(float(bins.frequency[k]), float(bins.mean_score[k]), "share", n)
    match int(result.diagram.off[k]):
        case 0:
            side = "high" if gap > 0 else "low"
            luck = f": too {side} by **{points(abs(gap), n)}**, which may be luck"
            luck = luck if round(gap, 3) else ""
            return f"inside that interval{luck}"
        case sign:
            side = "high" if sign > 0 else "low"
            these = "this row" if n == 1 else f"these {n} rows"
            return f"outside that interval: too {side} by **{points(abs(gap), n)}** in {these}"


def _table(result: Result) -> tuple[tuple[str, ...], ...]:
    bins, dash = result.diagram.bins, "\u2013"
    head = ("Bin", "Rows", "Correct", "Observed frequency", "Mean score", "Gap (pp)")
    rows: list[tuple[str, ...]] = [head]
    for k in BINS:
        correct, n = result.counted(k)
        cells = [dash] * 3
        if n:
            was, now = float(bins.frequency[k]), float(bins.mean_score[k])
            gap = pp(difference(was, now, "share", n), n, signed=True).removesuffix(" pp")
            cells = [percent(was, n), percent(now, n), gap]
        rows.append((_name(k), str(n), str(correct), *cells))
    return tuple(rows)


# Pictures -----------------------------------------------------------------------------------


def _picture(
    title: str, traces: list[pictures.Trace], k: int, palette: Palette, **more: Any
) -> go.Figure:
    """Draw over the bins, the chosen one on grey; names stand above it."""
    edges = [edge / N_BINS for edge in (*BINS, N_BINS)]
    return pictures.picture(
        title,
        traces,
        x={**pictures.percent_axis("Score", low=LOW), "tickvals": edges},
        shapes=[strip(*_ends(k), palette)],
        margin=pictures.margin(top=62),
        barmode="overlay",
        **more,
    )


def _pile_axis() -> pictures.Trace:
    """Return an axis on which a full pile is as high as a bar of 100%."""
    return pictures.number_axis("Rows in the bin", -0.01 * PER_BIN, 1.01 * PER_BIN, nticks=6)


def _above(text: str, k: int, palette: Palette) -> pictures.Trace:
    middle = sum(_ends(k)) / 2
    return pictures.label(text, middle, 1.01, palette.text, yref="paper", xanchor="center")


def _dots(x: Any, heights: Any, colour: str, symbol: str, size: float = 14) -> pictures.Trace:
    return pictures.dots(x, heights - 0.5, colour, size=size, symbol=symbol, cliponaxis=False)


def _piles(result: Result, k: int, palette: Palette) -> LessonPicture:
    scores, heights, correct = result.rows.scores, result.heights, result.rows.hits == 1
    figure = _picture(
        f"{scores.size} of {N_ROWS} rows",
        [
            _dots(scores[correct], heights[correct], palette.frequency, "circle"),
            _dots(scores[~correct], heights[~correct], palette.frequency, "circle-open"),
            _dots(scores[-1:], heights[-1:], palette.text, "circle-open", 22),
        ],
        k,
        palette,
        y=_pile_axis(),
    )
    n_correct = int(correct.sum())
    return LessonPicture(
        "rows",
        figure,
        f"Each row at its score: {n_correct} correct (filled), {scores.size - n_correct} wrong"
        f" (rings). Circled: the last one. Grey: the bin of {_name(k)}.",
    )


def _hidden_rows(palette: Palette) -> LessonPicture:
    rows = find(N_ROWS).rows
    # In the order of their coming: the piles of the answer have the correct ones below.
    bins = np.ceil(rows.scores * N_BINS)
    heights = np.array([np.count_nonzero(bins[: i + 1] == bins[i]) for i in range(N_ROWS)])
    figure = _picture(
        f"{N_ROWS} rows",
        [_dots(rows.scores, heights, palette.score, "diamond", 12)],
        QUESTION_BIN,
        palette,
        y=_pile_axis(),
    )
    return LessonPicture(
        "rows",
        figure,
        f"Each row at its score. Grey: the bin of {_name(QUESTION_BIN)}. Outcomes are not shown"
        " yet.",
    )


def _empty_diagram(palette: Palette) -> LessonPicture:
    large = {"size": 34, "color": palette.text}
    figure = _picture(
        "Reliability diagram",
        [pictures.diagonal(palette)],
        QUESTION_BIN,
        palette,
        y=pictures.percent_axis("Observed frequency"),
        names=[
            pictures.label(
                "?", sum(_ends(QUESTION_BIN)) / 2, 0.3, palette.text, xanchor="center", font=large
            )
        ],
    )
    return LessonPicture("diagram", figure, "No bars yet. Dotted: perfectly calibrated.")


def _diagram(result: Result, k: int, state: State) -> LessonPicture:
    palette, (correct, n) = state.palette, result.counted(k)
    traces = pictures.bin_bars(result.diagram.bins, palette)
    names = [_above(f"{correct} of {n}" if n else "no row", k, palette)]
    if n:
        traces += _of_bin(result.diagram, k, palette)
    if state.guess is not None and k == QUESTION_BIN:
        guess, (low, high) = int(state.guess) / 100, _ends(k)
        traces.append(pictures.line([low, high], [guess] * 2, palette.text, dash="dot"))
        place = {"xanchor": "right", "yanchor": "bottom" if guess < 0.5 else "top"}
        names.append(pictures.boxed("guess", high, guess, palette.text, palette, **place))
    figure = _picture(
        "Reliability diagram",
        traces,
        k,
        palette,
        y=pictures.percent_axis("Observed frequency"),
        names=names,
    )
    return LessonPicture(
        "diagram",
        figure,
        f"Bars: share correct. Dots: mean score. Line over the bin of {_name(k)}: 95% CI of its"
        " bar. Dotted: perfectly calibrated.",
    )


def _of_bin(diagram: BinnedReliability, k: int, palette: Palette) -> list[pictures.Trace]:
    """Return the chosen bin's bar once more, its interval, and the gap to its mean score."""
    low, high = _ends(k)
    frequency, score = float(diagram.bins.frequency[k]), float(diagram.bins.mean_score[k])
    caps = {"symbol": "line-ew-open", "size": 14, "line": {"width": 3}, "color": palette.text}
    at = low + 0.2 * (high - low)
    return [
        pictures.bars([(low + high) / 2], [frequency], palette.frequency, high - low),
        pictures.line(
            [at, at], [float(diagram.lower[k]), float(diagram.upper[k])], palette.text,
            mode="lines+markers", marker=caps,
        ),
        pictures.line([score, score], [frequency, score], palette.score, dash="dot"),
        pictures.dots([score], [score], palette.score, size=13),
    ]  # fmt: skip


def _check() -> Check:
    low, high = (percent(float(end), 1) for end in binomial_interval(1, 1))
    return Check(
        "A bin holds one row: its score is 70%, and it is correct. What does its bar show?",
        {
            "low": "Scores of 70% are too low",
            "fine": "Scores of 70% are calibrated",
            "luck": "Hardly anything",
        },
        "luck",
        f"One row makes a bar of 0% or 100%, whatever the truth is. The {ci(low, high)} leaves"
        " nearly everything open.",
    )


LESSON = Lesson(
    key=KEY,
    play="rows",
    title="From rows to a reliability diagram",
    question=f"{N_ROWS} predictions of {data.NETWORK_NAME}, **ten from each bin** of scores. In a"
    f" reliability diagram, the bar of a bin is the share that is **correct**. How high is that of"
    f" **{_name(QUESTION_BIN)}**?",
    guess=NumberGuess(0, 100, 10, 80),
    controls=(
        Steps(
            "rows",
            "Rows in their bins",
            {str(n): str(n) for n in range(1, N_ROWS + 1)},
            str(N_ROWS),
        ),
        Steps(
            "bin", "Scores of", {str(k): _name(k) for k in BINS}, str(QUESTION_BIN), as_buttons=True
        ),
    ),
    show=show,
    takeaway="A bar of a reliability diagram is the share of its rows that are correct: with few"
    " rows it says little, and its interval shows how little.",
    check=_check(),
    link=lambda _: Link(
        "reliability",
        {"sample": data.NETWORK, "method": "none", "reliability": "bins", "bins": str(N_BINS)},
        "All 10,000 rows in the dashboard",
    ),
    computed=f"{N_ROWS} rows of the test set of the first example, {PER_BIN} from each bin above"
    " 40%, in an order in which the first bars mislead. Bins and intervals (Wilson):"
    " `calibcore.reliability.binned_reliability`; Guo 2017, section 2.",
    terms={
        "Row": "one prediction with its score.",
        "Observed frequency": "the share of rows with the event; here the event is that the"
        " prediction is correct.",
        "Bin": "a range of scores, whose rows are counted together.",
        "95% CI": "95% confidence interval: about 95% of such intervals hold the true frequency.",
    },
)
