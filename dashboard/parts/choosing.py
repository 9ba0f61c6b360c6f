"""What each calibrator keeps and needs, and a guideline for the choice, closed at first."""

from collections.abc import Sequence
from html import escape

import streamlit as st

from calibcore.comparison import Contestant
from dashboard.parts import address
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
    head = "".join(f"<th scope='col'>{escape(say_rows(name))}</th>" for name in words.HEADS)
    body = "".join(map(_line, lines))
    return (
        "<table class='measures choosing' tabindex='0'><thead><tr>"
        f"{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _line(line: words.Line) -> str:
    each = escape(say_rows(line.each))
    return (
        f"<tr><th scope='row'>{escape(line.name)}<small>{escape(line.acts_on)}</small></th>"
        f"<td>{escape(line.keeps)}</td><td>{escape(line.fits)}<small>{each}</small></td></tr>"
    )
