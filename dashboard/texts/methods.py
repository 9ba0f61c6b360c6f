"""How a calibrator is called."""

from calibcore.calibrators import CATALOGUE
from calibcore.calibrators.batches import BatchFit
from dashboard.settings import NO_METHOD, OptionValue, method_by_key, method_of, options_of
from dashboard.texts.glossary import CHOICES, OPTIONS

SCORE_MAP_KEYS = tuple(
    method.key for method in CATALOGUE if method.acts_on == "event" and not method.knows_groups
)
"""Keys of what calibrates a score alone."""


def method_name(key: str) -> str:
    """Return the name of a calibrator, or of none; of a variant with its own options.

    >>> method_name("spline.n_knots=10"), method_name("vector.bias=false")
    ('Spline (knots 10)', 'Vector scaling (bias per class off)')
    """
    if key == NO_METHOD:
        return "Uncalibrated"
    words = [_option_words(method_of(key), name, value) for name, value in options_of(key).items()]
    own = f" ({', '.join(words)})" if words else ""
    return f"{method_by_key(key).name}{own}"


def fitted_in_batches(fit: BatchFit) -> str:
    """Return what is to be known of a fit to rows that were read batch by batch."""
    passes = f"{fit.n_passes} pass" + "es" * (fit.n_passes != 1)
    return (
        f"fitted on {fit.n_rows:,} rows in {passes}. A fit to {fit.n_sample:,} of them alone has a"
        f" log loss on all rows that is {fit.sample_excess:.1g} nats higher"
    )


def _option_words(method: str, name: str, value: OptionValue) -> str:
    shown = CHOICES.get(str(value), str(value))
    if isinstance(value, bool):
        shown = "on" if value else "off"
    label = OPTIONS[method, name][0]
    return " ".join(f"{text[:1].lower()}{text[1:]}" for text in (label, shown))
