"""Logits with their true classes, and sums over the classes at an inverse temperature."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibcore import validation
from calibcore.blocks import NARROW, block_rows
from calibcore.probabilities import LOG2_E
from calibcore.validation import Floats, Logits

Precision = type[np.float32] | type[np.float64]

FLOOR = -1e6
"""Logits further below their row's largest weigh 0 at any temperature that is looked for."""

_TOGETHER = 1 << 15
"""Rows whose sums are kept at the same time."""

_SMALL = 1500.0
"""Mean square up to which it is tried whether logits serve as they are."""

_SAFE = 1e-12, 1e25
"""Sums of exponentials between which they do, even in float32."""


class Rows:
    """Checked logits with their true classes, each of which stands for z.

    Attributes
    ----------
    logits : ndarray of float32 or float64, shape (n_samples, n_classes)
    true : ndarray of float64, shape (n_samples,)
        The logit of the true class.

    Notes
    -----
    z is the difference to the row's largest. Small logits serve as they are wherever a constant
    added to a row changes nothing, which saves to look for the largest and to take it off. Sums
    are made in float64, or in float32, which takes half the time and is exact enough to come near
    a minimum. Rows of few classes are kept as columns, as sums along short rows are slow.
    """

    def __init__(self, logits: Logits, true: Floats, maxima: Logits | None) -> None:
        self.logits, self.true, self._maxima = logits, true, maxima
        self.n_rows, self.n_classes = logits.shape
        self._axis = 0 if self.n_classes <= NARROW else 1
        self._small: dict[Precision, NDArray[Any]] = {}  # z, if it is one block

    @classmethod
    def checked(cls, logits: ArrayLike, labels: ArrayLike) -> "Rows":
        """Check logits and labels."""
        table, maxima = validation.matrix(logits, "logits"), None
        with np.errstate(over="ignore", invalid="ignore"):
            small = np.vdot(table, table) <= _SMALL * table.size
        if not small:
            table, maxima = validation.logits_and_maxima(table)
        n_rows, n_classes = table.shape
        truth = validation.labels(labels, n_rows=n_rows, n_classes=n_classes)
        own = table.ravel()[truth + np.arange(0, table.size, n_classes)]
        return cls(table, own.astype(np.float64), maxima)

    @property
    def maxima(self) -> Logits:
        """The largest logit of each row."""
        return self._take_off() if self._maxima is None else self._maxima

    def _take_off(self) -> Logits:
        """Find the largest of each row, which from now on is taken off."""
        self._small.clear()
        self._maxima = validation.logits_and_maxima(self.logits)[1]
        return self._maxima

    @cached_property
    def own(self) -> Floats:
        """Difference of the true class to the row's largest; minus infinity if it is ruled out."""
        with np.errstate(over="ignore"):  # a difference too large for a float is minus infinity
            return np.asarray(self.true - self.maxima)

    @property
    def possible(self) -> NDArray[np.bool_]:
        """Rows whose true class is not ruled out."""
        return np.isfinite(self.true if self._maxima is None else self.own)

    def part(self, chosen: slice | NDArray[np.bool_]) -> "Rows":
        """Keep some rows."""
        table: Any = self.logits
        maxima = None if self._maxima is None else self._maxima[chosen]
        return Rows(np.ascontiguousarray(table[chosen]), self.true[chosen], maxima)

    def one_in(self, many: int, *, least: int) -> "Rows":
        """Keep one row in so many, spread evenly, or more, so as to keep at least some."""
        step = min(many, self.n_rows // least)
        return self.part(slice(None, None, step)) if step > 1 else self

    def mean(self, terms: Callable[["Rows"], Sequence[float]]) -> list[float]:
        """Average over the rows what a function gives as means, of not too many rows at a time."""
        with np.errstate(over="ignore"):  # a mean too large for a float is infinite
            if self.n_rows <= _TOGETHER:
                return list(terms(self))
            totals: Any = sum(part.n_rows * np.array(terms(part)) for part in self.parts)
            found: list[float] = (totals / self.n_rows).tolist()
            return found

    @property
    def parts(self) -> list["Rows"]:
        """All rows, not too many at a time."""
        return self._cut if self.n_rows > _TOGETHER else [self]

    @cached_property
    def _cut(self) -> list["Rows"]:
        starts = range(0, self.n_rows, _TOGETHER)
        return [self.part(slice(start, start + _TOGETHER)) for start in starts]

    def powers(
        self, inverse: float, highest: int, precision: Precision
    ) -> tuple[Floats, NDArray[Any]]:
        """Sum exp(u z) z^j over the classes, up to a constant that is added to a row's z.

        Parameters
        ----------
        inverse : float
            The inverse temperature u, at least 0.001.
        highest : int
            The last of the powers j, from 0.
        precision : type
            What is reckoned in.

        Returns
        -------
        own : ndarray of float64, shape (n_samples,)
            z of the true class.
        sums : ndarray of that precision, shape (highest + 1, n_samples)
            The first are above 0.
        """
        if self._maxima is None:
            with np.errstate(over="ignore", invalid="ignore"):  # looked for below
                sums = self._powers(inverse, highest, precision)
            if sums[0].min() > _SAFE[0] and sums[0].max() < _SAFE[1]:
                return self.true, sums
        return self.own, self._powers(inverse, highest, precision)

    def _powers(self, inverse: float, highest: int, precision: Precision) -> NDArray[Any]:
        found = np.empty((highest + 1, self.n_rows), dtype=precision)
        for rows, (z, weights) in self._blocks(precision, 2):
            _exponentials(z, inverse, weights)
            found[0, rows] = self.total(weights)
            for power in range(1, highest + 1):
                if power == highest and self._axis:
                    found[power, rows] = self.dot(weights, z)
                else:
                    np.multiply(weights, z, out=weights)
                    found[power, rows] = self.total(weights)
        return found

    def rough_totals(self, inverses: Floats) -> Floats:
        """Sum exp(u z) over the classes in float32 for many u, shape (n_inverses, n_samples)."""
        found = np.empty((inverses.size, self.n_rows))
        for rows, (z,) in self.blocks(np.float32, 1):
            weights = np.multiply.outer(inverses.astype(np.float32), z)
            np.exp(weights, out=weights)
            found[:, rows] = weights.sum(axis=1 + self._axis)
        return found

    def products(self, inverse: float, tables: list[NDArray[Any]]) -> tuple[NDArray[Any], ...]:
        """Sum a, az, azz, aa, aaz and aazz over the classes, with a = exp(u z).

        Takes tables of a block, and leaves z, a and az in the first three.
        """
        z, a, az = tables[:3]
        _exponentials(z, inverse, a)
        np.multiply(a, z, out=az)
        dot = self.dot
        return self.total(a), self.total(az), dot(az, z), dot(a, a), dot(a, az), dot(az, az)

    def blocks(
        self, precision: Precision, n_tables: int
    ) -> Iterator[tuple[slice, list[NDArray[Any]]]]:
        """Return blocks of rows: their place, and tables of their shape.

        The first table is the difference to the row's largest, the others are to be written to.
        """
        if self._maxima is None:
            self._take_off()
        return self._blocks(precision, n_tables)

    def _blocks(
        self, precision: Precision, n_tables: int
    ) -> Iterator[tuple[slice, list[NDArray[Any]]]]:
        step = min(block_rows(self.n_classes) * 8 // np.dtype(precision).itemsize, self.n_rows)
        below = np.empty(step * self.n_classes, dtype=precision)
        kept = np.empty((n_tables - 1, below.size), dtype=precision)
        for start in range(0, self.n_rows, step):
            rows = slice(start, start + step)
            block = self._table[:, rows] if self._axis == 0 else self._table[rows]
            tables = [one[: block.size].reshape(block.shape) for one in kept]
            if (z := self._small.get(precision)) is None:
                z = self._origin_moved(block, rows, below[: block.size].reshape(block.shape))
                if step == self.n_rows:
                    self._small[precision] = z
            yield rows, [z, *tables]

    @cached_property
    def _table(self) -> NDArray[Any]:
        return self.logits if self._axis else np.ascontiguousarray(self.logits.T)

    def _origin_moved(self, block: NDArray[Any], rows: slice, out: NDArray[Any]) -> NDArray[Any]:
        """Return z of a block in the precision of ``out``, written there unless z is."""
        if self._maxima is None:
            if block.dtype == out.dtype:
                return block
            out[...] = block
            return out
        maxima = np.expand_dims(self._maxima[rows], self._axis)
        with np.errstate(over="ignore"):  # too far below the largest to weigh anything
            if out.dtype == np.float64:
                out[...] = block
                out -= maxima.astype(np.float64)
            else:  # float64 is rounded after the subtraction
                np.subtract(block, maxima, out=out, casting="same_kind")
        if out.min() < FLOOR:
            np.maximum(out, FLOOR, out=out)
        return out

    def total(self, table: NDArray[Any]) -> NDArray[Any]:
        """Sum a block over the classes."""
        ones = _ones(self.n_classes, table.dtype)
        return np.asarray(ones @ table if self._axis == 0 else table @ ones)

    def dot(self, one: NDArray[Any], two: NDArray[Any]) -> NDArray[Any]:
        """Sum the products of two blocks over the classes."""
        if self._axis == 0:
            return np.asarray(np.einsum("ij,ij->j", one, two))
        return np.asarray(np.vecdot(one, two))


@lru_cache(maxsize=16)
def _ones(many: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return a vector whose product with a table is its sum."""
    return np.ones(many, dtype=dtype)


def _exponentials(z: NDArray[Any], inverse: float, out: NDArray[Any]) -> None:
    """Write exp(u z)."""
    if out.dtype == np.float64:
        np.multiply(z, inverse * LOG2_E, out=out)
        np.exp2(out, out=out)
    else:  # powers of 2 that underflow take a hundred times as long in float32
        np.multiply(z, inverse, out=out)
        np.exp(out, out=out)


def squared_terms(
    inverse: float, own: Floats, sums: Floats
) -> tuple[tuple[float, ...], tuple[float, ...], Floats, Floats]:
    """Average sum_k p_k^2 and p_y over the rows, with derivatives, given `Rows.products`.

    Both are exponentials of logarithms of sums, whose derivatives are means and variances; those
    of z under p come last.
    """
    a, az, azz, aa, aaz, aazz = sums
    mean, twice = az / a, aaz / aa
    variance = azz / a - mean * mean
    bend = 4 * (aazz / aa - twice * twice) - 2 * variance
    itself = mean_term(aa / (a * a), 2 * (twice - mean), bend)
    truth = mean_term(np.exp(inverse * own) / a, own - mean, -variance)
    return itself, truth, mean, variance


def mean_term(value: Floats, slope: Floats, bend: Floats) -> tuple[float, float, float]:
    """Average exp(f) and its two derivatives over the rows, given exp(f), f' and f''."""
    n_rows, once = value.size, value * slope
    second = float(once @ slope) + float(value @ bend)
    return float(value.sum()) / n_rows, float(once.sum()) / n_rows, second / n_rows
