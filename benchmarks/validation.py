"""Do the intervals and tests hold what they promise? ``python -m benchmarks.validation``.

Data are drawn again and again from a model whose truth is known; docs/validation.md gets, for each
measure, how often its 95 % interval holds the truth, how often its test at 5 % finds fault with a
perfectly calibrated model, and how often with a miscalibrated one.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from calibcore import EventScores
from calibcore.inference import Finding, Interval, Plan, Side, infer
from calibcore.inference.classes import SUMMARIES
from calibcore.metrics import METRICS, EventMeasure, RowMeasure
from calibcore.tally import Tally
from calibcore.validation import Floats

ROOT = Path(__file__).parents[1]
OUT = ROOT / "docs" / "validation.md"
HELD = ROOT / "calibcore" / "inference" / "held.py"
N_RESAMPLES = 400
_PLACES = 20_001
_ROWS = 100_000_000


@dataclass(frozen=True)
class Model:
    """Two classes, equally frequent, one feature x that is normal about 1 or -1.

    The classifier says 1 / (1 + exp(b0 + b1 x)) for class 1; the truth is b0 = 0, b1 = -2.
    (Vaicenavicius et al. 2019; Zhang 2020, section 5.1.)
    """

    name: str
    b0: float
    b1: float

    def scores(self, x: Floats) -> Floats:
        """Give what the classifier says of class 1."""
        return np.asarray(expit(-self.b0 - self.b1 * x))


MODELS = (
    Model("less calibrated (0.5, -1.5)", 0.5, -1.5),
    Model("better calibrated (0.2, -1.9)", 0.2, -1.9),
)
PERFECT = Model("perfect", 0.0, -2.0)
SIZES = (500, 5000)


def _side(model: Model, x: Floats, labels: np.ndarray) -> Side:
    scores = model.scores(x)
    table = np.stack([1 - scores, scores], axis=1)
    return Side(EventScores(scores, labels), table, labels)


def truths(model: Model) -> dict[str, float]:
    """Give every measure of infinitely many rows, by summing over the feature."""
    x = np.linspace(-9, 9, _PLACES)
    density = norm.pdf(x, 1) + norm.pdf(x, -1)
    weights = np.round(density / density.sum() * _ROWS)
    n_rows = int(weights.sum())
    scores, frequency = model.scores(x), PERFECT.scores(x)
    expected = Tally(scores, weights, weights * frequency, n_rows)
    mirrored = Tally(1 - scores[::-1], weights[::-1], (weights * (1 - frequency))[::-1], n_rows)
    table = np.stack([1 - scores, scores], axis=1)
    labels = {k: np.full(x.size, k) for k in (0, 1)}
    plan, found = Plan(), {}
    for measure in METRICS:
        if isinstance(measure, EventMeasure):
            found[measure.key] = measure.true_distance(expected, plan.options)
        elif isinstance(measure, RowMeasure):
            values = {k: measure.rows(table, labels[k]).seen for k in labels}
            mean = frequency * values[1] + (1 - frequency) * values[0]
            found[measure.key] = float(weights @ mean) / n_rows
    ece = next(m for m in METRICS if m.key == "ece")
    if not isinstance(ece, EventMeasure):
        raise TypeError(ece)
    classes = np.array([ece.true_distance(one, plan.options) for one in (mirrored, expected)])
    return found | {key: float(make(classes)) for key, make in SUMMARIES.items()}


def simulate(job: tuple[Model, int, int]) -> tuple[Finding, ...]:
    """Draw one set of rows, before as the model says and after as is true, and judge it."""
    model, n_samples, seed = job
    rng = np.random.default_rng([seed, n_samples])
    labels = rng.integers(2, size=n_samples)
    x = 2.0 * labels - 1 + rng.normal(size=n_samples)
    plan = Plan(n_resamples=N_RESAMPLES, seed=seed)
    return infer(_side(model, x, labels), _side(PERFECT, x, labels), plan).findings


def _holds(interval: Interval | None, truth: float) -> bool:
    return interval is not None and interval.low - 1e-9 <= truth <= interval.high + 1e-9


@dataclass
class Counts:
    """Of one measure, model and size: in how many data sets what was so."""

    before: int = 0
    after: int = 0
    change: int = 0
    found: int = 0
    false_alarm: int = 0


def count(found: Iterator[tuple[Finding, ...]], model: Model) -> dict[str, Counts]:
    """Count over simulated data sets."""
    was, now = truths(model), truths(PERFECT)
    counts: dict[str, Counts] = defaultdict(Counts)
    for findings in found:
        for finding in findings:
            one, key = counts[finding.key], finding.key
            if finding.before is None or finding.after is None:
                raise ValueError(key)
            one.before += _holds(finding.before.interval, was[key])
            one.after += _holds(finding.after.interval, now[key])
            one.change += _holds(finding.change, now[key] - was[key])
            one.found += finding.before.reference.p_value <= 0.05
            one.false_alarm += finding.after.reference.p_value <= 0.05
    return counts


def _table(counts: dict[str, Counts], n_sets: int) -> str:
    head = "Interval before | Interval of the perfect model | Interval of the change"
    lines = [
        f"| Measure | {head} | Test finds the fault | False alarm |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for measure in METRICS:
        one = counts[measure.key]
        cells = [one.before, one.after, one.change]
        tested = [one.found, one.false_alarm] if measure.ideal is not None else [None, None]
        texts = ["" if cell is None else f"{100 * cell / n_sets:.1f}" for cell in cells + tested]
        lines.append(f"| {measure.name} | {' | '.join(texts)} |")
    return "\n".join(lines)


def held(page: str) -> dict[str, tuple[float, float]]:
    """Read off the page how often each interval held the truth of one side, least and most."""
    keys = {measure.name: measure.key for measure in METRICS}
    shares: dict[str, list[float]] = defaultdict(list)
    for line in page.splitlines():
        name, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        if name in keys:
            shares[keys[name]] += [float(cell) for cell in cells[:2]]
    return {key: (min(found), max(found)) for key, found in shares.items()}


def _write_held(page: str) -> None:
    lines = "".join(f'    "{key}": {found},\n' for key, found in held(page).items())
    HELD.write_text(HELD_HEAD + "HELD: Mapping[str, tuple[float, float]] = {\n" + lines + "}\n")


def main() -> int:
    """Simulate, and write the page and what the dashboard says of it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.validation", description=__doc__)
    parser.add_argument("--sets", type=int, default=1000, help="simulated data sets")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    parts = [INTRODUCTION.format(sets=options.sets, resamples=N_RESAMPLES)]
    with ProcessPoolExecutor(options.workers) as pool:
        for model in MODELS:
            for n_samples in SIZES:
                print(model.name, n_samples, file=sys.stderr, flush=True)
                jobs = [(model, n_samples, seed) for seed in range(options.sets)]
                counts = count(pool.map(simulate, jobs, chunksize=4), model)
                parts.append(f"## {model.name.capitalize()}, {n_samples:,} rows")
                parts.append(_table(counts, options.sets))
                options.out.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    _write_held(options.out.read_text(encoding="utf-8"))
    return 0


HELD_HEAD = '''"""How often each measure's 95 % interval held the truth in simulated data.

Written by ``python -m benchmarks.validation``: percent of the data sets, least and most over models
and sizes; docs/validation.md has all of it.
"""

from collections.abc import Mapping

'''


INTRODUCTION = """# Do the intervals hold?

Written by `python -m benchmarks.validation`. Each figure is a share in percent of {sets:,}
simulated data sets, {resamples} resamples each. A 95 % interval should hold the truth in 93 to 97
of 100 sets; a test at 5 % should find fault with the perfect model in 4 to 6.

The data: two classes, equally frequent, with one feature that is normal about 1 or -1; the
classifier says 1 / (1 + exp(b0 + b1 x)), and b0 = 0, b1 = -2 would be true (Vaicenavicius et al.
2019; Zhang 2020, section 5.1). Truths are sums over a fine mesh of the feature. *Before* is the
classifier named in the heading, *after* the true one, so the interval of the perfect model should
hold 0 for every distance."""


if __name__ == "__main__":
    sys.exit(main())
