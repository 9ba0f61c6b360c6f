"""What each column of a file is for: the first rows, and a role for every column."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import streamlit as st

from dashboard.opening import choices
from dashboard.readers.records import ROLES, Arrays, Body, Column, ColumnRole, FileTable, Preview
from dashboard.readers.refusal import visible
from dashboard.texts import opening as words
from dashboard.texts.classes import shortened
from dashboard.texts.numbers import escape_markdown
from dashboard.widgets.tables import cell, table

MOST_SHOWN = 12
"""Columns that are shown at once; further ones are chosen from a list."""

_ORDER, _MORE = "role_order", "role_more"

_MATTERS: Sequence[ColumnRole] = (
    "outcome", "correct", "score", "prediction", "class", "ranked class", "ranked score", "set",
    "id", "date", "group", "left out",
)  # fmt: skip
"""Roles in the order in which columns of many are worth a look."""

_CELL = 60

_WIDE, _NARROW = 11.5, 9.75
"""Width of a column in rem, where there is room, and on a phone, which shows two of them."""

RULES = f"""
<style>
.st-key-role_columns {{ container: roles / inline-size; }}
p.sideways {{ margin: 0; font-size: 0.875rem; opacity: 0.7; }}
.st-key-role_table {{
  overflow-x: auto;
  background:
    linear-gradient(to left, var(--ground) 1rem, transparent) right / 3rem 100% no-repeat local,
    linear-gradient(to left, color-mix(in srgb, currentColor 30%, transparent), transparent)
      right / 1rem 100% no-repeat scroll;
}}
:is(.st-key-role_table, .st-key-role_arrays) {{ --column: {_WIDE}rem; }}
.st-key-role_heads {{
  flex-wrap: nowrap; gap: 0; width: max-content; max-width: none; padding-left: var(--numbers);
}}
:is(.st-key-role_heads, .st-key-role_arrays) > * {{ flex: none; width: var(--column); }}
[class*="st-key-role_column_"] {{ width: 100%; padding-right: 0.75rem; gap: 0.25rem; }}
[class*="st-key-role_column_"] label p {{
  font-weight: 600; white-space: nowrap; overflow: hidden; text-overflow: ellipsis;
}}
table.roles {{
  border-collapse: collapse; table-layout: fixed; width: max-content;
  font-variant-numeric: tabular-nums;
}}
table.roles td, table.roles tbody th {{
  width: var(--column); max-width: var(--column); padding: 0.3rem 0.75rem 0.3rem 0.25rem;
  text-align: left; font-weight: 400; white-space: nowrap; overflow: hidden;
  text-overflow: ellipsis;
  border-bottom: 1px solid color-mix(in srgb, currentColor 15%, transparent);
}}
table.roles tbody th {{
  width: var(--numbers); max-width: var(--numbers); padding-right: 0.5rem;
  font-size: 0.8125rem; opacity: 0.7;
}}
table.roles td small {{ opacity: 0.7; }}
table.roles th small {{ display: block; font-weight: 400; opacity: 0.7; }}
table.roles.headed thead th {{
  padding: 0.3rem 0.75rem 0.3rem 0.25rem; text-align: left; font-weight: 600; font-size: 0.875rem;
}}
table.roles:not(.headed) thead th {{
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
}}
@media (max-width: 640px) {{
  :is(.st-key-role_table, .st-key-role_arrays) {{ --column: {_NARROW}rem; }}
  [class*="st-key-role_column_"] {{ padding-right: 0.25rem; }}
  [class*="st-key-role_column_"] input {{ padding-right: 0; font-size: 0.8rem; }}
  [class*="st-key-role_column_"] [role="group"] button {{ width: 1.6rem; padding-inline: 0; }}
}}
</style>
"""


def _sideways(n_columns: int, last_number: int) -> str:
    """Return the line that says to scroll, with rules that hide it where all columns fit."""
    numbers = 0.75 + 0.5 * len(str(last_number))
    wide, narrow = (
        f"@container roles (min-width: {numbers + n_columns * column:g}rem)"
        " { p.sideways { display: none; } }"
        for column in (_WIDE, _NARROW)
    )
    rules = (
        f".st-key-role_table {{ --numbers: {numbers:g}rem; }} {wide}"
        f" @media (max-width: 640px) {{ {narrow} }}"
    )
    return f"<style>{rules}</style><p class='sideways'>{words.sideways(n_columns)}</p>"


@dataclass(frozen=True)
class _ColumnView:
    """A column as it is shown."""

    name: str
    """As the file has it."""
    role: ColumnRole | None
    """What it is for; None while that is not detected, and the user has not said so."""
    reason: str
    """Why."""
    cells: tuple[str, ...] = ()
    """Of the first rows."""


# Columns -------------------------------------------------------------------------------------


def show_roles(
    preview: Preview,
    parsed: Sequence[Body],
    *,
    uses: Mapping[str, str],
    taken: Sequence[str],
    visit: int,
) -> None:
    """Show the first rows with the role of each column, which can be changed.

    ``preview``: the columns that matter first. ``parsed``: what the files hold, for columns that
    the preview leaves out. ``uses``: what every column was read as, by name. ``taken``: what the
    outcome of each row was read as, where it is known. ``visit``: during one visit the columns keep
    their places, whatever role they get.
    """
    arrays = [one for part in parsed if isinstance(part, Arrays) for one in part.arrays]
    if arrays:
        _show_arrays(arrays, uses)
        if preview.rows:
            st.markdown(f"**{words.FIRST_ROWS}**")
    shown = _columns(preview, parsed, uses)
    if not shown:
        return
    choosable = not arrays
    if choosable:
        explained = words.COLUMNS_REFUSED if preview.refused else words.COLUMNS_HELP
        st.markdown(f"**{words.COLUMNS}** :small[{explained}]")
    order = _order(list(shown), (visit, _is_decided(preview)))
    in_sight = _in_sight(order, shown, choosable=choosable)
    places = {name: place for place, name in enumerate(sorted(shown))}
    numbers = preview.numbers or tuple(range(1, len(preview.rows) + 1))
    st.html(RULES)
    with st.container(key="role_columns", gap="small"):
        st.html(_sideways(len(in_sight), max(numbers, default=1)))
        with st.container(key="role_table"):
            if choosable:
                with st.container(horizontal=True, gap=None, key="role_heads"):
                    for name in in_sight:
                        with st.container(key=f"role_column_{places[name]}"):
                            _choose_role(shown[name], f"role_{places[name]}")
            columns = [shown[name] for name in in_sight]
            st.html(_table(columns, numbers, taken, headed=not choosable))


def _columns(
    preview: Preview, parsed: Sequence[Body], uses: Mapping[str, str]
) -> dict[str, _ColumnView]:
    """Return every column by name: those of the preview, then the others of a single table."""
    names: dict[str, str] = {}
    for part in parsed:
        columns = part.columns if isinstance(part, FileTable) else ()
        for column in columns:
            names.setdefault(visible(column.name, _CELL), column.name)
    by_user = dict(choices.current().roles)
    n_heads = len(preview.headings)
    roles = preview.roles if _is_decided(preview) else tuple(map(_role, preview.uses))
    reasons = preview.reasons or ("",) * n_heads
    shown: dict[str, _ColumnView] = {}
    for place, (head, role, why) in enumerate(zip(preview.headings, roles, reasons, strict=True)):
        name = head if head in names.values() else names.get(head, head)
        cells = tuple(row[place] for row in preview.rows)
        shown.setdefault(name, _ColumnView(name, by_user.get(name, role), why, cells))
    if len(parsed) == 1 and isinstance(parsed[0], FileTable):
        table = parsed[0]
        for place, column in enumerate(table.columns):
            cells = tuple(visible(row[place], _CELL) for row in table.shown if place < len(row))
            same = len(cells) == len(preview.rows) and not preview.refused
            role = by_user.get(column.name, _role(uses.get(column.name)))
            shown.setdefault(column.name, _ColumnView(column.name, role, "", cells if same else ()))
    return shown


def _is_decided(preview: Preview) -> bool:
    """Return whether the roles of the columns are known."""
    return bool(preview.roles) and set(preview.uses) != {"undecided"}


def _role(use: str | None) -> ColumnRole | None:
    return words.OF_USE.get(use or "")


def _called(role: ColumnRole | None) -> str:
    return words.UNDECIDED if role is None else words.ROLES[role]


def _order(names: Sequence[str], seen: object) -> list[str]:
    """Keep the places of columns while what is seen is the same; new ones come last."""
    of, before = st.session_state.get(_ORDER, (None, []))
    if of != seen or not set(names) & set(before):
        before = []
    order = [name for name in before if name in names]
    order += [name for name in names if name not in order]
    st.session_state[_ORDER] = seen, order
    return order


def _in_sight(order: list[str], shown: Mapping[str, _ColumnView], *, choosable: bool) -> list[str]:
    """Return the columns that are shown: of many those that matter, and one that was asked for."""
    if len(order) <= MOST_SHOWN:
        return order
    ranked = sorted(order, key=lambda name: _MATTERS.index(shown[name].role or "left out"))
    first = set(ranked[:MOST_SHOWN]) | {name for name, _ in choices.current().roles}
    rest = [name for name in order if name not in first]
    in_sight = [name for name in order if name in first]
    if not choosable or not rest:
        return in_sight
    if st.session_state.get(_MORE) not in rest:
        st.session_state[_MORE] = None
    choice = st.selectbox(
        words.more_columns(len(rest)),
        rest,
        index=None,
        format_func=lambda name: f"{visible(name, 40)} \u00b7 {_called(shown[name].role)}",
        placeholder=words.MORE_PLACEHOLDER,
        key=_MORE,
    )
    return in_sight if choice is None else [choice, *in_sight]


def _label(name: str) -> str:
    """Return a heading, escaped only where needed: a screen reader would read the signs out."""
    shown = visible(name, _CELL)
    plain = re.fullmatch(r"[^\W_]([\w ]*[^\W_])?", shown)
    return shown if plain else escape_markdown(shown) or words.UNNAMED


def _choose_role(column: _ColumnView, key: str) -> None:
    st.session_state[key] = column.role
    by_user = dict(choices.current().roles).get(column.name)
    st.selectbox(
        _label(column.name),
        ROLES,
        index=None if column.role is None else 0,  # a cross would take room from the role
        format_func=lambda role: words.ROLES[role],
        placeholder=words.UNDECIDED,
        key=key,
        on_change=_set_role,
        args=(column.name, key),
    )
    why = words.CHOSEN if by_user is not None else column.reason
    st.markdown(f":small[{escape_markdown(why)}]" if why else "")


def _set_role(name: str, key: str) -> None:
    role: ColumnRole | None = st.session_state[key]
    if role is None:  # the cross in the select takes the choice back
        choices.detect(name)
    else:
        choices.change(roles=((name, role),))


def _table(
    columns: Sequence[_ColumnView], numbers: Sequence[int], taken: Sequence[str], *, headed: bool
) -> str:
    """Return the first rows, and next to an outcome what it was read as where that differs."""
    heads = [
        f"{cell(visible(column.name, _CELL))}<small>{_called(column.role)}</small>"
        for column in columns
    ]
    rows = [
        (f"{number}", *(_cell(column, row, taken) for column in columns))
        for row, number in enumerate(numbers)
    ]
    return table(f"roles{' headed' if headed else ''}", [words.ROW, *heads], rows)


def _cell(column: _ColumnView, row: int, taken: Sequence[str]) -> str:
    text = column.cells[row] if row < len(column.cells) else ""
    read_as = taken[row] if column.role in ("outcome", "correct") and row < len(taken) else ""
    if read_as in ("", text):
        return cell(text)
    return f"{cell(text)} <small>\u2192 {escape(shortened(read_as))}</small>"


# Arrays --------------------------------------------------------------------------------------


def _show_arrays(arrays: Sequence[Column], uses: Mapping[str, str]) -> None:
    """Show the role of each array that has a name, which can be changed."""
    by_user = dict(choices.current().roles)
    named = [one for one in arrays if one.name][:MOST_SHOWN]
    if not named:
        return
    st.markdown(f"**{words.ARRAYS}** :small[{words.ARRAYS_HELP}]")
    st.html(RULES)
    with st.container(horizontal=True, gap="small", key="role_arrays"):
        for place, one in enumerate(named):
            with st.container(key=f"role_column_array_{place}"):
                size = words.array_of(one.values.shape, one.unread or one.values.dtype.name)
                _choose_role(
                    _ColumnView(one.name, by_user.get(one.name, _role(uses.get(one.name))), size),
                    f"role_array_{place}",
                )
