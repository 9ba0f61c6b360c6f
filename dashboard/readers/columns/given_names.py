"""Names of classes that a file gives beside its arrays: by number, or numbers by name."""

from collections.abc import Sequence
from dataclasses import replace

from dashboard.readers.columns.named import left_out_sentence
from dashboard.readers.columns.slices import NUMBER
from dashboard.readers.contents import Contents, RawEvent, RawSet
from dashboard.readers.meaning.labels import NO_AND_YES
from dashboard.readers.refusal import plain

NAME_OF_NUMBER = frozenset({"id2label", "id_to_label", "idx2label", "idx_to_class"})
NUMBER_OF_NAME = frozenset(
    {"label2id", "label_to_id", "label2idx", "label_to_idx", "class_to_idx", "class2idx"}
)


def in_order(names: Sequence[str], numbers: Sequence[object]) -> tuple[str, ...]:
    """Put names in the order of their numbers, which are those from 0, or give nothing.

    Examples
    --------
    >>> in_order(["dog", "cat"], [1, 0]), in_order(["dog", "cat"], [1, 2])
    (('cat', 'dog'), ())
    """
    named = {k: name for k, name in zip(numbers, names, strict=True) if type(k) is int}
    whole = named.keys() == {*range(len(names))} and len({*names}) == len(names)
    return tuple(named[k] for k in range(len(names))) if whole else ()


def named_by(contents: Contents, name: str, classes: tuple[str, ...]) -> Contents:
    """Name the classes of every set by what stands under a name, and say so, where it fits."""
    sets = {role: with_names(raw, classes) for role, raw in contents.sets.items()}
    same = all(sets[role] is raw for role, raw in contents.sets.items())
    said = left_out_sentence([name]) if same else (f"Classes are named by {plain(name, 40)}.",)
    return replace(contents, sets=sets, found=(*contents.found, *said))


def with_names(raw: RawSet | RawEvent, classes: tuple[str, ...]) -> RawSet | RawEvent:
    """Name the classes of a table that has as many and no names.

    Labels that are numbers are places among the names, not names: those for which they might be
    taken name nothing.
    """
    if isinstance(raw, RawEvent) or raw.table is None or raw.class_names is not None:
        return raw
    misread = all(map(NUMBER.fullmatch, classes)) or (
        tuple(name.lower() for name in classes[::-1]) in NO_AND_YES
    )
    if misread and raw.label_texts is None:
        return raw
    fits = raw.table.ndim == 2 and raw.table.shape[1] == len(classes) > 0
    return replace(raw, class_names=classes) if fits else raw
