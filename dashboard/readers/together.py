"""Several files that belong together: parts of a table, values with labels, or two sets."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from dashboard.readers import joining, recognition
from dashboard.readers.formats import first_items
from dashboard.readers.recognition.arrays import parts_of, reading_of
from dashboard.readers.recognition.set_names import further_sets, is_training, parting_of, role_of
from dashboard.readers.records import (
    Arrays,
    Column,
    ColumnRole,
    Contents,
    Options,
    Parsed,
    RawEvent,
    RawSet,
    Remarks,
    Role,
    Table,
    sentences_of,
    within,
)
from dashboard.readers.refusal import FileError, quoted
from dashboard.readers.sets import contents_of, sets_from

_FILE = "file"
_AS_CHOSEN = "as chosen"


def combine_parsed(parsed: Sequence[tuple[str, Parsed]], options: Options) -> Contents:
    """Return what several files together hold."""
    remarks = Remarks()
    chosen_files = _not_left_out(parsed, options, remarks)
    if len(chosen_files) == 1:
        return _with(contents_of(chosen_files[0][1], options), remarks)
    files = _without_training([_as_file(name, one, options) for name, one in chosen_files], remarks)
    way = options.together[:1]
    models = joining.models_of(files) if way in ((), ("without",)) else []
    if models and options.sets == "auto":
        joining.ask_models(models, n_files=len(files))
    if way == ("models",):
        chosen = replace(options, together=_first_model(files))
        return combine_parsed(parsed, chosen)
    sets, why = ([], "") if way == ("rows",) or options.sets == "one" else _sets(files, options)
    if not sets:
        return _one_set(files, options, remarks)
    first, second = (_one(part, options, remarks) for part in sets)
    return _two_sets([first, joining.called_as(first, second)], options, remarks, why)


def ways_of(parsed: Sequence[tuple[str, Parsed]], options: Options) -> tuple[tuple[str, ...], ...]:
    """Return what several files may be of one another: choices for ``together`` of `Options`."""
    try:
        files = [_as_file(name, one, options) for name, one in parsed]
        both = joining.pairings(files)
    except FileError:
        return ()
    ways: list[tuple[str, ...]] = []
    if joining.alike(files) and len(files) > 1:
        pairs = [[file] for file in files] if len(files) == 2 else []
    else:
        pairs = [pair for one in both for pair in one.pairs]
    by_name = _by_role(files)
    if not pairs and all(by_name) and sum(map(len, by_name)) == len(files):
        pairs = by_name
    ways += [("sets", *(file.source for file in pair)) for pair in pairs]
    if pairs or (joining.alike(files) and len(files) > 1):
        ways.append(("rows",))
    models = joining.models_of(files)
    ways += [joining.without(model, models) for model in models]
    return tuple(ways) if len(ways) > 1 else ()


def _as_file(name: str, parsed: Parsed, options: Options) -> joining.File:
    """Return a file as one table; a bare array is called as its file."""
    stem = name.rsplit(".", 1)[0] or name
    if isinstance(parsed, Arrays):
        parts = parts_of(parsed, options)
        if len(parts.tables) > 1:
            wanted = "that file alone, and further models on the page Models"
            raise FileError(f"file {quoted(name)}", "two sets, and other files", wanted)
        (parsed,) = parts.tables.values()
        unnamed = True
    else:
        unnamed = not parsed.named
    if len(parsed.columns) > 1 or not unnamed:
        return joining.File(stem, parsed, name)
    if parsed.columns[0].values.shape[1:] == (1,):
        parsed = replace(parsed, columns=(first_items(parsed.columns[0]),))
    role, rest = role_of(stem)
    called = (rest if role != "rows" else stem) or "values"
    columns = (replace(parsed.columns[0], name=called),)
    parsed = replace(parsed, columns=columns, named=True)
    return joining.File(stem, parsed, name, frozenset([called]))


def _not_left_out(
    parsed: Sequence[tuple[str, Parsed]], options: Options, remarks: Remarks
) -> Sequence[tuple[str, Parsed]]:
    """Return the files without those that the user leaves out, at least one."""
    names = {*options.together[1:]} if options.together[:1] == ("without",) else {""}
    left = [name for name, _ in parsed if name in names]
    if not left or len(left) == len(parsed):
        return parsed
    listed = " and ".join(quoted(name, 40) for name in left)
    remarks.notes.append(f"Left out, as chosen: {listed}. The page Models compares models.")
    return [(name, one) for name, one in parsed if name not in names]


def _without_training(files: list[joining.File], remarks: Remarks) -> list[joining.File]:
    """Leave out files of a training set among those of a calibration and of a test set."""
    left = [file for file in files if file.role == "rows" and is_training(file.name)]
    rest = [file for file in files if file not in left]
    if not left or {file.role for file in rest} != {"calibration", "test"}:
        return files
    names = " and ".join(quoted(file.name) for file in left)
    remarks.repairs.append(f"Left out as a training set: {names}.")
    return rest


# Reading --------------------------------------------------------------------------------------


def _read(table: Table, options: Options, columns: Sequence[Column] = ()) -> Contents:
    """Return the sets of a table, with further columns to group by."""
    wide = any(c.values.ndim > 1 and c.texts is None for c in table.columns)
    known = reading_of(table, (), options) if wide else recognition.recognise(table, options)
    group: list[ColumnRole] = ["group"] * len(columns)
    reading = replace(
        known,
        roles=(*known.roles, *group),
        reasons=(*known.reasons, *("the name of the file" for _ in columns)),
    )
    whole = replace(table, columns=(*table.columns, *columns), shown=())
    return sets_from(whole, reading, options)


def _with(contents: Contents, remarks: Remarks) -> Contents:
    return replace(contents, **sentences_of(remarks, contents))


def _one_set(files: Sequence[joining.File], options: Options, remarks: Remarks) -> Contents:
    """Return all files as one set: pairs, or parts, with the file of each row to group by."""
    groups = joining.groups_of(files)
    pairings = joining.pairings(files)
    parts = [list(files)] if not pairings else pairings[0].pairs
    if len(pairings) > 1:
        joining.ask_pairs(pairings)
    if len(groups) > 1 and not pairings:
        return _with(_read(_one(files, options, remarks).table, options), remarks)
    joined_files = [_one(part, options, remarks) for part in parts] if pairings else files
    table = joining.parts_under(joined_files, remarks)
    counts = [file.table.n_rows for file in joined_files]
    places = np.repeat(np.arange(len(joined_files), dtype=np.int32), counts)
    name = next(
        n for n in (_FILE, "name of the file", "source file") if n not in joined_files[0].headings
    )
    column = Column(name, places, tuple(file.name for file in joined_files))
    return _with(_read(table, options, (column,)), remarks)


def _two_sets(
    files: Sequence[joining.File], options: Options, remarks: Remarks, why: str
) -> Contents:
    """Return two files as the calibration and the test set, read as one table."""
    fitted, evaluated = files
    remarks.notes.append(
        f"Calibration set from {quoted(fitted.name)}, test set from {quoted(evaluated.name)}"
        f" ({why})."
    )
    if is_training(fitted.name):
        remarks.doubts.append(
            f"File {quoted(fitted.name)} is called a training set: a model looks better there than"
            " on rows that it has not seen."
        )
    # A column of sets in both files tells less than the files.
    together = replace(options, sets="one")
    if fitted.headings - evaluated.headings and evaluated.headings - fitted.headings:
        return _each_alone(files, together, remarks)
    contents = _with(_read(joining.stacked(files, remarks), together), remarks)
    raw = contents.sets["rows"]
    first = fitted.table.n_rows
    flags = np.ones(first + evaluated.table.n_rows, np.bool_) if raw.among is None else raw.among
    is_first = (np.arange(len(flags)) < first)[flags]
    sets: dict[Role, RawSet | RawEvent] = {
        "calibration": _of_file(raw.rows(is_first), fitted.table, flags[:first]),
        "test": _of_file(raw.rows(~is_first), evaluated.table, flags[first:]),
    }
    _refuse_halves(sets)
    return replace(contents, sets=sets)


def _refuse_halves(sets: Mapping[Role, RawSet | RawEvent]) -> None:
    for role, part in sets.items():
        if isinstance(part, RawSet) and (part.table is None or part.labels is None):
            lacking = "values" if part.table is None else "labels"
            raise FileError(f"{role} set", f"no {lacking}", "values and labels of both sets")


def _each_alone(files: Sequence[joining.File], options: Options, remarks: Remarks) -> Contents:
    """Return two files of other columns as two sets, each read on its own."""
    first, second = (_read(file.table, options) for file in files)
    sets: dict[Role, RawSet | RawEvent] = {
        "calibration": first.sets["rows"], "test": second.sets["rows"],
    }  # fmt: skip
    _refuse_halves(sets)
    names = [part.class_names or () for part in sets.values() if isinstance(part, RawSet)]
    if [len(name) for name in names] == [2, 2] and names[0] == names[1][::-1]:
        event, other = (quoted(name[1]) for name in names)
        text = f"scores of {event} in one file and of {other} in the other"
        raise FileError("files", text, "scores of the same event in both")
    if len({*names}) > 1:
        remarks.doubts.append(
            "The two files call their scores differently: the same classes in the same order were"
            " assumed."
        )
    uses = {**second.uses, **first.uses}
    return replace(first, sets=sets, uses=uses, **sentences_of(remarks, first, second))


def _of_file(raw: RawSet | RawEvent, table: Table, values: NDArray[np.bool_]) -> RawSet | RawEvent:
    """Return rows that are numbered as their own file numbers them."""
    return replace(raw, among=within(table.among, values), first_row=table.first_row)


# Which belong together ------------------------------------------------------------------------


def _sets(
    files: Sequence[joining.File], options: Options
) -> tuple[Sequence[Sequence[joining.File]], str]:
    """Return the files of the calibration set and of the test set, and why; nothing if one set."""
    chosen = [file for file in files if file.source in options.together[1:]]
    others = [file for file in files if file not in chosen]
    by_user = options.together[:1] == ("sets",)
    if by_user and chosen and others:
        return [chosen, others], _AS_CHOSEN
    roles = {file.role for file in files}
    if roles == {"calibration", "test"}:
        return _by_role(files), "by name"
    pairings = [] if len(files) == 2 and joining.alike(files) else joining.pairings(files)
    if len(pairings) > 1:
        joining.ask_pairs(pairings)
    pairs = pairings[0].pairs if pairings else [[file] for file in files]
    if len(pairs) == 2 and (pairings or joining.alike(files)):
        if ordered := _named(pairs):
            return ordered, f"paired {pairings[0].why}" if pairings else "by name"
        if not by_user and not _are_parts(pairs):
            joining.ask_sets(pairs)
    elif {"calibration", "test"} < roles:
        names = " and ".join(quoted(file.name, 30) for file in files if file.role == "rows")
        raise FileError("files", f"{names} beside a calibration and a test set", joining.WANTED)
    return ([pairs[0], [*chain(*pairs[1:])]], _AS_CHOSEN) if by_user else ([], "")


def _by_role(files: Sequence[joining.File]) -> list[list[joining.File]]:
    return [[file for file in files if file.role == role] for role in ("calibration", "test")]


def _named(pairs: Sequence[list[joining.File]]) -> Sequence[list[joining.File]]:
    """Return two sets in their order, where a name tells which is which."""
    one, other = (pair[0].name for pair in pairs)
    if is_training(one) != is_training(other):
        return pairs if is_training(one) else pairs[::-1]
    if further := further_sets((one, other)):
        return pairs if one in further else pairs[::-1]
    return (
        joining.in_order(pairs) if {file.role for pair in pairs for file in pair} - {"rows"} else []
    )


def _are_parts(pairs: Sequence[Sequence[joining.File]]) -> bool:
    """Return whether numbers in the names, or a column of sets, say that two are one table."""
    one, other = (pair[0] for pair in pairs)
    numbered = joining.DIGITS.sub("0", one.name) == joining.DIGITS.sub("0", other.name)
    columns = [*one.table.columns, *other.table.columns]
    return numbered or any(parting_of(column) is not None for column in columns)


def _first_model(files: Sequence[joining.File]) -> tuple[str, ...]:
    """Return the choice of the first of several models."""
    models = joining.models_of(files)
    if not models:
        wanted = "scores of the same rows in each, with their outcomes or beside one file of them"
        raise FileError("files", "no models of the same rows", wanted)
    return joining.without(models[0], models)


def _one(files: Sequence[joining.File], options: Options, remarks: Remarks) -> joining.File:
    """Return files of one set as one: alike ones row by row, others side by side."""
    whole = [
        replace(
            group[0],
            table=joining.parts_under(group, remarks) if len(group) > 1 else group[0].table,
        )
        for group in joining.groups_of(files)
    ]
    if len(whole) > 2:
        raise FileError("files", f"{len(whole)} files of other columns each", joining.WANTED)
    return joining.beside(whole[0], whole[1], options, remarks) if len(whole) == 2 else whole[0]
