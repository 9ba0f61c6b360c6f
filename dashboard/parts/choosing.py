"""What each calibrator keeps and needs, and a guideline for the choice, closed at first."""

from collections.abc import Sequence

import streamlit as st

from calibcore.comparison import Contestant
from dashboard.parts import address
from dashboard.parts.tables import cell, table
from dashboard.scene import Scene
from dashboard.settings import NO_METHOD
from dashboard.wording import choosing as words
from dashboard.wording.rows import say_rows


def show(scene: Scene, offered: Sequence[str], contestants: Sequence[Contestant]) -> None:
    """Show the guideline with what holds for the data shown, and the table of calibrators.

    ``scene``: the data. ``offered``: keys of the calibrators that fit the data. ``contestants``:
    those that were compared.
    """
    n_rows, n_classes = scene.split.calibration.n_samples, len(scene.class_names or ())
    with st.expander(words.TITLE):
        st.markdown(f"**{words.GUIDELINE}**")
        if n_classes:
            steps = words.path(contestants, n_rows, n_classes)
            numbered = (f"{place}. {step}" for place, step in enumerate(steps, 1))
            st.markdown(say_rows("\n".join(numbered)))
            chosen = [one.key for one in contestants]
            if not set(words.PATH) <= set(chosen):
                missing = [key for key in offered if key in {*words.PATH} - {*chosen}]
                keys = [*(key for key in chosen if key != NO_METHOD), *missing]
                st.button(words.ADD, on_click=address.put, args=("methods", keys))
        else:
            st.markdown(words.ONE_SCORE)
        st.html(_table(words.table(offered, n_classes or 2, n_rows)))
        st.markdown(f":small[{say_rows(words.TABLE_NOTE)}]")


def _table(lines: Sequence[words.Line]) -> str:
    heads = [cell(say_rows(name)) for name in words.HEADS]
    return table("measures choosing", heads, map(_line, lines))


def _line(line: words.Line) -> tuple[str, ...]:
    return cell(line.name, line.acts_on), cell(line.keeps), cell(line.fits, say_rows(line.each))
