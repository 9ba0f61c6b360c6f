"""Class columns that the cells of another column name, such as ``$RP-cat`` beside ``cat``."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from dashboard.readers.columns.classes import DECIDED, is_likeliest, is_measure, summing
from dashboard.readers.columns.headings import key_of, strip_prefix
from dashboard.readers.columns.truths import Sample, is_other, is_whole
from dashboard.readers.refusal import FileError, quoted

_Around = tuple[str, str]
_MOST = 20
"""How many columns are asked for the names of classes, and how many answers are weighed."""


@dataclass(frozen=True)
class Family:
    """Columns of which each is called by one class.

    Parameters
    ----------
    columns : tuple of int
        One a class.
    classes : tuple of str
        What the cells call each class.
    label : int, optional
        The column of these cells, where its own heading stands in all of the others.
    """

    columns: tuple[int, ...]
    classes: tuple[str, ...]
    label: int | None


def speakers(names: Sequence[str], free: Sequence[int], sample: Sample) -> list[int]:
    """List columns that may hold a class in every row: words, or whole numbers that are few."""
    if not sample:
        return []
    likely = (
        c
        for c in free
        if (is_whole(sample[0][c]) or not sample[0][c].strip()[:1].isdigit())
        and not is_other(names[c])
        and 2 <= len({row[c] for row in sample}) < len(sample)
    )
    return [c for c, _ in zip(likely, range(_MOST), strict=False)]


def find_family(
    names: Sequence[str],
    numeric: Sequence[int],
    asked: Sequence[int],
    sample: Sample,
    known: Sequence[int],
) -> Family | None:
    """Find what stands before and after each class in the headings of the class columns.

    Parameters
    ----------
    names : sequence of str
        The header.
    numeric : sequence of int
        Columns that may be classes.
    asked : sequence of int
        Columns whose cells may name classes.
    sample : sequence of rows
        The first rows.
    known : sequence of int
        The class columns by other rules, which decide between two families.
    """
    there = {names[c].strip(): c for c in numeric}
    found: dict[_Around, int | None] = {}
    for c in asked:
        for around, label in _around(c, names[c].strip(), sample, there):
            found[around] = found.get(around) if label is None else label
    if len(found) > _MOST:
        return None
    members = {around: _members(around, there) for around in found}
    members = {
        around: columns
        for around, columns in members.items()
        if not all(row[c].strip() in DECIDED for c in columns.values() for row in sample)
    }
    best = _chosen(members, {*known})
    return None if best is None else _family(best, found[best], members, sample)


def _family(
    around: _Around, label: int | None, members: dict[_Around, dict[str, int]], sample: Sample
) -> Family | None:
    """Take one family without the columns of those within it."""
    others = [{*columns.values()} for a, columns in members.items() if a != around]
    inner = {c for columns in others if len(columns) < len(members[around]) for c in columns}
    chosen = {word: c for word, c in members[around].items() if c not in inner}
    sums = {*summing([*chosen.values()], sample)}
    chosen = {word: c for word, c in chosen.items() if not sums or c in sums}
    if len(chosen) < 2:
        return None
    if sorted(chosen) == sorted(map(str, range(len(chosen)))):
        chosen = {str(k): chosen[str(k)] for k in range(len(chosen))}
    if label is not None and is_likeliest(label, chosen, sample):
        label = None
    return Family(tuple(chosen.values()), tuple(chosen), label)


def _around(
    column: int, heading: str, sample: Sample, there: dict[str, int]
) -> Iterator[tuple[_Around, int | None]]:
    """Give what stands around every cell of a column in some heading, as ``P_`` and nothing."""
    cells = {row[column].strip() for row in sample}
    if len(cells) < 2 or "" in cells:
        return
    numbers = all(map(is_whole, cells))
    longest = max(cells, key=len)
    for name in there:
        first, last = name.partition(longest), name.rpartition(longest)
        for before, inside, after in dict.fromkeys((first, last)):
            if not inside or not (before or after):
                continue
            spoken = bool(heading) and heading.lower() in f"{before} {after}".lower()
            # Numbers are in many headings by chance.
            if (spoken or not numbers) and all(before + cell + after in there for cell in cells):
                yield (before, after), column if spoken else None


def _members(around: _Around, there: dict[str, int]) -> dict[str, int]:
    before, after = around
    return {
        name[len(before) : len(name) - len(after)]: c
        for name, c in there.items()
        if name.startswith(before) and name.endswith(after) and len(name) > len(before + after)
    }


def _chosen(members: dict[_Around, dict[str, int]], known: set[int]) -> _Around | None:
    """Choose one family, setting aside those of measures, such as ``p_std_`` beside ``p_``.

    Of two that stand side by side a known prefix tells, or the user.
    """
    plain = [around for around in members if not is_measure(key_of("_".join(around)))]
    families = plain or [*members]
    if len(families) < 2:
        return next(iter(families), None)
    told = [a for a in families if _is_told(a, members[a])]
    same = [a for a in told if {*members[a].values()} == known]
    within = any(
        {*members[a].values()} < {*members[b].values()} for a in families for b in families
    )
    if same and not within:
        return same[0]
    if told and not within:
        return None
    first, second = (
        quoted(around[0] + next(iter(members[around])) + around[1], 30) for around in families[:2]
    )
    raise FileError(
        "header", f"two sets of class columns, such as {first} and {second}",
        "one set, or your word on the class columns",
    )  # fmt: skip


def _is_told(around: _Around, words: Iterable[str]) -> bool:
    """Tell a family whose prefix alone is known to stand before classes, as ``prob_``."""
    return strip_prefix([around[0] + word + around[1] for word in words]) == tuple(words)
