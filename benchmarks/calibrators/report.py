"""The results as Markdown: times, ratios, memory, optima, and the summary for the README."""

from collections.abc import Sequence

from benchmarks.calibrators.entries import PEERS, entries
from benchmarks.calibrators.runs import Limits, Row, Run
from benchmarks.report import digits, environment, line

_LIBRARIES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "netcal",
    "probmetrics",
    "betacal",
    "venn-abers",
    "torch",
)
_NONE = "\u2013"
_SUM_TARGET = 10.0
_SUM_SHAPE = (5_000, 10)


def size(shape: tuple[int, int]) -> str:
    """Write a size."""
    return "({:,}, {:,})".format(*shape)


def duration(seconds: float) -> str:
    """Write a time in seconds or milliseconds."""
    return f"{digits(seconds, 3)} s" if seconds >= 1 else f"{digits(seconds * 1e3, 3)} ms"


def _ratio(row: Row, run: Run) -> float | None:
    """Say how many times as long a peer takes; at least, where it was stopped."""
    if row.ours.seconds is None:
        return None
    taken = run.at_least if run.seconds is None else run.seconds
    return taken / row.ours.seconds if taken else None


def fastest(row: Row) -> tuple[str, float] | None:
    """Give the fastest peer that came to an end, with its ratio."""
    ended = [
        (ratio, peer)
        for peer, run in row.peers.items()
        if run.seconds is not None and (ratio := _ratio(row, run)) is not None
    ]
    return (min(ended)[1], min(ended)[0]) if ended else None


def _peer_cell(row: Row, peer: str) -> str:
    run = row.peers.get(peer)
    if run is None:
        return _NONE
    ratio = _ratio(row, run)
    if run.failure:
        return f"{run.failure} (> {digits(ratio)})" if ratio else run.failure
    return digits(ratio) if ratio else duration(run.seconds or 0.0)


def _met(row: Row) -> str:
    """Say whether the fastest peer takes as many times as long as it should."""
    if row.entry.target is None or not row.peers:
        return _NONE
    if row.ours.seconds is None:
        return "**no**"
    best = fastest(row)
    if best is not None:
        return "yes" if best[1] >= row.entry.target else "**no**"
    known = [ratio for run in row.peers.values() if (ratio := _ratio(row, run)) is not None]
    if known and min(known) < row.entry.target:
        return "unknown"
    return "yes, no peer ends"


def _memory(value: float | None) -> str:
    return _NONE if value is None else digits(value)


def _own_cells(run: Run) -> list[str]:
    if run.seconds is None or run.floor is None:
        return [run.failure, *[_NONE] * 3]
    memory = [_memory(run.fit_memory), _memory(run.predict_memory)]
    return [duration(run.seconds), digits(run.seconds / run.floor), *memory]


def time_table(rows: Sequence[Row]) -> str:
    """Write times, memory, ratios and targets."""
    head = ["Method", "Size", "Fractile", "Floors", "Memory to fit", "Memory to predict"]
    head += [*PEERS, "Target", "Met"]
    lines = [line(head), line(["---", "---", *["---:"] * (len(head) - 2)])]
    for row in rows:
        target = _NONE if row.entry.target is None else f"{row.entry.target:g}"
        cells = [row.entry.name, size(row.shape), *_own_cells(row.ours)]
        cells += [*(_peer_cell(row, peer) for peer in PEERS), target, _met(row)]
        lines.append(line(cells))
    return "\n".join(lines)


def optimum_table(rows: Sequence[Row]) -> str:
    """Write the loss on the rows of the fit, beside each peer's."""
    lines = [
        line(["Method", "Size", "Peer", "Loss, Fractile", "Loss, peer", "Difference, relative"]),
        line(["---", "---", "---", "---:", "---:", "---:"]),
    ]
    for row in rows:
        for peer, run in row.peers.items():
            if run.loss is None or row.ours.loss is None:
                continue
            apart = (row.ours.loss - run.loss) / run.loss if run.loss else 0.0
            values = [f"{row.ours.loss:.7f}", f"{run.loss:.7f}", f"{apart:+.1e}"]
            lines.append(line([row.entry.name, size(row.shape), peer, *values]))
    return "\n".join(lines)


def sum_of_fits(rows: Sequence[Row]) -> str:
    """Add up the fits of the whole catalogue with fixed penalties, where all were run."""
    fixed = [entry.name for entry in entries() if not entry.cross_validated]
    small = {row.entry.name: row.ours.fit for row in rows if row.shape == _SUM_SHAPE}
    if not small.keys() >= set(fixed):
        return ""
    fits = [fit for name in fixed if (fit := small[name]) is not None]
    met = "met" if len(fits) == len(fixed) and sum(fits) < _SUM_TARGET else "**not met**"
    return (
        f"{len(fits)} of {len(fixed)} fits at {size(_SUM_SHAPE)}, those that search for their"
        f" penalty left out, take {duration(sum(fits))} in sum; target, all in under"
        f" {_SUM_TARGET:g} s: {met}."
    )


def explanation(rows: Sequence[Row], limits: Limits) -> str:
    """Say how to read the tables."""
    floors: dict[tuple[str, tuple[int, int]], list[float]] = {}
    for row in rows:
        for run in (row.ours, *row.peers.values()):
            if run.floor is not None:
                floors.setdefault((row.entry.kind, row.shape), []).append(run.floor)
    drift = max((max(found) / min(found) for found in floors.values()), default=1.0)
    return (
        "Fit on one draw and predict on another of the same shape: processor time of one thread,"
        f" the least of up to {limits.repeat} rounds within a few seconds; a round repeats what"
        " takes less than 20 ms for that long. A library's column says how many times as long it"
        " takes; the target is for the fastest of them. Floors: that time"
        " over one `numpy.exp` pass of the float32 logits, or, for the top-1 score maps, over one"
        " `numpy.argsort` of the scores, in the same process. Memory: the peak that tracemalloc"
        " sees beyond the input, the result included, as a multiple of the logits' bytes (of the"
        " scores', for the top-1 score maps). Fractile starts from float32 logits; a library that"
        " takes probabilities, their logarithms or centred logits is given them, free. Both give"
        " probabilities in float64, but where a row says float32. Every run"
        f" has a process of its own, with {limits.gigabytes:g} GB of address space; the first fit"
        f" and predict may take {limits.own_seconds:g} s of wall clock, a peer's"
        f" {limits.peer_seconds:g} s, and what it did not manage is said in its place. plain SciPy:"
        " L-BFGS on a loss written by hand, as no library has that penalty. A dash: the library has"
        " no such method. The authors' programs of the Gaussian process and of the spline (Gupta"
        " 2021) cannot be installed and have to be fetched by hand; probmetrics has a spline after"
        " the latter."
        f" The floors of the processes at one size differ by up to a factor of {digits(drift)}."
    )


_OPTIMUM = (
    "Loss: the mean NLL of the rows of the fit, in nats, plus the penalty where there is one. Below"
    " 0, Fractile is closer to the optimum. One class against the rest lessens each class's own"
    " NLL, and Venn-Abers, BBQ, the histogram and the spline none, so there only the distance"
    " counts. BBQ: netcal has other bins and weights. Spline: probmetrics works in float32 at other"
    " fractiles."
)


def full(rows: Sequence[Row], limits: Limits) -> str:
    """Write everything."""
    parts = [
        time_table(rows),
        explanation(rows, limits),
        sum_of_fits(rows),
        environment(_LIBRARIES),
        optimum_table(rows),
        _OPTIMUM,
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


_SUMMARY = (
    "Every calibrator, fitted on one draw and applied to another, from one run of\n"
    "`make benchmark-calibrators`, one thread: Fractile's time, then how many times as long the\n"
    "fastest peer takes that came to an end. All peers, what they failed to do, memory, and how\n"
    "close each comes to the optimum: [benchmarks/CALIBRATORS.md](../benchmarks/CALIBRATORS.md)."
)


def _summary_cell(row: Row | None) -> str:
    if row is None:
        return _NONE
    if row.ours.seconds is None:
        return row.ours.failure
    said = duration(row.ours.seconds)
    best = fastest(row)
    if best is not None:
        return f"{said}; {digits(best[1])} {best[0]}"
    return f"{said}; no peer ends" if row.peers else said


def summary(rows: Sequence[Row]) -> str:
    """Write methods by sizes for docs/speed.md: Fractile's time, the fastest peer's ratio."""
    shapes = list(dict.fromkeys(row.shape for row in rows))
    found = {(row.entry.name, row.shape): row for row in rows}
    lines = [
        line(["Fit and predict", *map(size, shapes)]),
        line(["---", *["---:"] * len(shapes)]),
    ]
    lines += [
        line([name, *(_summary_cell(found.get((name, shape))) for shape in shapes)])
        for name in dict.fromkeys(row.entry.name for row in rows)
    ]
    return f"{_SUMMARY}\n\n" + "\n".join(lines) + "\n"
