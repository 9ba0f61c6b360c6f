"""Parts of a list that are no batches of one set: sets with names, and models of the same rows."""

from collections.abc import Mapping, Sequence

import numpy as np

from dashboard.readers.columns.named_sets import set_of
from dashboard.readers.contents import Array, Role
from dashboard.readers.meaning.repeated import go_together
from dashboard.readers.pickles.arrays import name_of
from dashboard.readers.pickles.nodes import Node
from dashboard.readers.refusal import FileError, plain, quoted

_FEW, _THREE = 5, 3
_WANTED = "the scores and labels of one of them alone"


def named_parts(columns: Mapping[str, Sequence[Node]]) -> tuple[str, dict[Role, int]] | None:
    """Find the one key whose texts say of which set each part is.

    Returns
    -------
    str
        The key.
    dict of role to int
        Which part is which set; one that is in neither is of the training set.
    """
    for key, nodes in columns.items():
        texts = [name_of(node) for node in nodes]
        of = [None if text is None else set_of(text) for text in texts]
        if None in of or len(set(of)) < len(of) or not {"calibration", "test"} <= {*of}:
            continue
        return key, {"calibration": of.index("calibration"), "test": of.index("test")}
    return None


def said_of_parts(key: str, nodes: Sequence[Node], places: Mapping[Role, int]) -> str:
    """Say which part was taken for which set."""
    fitted, judged = (plain(str(name_of(nodes[place])), 20) for place in places.values())
    left = [plain(str(name_of(n)), 20) for k, n in enumerate(nodes) if k not in places.values()]
    rest = f"; {', '.join(left)} was left out" if left else ""
    return (
        f"Key {quoted(key, 30)} tells the sets apart: {fitted} is the calibration set, {judged} the"
        f" test set{rest}."
    )


def doubts_of_parts(tables: Sequence[Array], labels: Sequence[Array]) -> tuple[str, ...]:
    """Refuse several models of the same rows, and doubt parts that may be sets.

    Raises
    ------
    FileError
        The labels are the same in every part, and the scores go together.
    """
    first, *others = labels
    if all(np.array_equal(first, other) for other in others) and go_together(
        np.asarray(tables[0]), np.asarray(tables[1]), first
    ):
        found = (
            f"{len(labels)} parts with the same {len(first):,} labels, whose scores go together:"
            " several models, or epochs, of the same rows"
        )
        raise FileError("pickle", found, _WANTED)
    sizes = [len(part) for part in labels]
    larger = max(sizes) > sizes[0] or min(sizes[:-1]) < sizes[0]
    if len(sizes) != _THREE and not (larger and len(sizes) <= _FEW):
        return ()
    listed = f"{', '.join(f'{n:,}' for n in sizes[:-1])} and {sizes[-1]:,}"
    said = (
        f"A list of {len(sizes)} parts ({listed} rows) was taken for batches of one set: if they"
        " are a training, a validation and a test set, keep the last two alone, with names such as"
        " val_logits and test_logits."
    )
    return (said,)
