"""The settings of a paper's table, set at once."""

import streamlit as st

from dashboard.parts import address
from dashboard.readers import Upload
from dashboard.wording import papers as words


def choose(upload: Upload) -> None:
    """Show the tables of the papers, what each sets, and a button that sets it."""
    if upload.class_names is None or len(upload.class_names) < 3:
        return
    key = st.selectbox(
        words.LABEL,
        list(words.TABLES),
        index=None,
        format_func=lambda key: words.TABLES[key].name,
        key="paper_table",
        placeholder=words.PLACEHOLDER,
        help=words.HELP,
    )
    if key is not None:
        st.markdown(f":small[{words.TABLES[key].said}]")
        st.button(words.APPLY, key="paper_apply", on_click=_apply, args=(words.TABLES[key],))


def _apply(table: words.PaperTable) -> None:
    first = table.measures[0]
    of_models = {"by": first, "table_measure": first, "table_splits": table.splits}
    address.put_values({**table.words, **table.values, **of_models})
    address.put("methods", table.methods)
    address.put("contest_measures", table.measures)
    if table.learners:
        address.put("learners", table.learners)
