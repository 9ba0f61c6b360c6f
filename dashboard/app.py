"""Fractile's pages: set-up and order only."""

import gc
from collections.abc import Callable

import streamlit as st

from calibcore.errors import CalibrationInputError
from dashboard import leave_working_folder, stage, style
from dashboard.compute.files import settle_imports
from dashboard.scene import Scene
from dashboard.views.calibrators import page as calibrators
from dashboard.views.data_needed import page as data_needed
from dashboard.views.decisions import page as decisions
from dashboard.views.glossary import page as glossary
from dashboard.views.ks_graphs import page as ks_graphs
from dashboard.views.learn import laboratory, own, teachers
from dashboard.views.learn import page as learn
from dashboard.views.maps import page as maps
from dashboard.views.models import page as models
from dashboard.views.overview import page as overview
from dashboard.views.reliability import page as reliability
from dashboard.views.subgroups import page as subgroups
from dashboard.widgets import address, downloads, links, report, sign_in

Show = Callable[[Scene], None]

# Name, address and content of each page; the first one is shown at the address itself.
PAGES: tuple[tuple[str, str, Show], ...] = (
    ("Overview", "overview", overview.show),
    ("Reliability", "reliability", reliability.show),
    ("Cumulative (KS)", "ks", ks_graphs.show),
    ("Calibration maps", "maps", maps.show),
    ("Decisions", "decisions", decisions.show),
    ("Calibrators", "calibrators", calibrators.show),
    ("Data needed", "data-needed", data_needed.show),
    ("Subgroups", "subgroups", subgroups.show),
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
    leave_working_folder()
    st.set_page_config(page_title="Fractile", page_icon="\U0001f4d0", layout="wide")
    settle_imports()
    address.remember_query()
    address.follow()
    style.apply()
    if sign_in.is_needed():
        sign_in.show()
        return
    scene: Scene | None = None

    def page_of(show: Show) -> Callable[[], None]:
        def draw() -> None:
            if scene is not None:
                _draw(show, scene)

        return draw

    pages, named = _pages(page_of)
    teaching = _teaching()
    links.keep_pages(pages | teaching)
    page = st.navigation([*pages.values(), *teaching.values(), named], position="top")
    with st.container(key="page_name"):
        st.header(page.title, anchor=False)
    style.name_on_phones(page.title)
    if page in teaching.values():
        page.run()
        return
    unusable = st.container()
    try:
        scene = stage.scene_for(page.title, first=page.title == PAGES[0][0])
        page.run()
        sign_in.offer_to_leave()
        with unusable:
            address.show_unusable()
    except CalibrationInputError as error:
        stage.show_refusal(error)
    finally:
        scene = None  # Streamlit keeps the pages of each tab, whose results may go before it does


def _draw(show: Show, scene: Scene) -> None:
    downloads.describe(scene)
    report.offer(scene)
    show(scene)


def _pages(page_of: Callable[[Show], Callable[[], None]]) -> tuple[dict[str, st.Page], st.Page]:
    """Return the pages by their address, and the first, which is at the root, also by its name."""
    (title, path, show), *others = PAGES
    named = st.Page(page_of(show), title=title, url_path=path, visibility="hidden")
    first = st.Page(page_of(show), title=title, url_path="first", default=True)
    pages = {
        path: st.Page(page_of(show), title=title, url_path=path) for title, path, show in others
    }
    return {path: first} | pages, named


def _teaching() -> dict[str, st.Page]:
    """Return the pages that teach by their address; the bar above shows the first alone."""
    return {
        path: st.Page(show, title=title, url_path=path, visibility="hidden" if k else "visible")
        for k, (title, path, show) in enumerate(LEARN)
    }


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as error:
        if not stage.is_of_a_run_that_ends(error):
            raise
        st.rerun()
    gc.collect()  # what earlier runs have left
