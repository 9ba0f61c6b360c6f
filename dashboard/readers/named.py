"""Which array is which, by name and by shape: for archives and dictionaries of arrays."""

import re
from collections.abc import Mapping, Sequence

from dashboard.readers.contents import Array, Contents, RawSet, Role
from dashboard.readers.npy import is_whole, piece
from dashboard.readers.refusal import FileError, plain, quoted

CLASS_NAME_KEYS = frozenset({"class_names", "classes", "target_names", "label_names"})
LABEL_KEYS = frozenset(
    {
        "label",
        "labels",
        "target",
        "targets",
        "y",
        "y_true",
        "true_label",
        "true_labels",
        "ground_truth",
        "label_ids",
        "truth",
    }
)
TABLE_KEYS = frozenset(
    {
        "logit",
        "logits",
        "output",
        "outputs",
        "prob",
        "probs",
        "probabilities",
        "proba",
        "y_prob",
        "y_proba",
        "y_pred",
        "pred",
        "preds",
        "prediction",
        "predictions",
    }
)
WEAK_TABLE_KEYS = frozenset({"scores", "y_score", "y_scores", "x"})
"""Names that often hold something else, used only where none of the others is there."""

_CALIBRATION = frozenset({"cal", "calib", "calibration", "val", "valid", "validation"})
_TEST = frozenset({"test", "eval", "testing"})


def role_of(name: str) -> tuple[Role, str]:
    """Tell which set a name speaks of, and give the rest of the name.

    Examples
    --------
    >>> role_of("y_val"), role_of("test-logits"), role_of("logits")
    (('calibration', 'y'), ('test', 'logits'), ('rows', 'logits'))
    """
    spaced = re.sub(r"([a-z])([A-Z])", r"\1_\2", name[:200])
    words = [word for word in re.split(r"[^a-z0-9]+", spaced.lower()) if word]
    rest = "_".join(word for word in words if word not in _CALIBRATION | _TEST)
    calibration, test = _CALIBRATION.intersection(words), _TEST.intersection(words)
    if bool(calibration) == bool(test):
        return "rows", rest
    return ("calibration" if calibration else "test"), rest


def contents_of(arrays: Mapping[str, Array], *, left_out: Sequence[str] = ()) -> Contents:
    """Sort named arrays into sets.

    Parameters
    ----------
    arrays : mapping of str to ndarray
        At least one.
    left_out : sequence of str
        Names of arrays that were not even read.
    """
    if not arrays:
        raise FileError("file", "no arrays", "logits and labels")
    tables: dict[Role, list[str]] = {"calibration": [], "test": [], "rows": []}
    labels: dict[Role, list[str]] = {"calibration": [], "test": [], "rows": []}
    for name in arrays:
        role, rest = role_of(name)
        if rest in LABEL_KEYS:
            labels[role].append(name)
        elif rest in TABLE_KEYS | WEAK_TABLE_KEYS:
            tables[role].append(name)
    names_key = next((name for name in arrays if name.lower() in CLASS_NAME_KEYS), None)
    class_names = _names(arrays[names_key]) if names_key else None
    if not any(tables.values()) and not any(labels.values()):
        return _by_shape({k: v for k, v in arrays.items() if k != names_key}, class_names)
    chosen = {
        role: (_one_table(tables[role], arrays), _one(labels[role], "labels")) for role in tables
    }
    sets = {
        role: RawSet(
            arrays[table] if table else None, arrays[truth] if truth else None, class_names
        )
        for role, (table, truth) in chosen.items()
        if table or truth
    }
    used = {name for pair in chosen.values() for name in pair if name} | {names_key}
    unused = [*(name for name in arrays if name not in used), *left_out]
    said = " and ".join(
        f"{plain(str(table), 40)} with {plain(str(truth), 40)}"
        for table, truth in chosen.values()
        if table and truth
    )
    found = ((f"Arrays used: {said}.",) if said else ()) + left_out_sentence(unused)
    return Contents(_complete(sets), found)


def left_out_sentence(names: Sequence[str]) -> tuple[str, ...]:
    """Name what stands in the file and is not used."""
    if not names:
        return ()
    shown = ", ".join(plain(name, 40) for name in names[:8])
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return (f"Left out, being neither a class nor the label: {shown}{more}.",)


def _complete(sets: dict[Role, RawSet]) -> dict[Role, RawSet]:
    """Refuse sets of which a part is missing; one set alone needs no role."""
    if len(sets) == 1:
        return {"rows": next(iter(sets.values()))}
    for role, raw in sets.items():
        if role == "rows" or raw.table is None or raw.labels is None:
            have = "labels" if raw.table is None else "values"
            raise FileError(
                "names of the arrays",
                f"{have} without a partner for the {role} set",
                "logits and labels, of one set or with _calibration and _test",
            )
    return sets


def _one(names: list[str], field: str) -> str | None:
    if len(names) > 1:
        listed = " and ".join(quoted(name, 30) for name in names[:3])
        raise FileError(field, f"both {listed}, which is ambiguous", "one array of them")
    return names[0] if names else None


def _one_table(names: list[str], arrays: Mapping[str, Array]) -> str | None:
    """Choose the table, setting aside predicted classes and names that often mean other things."""
    if len(names) > 1:
        names = [n for n in names if not (arrays[n].ndim == 1 and is_whole(arrays[n]))] or names
    strong = [name for name in names if role_of(name)[1] not in WEAK_TABLE_KEYS]
    return _one(strong or names, "logits")


def _names(array: Array) -> tuple[str, ...] | None:
    return tuple(str(name) for name in array.tolist()) if array.ndim == 1 else None


def _by_shape(arrays: Mapping[str, Array], class_names: tuple[str, ...] | None) -> Contents:
    """Tell two arrays without known names apart by their shape."""
    if len(arrays) == 1:
        return piece(next(iter(arrays.values())))
    pairs = [piece(array).sets["rows"] for array in arrays.values()]
    tables = [raw.table for raw in pairs if isinstance(raw, RawSet) and raw.table is not None]
    labels = [raw.labels for raw in pairs if isinstance(raw, RawSet) and raw.labels is not None]
    if len(tables) != 1 or len(labels) != 1:
        listed = ", ".join(quoted(name, 20) for name in list(arrays)[:6])
        raise FileError(
            "names of the arrays", f"{len(arrays)} arrays named {listed}", "logits and labels"
        )
    return Contents(
        {"rows": RawSet(tables[0], labels[0], class_names)},
        ("The logits and the labels were told apart by their shape, not by their names.",),
    )
