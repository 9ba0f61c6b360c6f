"""Interval coverage and test size by simulation: ``python -m benchmarks.validation``.

Data are drawn again and again from a model whose truth is known; docs/validation.md gets, for each
measure, how often its 95 % interval holds the truth, how often its test at 5 % finds fault with a
perfectly calibrated model, and how often with a miscalibrated one. With ``--only`` or
``--measures`` a part is simulated again, from the same data sets, and the page keeps the rest.
"""

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from calibcore import EventScores
from calibcore.inference import Finding, Interval, Plan, SideRows, infer
from calibcore.inference.classwise import SUMMARIES
from calibcore.metrics import METRICS, ChangeMeasure, EventMeasure, RowMeasure
from calibcore.probabilities import softmax
from calibcore.tally import Tally
from calibcore.validation import Floats, Labels

ROOT = Path(__file__).parents[1]
OUT = ROOT / "docs" / "validation.md"
HELD = ROOT / "calibcore" / "inference" / "coverage.py"
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
        """Give what the classifier says of class 1 of two."""
        return np.asarray(expit(-self.b0 - self.b1 * x))

    def table(self, x: Floats, centres: Floats) -> Floats:
        """Give what it says of each of several classes, about whose centres x is normal."""
        if centres.size == 2:
            return np.stack([1 - self.scores(x), self.scores(x)], axis=1)
        off = self.b0 / 2 * centres
        return softmax(-self.b1 / 2 * (np.outer(x, centres) - centres**2 / 2) - off)


MODELS = (
    Model("less calibrated (0.5, -1.5)", 0.5, -1.5),
    Model("better calibrated (0.2, -1.9)", 0.2, -1.9),
)
PERFECT = Model("perfect", 0.0, -2.0)
SIZES = (500, 5000)

TWO, TEN = np.array([-1.0, 1.0]), np.linspace(-2.25, 2.25, 10)
"""About which the feature is normal, class by class."""

OF_TEN = {m.key for m in METRICS if isinstance(m, RowMeasure) and (m.first or 1) > 1}
"""Measures that are evaluated with ten classes, as with two they are always 1."""


@dataclass(frozen=True)
class Simulation:
    """One model at one number of rows: a part of the page."""

    model: Model
    n_samples: int

    @property
    def heading(self) -> str:
        """What the part is called."""
        return f"## {self.model.name.capitalize()}, {self.n_samples:,} rows"

    @property
    def short(self) -> str:
        """How it is asked for: ``less:500``."""
        return f"{self.model.name.split()[0]}:{self.n_samples}"


SIMULATIONS = tuple(Simulation(model, n_samples) for model in MODELS for n_samples in SIZES)
KEYS = {measure.name: measure.key for measure in METRICS}
KEYED = {measure.key: measure for measure in METRICS if isinstance(measure, EventMeasure)}


def _centres(key: str) -> Floats:
    return TEN if key in OF_TEN else TWO


def _side(model: Model, x: Floats, labels: Labels, centres: Floats) -> SideRows:
    """Give what a classifier says; the event is that class 1 is true."""
    table = model.table(x, centres)
    return SideRows(EventScores(table[:, 1], labels == 1), table, labels)


def truths(model: Model, before: Model | None = None) -> dict[str, float]:
    """Give every measure of infinitely many rows, by summing over the feature.

    A change is one from the model before; from itself where none is given.
    """
    x = np.linspace(-9, 9, _PLACES)
    density = norm.pdf(x, 1) + norm.pdf(x, -1)
    weights = np.round(density / density.sum() * _ROWS)
    n_rows = int(weights.sum())
    scores, frequency = model.scores(x), PERFECT.scores(x)
    expected = Tally(scores, weights, weights * frequency, n_rows)
    mirrored = Tally(1 - scores[::-1], weights[::-1], (weights * (1 - frequency))[::-1], n_rows)
    plan, found = Plan(), _mean_truths(model, before or model)
    for measure in METRICS:
        if isinstance(measure, EventMeasure) and not measure.is_tested_only:
            found[measure.key] = measure.true_distance(expected, plan.options)
    for key, of_one in OF_EACH_CLASS.items():
        one = next(m for m in METRICS if m.key == of_one)
        if not isinstance(one, EventMeasure):
            raise TypeError(one)
        classes = np.array([one.true_distance(c, plan.options) for c in (mirrored, expected)])
        found[key] = float(SUMMARIES[key](classes))
    of_top = [_decided(one) for one in (mirrored, expected)]
    found["top_label_ece"] = sum(
        KEYED["ece"].true_distance(one, plan.options) * one.n_samples / n_rows for one in of_top
    )
    return found


def _decided(counted: Tally) -> Tally:
    """Keep the rows in which a class of two is the more probable one."""
    top = counted.scores > 0.5
    counts = counted.counts[top]
    return Tally(counted.scores[top], counts, counted.hits[top], int(counts.sum()))


def _mean_truths(model: Model, before: Model) -> dict[str, float]:
    """Give the truths of means over the rows."""
    x, found = np.linspace(-9, 9, _PLACES), {}
    for measure in METRICS:
        centres = _centres(measure.key)
        was, table, true = (one.table(x, centres) for one in (before, model, PERFECT))
        mean = np.zeros(x.size)
        for k in range(centres.size):
            labels = np.full(x.size, k)
            if isinstance(measure, RowMeasure):
                mean += true[:, k] * measure.rows(table, labels).seen
            elif isinstance(measure, ChangeMeasure):
                mean += true[:, k] * measure.rows(was, table, labels).seen
        if isinstance(measure, RowMeasure | ChangeMeasure):
            density = sum(norm.pdf(x, centre) for centre in centres)
            found[measure.key] = float(density @ mean / density.sum())
    return found


OF_EACH_CLASS = {
    "classwise_ks": "ks_error",
    "max_classwise_ks": "ks_error",
    "classwise_ece": "ece",
    "max_classwise_ece": "ece",
    "classwise_ece_equal_mass": "ece_equal_mass",
}
"""What is measured of each class, by the key of the measure of all of them."""

NO_INTERVAL = {m.key for m in METRICS if m.is_tested_only}
"""Measures with a reference alone."""


def simulate(job: tuple[Model, int, int, Sequence[str]]) -> tuple[Finding, ...]:
    """Draw one set of rows, before as the model says and after as is true, and evaluate it."""
    model, n_samples, seed, keys = job
    rng = np.random.default_rng([seed, n_samples])
    found: tuple[Finding, ...] = ()
    for centres in (TWO, TEN):
        labels = rng.integers(centres.size, size=n_samples)
        x = centres[labels] + rng.normal(size=n_samples)
        before, after = (_side(one, x, labels, centres) for one in (model, PERFECT))
        measures = tuple(m for m in METRICS if m.key in keys and _centres(m.key) is centres)
        if measures:
            plan = Plan(measures, n_resamples=N_RESAMPLES, seed=seed)
            found += infer(before, after, plan).findings
    return found


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


def count(found: Iterable[tuple[Finding, ...]], model: Model) -> dict[str, Counts]:
    """Count over simulated data sets."""
    was, now = truths(model), truths(PERFECT, model)
    counts: dict[str, Counts] = defaultdict(Counts)
    for findings in found:
        for finding in findings:
            one, key = counts[finding.key], finding.key
            if finding.before is None or finding.after is None:
                raise ValueError(key)
            if key not in NO_INTERVAL:
                one.before += _holds(finding.before.interval, was[key])
                one.after += _holds(finding.after.interval, now[key])
                one.change += _holds(finding.change, now[key] - was[key])
            one.found += finding.before.reference.p_value <= 0.05
            one.false_alarm += finding.after.reference.p_value <= 0.05
    return counts


def lines_of(counts: dict[str, Counts], n_sets: int) -> dict[str, str]:
    """Write the line of each measure that was counted, by its name."""
    lines = {}
    for measure in METRICS:
        if measure.key not in counts:
            continue
        one = counts[measure.key]
        known = measure.key not in NO_INTERVAL
        before = None if isinstance(measure, ChangeMeasure) else one.before  # 0 without doubt
        cells = [before, one.after, one.change] if known else [None] * 3
        tested = [one.found, one.false_alarm] if measure.ideal is not None else [None, None]
        texts = ["" if cell is None else f"{100 * cell / n_sets:.1f}" for cell in cells + tested]
        lines[measure.name] = f"| {measure.name} | {' | '.join(texts)} |"
    return lines


def parts_of(page: str) -> dict[str, dict[str, str]]:
    """Read off the page the lines of each part, by its heading and the name of the measure."""
    parts: dict[str, dict[str, str]] = {}
    heading = ""
    for line in page.splitlines():
        if line.startswith("## "):
            heading = line
        name = line.strip("|").split("|")[0].strip()
        if line.startswith("|") and name in KEYS:
            parts.setdefault(heading, {})[name] = line
    return parts


def page_of(parts: dict[str, dict[str, str]], n_sets: int) -> str:
    """Write the page: parts in the order of the simulations, lines in that of `METRICS`."""
    written = [INTRODUCTION.format(sets=n_sets, resamples=N_RESAMPLES)]
    for one in SIMULATIONS:
        if one.heading in parts:
            lines = parts[one.heading]
            table = [_HEAD, _RULE, *(lines[name] for name in KEYS if name in lines)]
            written += [one.heading, "\n".join(table)]
    return "\n\n".join(written) + "\n"


def with_section(page: str, section: str) -> str:
    r"""Put in a part of the page with a title of its own, instead of its earlier self, or last.

    Examples
    --------
    >>> with_section("# A\n\na\n\n# B\n\nold\n\n# C\n\nc\n", "# B\n\nnew\n")
    '# A\n\na\n\n# B\n\nnew\n\n# C\n\nc\n'
    """
    parts = [part.strip() for part in re.split(r"^(?=# )", page, flags=re.MULTILINE)]
    title = section.partition("\n")[0]
    places = [n for n, part in enumerate(parts) if part.partition("\n")[0] == title]
    place = places[0] if places else len(parts)
    parts[place : place + 1] = [section.strip()]
    return "\n\n".join(filter(None, parts)) + "\n"


def write_section(section: Callable[[int, int], str], n_sets: int, about: str | None) -> None:
    """Simulate by what the command line asks for, and put the section into the page.

    ``section``: of how many sets a line, and by how many processes. ``n_sets``: unless told.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--sets", type=int, default=n_sets, help="simulated sets of a line")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    text = section(options.sets, options.workers)
    OUT.write_text(with_section(OUT.read_text(encoding="utf-8"), text), encoding="utf-8")


_HEAD = (
    "| Measure | Interval before | Interval under perfect calibration | Interval of the change"
    " | Power | False-positive rate |"
)
_RULE = "| --- | ---: | ---: | ---: | ---: | ---: |"


def held(page: str) -> dict[str, tuple[float, float]]:
    """Read off the page how often each interval held the truth of one side, least and most."""
    shares: dict[str, list[float]] = defaultdict(list)
    for line in page.splitlines():
        name, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        if name in KEYS:
            shares[KEYS[name]] += [float(cell) for cell in cells[:2] if cell]
    return {key: (min(found), max(found)) for key, found in shares.items() if found}


def held_text(page: str) -> str:
    """Write what the dashboard says of the intervals, as the page has it."""
    lines = "".join(f'    "{key}": {found},\n' for key, found in held(page).items())
    return HELD_HEAD + "COVERAGE: Mapping[str, tuple[float, float]] = {\n" + lines + "}\n"


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.validation", description=__doc__)
    parser.add_argument("--sets", type=int, default=1000, help="simulated data sets")
    parser.add_argument("--workers", type=int, default=2)
    shorts, keys = [one.short for one in SIMULATIONS], [*KEYS.values()]
    text = "simulate these alone; the page keeps its other parts"
    parser.add_argument("--only", nargs="+", choices=shorts, default=shorts, help=text)
    text = "evaluate these alone, by their keys; the page keeps its other lines"
    parser.add_argument(
        "--measures", nargs="+", choices=keys, default=keys, help=text, metavar="KEY"
    )
    text = "the page; the module of shares is written beside one that is elsewhere"
    parser.add_argument("--out", type=Path, default=OUT, help=text)
    options = parser.parse_args(words)
    if (options.only, options.measures) != (shorts, keys) and not _goes_on(options):
        parser.error(f"{options.out} has other data sets: its parts cannot be kept")
    return options


def _goes_on(options: argparse.Namespace) -> bool:
    """Tell whether the page that is there, if any, is of as many data sets and resamples."""
    head = INTRODUCTION.format(sets=options.sets, resamples=N_RESAMPLES)
    return not options.out.exists() or options.out.read_text(encoding="utf-8").startswith(head)


def main(words: Sequence[str] | None = None) -> int:
    """Simulate, and write the page and what the dashboard says of it."""
    options = _options(words)
    out = options.out
    shares = HELD if out == OUT else out.with_name(HELD.name)
    if not _goes_on(options):
        out.unlink()
    with ProcessPoolExecutor(options.workers) as pool:
        for one in SIMULATIONS:
            if one.short not in options.only:
                continue
            print(one.heading.strip("# "), file=sys.stderr, flush=True)
            jobs = [
                (one.model, one.n_samples, seed, options.measures) for seed in range(options.sets)
            ]
            counts = count(pool.map(simulate, jobs, chunksize=4), one.model)
            before = out.read_text(encoding="utf-8") if out.exists() else ""
            parts = parts_of(before)
            parts.setdefault(one.heading, {}).update(lines_of(counts, options.sets))
            page = with_section(before, page_of(parts, options.sets))
            out.write_text(page, encoding="utf-8")
            shares.write_text(held_text(page), encoding="utf-8")
    return 0


HELD_HEAD = '''"""How often each measure's 95% interval held the truth in simulated data.

Written by ``python -m benchmarks.validation``: percent of the data sets, least and most over models
and sizes; docs/validation.md has all of it.
"""

from collections.abc import Mapping

'''


INTRODUCTION = """# Interval coverage and test size

Written by `python -m benchmarks.validation`, which simulates all of it, or with `--only` and
`--measures` some parts and lines again and keeps the rest; the data sets are the same each time.
Each figure is a share in percent of {sets:,} simulated data sets, {resamples} resamples each. A
95% interval should hold the truth in 93 to 97% of the sets; a test at the 5% level should have a
false-positive rate of 4 to 6%.

The data: two classes, equally frequent, with one feature that is normal about 1 or -1; the
classifier says 1 / (1 + exp(b0 + b1 x)), and b0 = 0, b1 = -2 would be true (Vaicenavicius et al.
2019; Zhang 2020, section 5.1). Truths are sums over a fine mesh of the feature. *Before* is the
classifier named in the heading, *after* the true one, so the interval under perfect calibration
should hold 0 for every distance. Top-r accuracy, which of two classes is always 100%, is simulated
with ten classes about -2.25, -1.75, ..., 2.25: class c has the logit
-b1 / 2 (c x - c^2 / 2) - b0 c / 2, which for classes about 1 and -1 is the model above. The
calibration gain is 0 before."""


if __name__ == "__main__":
    sys.exit(main())
