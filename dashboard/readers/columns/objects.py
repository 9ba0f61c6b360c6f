"""Objects that give each class its value, in every row of a file."""

from collections.abc import Iterable, Sequence

from dashboard.readers.columns.headings import is_score, key_of
from dashboard.readers.columns.named import TABLE_KEYS

_FURTHER = frozenset(
    {"cats", "logprob", "logprobs", "log_prob", "log_probs", "log_probabilities", "top_logprobs"}
)
"""What they are called besides: categories as spaCy has them, and logarithms of probabilities."""


def gives_classes(name: str, others: Iterable[str] = ()) -> bool:
    """Tell an object of classes by its name, where no other table is told by its own.

    Examples
    --------
    >>> gives_classes("probabilities"), gives_classes("cats"), gives_classes("meta")
    (True, True, False)
    >>> gives_classes("cats", ["probabilities"]), gives_classes("cats", ["cats", "pred_cats"])
    (False, False)
    """
    key = key_of(name)
    alone = not any(is_table(other) or key_of(other).endswith(f"_{key}") for other in others)
    return is_table(name) or (key in _FURTHER and alone)


def headings_of(name: str, classes: Sequence[str]) -> list[str]:
    """Put the name before those of the classes where it says what their values are.

    Examples
    --------
    >>> headings_of("class_logits", ["a", "b"]), headings_of("cats", ["a"])
    (['logits_a', 'logits_b'], ['probs_a'])
    """
    key = key_of(name)
    logarithms = key in _FURTHER and key.removeprefix("top_").startswith("log")
    prefix = "logits_" if "logit" in key else "logprobs_" if logarithms else "probs_"
    return [f"{prefix}{one}" for one in classes]


def is_table(name: str) -> bool:
    """Tell the name of a table of values."""
    return key_of(name) in TABLE_KEYS or is_score(key_of(name))
