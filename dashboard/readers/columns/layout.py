"""What each column of a table was taken for."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from dashboard.readers.columns.headings import strip_prefix
from dashboard.readers.columns.slices import MAX_COLUMNS
from dashboard.readers.contents import ColumnUse, Contents, Preview
from dashboard.readers.refusal import FileError, quoted, visible

_PREVIEW_CLASSES, _PREVIEW_CELL = 20, 60


@dataclass(frozen=True)
class Layout:
    """What each column of a table is.

    Parameters
    ----------
    names : tuple of str or None
        The header; None where there is none.
    numbers : tuple of int
        Columns that hold a number in every row: the classes, the one score, or the scores of
        the first ranks.
    labels, predicted, hits : int, optional
        Column of the true label, of the predicted label, of whether the prediction was right.
    ranked : tuple of int
        Where each row lists its likeliest classes: the columns that name them, as ``numbers``.
    one_hot : tuple of int
        Where each class has a column of labels: those columns, as ``numbers``.
    slices : tuple of int
        Further columns, by which rows can be told apart.
    found, doubts : tuple of str
        Sentences.
    by_user : bool
        The user named the class columns.
    told : tuple of str
        What the labels call the classes, where the headings say more.
    top_one : bool
        Each row gives the score of a predicted class, and nothing says whether that is right.
    ids : int, optional
        In a table without labels, or without classes, the column that names its rows.
    width : int
        Number of columns.
    sample : tuple of tuple of str
        The first rows, to be shown.
    numbers_of_rows : tuple of int
        Their numbers in the file.
    """

    names: tuple[str, ...] | None
    numbers: tuple[int, ...]
    labels: int | None = None
    predicted: int | None = None
    hits: int | None = None
    ranked: tuple[int, ...] = ()
    one_hot: tuple[int, ...] = ()
    slices: tuple[int, ...] = ()
    found: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    by_user: bool = False
    told: tuple[str, ...] = ()
    top_one: bool = False
    ids: int | None = None
    width: int = 0
    sample: tuple[tuple[str, ...], ...] = ()
    numbers_of_rows: tuple[int, ...] = ()

    @property
    def is_event(self) -> bool:
        """Whether the table holds only top-1 scores."""
        compared = self.predicted is not None and self.labels is not None
        judged = (compared or self.hits is not None) and not self.by_user
        return judged and len(self.numbers) == 1 and not self.ranked

    @property
    def codes(self) -> tuple[int, ...]:
        """Columns whose cells are compared, not computed with."""
        beside = (self.predicted, self.hits) if self.is_event or self.top_one else ()
        return tuple(c for c in (self.labels, *beside, *self.ranked) if c is not None)

    @property
    def beside(self) -> tuple[int, ...]:
        """Columns that are read as `SliceColumn`, for whatever they are used."""
        read = self.predicted is None or self.is_event or self.top_one
        predicted = () if read else (self.predicted,)
        return (*self.slices[:MAX_COLUMNS], *predicted, *self.one_hot)

    @property
    def class_names(self) -> tuple[str, ...] | None:
        """Header of the class columns without their common prefix."""
        return self.told or (strip_prefix(self.headings) if self.headings else None)

    @property
    def headings(self) -> tuple[str, ...] | None:
        """Header of the class columns."""
        if self.names is None or not self.numbers:
            return None
        return tuple(self.names[column].strip() for column in self.numbers)

    @property
    def uses(self) -> dict[str, ColumnUse]:
        """Every column by name, and what it was taken for."""
        judged: dict[int | None, ColumnUse] = {
            self.hits: "hit", self.predicted: "prediction", self.labels: "label",
        }  # fmt: skip
        of_likeliest = self.is_event or self.ranked or self.top_one
        score: ColumnUse = "score" if of_likeliest else "class"
        used = self.numbers or self.labels is not None
        uses: dict[int | None, ColumnUse] = {
            **dict.fromkeys(self.slices, "slice"), **dict.fromkeys(self.one_hot, "label"),
            **dict.fromkeys(self.ranked, "prediction"), **judged,
            **dict.fromkeys(self.numbers, score),
        }  # fmt: skip
        rest: ColumnUse = "left out" if used else "undecided"
        width = self.width or len(self.names or ())
        return {called(self.names, c): uses.get(c, rest) for c in range(width)}

    @property
    def preview(self) -> Preview:
        """The first rows, without the cells of most classes where there are many."""
        hidden = set(self.numbers[_PREVIEW_CLASSES:])
        uses = list(self.uses.items())
        shown = [c for c in range(len(uses)) if c not in hidden]
        return Preview(
            tuple(visible(uses[c][0], _PREVIEW_CELL) for c in shown),
            tuple(uses[c][1] for c in shown),
            tuple(tuple(visible(row[c], _PREVIEW_CELL) for c in shown) for row in self.sample),
            self.numbers_of_rows,
        )

    @contextmanager
    def known(self) -> Iterator[None]:
        """Let a refusal carry what the columns are, so that they can be shown and chosen among."""
        try:
            yield
        except FileError as error:
            error.known = error.known or Contents({}, uses=self.uses, preview=self.preview)
            raise

    def column_name(self, column: int) -> str:
        """Call a column by its header, or by its place."""
        if self.names is None or not self.names[column].strip():
            return f"column {column + 1}"
        return f"column {quoted(self.names[column], 30)}"


def called(names: Sequence[str] | None, column: int) -> str:
    """Give the name by which a column is chosen: its header, or its place."""
    return (names[column].strip() if names else "") or f"column {column + 1}"
