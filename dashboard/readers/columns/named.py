"""Which array is which, by name and by shape: for archives and dictionaries of arrays."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from dashboard.readers.binary.npy import is_whole, text_codes
from dashboard.readers.columns.by_shape import by_shape, shares_by_name, with_labels
from dashboard.readers.columns.rank_lists import in_ranks, rank_lists, truth_of
from dashboard.readers.columns.roles import further_sets, role_of
from dashboard.readers.columns.slices import MAX_COLUMNS, sentence_of, slice_of_array
from dashboard.readers.columns.two_tables import both_tables, logits_among
from dashboard.readers.contents import (
    DEFAULTS,
    Array,
    ColumnUse,
    Contents,
    Options,
    RawEvent,
    RawSet,
    Role,
    SliceColumn,
)
from dashboard.readers.refusal import FileError, plain, quoted

CLASS_NAME_KEYS = frozenset(
    {"class_names", "classes", "target_names", "label_names", "classes_", "classnames",
     "class_list", "class_order"}
)  # fmt: skip
LABEL_KEYS = frozenset(
    {"label", "labels", "target", "targets", "y", "y_true", "true_label", "true_labels",
     "ground_truth", "label_ids", "truth", "gt", "gts", "groundtruth", "ytrue", "true_y",
     "y_actual", "actuals", "trues", "truths"}
)  # fmt: skip
WEAK_LABEL_KEYS = frozenset(
    {"true", "actual", "actual_label", "actual_labels", "actual_class", "annotation",
     "annotations", "answer", "category", "cible", "class_id", "class_ids", "classe", "clase",
     "classid", "correct_answer", "correct_class", "correct_label", "dependent", "diagnosis",
     "etiqueta", "event", "expected", "expected_label", "gold_labels", "ground_truth_label",
     "ground_truth_labels", "human_label", "klasse", "label_id", "label_idx", "label_true",
     "labels_int", "labels_true", "manual_label", "observed", "outcome", "outcomes", "real", "ref",
     "reference", "references", "response", "species", "status", "target_label", "target_labels",
     "gt_label", "gt_labels", "gt_class", "ergebnis", "resultado", "risultato", "résultat",
     "true_classes", "vraie_classe", "wahre_klasse", "y_real", "ys", "zielvariable", "étiquette"}
)  # fmt: skip
"""Names that often hold the label, used only where none of the others is there."""

TABLE_KEYS = frozenset(
    {"logit", "logits", "output", "outputs", "prob", "probs", "probability", "probabilities",
     "proba", "y_prob", "y_proba", "y_pred", "pred", "preds", "prediction", "predictions", "probas",
     "predict_proba",
     "y_pred_proba", "y_logits", "class_probs", "class_probabilities", "softmax"}
)  # fmt: skip
_VALUE_WORDS = frozenset(
    {"logit", "logits", "prob", "probs", "proba", "probas", "probability", "probabilities",
     "softmax", "score", "scores"}
)  # fmt: skip
"""Words in further names of tables, used only where no name is known."""

_LABEL_WORDS = frozenset({"label", "labels", "target", "targets", "gt", "truth", "truths", "true"})
"""Words in further names of labels, used only where no name is known."""

_MARKS = frozenset(
    {"error", "errors", "issue", "issues", "quality", "flag", "flags", "changed", "agreement"}
)
"""Words in names of what was found out about labels."""

_NO_LABEL_WORDS = _VALUE_WORDS | _MARKS | {
    "pred", "preds", "predicted", "prediction", "predictions", "predict", "name", "names", "map",
    "smooth", "smoothed", "smoothing", "soft", "noise", "count", "counts", "num", "n", "weight",
    "weights", "mask", "loss", "losses", "dim", "dist", "distribution", "embedding", "embeddings",
}  # fmt: skip
"""Words in names of what is no true label, although it may speak of one."""

WEAK_TABLE_KEYS = frozenset(
    {"scores", "y_score", "y_scores", "x", "values", "confidences", "y_hat", "confs"}
)
"""Names that often hold something else, used only where none of the others is there."""

INDEX_KEYS = frozenset(
    {"index", "id", "ids", "idx", "row", "rows", "rowid", "row_id", "rowindex", "row_index",
     "sample", "sample_id", "image_id", "rownames", "unnamed:_0", "__index_level_0__",
     "filename", "file", "path", "name", "image"}
)  # fmt: skip
"""Names of what only tells which row it is."""


def sorted_arrays(
    arrays: Mapping[str, Array], *, left_out: Sequence[str] = (), options: Options = DEFAULTS
) -> Contents:
    """Sort named arrays into sets.

    Parameters
    ----------
    arrays : mapping of str to ndarray
        At least one.
    left_out : sequence of str
        Names of arrays that were not even read.
    options : Options
        ``label_column`` names the array of the labels, of either set.
    """
    if not arrays:
        raise FileError("file", "no arrays", "logits and labels")
    further = further_sets(arrays)
    try:
        used = {name: array for name, array in arrays.items() if name not in further}
        return _sorted(used, [*left_out, *sorted(further)], options)
    except FileError as error:
        error.known = Contents({}, uses=dict.fromkeys(arrays, "undecided"))
        raise


def _sorted(arrays: Mapping[str, Array], left_out: Sequence[str], options: Options) -> Contents:
    tables, labels = _told(arrays, options)
    names_key = next((name for name in arrays if name.lower() in CLASS_NAME_KEYS), None)
    class_names = _names(arrays[names_key]) if names_key else None
    if not any(tables.values()) and not any(labels.values()):
        return by_shape({k: v for k, v in arrays.items() if k != names_key}, class_names)
    chosen: dict[Role, tuple[str | None, str | None]] = {
        role: (_one_table(tables[role], arrays), _one(labels[role], "labels")) for role in tables
    }
    chosen = _lone_pair(chosen) or _whole_pair(chosen, arrays) or chosen
    _refuse_calibrated(chosen, arrays)
    chosen, doubts = with_labels(chosen, arrays, but=_NO_LABEL_WORDS)
    sets = {
        role: _raw_set(arrays, table, truth, class_names)
        for role, (table, truth) in chosen.items()
        if table or truth
    }
    uses = _uses(arrays, {role: chosen[role] for role in sets}, names_key)
    sets, not_kept = _with_columns(sets, arrays, uses)
    made, repairs, missing = _ranked(sets, arrays, chosen, uses)
    unused = [name for name, use in uses.items() if use == "left out" and name != names_key]
    said = " and ".join(
        f"{plain(str(table), 40)} with {plain(str(truth), 40)}"
        for table, truth in chosen.values()
        if table and truth
    )
    kept = dict.fromkeys(column.name for raw in sets.values() for column in raw.columns)
    found = (
        *((f"Arrays used: {said}.",) if said else ()), *kept_sentence(tuple(kept)), *not_kept,
        *left_out_sentence([*unused, *left_out]),
    )  # fmt: skip
    repairs = (*both_tables(arrays, tables), *repairs)
    return Contents(made, found, repairs, missing, uses=uses, doubts=doubts)


def _ranked(
    sets: dict[Role, RawSet],
    arrays: Mapping[str, Array],
    chosen: Mapping[Role, tuple[str | None, str | None]],
    uses: dict[str, ColumnUse],
) -> tuple[dict[Role, RawSet | RawEvent], tuple[str, ...], tuple[str, ...]]:
    """Take tables beside which lists say of which class each value is; say so, and what is left."""
    made: dict[Role, RawSet | RawEvent] = {}
    repairs, missing = dict[str, None](), dict[str, None]()
    for (role, raw), before in zip(_complete(sets).items(), sets, strict=True):
        made[role], table = raw, chosen[before][0] or ""
        if table not in arrays or arrays[table].ndim != 2:
            continue
        spare = (n for n in arrays if uses[n] == "left out" and role_of(n)[0] == role_of(table)[0])
        wide = {n: arrays[n] for n in (table, *spare) if arrays[n].ndim == 2}
        truth = truth_of(raw.labels, raw.label_texts) if len(wide) > 1 else None
        lists = rank_lists(wide, truth=truth)
        if lists is not None and lists.scores == table:
            made[role], told, left = in_ranks(raw, lists)
            uses[lists.classes] = "prediction"
            repairs |= dict.fromkeys((lists.said, *told))
            missing |= dict.fromkeys(left)
    return made, (*repairs,), (*missing,)


def _told(
    arrays: Mapping[str, Array], options: Options
) -> tuple[dict[Role, list[str]], dict[Role, list[str]]]:
    """Tell tables and labels by their names, of each set."""
    rests = {role_of(name)[1] for name in arrays}
    label_keys = _label_keys(arrays, options)
    if not label_keys & rests:
        label_keys = WEAK_LABEL_KEYS
    by_words = not label_keys & rests
    if by_words:
        label_keys = frozenset(rest for rest in rests if speaks_of_labels(rest))
    table_keys = TABLE_KEYS | WEAK_TABLE_KEYS
    if not table_keys & rests:
        parts = {rest: {*rest.split("_")} for rest in rests}
        table_keys = frozenset(r for r, w in parts.items() if w & _VALUE_WORDS and not w & _MARKS)
    tables: dict[Role, list[str]] = {"calibration": [], "test": [], "rows": []}
    labels: dict[Role, list[str]] = {"calibration": [], "test": [], "rows": []}
    for name in arrays:
        role, rest = role_of(name)
        if rest in label_keys:
            labels[role].append(name)
        elif rest in table_keys:
            tables[role].append(name)
    if any(labels.values()) and not any(tables.values()):
        tables = shares_by_name(arrays)
    if by_words and not any(tables.values()):
        # Words alone tell less than the shapes of two arrays.
        labels = {role: [] for role in labels}
    return tables, labels


def speaks_of_labels(rest: str) -> bool:
    """Tell a name of labels by its words, such as ``gt_label`` or ``clean_labels``.

    Examples
    --------
    >>> speaks_of_labels("gt_label"), speaks_of_labels("pred_label"), speaks_of_labels("relabel")
    (True, False, False)
    """
    words = {*rest.split("_")}
    return bool(words & _LABEL_WORDS) and not words & _NO_LABEL_WORDS


def _lone_pair(
    chosen: Mapping[Role, tuple[str | None, str | None]],
) -> dict[Role, tuple[str | None, str | None]] | None:
    """Put the only table and the only labels together, where one name alone speaks of a set."""
    tables = [(role, table) for role, (table, _) in chosen.items() if table]
    # What a model was given stands beside what it answered.
    tables = [pair for pair in tables if role_of(pair[1])[1] != "x"] or tables
    truths = [(role, truth) for role, (_, truth) in chosen.items() if truth]
    if len(tables) != 1 or len(truths) != 1 or "rows" not in (tables[0][0], truths[0][0]):
        return None
    return {"rows": (tables[0][1], truths[0][1])}


def _whole_pair(
    chosen: Mapping[Role, tuple[str | None, str | None]], arrays: Mapping[str, Array]
) -> dict[Role, tuple[str | None, str | None]] | None:
    """Leave out tables beside one that has labels, of the same shape: ``cal_probs``."""
    table, truth = chosen["rows"]
    others = [pair for role, pair in chosen.items() if role != "rows" and pair != (None, None)]
    alike = all(
        label is None and table and other and arrays[other].shape == arrays[table].shape
        for other, label in others
    )
    return {"rows": (table, truth)} if table and truth and alike else None


def _refuse_calibrated(
    chosen: Mapping[Role, tuple[str | None, str | None]], arrays: Mapping[str, Array]
) -> None:
    """Refuse ``probs_cal`` beside ``probs_uncal``, where cal speaks of values and of no set."""
    for name in arrays:
        calibrated = re.sub("un(?=cal)", "", name, flags=re.IGNORECASE)
        if calibrated != name and {name, calibrated} & {table for table, _ in chosen.values()}:
            _one([name, *({calibrated} & set(arrays))], "logits")


def _label_keys(arrays: Mapping[str, Array], options: Options) -> frozenset[str]:
    """Give the names of labels, or the one that the user names."""
    chosen = options.label_column
    if chosen is None:
        return LABEL_KEYS
    if chosen not in arrays:
        listed = ", ".join(plain(name, 20) for name in list(arrays)[:6])
        there = f"no array {quoted(chosen)} in the file"
        raise FileError("label_column", there, f"one of {listed}")
    return frozenset({role_of(chosen)[1]})


def _raw_set(
    arrays: Mapping[str, Array],
    table: str | None,
    truth: str | None,
    class_names: tuple[str, ...] | None,
) -> RawSet:
    raw = RawSet(arrays[table] if table else None, None, class_names)
    if table and _below_0(arrays[table]):
        # What scores are called tells what those are that no probability is.
        raw = replace(raw, headings=(role_of(table)[1],))
    if truth is None:
        return raw
    labels = arrays[truth]
    if labels.dtype.kind != "U" or labels.ndim != 1:
        return replace(raw, labels=labels)
    texts, codes = text_codes(labels, f"array {quoted(truth)}")
    return replace(raw, labels=codes, label_texts=texts)


def _below_0(scores: Array) -> bool:
    return scores.ndim == 1 and scores.dtype.kind in "if" and bool(scores.min(initial=0) < 0)


def _uses(
    arrays: Mapping[str, Array],
    chosen: Mapping[Role, tuple[str | None, str | None]],
    names_key: str | None,
) -> dict[str, ColumnUse]:
    """Say what each array is taken for; one value a row, that nothing else claims, is a slice."""
    tables = {table for table, _ in chosen.values()}
    truths = {truth for _, truth in chosen.values()}

    def use_of(name: str) -> ColumnUse:
        if name in tables:
            return "class"
        if name in truths:
            return "label"
        role, rest = _beside(name, chosen)
        if name == names_key or rest in LABEL_KEYS | TABLE_KEYS | WEAK_TABLE_KEYS | INDEX_KEYS:
            return "left out"
        beside = next((a for a in chosen.get(role, (None, None)) if a is not None), None)
        flat = arrays[name].ndim == 1 and arrays[name].dtype.kind in "biufU"
        fits = beside is not None and arrays[name].shape[:1] == arrays[beside].shape[:1]
        return "slice" if flat and fits else "left out"

    return {name: use_of(name) for name in arrays}


def _beside(name: str, sets: Collection[Role]) -> tuple[Role, str]:
    """Tell of which set a further array is; that of none there, as ``is_test``, is of all rows."""
    role, rest = role_of(name)
    return (role, rest) if role in sets else ("rows", name)


def _with_columns(
    sets: Mapping[Role, RawSet], arrays: Mapping[str, Array], uses: dict[str, ColumnUse]
) -> tuple[dict[Role, RawSet], tuple[str, ...]]:
    """Put the slicing columns beside their sets."""
    kept: dict[Role, list[SliceColumn]] = {role: [] for role in sets}
    left: list[tuple[str, str]] = []
    for name in [name for name, use in uses.items() if use == "slice"]:
        role, rest = _beside(name, sets)
        made = slice_of_array(rest.removeprefix("column_"), arrays[name])
        if len(kept[role]) >= MAX_COLUMNS:
            made = f"only {MAX_COLUMNS} are kept"
        if isinstance(made, str):
            left.append((name, made))
            uses[name] = "left out"
        else:
            kept[role].append(made)
    with_columns = {role: replace(raw, columns=tuple(kept[role])) for role, raw in sets.items()}
    return with_columns, sentence_of(left)


def kept_sentence(names: Sequence[str]) -> tuple[str, ...]:
    """Name the columns by which the rows can be told apart."""
    if not names:
        return ()
    shown = ", ".join(plain(name, 40) for name in names[:8])
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return (f"Kept to tell rows apart: {shown}{more}.",)


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
        wanted = "one array of them"
        wanted += ", or your word on which it is" if field == "labels" else ""
        raise FileError(field, f"both {listed}, which is ambiguous", wanted)
    return names[0] if names else None


def _one_table(names: list[str], arrays: Mapping[str, Array]) -> str | None:
    """Choose the table, setting aside predicted classes and names that often mean other things."""
    if len(names) > 1:
        names = [n for n in names if not (arrays[n].ndim == 1 and is_whole(arrays[n]))] or names
    strong = [name for name in names if role_of(name)[1] not in WEAK_TABLE_KEYS] or names
    if len(strong) > 1:
        logits = logits_among({name: arrays[name] for name in strong})
        strong = [logits] if logits else strong
    return _one(strong, "logits")


def _names(array: Array) -> tuple[str, ...] | None:
    return tuple(str(name) for name in array.tolist()) if array.ndim == 1 else None
