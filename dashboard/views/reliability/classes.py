"""Every class at once, worst first: small pictures or a table, a page at a time."""

import streamlit as st

from calibcore.data import is_designed
from calibcore.inference import ClassScreen
from dashboard.compute.advice import QUICK
from dashboard.compute.figures import draw_classes
from dashboard.compute.uncertainty import Screening, screen
from dashboard.document.blocks import Cell, Row, Table
from dashboard.figures.plotly_json import LightFigure
from dashboard.scene import Scene
from dashboard.texts.classes import (
    FORMS,
    HEAD,
    HEADING,
    LOOK,
    LOOK_HELP,
    ORDERS,
    button_label,
    class_side,
    classes_note,
    classes_sentence,
    digits_of,
    no_classes,
    picture_title,
    pictures_note,
    share,
)
from dashboard.texts.design import NO_CLASSES
from dashboard.texts.rows import say_rows
from dashboard.widgets import address
from dashboard.widgets.blocks import write
from dashboard.widgets.headline import open_class
from dashboard.widgets.paging import choose_page

PAGE = {"pictures": 12, "table": 50}
"""Classes on a page."""


def show(scene: Scene) -> None:
    """Show which classes are miscalibrated, and how; or why there are none to compare."""
    st.subheader(HEADING, anchor=False)
    class_names = scene.class_names
    missing = no_classes(class_names)
    if class_names is None or missing is not None:
        st.markdown(missing)
        return
    if is_designed(scene.rows):
        st.markdown(NO_CLASSES)
        return
    n_samples = scene.evaluated.n_samples
    if n_samples * len(class_names) > QUICK and not _choose_look(n_samples, len(class_names)):
        return
    with st.spinner(LOOK):
        screening = screen(scene)
    if screening is not None:
        _show_screening(scene, screening, class_names)


def _choose_look(n_samples: int, n_classes: int) -> bool:
    return address.choose_switch(
        LOOK,
        key="all_classes",
        help=say_rows(LOOK_HELP.format(n_samples=n_samples, n_classes=n_classes)),
    )


def _show_screening(scene: Scene, screening: Screening, class_names: tuple[str, ...]) -> None:
    expert = scene.expert
    st.markdown(classes_sentence(screening.before, screening.after, screening.where, expert=expert))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        form, by = _choose_form(), _choose_order(screening)
        first = choose_page(len(class_names), PAGE[form], "classes_page")
    order: list[int] = by.order[first : first + PAGE[form]].tolist()
    if form == "pictures":
        _show_pictures(scene, screening, class_names, order)
        return
    write(_table(class_names, screening.before, screening.after, order))
    st.markdown(f":small[{classes_note(screening.before, screening.after, expert=expert)}]")


def _choose_form() -> str:
    return address.choose_button(
        "Classes as",
        FORMS,
        key="classes_as",
        default="pictures",
        label_visibility="collapsed",
    )


def _choose_order(screening: Screening) -> ClassScreen:
    """Show the choice of which side's worst come first, where the sides differ."""
    if screening.after is None or screening.after is screening.before:
        return screening.before
    chosen = address.choose_button(
        "Order",
        ORDERS,
        key="classes_by",
        default="before",
        label_visibility="collapsed",
    )
    return screening.after if chosen == "after" else screening.before


def _show_pictures(
    scene: Scene, screening: Screening, class_names: tuple[str, ...], order: list[int]
) -> None:
    """Show a picture of each class under its name, which opens it, and its finding."""
    after = None if screening.after is screening.before else screening.after
    figures = draw_classes(scene, tuple(order))
    a_line = 6 if after is None else 4
    for start in range(0, len(order), a_line):
        with st.container(key=f"pictures_{a_line}_{start}"):
            columns = st.columns(a_line, gap="small")
        shown = slice(start, start + a_line)
        for column, k, figure in zip(columns, order[shown], figures[shown], strict=False):
            name = class_names[k]
            with column.container(gap=None):
                far, meaning = picture_title(screening.before, after, k, expert=scene.expert)
                st.button(
                    button_label(name),
                    key=f"open_{k}",
                    type="tertiary",
                    on_click=open_class,
                    args=(name,),
                )
                st.markdown(f":small[{far}]  \n:small[{meaning}]")
                st.plotly_chart(
                    LightFigure(figure, scene.palette),
                    theme=None,
                    key=f"class_{k}",
                    config={"displayModeBar": False},
                    alt=f"{name}: reliability plot against the other classes. {far}, {meaning}",
                )
    st.markdown(f":small[{pictures_note(screening.after)}]")


def _table(
    names: tuple[str, ...], before: ClassScreen, after: ClassScreen | None, order: list[int]
) -> Table:
    """Return the table of some classes; ``after`` is None where no class probabilities are left."""
    digits = digits_of(before)
    rows = []
    for k in order:
        mean_score = share(before.mean_score[k], digits)
        if after is not None and (then := share(after.mean_score[k], digits)) != mean_score:
            mean_score = f"{mean_score.removesuffix('%')} \u2192 {then}"
        plain = f"{before.rows[k]:,}", mean_score, share(before.frequency[k], digits)
        sides = (_cell(screen, k, digits) for screen in (before, after))
        rows.append(Row(names[k], names[k], (*sides, *map(Cell, plain))))
    return Table("classes", tuple(map(say_rows, HEAD)), tuple(rows), look="measures")


def _cell(screen: ClassScreen | None, k: int, digits: int) -> Cell:
    if screen is None:
        return Cell("\u2013")
    side = class_side(screen, k, digits)
    finding = Cell(f"{side.sign} {side.verdict}", kind=side.kind)
    return Cell(side.ks_error, below=(finding, Cell(f", {side.p_value}")))
