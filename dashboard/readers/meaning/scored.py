"""Of which of two classes, called by texts, the one score of each row is."""

import re
from collections.abc import Sequence

from dashboard.readers.columns.slices import NUMBER
from dashboard.readers.contents import RawSet
from dashboard.readers.refusal import FileError, quoted

_WORD = re.compile(r"[^\W_]+")
_DENYING = frozenset(
    {"no", "not", "non", "false", "without", "kein", "keine", "nicht", "ohne", "sans", "pas"}
)
_TURNED = re.compile(r"(?<!\S)1\s*[-\u2212]")
"""What turns a heading into its opposite."""

_OF_NO_CLASS = frozenset(
    {"a", "an", "as", "at", "by", "for", "in", "is", "of", "on", "or", "out", "the", "to"}
)
"""Words that stand in a heading whatever the classes are called."""


def scored_text(raw: RawSet, texts: Sequence[str]) -> str | None:
    """Find the class that the heading of a score names.

    Parameters
    ----------
    raw : RawSet
        With one score a row.
    texts : sequence of str
        The two classes.

    Returns
    -------
    str, optional
        The class that is the whole name of the score, or else the only one whose words stand in
        its heading; None where both do, or where a word may turn the sense.
    """
    names = {*(raw.class_names or ()), *(raw.headings or ())}
    exact = [text for text in texts if text in names]
    if exact:
        return exact[0]
    named = [text for text in texts if any(_names(name, text) for name in raw.headings or ())]
    return named[0] if len(named) == 1 else None


def _names(heading: str, text: str) -> bool:
    """Tell a heading in which a class stands as whole words.

    Examples
    --------
    >>> _names("probability of malignant", "Malignant"), _names("not_malignant", "malignant")
    (True, False)
    """
    said, words = _words(heading), _words(text)
    if not words or _OF_NO_CLASS.issuperset(words) or _TURNED.search(heading):
        return False
    runs = (said[start : start + len(words)] for start in range(len(said)))
    return _DENYING.isdisjoint(said) and words in runs


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def refuse_unscored(place: str, raw: RawSet, texts: Sequence[str]) -> None:
    """Ask of which of two classes the score is, where both are called by words."""
    if any(map(NUMBER.fullmatch, texts)):
        return
    score = f" {quoted(raw.headings[0], 30)}" if raw.headings else ""
    one, other = (quoted(text, 30) for text in texts)
    raise FileError(
        place,
        f"{one} and {other}, and nothing that says which of the two the score{score} is of",
        'both, one a line, under "Names of the classes": the one that the score is of comes second',
    )
