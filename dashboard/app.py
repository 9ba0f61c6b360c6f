"""Fractile's pages: set-up and order only."""

import gc
from collections.abc import Callable

import streamlit as st

from calibcore.errors import CalibrationInputError
from dashboard import compute, stage, style, wording
from dashboard.parts import address, downloads, links, report
from dashboard.readers import FileError
from dashboard.scene import Scene
from dashboard.views import (
    compare,
    decisions,
    efficiency,
    glossary,
    ks_graphs,
    laboratory,
    learn,
    maps,
    models,
    overview,
    own,
    reliability,
    slices,
    teachers,
)

# Name, address and content of each page; the first one is shown at the address itself.
PAGES: tuple[tuple[str, str, Callable[[Scene], None]], ...] = (
    ("Overview", "overview", overview.show),
    ("Reliability", "reliability", reliability.show),
    ("Cumulative (KS)", "ks", ks_graphs.show),
    ("Calibration maps", "maps", maps.show),
    ("Decisions", "decisions", decisions.show),
    ("Calibrators", "compare", compare.show),
    ("Data needed", "efficiency", efficiency.show),
    ("Subgroups", "slices", slices.show),
    ("Models", "models", models.show),
)

# The same of the pages that teach, which need no data; the first one leads to the others.
LEARN: tuple[tuple[str, str, Callable[[], None]], ...] = (
    ("Learn", "learn", learn.show),
    ("Laboratory", "laboratory", laboratory.show),
    ("Your own calibration", "you", own.show),
    ("Glossary", "glossary", glossary.show),
    ("For teachers", "teachers", teachers.show),
)


def main() -> None:
    """Draw one page once."""
    st.set_page_config(page_title="Fractile", page_icon="\U0001f4d0", layout="wide")
    compute.settle_imports()
    address.remember_asked()
    style.apply()
    scene: Scene | None = None

    def page_of(show: Callable[[Scene], None]) -> Callable[[], None]:
        def draw() -> None:
            if scene is not None:
                downloads.describe(scene)
                report.offer(scene)
                show(scene)

        return draw

    pages = {
        path: st.Page(page_of(show), title=title, url_path=path) for title, path, show in PAGES[1:]
    }
    # The first page is at the address itself, whatever its name; by its name it is a second page.
    title, path, show = PAGES[0]
    pages = {path: st.Page(page_of(show), title=title, url_path="first", default=True)} | pages
    named = st.Page(page_of(show), title=title, url_path=path, visibility="hidden")
    teaching = _teaching()
    links.keep_pages(pages | teaching)
    page = st.navigation([*pages.values(), *teaching.values(), named], position="top")
    with st.container(key="page_name"):
        st.header(page.title, anchor=False)
    if page in teaching.values():
        page.run()
        return
    unusable = st.container()
    try:
        scene = stage.prepare(page.title, first=page.title == PAGES[0][0])
        page.run()
        with unusable:
            address.show_unusable()
    except CalibrationInputError as error:
        st.error(
            f"{wording.refusal(error)}\n\n{wording.NEXT_STEP}",
            title=wording.REFUSED if isinstance(error, FileError) else wording.NOT_FITTING,
            icon=":material/block:",
        )
        st.stop()


def _teaching() -> dict[str, st.Page]:
    """Return the pages that teach by their address; the bar above shows the first alone."""
    first = LEARN[0][1]
    return {
        path: st.Page(
            show, title=title, url_path=path, visibility="visible" if path == first else "hidden"
        )
        for title, path, show in LEARN
    }


if __name__ == "__main__":
    try:
        main()
    finally:
        gc.collect()  # what earlier runs have left
