"""Texts that a reader of a page takes for the same, and how their difference is shown."""

import unicodedata
from collections.abc import Sequence

from dashboard.readers.refusal import quoted, visible

_LIKE_LATIN = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u051b\u051d"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0406\u0408\u0405"
    "\u03bf\u03bd"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7",
    "aeopcyxijsdhqwABEKMHOPCTXIJSovABEZHIKMNOPTYX",
)
"""Letters of Cyrillic and of Greek that look like Latin ones."""

_MOST_SIGNS = 3


def folded(text: str) -> str:
    """Return a text without what its writing alone decides: capital letters, blanks, unseen signs.

    >>> folded(" Big" + chr(0xA0) + "Cat" + chr(0x200B)), folded("e" + chr(0x301)) == chr(0xE9)
    ('big cat', True)
    """
    if not text.isascii():
        composed = unicodedata.normalize("NFC", text)
        text = "".join(char for char in composed if unicodedata.category(char) != "Cf")
    return " ".join(text.split()).casefold()


def quoted_apart(text: str, other: str) -> str:
    """Quote a text beside another so that they do not look the same.

    >>> quoted_apart("cat" + chr(0x200D), "cat"), quoted_apart("cat", "Cat")
    ('"cat" (with U+200D)', '"cat"')
    """
    own = visible(text, 30)
    odd = _difference(text, other) if _looks(own) == _looks(visible(other, 30)) else ""
    return quoted(text, 30) + (f" ({odd})" if odd else "")


def matched(text: str, own: str, count: int) -> str:
    """Return that labels were matched to classes that are written otherwise."""
    plain_signs = text.isascii() and own.isascii()
    what = "letters or blanks" if plain_signs else "letters, blanks or signs that are not seen"
    return (
        f"Labels such as {quoted_apart(text, own)} were matched to classes such as"
        f" {quoted(own, 30)}, from which they differ in capital {what} ({count:,} labels)."
    )


def shown_apart(names: Sequence[str]) -> list[str]:
    """Make names fit to show, with the signs that cannot be seen where two would be the same.

    >>> shown_apart(["cat", "cat" + chr(0x200D), "dog"])
    ['cat', 'cat (with U+200D)', 'dog']
    """
    shown = [visible(name) for name in names]
    if len({*shown}) == len(shown):
        return shown
    first: dict[str, str] = {}
    for place, (name, text) in enumerate(zip(names, shown, strict=True)):
        other = first.setdefault(text, name)
        if other != name and (odd := _difference(name, other)):
            shown[place] = f"{text} ({odd})"
    return shown


def looking_alike(names: Sequence[str]) -> tuple[str, ...]:
    """Doubt two different names that look the same.

    >>> looking_alike(["cat", "dog"]), len(looking_alike(["cat", "c" + chr(0x430) + "t"]))
    ((), 1)
    """
    first: dict[str, str] = {}
    for name in () if all(map(str.isascii, names)) else names:
        other = first.setdefault(_looks(visible(name)), name)
        if other != name:
            pair = f"{quoted(other, 30)} and {quoted_apart(name, other)}"
            return (f"Classes {pair} look the same and were read as two classes.",)
    return ()


def _looks(text: str) -> str:
    return unicodedata.normalize("NFC", text.translate(_LIKE_LATIN))


def _difference(text: str, other: str) -> str:
    """Name the signs of a text that another one, which looks the same, does not have."""
    for word, one, beside in (("with", text, other), ("without", other, text)):
        signs = [char for char in dict.fromkeys(one) if char not in beside and _is_odd(char)]
        if signs:
            return f"{word} {', '.join(f'U+{ord(char):04X}' for char in signs[:_MOST_SIGNS])}"
    return "with other blanks" if text.split() == other.split() else ""


def _is_odd(char: str) -> bool:
    return not (char.isascii() and char.isprintable())
