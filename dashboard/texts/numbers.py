"""How numbers and foreign text are written."""

import math
import re
from collections.abc import Sequence

from calibcore.cumulative import CumulativeCurves
from calibcore.evaluation import Comparison
from calibcore.inference import Interval
from calibcore.metrics.measure import Unit

MINUS = "\u2212"

INFINITY = "\u221e"

_MOST_FINER = 4

MORE_DECIMALS_FROM = 50_000
"""Rows from which on shares have one decimal more."""

_ABOUT = 3.0
"""Factor up to which a time is "about" so long; beyond, its range is said."""

DASH = "\u2013"
"""What stands where there is no value."""

ARROW = " \u2192 "
"""Between before and after."""

NO_BREAK = "\u00a0"
"""A space at which a line does not end."""


def is_whole(value: float) -> bool:
    """Recognise a whole number that is written in full, as an id or a year is."""
    return abs(value) < 1e15 and float(value).is_integer()


def in_full(value: float, digits: int) -> str:
    """Write a number with so many digits; a large one to the unit, without an exponent."""
    text = f"{value:.{digits}g}"
    return f"{value:.0f}" if "e+" in text and is_whole(round(value)) else text


def percent(value: float, n_samples: float, *, finer: int = 0) -> str:
    """Write a share in percent: one decimal below 50,000 rows, two from there on.

    ``finer``: decimals more.
    """
    return f"{_digits(100 * value, n_samples, finer=finer)}%"


def points(value: float, n_samples: int, *, signed: bool = False) -> str:
    """Write a difference of shares in a sentence."""
    return f"{_signed_digits(value, n_samples, signed=signed)} percentage points"


def pp(value: float, n_samples: int, *, signed: bool = False) -> str:
    """Write a difference of shares in a table, a tile or a caption."""
    return f"{_signed_digits(value, n_samples, signed=signed)} pp"


def detected_points(value: float, n_samples: int, *, finer: int = 0) -> str:
    """Write a difference that was detected: with a digit that is not 0, unless it is rounding."""
    return _detected(value, n_samples, "percentage points", finer=finer)


def adds_up(high: float, low: float, n_samples: int) -> int:
    """Return how many decimals more let two shares and their difference add up: 0 or 1.

    >>> adds_up(0.0536, 0.0473, 1000), adds_up(0.957, 0.906, 1000)
    (1, 0)
    """
    wrong = []
    for finer in (0, 1):
        first, last, gap = (
            float(_digits(100 * one, n_samples, finer=finer).replace(MINUS, "-"))
            for one in (high, low, high - low)
        )
        wrong.append(abs(first - last - gap) > 1e-9)
    return int(wrong[0] and not wrong[1])


def detected_pp(value: float, n_samples: int) -> str:
    """Write the same as `detected_points` for a table, a tile or a caption."""
    return _detected(value, n_samples, "pp")


def _detected(value: float, n_samples: int, unit: str, *, finer: int = 0) -> str:
    if abs(value) < 1e-9:
        return f"0 {unit}"
    text = _digits(100 * value, n_samples, finer=finer)
    return f"{text if text.strip('0.') else f'{100 * value:.1g}'} {unit}"


def _signed_digits(value: float, n_samples: int, *, signed: bool) -> str:
    text = _digits(100 * value, n_samples)
    plus = "+" if signed and float(text.replace(MINUS, "-")) > 0 else ""
    return f"{plus}{text}"


def span(low: str, high: str) -> str:
    """Write a range: an en dash, the unit once; words where an end is negative.

    >>> span("4.6%", "5.7%"), span("\u22120.8 pp", "+0.7 pp")
    ('4.6\u20135.7%', '\u22120.8 to +0.7 pp')
    """
    unit = next((u for u in ("%", " pp") if low.endswith(u) and high.endswith(u)), "")
    low = low.removesuffix(unit) if unit else low
    signs = {low[:1], high[:1]} & {MINUS, "+", "-"}
    return f"{low} to {high}" if signs else f"{low}\u2013{high}"


def ci(low: str, high: str) -> str:
    """Write a confidence interval of 95%, as it stands in brackets."""
    return f"95% CI {span(low, high)}"


def _digits(value: float, n_samples: float, *, finer: int = 0) -> str:
    text = f"{value:.{(1 if n_samples < MORE_DECIMALS_FROM else 2) + finer}f}"
    if float(text) == 0:
        text = text.removeprefix("-")
    return text.replace("-", MINUS)


def amount(
    value: float, unit: Unit, n_samples: int, *, signed: bool = False, finer: int = 0
) -> str:
    """Write a value, or a difference, of a measure without the name of its unit.

    ``finer`` is how many decimals it has beyond the usual ones.
    """
    if math.isinf(value):
        plus = "+" if signed else ""
        return f"{plus if value > 0 else MINUS}{INFINITY}"
    match unit:
        case "share":
            text = _digits(100 * value, n_samples, finer=finer)
        case "rows":
            text = f"{value:,.0f}"
        case "small":
            text = f"{value:.{5 + finer}f}"
        case _:
            text = f"{value:.{3 + finer}f}"
    number = float(text.replace(MINUS, "-").replace(",", ""))
    if number == 0:
        return text.lstrip("-")
    return f"{'+' if signed and number > 0 else ''}{text}".replace("-", MINUS)


def with_sign(value: float, digits: int = 2) -> str:
    """Write a number with its sign."""
    return f"{value:+.{digits}f}".replace("-", MINUS)


def finer_digits(change: Interval | None, unit: Unit, n_samples: int) -> int:
    """Count the decimals beyond the usual ones that show that an interval does not reach 0."""
    if change is None or not (change.low > 0 or change.high < 0):
        return 0
    for end in sorted((abs(change.low), abs(change.high))):
        for finer in range(_MOST_FINER):
            if amount(end, unit, n_samples, finer=finer).strip("0."):
                return finer
    return 0


def measured(comparison: Comparison, value: float | None, n_samples: int) -> str:
    """Write one value of a measure with its unit; a dash where it is not defined."""
    if value is None or math.isnan(value):
        return DASH
    return with_unit(value, comparison.measure.unit, n_samples)


def with_unit(value: float, unit: Unit, n_samples: int) -> str:
    """Write a value of a measure with its unit."""
    text = amount(value, unit, n_samples)
    return f"{text}%" if unit == "share" else text


def written(value: float, unit: Unit, n_samples: int) -> float:
    """Round a value as it is written.

    >>> round(written(0.12345, "share", 100), 9), written(0.12345, "number", 100)
    (0.123, 0.123)
    """
    if not math.isfinite(value):
        return value
    text = amount(value, unit, n_samples).replace(MINUS, "-").replace(",", "")
    return float(text) / (100 if unit == "share" else 1)


def difference(
    was: float, now: float, unit: Unit, n_samples: int, interval: Interval | None = None
) -> float:
    """Subtract what is written, so that the reader finds the same; exactly where that misleads.

    It does where the interval of the difference is written with more digits, or leaves it out.

    >>> round(difference(0.0654, 0.0106, "share", 100), 4), round(0.0106 - 0.0654, 4)
    (-0.054, -0.0548)
    """
    shown = written(now, unit, n_samples) - written(was, unit, n_samples)
    left_out = interval is not None and (shown < interval.low or shown > interval.high)
    exact = left_out or finer_digits(interval, unit, n_samples) > 0
    return now - was if exact else shown


def measured_change(
    comparison: Comparison, n_samples: int, *, interval: Interval | None = None
) -> str:
    """Write how a measure changed, with its interval's digits; a dash where it is not defined."""
    was, now, unit = comparison.before, comparison.after, comparison.measure.unit
    if was is None or now is None or math.isnan(now - was):
        return DASH
    change = difference(was, now, unit, n_samples, interval)
    finer = finer_digits(interval, unit, n_samples)
    text = amount(change, unit, n_samples, signed=True, finer=finer)
    return f"{text} pp" if unit == "share" else text


def listing(names: Sequence[str]) -> str:
    """Write names as a sentence has them.

    >>> listing(["a"]), listing(["a", "b"]), listing(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def of_100(share: float) -> str:
    """Write how often something is so."""
    return f"{100 * share:.0f}%"


def p_words(p_value: float) -> str:
    """Write a p-value with as many digits as say something."""
    if p_value < 0.001:
        return "p < 0.001"
    # Cut, not rounded, so that 0.0499 does not become 0.05.
    steps = 1_000 if p_value < 0.1 else 100
    return f"p = {math.floor(p_value * steps) / steps:g}"


def null_source(*sides: CumulativeCurves) -> str:
    """Return what p-values, and the limit of the KS error under perfect calibration, come from."""
    rare = {curves.is_rare for curves in sides}
    if rare == {False}:
        return "Brownian limit"
    where = "" if rare == {True} else ", where few misses or hits are expected"
    return f"the larger of the Brownian limit and a Poisson tail{where}"


def took(seconds: float) -> str:
    """Write a time that was measured.

    >>> took(0.00031), took(0.0456), took(3.21), took(44), took(400)
    ('0.31 ms', '46 ms', '3.2 s', '44 s', '6.7 min')
    """
    unit, size = ("min", 60.0) if seconds >= 100 else ("s", 1.0) if seconds >= 0.1 else ("ms", 1e-3)
    number = seconds / size
    return f"{number:.{0 if number >= 10 else 1 if number >= 1 else 2}f} {unit}"


def duration(seconds: float) -> str:
    """Write a time that is known roughly.

    >>> duration(0.4), duration(44), duration(170), duration(8000)
    ('a few seconds', '40 seconds', '3 minutes', '2 hours')
    """
    units = (("hour", 3600, 5400), ("minute", 60, 90), ("second", 1, 5))
    for unit, size, least in units:
        if seconds >= least:
            number = float(f"{seconds / size:.1g}")
            return f"{number:,.0f} {unit}{'s' if number > 1 else ''}"
    return "a few seconds"


def fit_cost(seconds: float, n_bytes: float, spread: float) -> str:
    """Write what a fit takes: time, known within a factor, and memory, roughly.

    >>> fit_cost(170, 2e8, 3), fit_cost(36, 2e8, 7)
    ('about 3 minutes and 200 MB of memory', '5 seconds to 4 minutes and 200 MB of memory')
    """
    megabytes = float(f"{n_bytes / 1e6:.2g}")
    memory = f"{megabytes / 1000:.1f} GB" if megabytes >= 1000 else f"{megabytes:,.0f} MB"
    time = f"about {duration(seconds)}"
    if spread > _ABOUT:
        time = f"{duration(seconds / spread)} to {duration(seconds * spread)}"
    return f"{time} and {memory} of memory"


def escape_markdown(text: str) -> str:
    """Make text from a file show as it is where Markdown is rendered.

    Addresses become links, and signs such as arrows and dashes are replaced, even where every sign
    of Markdown is escaped; an invisible joiner breaks them up. Spaces that do not break stay.
    """
    flat = re.sub(r"[^\S\u00a0]+", " ", text)
    broken = re.sub(r"(?i)(https?:|www|@|mailto:|ftp:|:(?=material))", "\\1\u2060", flat)
    broken = re.sub(r"(?<=[-<>~=])(?=[-<>=])", "\u2060", broken)
    return re.sub(r"([\\`*_{}\[\]()<>#+\-.!|~:$&^=])", r"\\\1", broken)


_BADGE = re.compile(r":(?:\w+-badge|small)\[(.*?)\]")
_MARKUP = re.compile(r"\*\*|\u2060|\\(?=[^A-Za-z0-9\s])|(?<=\n)\s+|\s+(?=\n)")


def plain(text: str) -> str:
    r"""Take the pages' marks out of a sentence.

    >>> plain(r":red-badge[Before: overconfident] by **5\.1%**")
    'Before: overconfident by 5.1%'
    """
    return _MARKUP.sub("", _BADGE.sub(r"\1", text))
