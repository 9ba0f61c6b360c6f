"""The search for the latent function whose evidence bound is highest."""

import math
from typing import NamedTuple

import numpy as np

from calibcore.calibrators.base import Progress
from calibcore.calibrators.gaussian_process.bound import Bound, Cells, Kernel, basis, bound
from calibcore.validation import Floats

NOISE = 1e-6
"""White noise of the kernel, as a share of its variance."""

AMPLITUDES = (0.05, 1e2)
"""Range of the kernel's amplitude, in standard deviations of the inputs.

Where the labels ask for no correction the bound is highest at amplitude 0, which would pretend to
know the function for certain; the lower end keeps its uncertainty from being too small.
"""

LENGTHSCALES = (0.1, 1e2)
"""Range of the kernel's lengthscale, in standard deviations of the inputs."""

_ALIKE = 1e-5
"""Share of the inputs' range below which two of them are no two inducing places."""

_FEW_CELLS = 1 << 20
"""Cells, at least, from which the search on a larger table gets its starting point."""

_FEW_SHARE = 0.1

_STEEPEST = 1e-5
"""Slope of the bound per row below which a search counts as converged."""


class Found(NamedTuple):
    """Where a search ended."""

    places: Floats
    q_mean: Floats
    """Inducing places, and the whitened mean of q there; shape (n_inducing,)."""
    kernel: Kernel
    """The best kernel."""
    best: Bound
    """The bound there."""
    path: list[float]
    """The bound at the start of the search on all rows and after each iteration."""
    gradient_norm: float
    """Largest slope of the bound per row, where no limit stands in the way."""
    converged: bool
    at_largest_amplitude: bool
    """How it ended."""


def search(
    cells: Cells, n_inducing: int, max_iterations: int, slope: float, progress: Progress
) -> Found:
    """Search mean of q, amplitude and lengthscale, starting from the function ``slope`` * x.

    A large table is searched from the answer of few of its rows.
    """
    counts = cells.counts()
    places = inducing_places(cells.nodes, counts, n_inducing)
    limits = _Limits.of(cells.nodes, counts)
    start = _line(places, limits, slope)
    step = cells.index.size // _FEW_CELLS
    begun = 0.0
    if step > 1:
        begun = _FEW_SHARE
        few = _Search(cells.thinned(step), places, limits, _part(progress, 0.0, begun))
        start = few.run(start, max_iterations)
    full = _Search(cells, places, limits, _part(progress, begun, 1.0))
    at = full.run(start, max_iterations)
    kernel = limits.kernel(at)
    return Found(
        places,
        at[:-2],
        kernel,
        bound(at[:-2], kernel, places, cells),
        full.path,
        full.gradient_norm,
        full.converged,
        bool(at[-2] >= limits.highest[0]),
    )


def _line(places: Floats, limits: "_Limits", slope: float) -> Floats:
    """Return the parameters of a straight line through the inducing places.

    With a slope near 1 the kernel starts as the paper's does for logits of deviation 10.
    """
    sizes = limits.scale * np.array([max(0.1, abs(slope - 1)), 1.0])
    start = np.concatenate([np.zeros(len(places)), np.log(sizes)])
    kernel = limits.kernel(start)
    start[:-2] = basis(places, places, kernel).whitener @ places * (slope - 1) / kernel.amplitude
    return start


class _Limits(NamedTuple):
    """Where the logarithms of amplitude and lengthscale may go, in units of the inputs' spread."""

    scale: float
    lowest: Floats
    highest: Floats

    @classmethod
    def of(cls, nodes: Floats, counts: Floats) -> "_Limits":
        mean = (counts @ nodes) / counts.sum()
        scale = math.sqrt((counts @ (nodes - mean) ** 2) / counts.sum())
        scale = scale if scale > 1e-9 else 1.0
        return cls(
            scale,
            np.log(scale * np.array([AMPLITUDES[0], LENGTHSCALES[0]])),
            np.log(scale * np.array([AMPLITUDES[1], LENGTHSCALES[1]])),
        )

    def kernel(self, parameters: Floats) -> Kernel:
        amplitude, lengthscale = np.exp(np.clip(parameters[-2:], self.lowest, self.highest))
        return Kernel(float(amplitude), float(lengthscale), NOISE)


class _Search:
    """One search for the highest bound, with the bound after each iteration."""

    def __init__(self, cells: Cells, places: Floats, limits: _Limits, progress: Progress) -> None:
        self._cells, self._places, self._limits = cells, places, limits
        self._progress, self._share = progress, 0.0
        self.path: list[float] = []
        self.converged = False
        self.gradient_norm = 0.0

    def run(self, start: Floats, max_iterations: int) -> Floats:
        """Search from a start; gives mean of q, log amplitude, log lengthscale."""
        from scipy.optimize import Bounds, OptimizeResult, minimize  # noqa: PLC0415 - slow to import

        n_rows, n_free = len(self._cells.index), len(start) - 2
        low = np.concatenate([np.full(n_free, -np.inf), self._limits.lowest])
        high = np.concatenate([np.full(n_free, np.inf), self._limits.highest])
        self.path.append(-n_rows * self._loss(start)[0])

        # The parameter's name is how scipy knows that it wants the value too.
        def note(intermediate_result: OptimizeResult) -> None:
            self.path.append(-n_rows * float(intermediate_result.fun))
            self._share = min(1.0, (len(self.path) - 1) / max_iterations)

        found = minimize(
            self._loss,
            start,
            method="L-BFGS-B",
            jac=True,
            bounds=Bounds(low, high),
            callback=note,
            options={
                "maxcor": 12,  # with more, scipy's small matrices wait for threads
                "maxiter": max_iterations,
                "maxfun": 10 * max_iterations,
                "ftol": 1e-13,
                "gtol": 1e-7,
            },
        )
        free = found.x - np.clip(found.x - found.jac, low, high)
        self.gradient_norm = float(np.abs(free).max())
        self.converged = bool(found.success) or self.gradient_norm <= _STEEPEST
        return np.asarray(found.x, dtype=np.float64)

    def _loss(self, parameters: Floats) -> tuple[float, Floats]:
        self._progress(self._share)  # not from scipy's callback, which swallows StopIteration
        kernel = self._limits.kernel(parameters)
        result = bound(parameters[:-2], kernel, self._places, self._cells)
        n_rows = len(self._cells.index)
        return -result.value / n_rows, -result.gradient / n_rows


def _part(progress: Progress, start: float, end: float) -> Progress:
    return lambda share: progress(start + (end - start) * share)


def inducing_places(nodes: Floats, counts: Floats, n_inducing: int) -> Floats:
    """Cluster the inputs by k-means on the line: each cluster lies between two middles.

    Inputs nearer than `_ALIKE` count as one, and ties are decided by more than rounding.
    """
    nodes, counts = _joined(nodes[counts > 0], counts[counts > 0])
    totals = np.concatenate([[0.0], np.cumsum(counts)])
    moments = np.concatenate([[0.0], np.cumsum(counts * nodes)])
    steps = (np.arange(n_inducing) + 0.5) / n_inducing * (1 - _ALIKE)
    centres = np.unique(nodes[np.searchsorted(totals[1:], steps * totals[-1])])
    hair = _ALIKE * (nodes[-1] - nodes[0])
    for _ in range(100):
        cuts = np.searchsorted(nodes, (centres[1:] + centres[:-1]) / 2 - hair)
        edges = np.unique(np.concatenate([[0], cuts, [len(nodes)]]))
        moved = np.diff(moments[edges]) / np.diff(totals[edges])
        if np.array_equal(moved, centres):
            break
        centres = moved
    return np.asarray(centres)


def _joined(nodes: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Put inputs that are equal but for rounding together."""
    near, first, starts = _ALIKE * (nodes[-1] - nodes[0]), -math.inf, []
    for at, node in enumerate(nodes.tolist()):
        if node > first + near:
            first = node
            starts.append(at)
    if len(starts) == len(nodes):
        return nodes, counts
    together = np.add.reduceat(counts, starts)
    return np.add.reduceat(counts * nodes, starts) / together, together
