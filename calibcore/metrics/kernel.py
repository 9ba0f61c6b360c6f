"""KDE-ECE where the kernel is too narrow for the mesh on [0, 1]."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.errors import CalibrationInputError
from calibcore.metrics.measure import ClassMeasure, EventMeasure
from calibcore.results import result_class
from calibcore.tally import Tally, hit_sums, resample_rows, tally
from calibcore.validation import Floats, Labels
from calibcore.weights import RowWeights, SampleWeight, shares_of, weights_of

NARROW = 1 / 128
"""Half width of a kernel below which it has a mesh of its own."""

_ROUNDING = 1e-12
"""Scores that differ by no more are equal."""

_CELLS, _ROUGH_CELLS = 768, 16
"""Cells within the half width, where there are not too many."""

_MOST, _ROUGH_MOST = 1 << 20, 1 << 12
"""Cells in all."""


class Places(NamedTuple):
    """Scores moved together for a mesh of their own, as far as no kernel reaches across a gap."""

    counted: Tally
    """At the moved scores, so scaled that the mesh is [0, 1]."""
    length: float
    """Of the mesh, in units of score."""
    size: int
    """Its cells."""
    points: Floats
    """Score at each of its points; shape (size + 1,)."""


def merged(counted: Tally) -> Tally:
    """Join blocks whose scores differ by rounding alone, or not at all."""
    scores = counted.scores
    starts = np.flatnonzero(np.diff(scores, prepend=-np.inf) > _ROUNDING)
    if starts.size == scores.size:
        return counted
    counts, hits = (
        np.add.reduceat(values, starts, axis=-1) for values in (counted.counts, counted.hits)
    )
    return Tally(scores[starts], counts, hits, counted.n_samples)


def exact_spread(counted: Tally) -> Floats:
    """Return the standard deviation of the hits' scores, or of all if there are fewer than two.

    For resamples as rows. It is exact however near to each other the scores are.
    """
    few = counted.hits.sum(axis=1, keepdims=True) < 2
    weights = np.where(few, counted.counts, counted.hits)
    total = weights.sum(axis=1)
    scores = counted.scores - counted.scores[weights.argmax(axis=1), np.newaxis]
    mean = np.einsum("ij,ij->i", weights, scores) / total
    squares = np.square(scores - mean[:, np.newaxis])
    # Gaps drawn of weighted rows may leave hits below 0.
    return np.asarray(np.sqrt(np.maximum(np.einsum("ij,ij->i", weights, squares) / total, 0.0)))


def are_alone(counted: Tally, reach: float) -> NDArray[np.bool_]:
    """Return which blocks no kernel joins with another, nor with 0 or 1, nor with their frequency.

    The error of such a block is the same however narrow its kernel is.
    """
    scores = counted.scores
    apart = np.diff(scores, prepend=-np.inf, append=np.inf) > 2 * reach
    inside = (scores >= reach) & (scores <= 1 - reach)
    gaps = np.abs(counted.counts * scores - counted.hits) >= counted.counts * reach
    sides = gaps.reshape(-1, scores.size).all(axis=0)
    return np.asarray(apart[:-1] & apart[1:] & inside & sides)


def moved_together(counted: Tally, width: Floats, *, rough: bool) -> Places:
    """Shorten the gaps between the scores, and lay a mesh that is fine enough for the kernels."""
    scores, reach = counted.scores, float(width.max())
    cells, most = (_ROUGH_CELLS, _ROUGH_MOST) if rough else (_CELLS, _MOST)
    room = 2 * reach * (1 + 2 / cells)
    gaps = np.diff(scores)
    places = np.concatenate([[0.0], np.cumsum(np.minimum(gaps, room))])
    places += min(float(scores[0]), room / 2)
    length = float(places[-1]) + min(1 - float(scores[-1]), room / 2)
    step = float(np.median(width[width > 0])) / cells
    size = min(most, 1 << int(np.ceil(np.log2(max(length / step, cells)))))
    starts = np.flatnonzero(np.concatenate([[True], gaps > room]))
    ends = places[starts[1:]] - room / 2
    points = np.arange(size + 1) * (length / size)
    shift = (scores - places)[starts]
    at = shift[np.searchsorted(ends, points)] + points
    moved = Tally(np.minimum(places / length, 1.0), counted.counts, counted.hits, counted.n_samples)
    return Places(moved, length, size, at)


# The kernel errors of many sets of rows at once, roughly: their meshes are blurred together ---


def kde_ece_of_each(tallies: Sequence[Tally]) -> Floats:
    """Return the rough `calibcore.metrics.kernel.kde_ece_of` of each tally."""
    width = np.array([float(half_widths(one)) for one in tallies])
    wide, errors = width >= NARROW, np.empty(width.size)
    errors[~wide] = [kde_ece_of(tallies[int(k)], rough=True) for k in np.flatnonzero(~wide)]
    chosen = [tallies[int(k)] for k in np.flatnonzero(wide)]
    counts = _densities(chosen, lambda one: one.counts)
    hits, widths = _densities(chosen, lambda one: one.hits), width[wide]

    def measure(rows: slice) -> Floats:
        return kde_of_densities(counts[rows], hits[rows], widths[rows], 1)

    errors[wide] = in_batches(measure, len(chosen))
    return errors


def smooth_ece_of_each(tallies: Sequence[Tally]) -> Floats:
    """Return the rough `calibcore.metrics.kernel.smooth_ece_of` of each tally."""
    residuals = _densities(tallies, lambda one: one.hits - one.counts * one.scores)
    residuals /= np.array([one.n_samples for one in tallies])[:, np.newaxis]
    return in_batches(lambda some: own_width(residuals[some], ROUGHLY_CLOSE), len(tallies))


OF_EACH: Mapping[str, Callable[[Sequence[Tally]], Floats]] = {
    "kde_ece": kde_ece_of_each,
    "smooth_ece": smooth_ece_of_each,
}
"""By the keys of the measures."""


def _densities(tallies: Sequence[Tally], values: Callable[[Tally], Floats]) -> Floats:
    """Return what each shares out to the rough mesh, shape (n_tallies, points)."""
    densities = np.empty((len(tallies), ROUGH_MESH + 1))
    for row, one in zip(densities, tallies, strict=True):
        row[:] = one.once(mesh_of, ROUGH_MESH).density(values(one))
    return densities


# The test of perfect calibration that belongs to a squared kernel calibration error -----------


_ZERO = 1e-12
"""An error as large as rounding."""


@dataclass(frozen=True)
class KernelTest:
    """A squared kernel calibration error with its test of perfect calibration."""

    value: float
    """The error; NaN of a single row. Unbiased, so it may be below 0."""
    p_value: float
    """Probability of one as large if the scores were true probabilities; NaN of a single row."""
    deviation: float
    """Its standard deviation if they were; exact."""
    mean: float
    """What a row's pair with itself would add on average: no draw is below ``-mean``."""
    width: float
    """Of the kernel."""

    @property
    def shape(self) -> float:
        """Of the gamma law of ``value + mean`` under perfect calibration; infinite if constant."""
        return math.inf if self.deviation == 0 else (self.mean / self.deviation) ** 2

    def null_quantiles(self, *levels: float) -> tuple[float, ...]:
        """Return values that perfectly calibrated scores exceed with probability 1 - level."""
        from scipy.special import gammaincinv  # noqa: PLC0415 - a tenth of a second to import

        if not 0 < self.deviation < math.inf:
            return (self.deviation * 0.0,) * len(levels)
        scale = self.deviation**2 / self.mean
        quantiles = gammaincinv(self.shape, np.array(levels)) * scale - self.mean
        return tuple(quantiles.tolist())


def kernel_test(value: float, deviation: float, mean: float, width: float) -> KernelTest:
    """Find the p-value of an error from its moments under perfect calibration.

    >>> round(kernel_test(0.02, 0.01, 0.01, 0.4).p_value, 4)  # exp(-3), as the shape is 1
    0.0498
    """
    from scipy.special import gammaincc  # noqa: PLC0415 - a tenth of a second to import

    if math.isnan(value):
        p_value = math.nan
    elif deviation == 0:  # nothing can vary: any difference is impossible
        p_value = float(value <= _ZERO)
    else:
        shape, scale = (mean / deviation) ** 2, deviation**2 / mean
        p_value = float(gammaincc(shape, max(value + mean, 0.0) / scale))
    return KernelTest(value, p_value, deviation, mean, width)


# Calibration errors by kernel smoothing: the score is blurred, so there are no bins to choose ---


MESH = 1 << 12
"""Cells of the mesh on [0, 1]; its points are k / MESH, both ends among them."""

ROUGH_MESH = 1 << 10
"""Cells where thousands of resamples are measured, whose spread alone counts."""

_NO_DENSITY = 1e-12
_NOTHING = 1e-150  # its square is still a number
_CLOSE, ROUGHLY_CLOSE = 1e-12, 1e-5
_STEPS = 60
_FADED = 80.0  # exp(-80 / 2) is nothing beside 1
_BATCH = 32  # resamples at once: their meshes stay in a processor's cache


def kde_ece(
    scores: ArrayLike,
    hits: ArrayLike,
    *,
    norm: Literal[1, 2] = 1,
    sample_weight: SampleWeight = None,
) -> float:
    """Compute the KDE-ECE: the mean gap of score and observed frequency, by kernel densities.

    It needs no bins, and from few rows it is nearer to the truth than a binned error.

    Parameters
    ----------
    scores : array_like of float, shape (n_samples,)
        Predicted probability of the event (y_prob), in [0, 1].
    hits : array_like of {0, 1}, shape (n_samples,)
        Whether the event happened (y_true of the event).
    norm : {1, 2}, default 1
        Average of absolute gaps, or root of the average of squared gaps: the paper's d, which has
        no root.
    sample_weight : array_like or RowWeights, shape (n_samples,), optional
        Of the rows: see `calibcore.weights`.

    Returns
    -------
    float
        In probability units, 0 to 1.

    Raises
    ------
    CalibrationInputError
        Scores or hits out of range, another norm.

    Notes
    -----
    The formula is the paper's eq. 6 (eqs. 7 and 8 are the calibration gain). The kernel and its
    width are those of the program that its authors published; the paper's eq. 6 leaves them open.

    (int_0^1 |x - g(x) / m(x)|^norm m(x) dx)^(1 / norm), where m(x) is the mean over the rows of
    K(x - s_i) and g(x) that of h_i K(x - s_i). K is the triweight kernel 35 / (32 w) (1 - (u /
    w)^2)^3, reflected at 0 and 1. Its standard deviation, w / 3, is that of the scores of the hits,
    times (2 N)^(-1/5); of fewer than two hits, that of all scores; and w is at most 1. Where those
    scores are all equal nothing is blurred: each score stands alone. Each resample has its own w,
    so it gives what its rows would give alone. With sampling weights, means are weighted and N in w
    is Kish's effective number of rows.

    Rows are shared out between the two nearest of `MESH` + 1 points, and the integral is a
    trapezoid sum over them. A kernel that reaches less than 1 / 128 has a mesh of its own on the
    scores it joins, so fine that the sum is right to a millionth of itself (up to some 1,000 places
    far from each other; beyond, the mesh is coarser). The authors' program has 7,447 points, but
    none at 0 and 1, which costs it up to 1e-4 on saturated scores; it reflects a row at the nearer
    end only, which is the same from 122 rows on; it repeats the previous cell where there is no
    density; it stops where the hits have one score or none; and of norm 2 it takes no root.

    References
    ----------
    Zhang, Kailkhura, Han, ICML 2020, eq. 6, and the program they published.

    Examples
    --------
    >>> round(kde_ece([0.2, 0.4, 0.7, 0.9], [0, 1, 0, 1]), 4)
    0.1561
    """
    return float(kde_ece_of(tally(scores, hits, sample_weight=sample_weight), norm=norm))


def kde_ece_of(counted: Tally, *, norm: Literal[1, 2] = 1, rough: bool = False) -> Floats:
    """Return the `kde_ece` of score-tallied rows, vectorised over resamples.

    A rough value, on a mesh of `ROUGH_MESH`, is off by some 0.00001.
    """
    check_norm(norm)
    shape = np.broadcast_shapes(counted.counts.shape, counted.hits.shape)[:-1]
    width = np.broadcast_to(half_widths(counted), shape)
    if np.all(width >= NARROW):
        return _kde_on_unit(counted, width, norm, rough=rough)
    counts, hits, _ = resample_rows(counted)
    wide, errors = width.ravel() >= NARROW, np.empty(width.size)
    if wide.any():
        some = Tally(counted.scores, counts[wide], hits[wide], counted.n_samples)
        errors[wide] = _kde_on_unit(some, width.ravel()[wide], norm, rough=rough)
    narrow = np.flatnonzero(~wide)
    at_once = _BATCH if rough else 1  # each as it would be alone, but for a rough value
    for start in range(0, narrow.size, at_once):
        rows = narrow[start : start + at_once]
        some = merged(Tally(counted.scores, counts[rows], hits[rows], counted.n_samples))
        exact = half_width(exact_spread(some), counted.n_effective)
        errors[rows] = _kde_of_narrow(some, exact, norm, rough=rough)
    return errors.reshape(shape)


def _kde_of_narrow(counted: Tally, width: Floats, norm: Literal[1, 2], *, rough: bool) -> Floats:
    """Measure with kernels too narrow for the mesh on [0, 1]: what is alone, and what they join."""
    alone = are_alone(counted, float(width.max()))
    counts, hits = counted.counts, counted.hits
    gaps = np.abs(counts[:, alone] * counted.scores[alone] - hits[:, alone])
    if norm == 2:
        of_each = np.maximum(counts[:, alone], 1)
        gaps = gaps**2 / of_each + counts[:, alone] * width[:, np.newaxis] ** 2 / 9
    total = gaps.sum(axis=1)
    if not alone.all():
        rest = Tally(counted.scores[~alone], counts[:, ~alone], hits[:, ~alone], counted.n_samples)
        places = moved_together(rest, width, rough=rough)
        mesh = mesh_of(places.counted, places.size)
        densities = mesh.density(rest.counts), mesh.density(rest.hits)
        error = kde_of_densities(*densities, width / places.length, norm, places.points)
        total += np.nan_to_num(error) ** norm * rest.counts.sum(axis=1)
    return np.asarray((total / counted.n_samples) ** (1 / norm))


def _kde_on_unit(counted: Tally, width: Floats, norm: Literal[1, 2], *, rough: bool) -> Floats:
    """Measure on the mesh on [0, 1]."""
    mesh = counted.once(mesh_of, ROUGH_MESH if rough else MESH)
    counts, hits = mesh.density(counted.counts), mesh.density(counted.hits)
    shape, width = width.shape, width.ravel()
    hits = np.broadcast_to(hits, (*shape, hits.shape[-1])).reshape(-1, hits.shape[-1])
    if counts.ndim > 1:
        counts = np.broadcast_to(counts, (*shape, counts.shape[-1])).reshape(hits.shape)

    def measure(rows: slice) -> Floats:
        of_part = counts if counts.ndim == 1 else counts[rows]
        return kde_of_densities(of_part, hits[rows], width[rows], norm)

    return in_batches(measure, len(hits)).reshape(shape)


def half_widths(counted: Tally) -> Floats:
    """Return how far the kernel of `kde_ece` reaches, in each resample."""
    centred = counted.scores - (counted.scores[0] + counted.scores[-1]) / 2
    squares, n_hits = np.square(centred), counted.once(hit_sums)
    spread = spread_of(counted.hits @ centred, counted.hits @ squares, n_hits)
    if np.any(n_hits < 2):
        all_spread = spread_of(
            counted.counts @ centred, counted.counts @ squares, counted.n_samples
        )
        spread = np.where(n_hits < 2, all_spread, spread)
    return half_width(spread, counted.n_effective)


def smooth_ece(scores: ArrayLike, hits: ArrayLike, *, sample_weight: SampleWeight = None) -> float:
    """Compute the smooth ECE: the mean gap of score and outcome, blurred as much as it is large.

    It moves little when the scores move little, which a binned error does not promise, and there
    is nothing to choose.

    Parameters
    ----------
    scores : array_like of float, shape (n_samples,)
        Predicted probability of the event (y_prob), in [0, 1].
    hits : array_like of {0, 1}, shape (n_samples,)
        Whether the event happened (y_true of the event).
    sample_weight : array_like or RowWeights, shape (n_samples,), optional
        Of the rows: see `calibcore.weights`.

    Returns
    -------
    float
        In probability units, 0 to 1.

    Raises
    ------
    CalibrationInputError
        Scores or hits out of range.

    Notes
    -----
    The one sigma at which E(sigma) = sigma, to 12 digits; 0 if no residual is left. E(sigma) is
    int_0^1 |r(x)| dx, where r(x) is the mean over the rows of (h_i - s_i) K(x - s_i) and K a
    Gaussian of standard deviation sigma, reflected at 0 and 1 over and over. Reflection loses no
    mass: a saturated score counts whole, and E(sigma) is at least abs(mean score - hit rate).

    With c_k the mean of (h_i - s_i) cos(k pi s_i), r(x) is c_0 + 2 sum_k c_k exp(-(k pi sigma)^2 /
    2) cos(k pi x). Rows are shared out between the two nearest of `MESH` + 1 points, where the
    cosines decay as in diffusion from point to point: so E never rises with sigma and there is one
    solution. Residuals nearer to each other than 1 / `MESH` cancel. The authors' package weighs a
    row at 0 or 1 half, and knows sigma to 1 / 1024 and no lower than 0.001.

    References
    ----------
    Blasiok and Nakkiran, *Smooth ECE*, ICLR 2024, section 3.

    Examples
    --------
    >>> round(smooth_ece([0.2, 0.4, 0.7, 0.9], [0, 1, 0, 1]), 4)
    0.1595
    """
    return float(smooth_ece_of(tally(scores, hits, sample_weight=sample_weight)))


def smooth_ece_of(counted: Tally, *, rough: bool = False) -> Floats:
    """Return the `smooth_ece` of score-tallied rows, vectorised over resamples.

    A rough value, on a mesh of `ROUGH_MESH`, is off by some 0.00001.
    """
    size, close = (ROUGH_MESH, ROUGHLY_CLOSE) if rough else (MESH, _CLOSE)
    claims = counted.counts * counted.scores
    residual = counted.once(mesh_of, size).density(counted.hits - claims) / counted.n_samples
    rows = residual.reshape(-1, size + 1)
    errors = in_batches(lambda some: own_width(rows[some], close), len(rows))
    return errors.reshape(residual.shape[:-1])


# The mesh ---------------------------------------------------------------------------------------


@result_class
class _Mesh:
    """Where the blocks of a tally lie between the points of the mesh.

    Blocks ``starts[j]`` to the next start lie in cell ``cells[j]``, at the share ``beyond`` of the
    way from its lower point to its upper one.
    """

    size: int
    cells: NDArray[np.intp]
    starts: NDArray[np.intp]
    beyond: Floats

    def density(self, values: Floats) -> Floats:
        """Share values out to points, per unit of score; shape (..., n_blocks) to (..., points)."""
        both = np.add.reduceat(values, self.starts, axis=-1)
        upper = np.add.reduceat(values * self.beyond, self.starts, axis=-1)
        mass = np.zeros((*values.shape[:-1], self.size + 2))
        mass[..., self.cells] = both - upper
        mass[..., self.cells + 1] += upper
        return per_unit(mass)


def mesh_of(counted: Tally, size: int) -> _Mesh:
    """Find the cell of each score; a score of 1 begins a cell of its own."""
    scores = counted.scores
    beyond = scores * size  # exact, as the size is a power of 2
    beyond -= np.floor(beyond)
    starts = np.searchsorted(scores, _points(size))
    cells = np.flatnonzero(np.diff(starts, append=scores.size))
    return _Mesh(size, cells, starts[cells], beyond)


@cache
def _points(size: int) -> Floats:
    return np.arange(size + 1) / size


@cache
def _rates(size: int) -> Floats:
    """Return each cosine's decay rate under diffusion on the mesh; (k pi)^2 for slow ones."""
    return np.asarray(np.square(2 * size * np.sin(np.pi / 2 * _points(size))))


def per_unit(mass: Floats) -> Floats:
    """Divide the mass at each point by the width it stands for: half a cell at the ends."""
    size = mass.shape[-1] - 2
    density: Floats = mass[..., : size + 1] * size
    density[..., 0] *= 2
    density[..., size] *= 2
    return density


def _integral(values: Floats) -> Floats:
    ends = values[..., 0] + values[..., -1]
    return np.asarray((values.sum(axis=-1) - ends / 2) / (values.shape[-1] - 1))


def in_batches(measure: Callable[[slice], Floats], n_resamples: int) -> Floats:
    """Measure a few resamples at a time."""
    values = np.empty(n_resamples)
    for start in range(0, n_resamples, _BATCH):
        rows = slice(start, start + _BATCH)
        values[rows] = measure(rows)
    return values


# Kernel densities -------------------------------------------------------------------------------


def check_norm(norm: int) -> None:
    """Raise if the norm is neither 1 nor 2."""
    if norm not in (1, 2):
        raise CalibrationInputError("norm", repr(norm), "1 or 2")


def kde_of_densities(
    counts: Floats, hits: Floats, width: Floats, norm: Literal[1, 2], scores: Floats | None = None
) -> Floats:
    """Measure from densities on the mesh, one row a resample; each is blurred by its own width.

    The ``scores`` at its points are k / size unless they are given.
    """
    from scipy.fft import dct, idct  # noqa: PLC0415 - a tenth of a second to import

    points = _points(counts.shape[-1] - 1)
    spectrum = _spectrum(width, points)
    density = idct(dct(counts, type=1) * spectrum, type=1)
    gap = np.abs(
        (points if scores is None else scores) * density
        - idct(dct(hits, type=1) * spectrum, type=1)
    )
    total = _integral(density)
    if norm == 1:
        return np.asarray(_integral(gap) / total)
    seen = density > _NO_DENSITY * total[:, np.newaxis]
    squares = np.divide(gap**2, density, out=np.zeros_like(gap), where=seen)
    return np.asarray(np.sqrt(_integral(squares) / total))


def _spectrum(width: Floats, points: Floats) -> Floats:
    """Return the cosine spectrum of the kernel of each width, so scaled that no mass is lost."""
    from scipy.fft import dct  # noqa: PLC0415 - a tenth of a second to import

    width = np.maximum(width, 0.5 / (points.size - 1))
    lags = points[: np.searchsorted(points, width.max()) + 1]
    bump = np.maximum(0.0, 1 - np.square(lags / width[:, np.newaxis]))
    spectrum = dct(bump * bump * bump, type=1, n=points.size)
    spectrum /= spectrum[:, :1]
    return np.asarray(spectrum)


def spread_of(total: Floats, total_of_squares: Floats, n: Floats | int) -> Floats:
    """Return the standard deviation of n scores from their sums; 0 of none."""
    n = np.maximum(n, 1)
    return np.asarray(np.sqrt(np.maximum(total_of_squares / n - np.square(total / n), 0)))


def half_width(spread: Floats, n_samples: float) -> Floats:
    """Return how far the kernel reaches; less than a cell is as good as nothing."""
    return np.asarray(np.minimum(3 * spread * (2 * n_samples) ** -0.2, 1.0))


# The width that equals the error ----------------------------------------------------------------


def own_width(residual: Floats, close: float) -> Floats:
    """Find for each row of residual densities the sigma that equals its blurred integral.

    The integral never rises with sigma. So every sigma tried and its integral enclose the solution,
    and the log of their ratio, over log sigma, falls with a slope of -1 or steeper: a secant finds
    its zero in a few steps, and the ratio bounds what is left to go.
    """
    from scipy.fft import dct  # noqa: PLC0415 - a tenth of a second to import

    sigma = _integral(np.abs(residual))
    rows = np.flatnonzero(sigma > _NOTHING)
    spectra = dct(residual[rows], type=1)
    place = np.log(sigma[rows])
    off = _excess(spectra, place)
    low, high, slope = place + off, place.copy(), np.full(rows.size, -1.25)
    for _ in range(_STEPS):
        sigma[rows] = np.exp(place)
        going = np.flatnonzero(np.abs(off) > close)
        if going.size == 0:
            break
        rows, spectra = rows[going], spectra[going]
        place, off, low, high, slope = (one[going] for one in (place, off, low, high, slope))
        step = place - off / slope
        step = np.where((low < step) & (step < high), step, (low + high) / 2)
        before, moved = off, np.where(step == place, np.nan, step - place)
        place, off = step, _excess(spectra, step)
        slope = np.fmin((off - before) / moved, -1)
        low = np.maximum(low, np.minimum(place, place + off))
        high = np.minimum(high, np.maximum(place, place + off))
    return sigma


def _excess(spectra: Floats, log_sigma: Floats) -> Floats:
    """Return log(E(sigma) / sigma)."""
    from scipy.fft import idct  # noqa: PLC0415 - a tenth of a second to import

    size = spectra.shape[-1] - 1
    variance, rates = np.exp(2 * log_sigma)[:, np.newaxis], _rates(size)
    few = np.searchsorted(rates, _FADED / variance.min(initial=1))  # the other cosines are gone
    faded = spectra[:, :few] * np.exp(-variance / 2 * rates[:few])
    blurred = idct(faded, type=1, n=size + 1)
    return np.asarray(np.log(_integral(np.abs(blurred))) - log_sigma)


# The kernel-smoothed calibration error of every class -----------------------------------------


_CLASSES = 16  # classes at once: their meshes stay in a processor's cache
_MESHES = 2  # as many cells of a table at once, so that adding up meshes is little beside them


def kde_classwise_ece(
    probabilities: ArrayLike,
    labels: ArrayLike,
    *,
    norm: Literal[1, 2] = 1,
    sample_weight: SampleWeight = None,
) -> float:
    """Compute the mean over classes of each one's `kde_ece`, the class against the others.

    Parameters
    ----------
    probabilities : array_like of float, shape (n_samples, n_classes)
        Rows that sum to 1 (y_prob).
    labels : array_like of int, shape (n_samples,)
        True classes (y_true), from 0.
    norm : {1, 2}, default 1
        As in `kde_ece`; the root is taken of each class, then the average.
    sample_weight : array_like or RowWeights, shape (n_samples,), optional
        Of the rows: see `calibcore.weights`.

    Returns
    -------
    float
        In probability units, 0 to 1. With many classes it is small, because most probabilities are.

    Raises
    ------
    CalibrationInputError
        Rows that are not probabilities, labels that do not fit, another norm.

    Notes
    -----
    (1 / K) sum_k KDE-ECE(p_k, 1(y = k)). A class that no row has counts like any other. A
    probability above 1, of a row scaled within the tolerance, counts as 1. The points are those of
    `MESH` for every class, also where `kde_ece` would take finer ones for a narrow kernel.

    References
    ----------
    Zhang, Kailkhura, Han, ICML 2020, section 4.1; Kull et al., NeurIPS 2019.

    Examples
    --------
    >>> kde_classwise_ece([[0.5, 0.5], [0.5, 0.5]], [0, 0])
    0.5
    """
    check_norm(norm)
    table, true = validation.labelled(probabilities, labels, sample_weight)
    n_classes, weights = table.shape[1], weights_of(sample_weight, len(table))
    width = _class_widths(table, true, weights)
    of_rows = None if weights is None else weights.values
    errors = np.empty(n_classes)
    for first in range(0, n_classes, _CLASSES):
        block = slice(first, min(first + _CLASSES, n_classes))
        counts, hits = _class_densities(table, true, block, of_rows)
        errors[block] = kde_of_densities(counts, hits, width[block], norm)
    return float(errors.mean())


def _class_widths(table: Floats, true: Labels, weights: RowWeights | None) -> Floats:
    """Return the half width of the kernel of each class."""
    n_rows, n_classes = table.shape
    own = np.minimum(table[np.arange(n_rows), true], 1.0)
    if weights is None:
        each, n_effective = np.ones(n_rows), float(n_rows)
    else:
        each = weights.values if weights.counts else shares_of(weights.values)
        total = float(each.sum())
        n_effective = total if weights.counts else total**2 / float(each @ each)
    n_hits = np.bincount(true, weights=each, minlength=n_classes)
    least = np.where(n_hits > 0, n_hits, 1.0)
    own -= (np.bincount(true, weights=each * own, minlength=n_classes) / least)[true]
    squares = np.bincount(true, weights=each * np.square(own), minlength=n_classes)
    spread = np.sqrt(squares / least)
    for k in np.flatnonzero(n_hits < 2):
        column = np.minimum(table[:, k], 1.0)
        mean = float(each @ column / each.sum())
        spread[k] = math.sqrt(float(each @ np.square(column - mean) / each.sum()))
    return half_width(spread, n_effective)


def _class_densities(
    table: Floats, true: Labels, block: slice, weights: Floats | None
) -> tuple[Floats, Floats]:
    """Return the densities of all rows and of the hits on the mesh, for a few classes."""
    columns = table[:, block]
    each = np.ones(len(table)) if weights is None else weights
    counts = class_masses(columns, np.broadcast_to(each[:, np.newaxis], columns.shape), MESH)
    mine = np.flatnonzero((true >= block.start) & (true < block.stop))
    own = np.minimum(table[mine, true[mine]], 1.0)
    hits = np.zeros(counts.shape)
    share_out(hits, true[mine] - block.start, own, each[mine])
    return per_unit(counts), per_unit(hits)


def class_masses(table: Floats, weights: Floats, size: int) -> Floats:
    """Share weights out to a mesh of each class, at the probabilities of the class.

    With many classes nearly all cells are in the first of the mesh, whose sums need no search.

    ``table``, ``weights``: probabilities, and what stands at each; shape (n_samples, n_classes).
    ``size``: cells of the mesh.

    The last column stays 0; shape (n_classes, size + 2).
    """
    n_rows, n_classes = table.shape
    mass = np.zeros((n_classes, size + 2))
    step = _MESHES * (size + 2)
    for start in range(0, n_rows, step):
        low = table[start : start + step].flatten()
        weight = weights[start : start + step].flatten()
        above = np.flatnonzero(low >= 1 / size)
        share_out(mass, above % n_classes, np.minimum(low[above], 1.0), weight[above])
        low[above] = weight[above] = 0
        in_first = weight.reshape(-1, n_classes)
        upper = size * np.einsum("ij,ij->j", low.reshape(-1, n_classes), in_first)
        mass[:, 0] += np.einsum("ij->j", in_first) - upper
        mass[:, 1] += upper
    return mass


def share_out(mass: Floats, curve: NDArray[np.integer], values: Floats, weights: Floats) -> None:
    """Add weights at values in [0, 1] to the two points around each, on the mesh of each curve."""
    n_points = mass.shape[1]
    beyond = values * (n_points - 2)
    cells = beyond.astype(np.intp)
    upper = (beyond - cells) * weights
    cells += curve * n_points
    flat = mass.reshape(-1)
    flat += np.bincount(cells, weights=weights - upper, minlength=flat.size)
    flat[1:] += np.bincount(cells, weights=upper, minlength=flat.size)[:-1]


KDE_ECE = EventMeasure(
    key="kde_ece",
    name="KDE-ECE",
    group="kernel",
    source="Zhang 2020, eq. 6",
    explained="Mean gap between score and observed frequency, both smoothed by a kernel instead"
    " of bins. Formula: Zhang 2020, eq. 6; width of the kernel: the authors' program.",
    ideal=0.0,
    interval="inverted",
    compute=lambda c, o: kde_ece_of(c, rough=o.rough),
)

KDE_ECE_L2 = EventMeasure(
    key="kde_ece_l2",
    name="KDE-ECE, squared gaps",
    group="kernel",
    source="Zhang 2020, eq. 6, d = 2",
    explained="Root mean squared gap after the same smoothing (d = 2); large gaps weigh more.",
    formula="Root of int_0^1 (x - g(x) / m(x))^2 m(x) dx, g and m as in the KDE-ECE; the paper"
    " takes no root.",
    ideal=0.0,
    interval="inverted",
    compute=lambda c, o: kde_ece_of(c, norm=2, rough=o.rough),
)

KDE_CLASSWISE_ECE = ClassMeasure(
    key="kde_classwise_ece",
    name="Class-wise KDE-ECE",
    group="kernel",
    source="Zhang 2020, section 4.1",
    explained="KDE-ECE of each class against the others, averaged over the classes. Smoothing"
    " alone raises it where most probabilities are near 0, so compare it with its value under"
    " perfect calibration.",
    ideal=0.0,
    is_tested_only=True,
    compute=lambda p, y, _: kde_classwise_ece(p, y),
    weighted=lambda p, y, _, w: kde_classwise_ece(p, y, sample_weight=w),
)

SMOOTH_ECE = EventMeasure(
    key="smooth_ece",
    name="Smooth ECE",
    group="kernel",
    source="Blasiok 2024",
    explained="Mean gap after smoothing by a kernel as wide as the error itself; it changes only"
    " a little when the scores do.",
    ideal=0.0,
    interval="inverted",
    compute=lambda c, o: smooth_ece_of(c, rough=o.rough),
)
