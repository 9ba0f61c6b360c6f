"""The rows of the table: every method of the catalogue, its variants, targets and peers."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from benchmarks.calibrators import peers
from benchmarks.calibrators.peers import of_each_class, of_scores
from benchmarks.calibrators.penalties import DIRICHLET_L2, ODIR, Penalty, l2, odir, structured
from benchmarks.calibrators.ways import Kind, Way
from calibcore.calibrators import (
    CATALOGUE,
    DirichletScaling,
    MatrixScaling,
    Method,
    VectorScaling,
)
from calibcore.calibrators.method import Calibrator

SKLEARN, NETCAL, PROBMETRICS = "scikit-learn", "netcal", "probmetrics"
BETACAL, VENN_ABERS, SCIPY = "betacal", "venn-abers", "plain SciPy"
PEERS = (SKLEARN, NETCAL, PROBMETRICS, BETACAL, VENN_ABERS, SCIPY)

Offers = Mapping[str, Callable[[], Way]]


@dataclass(frozen=True)
class Entry:
    """One calibrator with one setting of its options.

    Attributes
    ----------
    name : str
    kind : {"event", "classes"}
    make : function
        Makes Fractile's calibrator.
    peers : mapping of str to function
        Ways to do the same, by library.
    target : float, optional
        How many times as long the fastest peer should take.
    most_classes : int
        Larger tables are left out.
    cross_validated : bool
        Whether the penalty is searched for, so that the fit is many fits.
    penalty : function, optional
        What the fit adds to the NLL.
    """

    name: str
    kind: Kind
    make: Callable[[], Calibrator]
    peers: Offers = field(default_factory=dict)
    target: float | None = None
    most_classes: int = 1_000
    cross_validated: bool = False
    penalty: Penalty | None = None


_OFFERS: dict[str, tuple[float, Offers]] = {
    "spline": (10, {PROBMETRICS: peers.probmetrics_spline}),
    "ensemble_temperature": (10, {PROBMETRICS: peers.probmetrics_ensemble}),
    "structured_vector": (1, {PROBMETRICS: peers.probmetrics_structured_vector}),
    "structured_matrix": (1, {PROBMETRICS: peers.probmetrics_structured_matrix}),
    "pooled_isotonic": (2, {SKLEARN: peers.sklearn_pooled_isotonic}),
    "one_vs_rest_isotonic": (2, {SKLEARN: of_each_class(peers.sklearn_isotonic)}),
    "one_vs_rest_spline": (10, {PROBMETRICS: of_each_class(peers.probmetrics_spline)}),
    "one_vs_rest_histogram": (2, {NETCAL: peers.netcal_histogram}),
    "one_vs_rest_bbq": (2, {NETCAL: peers.netcal_bbq}),
    "gaussian_process": (1, {}),
    "platt": (2, {SKLEARN: peers.sklearn_platt}),
    "beta": (2, {BETACAL: peers.betacal_beta}),
    "histogram": (2, {NETCAL: of_scores(peers.netcal_histogram)}),
    "isotonic": (2, {SKLEARN: peers.sklearn_isotonic}),
    "bbq": (2, {NETCAL: of_scores(peers.netcal_bbq)}),
    "venn_abers": (2, {VENN_ABERS: peers.venn_abers_single}),
}
"""Targets and peers of the methods that are run with their default options alone."""

_LIFTED: dict[str, tuple[float, Offers]] = {
    "beta": (2, {BETACAL: of_each_class(peers.betacal_beta)}),
    "platt": (2, {SKLEARN: of_each_class(peers.sklearn_platt)}),
}
"""The same for each parametric map that is lifted to all classes."""

_TEMPERATURE: Offers = {
    SKLEARN: peers.sklearn_temperature,
    NETCAL: peers.netcal_temperature,
    PROBMETRICS: peers.probmetrics_temperature,
}
_IN_SINGLE: Offers = {PROBMETRICS: partial(peers.probmetrics_temperature, single=True)}
_ON_LOGITS: Offers = {PROBMETRICS: peers.probmetrics_vector}
_ON_LOGS: Offers = {
    NETCAL: peers.netcal_vector_of_logs,
    PROBMETRICS: peers.probmetrics_vector_of_logs,
}
_FREE: Offers = {SKLEARN: peers.sklearn_matrix, PROBMETRICS: peers.probmetrics_matrix}
_L2: Offers = {SKLEARN: peers.sklearn_dirichlet, PROBMETRICS: peers.probmetrics_dirichlet}


_SEARCHED = 100
"""Classes up to which these sizes have their penalty searched; beyond, it follows from the size."""


def _temperature(method: Method) -> Iterator[Entry]:
    yield Entry(method.name, "classes", method.make, _TEMPERATURE, 10)
    yield Entry(f"{method.name}, peer in float32", "classes", method.make, _IN_SINGLE)


def _vector(method: Method) -> Iterator[Entry]:
    of_logs = VectorScaling(space="log_probabilities")
    yield Entry(method.name, "classes", method.make, _ON_LOGITS, 10)
    yield Entry(f"{method.name} of log-probabilities", "classes", lambda: of_logs, _ON_LOGS, 10)


def _matrix(method: Method) -> Iterator[Entry]:
    fixed, name = MatrixScaling(odir=(ODIR, ODIR)), f"{method.name}, ODIR"
    offers: Offers = {SCIPY: peers.scipy_odir}
    fixed_name = f"{name} {ODIR:g}"
    yield Entry(
        fixed_name, "classes", lambda: fixed, offers, 1, penalty=odir, most_classes=_SEARCHED
    )
    yield Entry(
        f"{method.name}, no penalty", "classes", MatrixScaling, _FREE, 1, most_classes=10
    )  # with more classes than that it has more weights than rows
    yield Entry(name, "classes", method.make, cross_validated=True)


def _dirichlet(method: Method) -> Iterator[Entry]:
    fixed, name = DirichletScaling(odir=(ODIR, ODIR)), f"{method.name}, ODIR"
    squared = DirichletScaling(l2=DIRICHLET_L2)
    yield Entry(f"{method.name}, L2", "classes", lambda: squared, _L2, 1, penalty=l2)
    yield Entry(f"{name} {ODIR:g}", "classes", lambda: fixed, most_classes=_SEARCHED)
    yield Entry(name, "classes", method.make, cross_validated=True)


def _one_vs_rest(method: Method) -> Iterator[Entry]:
    for score_map, (target, offers) in _LIFTED.items():
        made = partial(method.make, score_map=score_map)
        yield Entry(f"{method.name}: {score_map}", "classes", made, offers, target)


_VARIANTS: dict[str, Callable[[Method], Iterator[Entry]]] = {
    "temperature": _temperature,
    "vector": _vector,
    "matrix": _matrix,
    "dirichlet": _dirichlet,
    "one_vs_rest": _one_vs_rest,
}


def entries() -> Iterator[Entry]:
    """Give every row, in the order of the catalogue; a method not named above has no peer."""
    for method in (one for one in CATALOGUE if not one.knows_groups):
        if method.key in _VARIANTS:
            yield from _VARIANTS[method.key](method)
            continue
        target, offers = _OFFERS.get(method.key, (None, {}))
        name = f"{method.name}, top-1" if method.acts_on == "event" else method.name
        penalty = structured if method.key.startswith("structured") else None
        yield Entry(name, method.acts_on, method.make, offers, target, penalty=penalty)
