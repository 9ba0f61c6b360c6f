"""Words that begin with a stem, by the rule and by a slow loop."""

from dashboard.readers.recognition import vocabulary
from dashboard.readers.recognition.vocabulary import begins

STEMS = [
    value
    for name, value in vars(vocabulary).items()
    if name.endswith("STEMS") and isinstance(value, tuple)
]


def slowly(word: str, stem: str) -> bool:
    if len(stem) <= 3:
        return word == stem
    return word[: len(stem)] == stem or (len(stem) >= 6 and stem in word)


def test_words_begin_with_stems_as_a_loop_finds() -> None:
    every = sorted({stem for stems in STEMS for stem in stems})
    words = ["", *every, *(f"{stem}s" for stem in every), *(f"my{stem}" for stem in every)]
    result = 0
    for stems in STEMS:
        for word in words:
            expected = any(slowly(word, stem) for stem in stems)
            assert begins([word], stems) == expected, (word, stems)
            result += expected
    assert len(STEMS) > 1
    assert 0 < result < len(STEMS) * len(words)
