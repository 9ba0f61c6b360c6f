"""The theme in use, and the few rules of style that Streamlit has no option for."""

import streamlit as st

from dashboard.figures import DARK, LIGHT, Palette

_RULES = """
<style>
[data-testid="stMainBlockContainer"] { padding: 4.5rem 2rem 4rem; max-width: 1500px; }
/* The bar above names the page to those who see it. */
[data-testid="stLayoutWrapper"]:has(> .st-key-page_name) {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
}
/* What the address holds, where it is a word and not what is shown. */
[data-testid="stLayoutWrapper"]:has(> [class*="st-key-in_address_"]) { display: none; }
/* Unless pages are listed there, which would lie over its button. */
[data-testid="stSidebarContent"]:not(:has([data-testid="stSidebarNav"]))
  [data-testid="stSidebarHeader"] { margin-bottom: -3.5rem; }
/* Pages that teach put nothing there; one that was open before would stay, empty. */
[data-testid="stSidebar"]:not(
  :has([data-testid="stSidebarNav"], [data-testid="stElementContainer"])
) {
  display: none;
}
[data-testid="stSidebar"] [data-variant="segmented_control"] { padding-inline: 0.4rem; }
/* A width that is no whole number of pixels makes Streamlit draw a graph twice. */
[data-testid="stFullScreenFrame"] { width: round(down, 100%, 1px); }
[data-testid="stMetricLabel"] p { font-size: 0.875rem; }
.st-key-tiles [data-testid="stMetricDelta"] :is(div, p) { white-space: normal; }
:is(.st-key-calibrators_table, .st-key-subgroups_table, [class*="st-key-models_table"]) {
  overflow-x: auto;
}
.st-key-rows_table { overflow: auto; max-height: 22rem; }
table.listed :is(th, td):nth-child(n) { padding-block: 0.2rem; }
table.measures.listed th:first-child { text-align: right; overflow-wrap: normal; }
table.measures { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
table.measures :is(th, td) {
  padding: 0.4rem 0.75rem 0.4rem 0; text-align: right; vertical-align: top; white-space: nowrap;
  border-bottom: 1px solid color-mix(in srgb, currentColor 15%, transparent);
}
table.measures th { font-weight: 400; }
table.measures thead th { font-size: 0.875rem; opacity: 0.7; }
table.measures :is(th:first-child, .mark) { text-align: left; white-space: normal; }
table.measures th:first-child { overflow-wrap: anywhere; }
:is(.st-key-calibrators_table, [class*="st-key-models_table"]) thead th:nth-child(n) {
  white-space: normal; vertical-align: bottom; opacity: 1;
}
:is(
  .st-key-calibrators_table, .st-key-subgroups_table, [class*="st-key-models_table"]
) th:first-child {
  position: sticky; left: 0; min-width: 9rem; background: var(--ground);
}
table.measures.choosing :is(th, td):nth-child(n) { white-space: normal; overflow-wrap: normal; }
table.measures small { display: block; opacity: 0.7; font-size: 0.875rem; }
table.measures small:has(span) { opacity: 1; }
table.differences small:has(span) { white-space: normal; }
table.changes :is(small, thead th) { white-space: normal; }
table.changes th:first-child { min-width: 7rem; }
table.changes span { white-space: nowrap; }
table.measures .group th { font-weight: 600; padding-top: 1.25rem; text-align: left; }
table.measures summary { cursor: pointer; }
table.measures th:has(details) { min-width: 7.25rem; }
table.measures details p { max-width: 26rem; margin: 0.3rem 0 0.2rem; font-size: 0.875rem; }
[data-testid="stMultiSelect"] div:has(> [data-testid="stMultiSelectTagsContainer"]) {
  max-height: none;
}
[data-testid="stSelectbox"] input { text-overflow: ellipsis; }
[kind^="primary"]:enabled p { color: var(--ground); }
[data-testid="stMultiSelectTagsContainer"] span { color: var(--ground); }
.measures .better { color: var(--better); }
.measures :is(.worse, .over) { color: var(--worse); }
.measures .under { color: var(--under); }
.measures .both { color: var(--both); }
.measures :is(.no-evidence, .moved, .not-comparable, .none) { opacity: 0.7; }
/* Pages that teach are all reached by the first of them. */
:root:has(.st-key-teaching) [data-testid="stTopNavLink"][href$="/learn"] {
  background: rgba(146, 164, 200, 0.25); font-weight: 600;
}
/* The page that is shown stands there as text, so none of these links is where one is. */
.st-key-teaching [data-testid="stPageLink-NavLink"]:not(:hover) { background: none; }
.st-key-teaching [data-testid="stPageLink-NavLink"] :is(span, p) { font-weight: 400; }
/* A card is its link: it takes clicks wherever they fall. */
[class*="st-key-card_"] { position: relative; }
[class*="st-key-card_"] [data-testid="stElementContainer"]:has(a) { position: static; }
.st-key-next a { padding-inline: 0; }
[class*="st-key-card_"] a { background: none; padding-inline: 0; }
[class*="st-key-card_"] a::after { content: ""; position: absolute; inset: 0; z-index: 1; }
[class*="st-key-card_"] img { width: 144px; max-width: none; }
[class*="st-key-card_"] a p { white-space: normal; }
[class*="st-key-card_"]:hover { border-color: var(--under); }
[data-testid="stMain"] [data-testid="stMarkdownContainer"] :not(pre) > code { font-size: 0.9em; }
.play { margin: 0; }
:is(.slides, .play) button {
  font: inherit; color: inherit; background: none; padding: 0.25rem 0.75rem; cursor: pointer;
  border: 1px solid color-mix(in srgb, currentColor 30%, transparent); border-radius: 0.4rem;
}
.play button { min-height: 2rem; padding-block: 0; }
[data-testid="stElementContainer"]:has([data-testid="stButton"]) ~ * .play button {
  min-height: 2.5rem;
}
.st-key-own_choices button { min-height: 4.5rem; }
.st-key-own_choices button p { font-size: 1.25rem; }
.st-key-own_picture [data-testid="stElementToolbar"] { display: none; }
@media (min-width: 641px) {
  [class*="st-key-phone_"] { display: none; }
  .st-key-next_steps [data-testid="stHorizontalBlock"] { flex-wrap: nowrap; }
  .st-key-next_steps [data-testid="stHorizontalBlock"] > :last-child { flex: none; }
  .st-key-next_steps [data-testid="stHorizontalBlock"] > :first-child { flex: 0 1 auto; }
}
/* Beside the panel of a small screen, two columns are too narrow for what stands in them. */
@media (max-width: 1199px) {
  [class*="st-key-narrow_"] > [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"] {
    flex-direction: column;
  }
  [class*="st-key-narrow_"] [data-testid="stColumn"] { width: 100%; flex: none; }
  .st-key-calibrators_table table.measures :is(th, td):nth-child(n+2) { padding-right: 0.3rem; }
}
@media (min-width: 641px) and (max-width: 1199px) {
  [class*="st-key-pictures_6"] [data-testid="stColumn"] { min-width: 30%; flex: 1 1 30%; }
  [class*="st-key-pictures_4"] [data-testid="stColumn"] { min-width: 45%; flex: 1 1 45%; }
}
[data-testid="stMain"] [data-testid="stButtonGroup"] > div { flex-wrap: wrap; }
/* Without a pointer the bar of a graph would always stand on its title. */
@media (hover: none) { .modebar-container { display: none; } }
@media (prefers-reduced-motion: reduce) { .play { display: none; } }
@media (max-width: 640px) {
  [data-testid="stLayoutWrapper"]:has(> [class*="st-key-qr_"]) { display: none; }
  [data-testid="stMain"] kbd { display: none; }
  [data-testid="stMain"] [data-variant="segmented_control"] { padding-inline: 0.4rem; }
  .st-key-verdict h3 { padding-block: 0.25rem; }
  [data-testid="stMain"] pre code { white-space: pre-wrap !important; overflow-wrap: anywhere; }
  [class*="st-key-card_"] img { width: 72px; }
  [class*="st-key-card_"] > :first-child { width: 80px !important; min-width: 0; flex: none; }
  .st-key-lab_numbers { display: grid; grid-template-columns: 1fr 1fr; gap: 0 1rem; }
  [data-testid="stMainBlockContainer"] { padding: 4rem 1rem 3rem; }
  .st-key-own_keys { display: none; }
  .st-key-ks_head { gap: 0.5rem; }
  .st-key-answer > :first-child { flex: 1 0 100%; }
  :is(.st-key-tiles, [class*="st-key-pictures_6"]) [data-testid="stColumn"] {
    min-width: calc(50% - 0.5rem); flex: 1 1 40%;
  }
  table.subgroups :is(th, td):nth-child(n) {
    padding-right: 0.4rem; white-space: normal; font-size: 0.875rem;
  }
  .st-key-subgroups_table table.subgroups th:first-child { min-width: 4.5rem; }
  table.subgroups span { white-space: nowrap; }
  table.few :is(th, td):nth-child(n+3):not(:nth-last-child(-n+2)) { display: none; }
  .st-key-calibrators_table table.few :is(th, td):nth-last-child(3) { display: table-cell; }
  .st-key-calibrators_table table.few :is(th, td):nth-last-child(1) { display: none; }
  .st-key-calibrators_table th:first-child { min-width: 8.5rem; }
  .st-key-calibrators_table table.measures td small { white-space: nowrap; }
  table:is(.changes, .differences) :is(span, small) { white-space: normal; }
  table:is(.changes, .differences) span { display: inline-block; }
  [class*="st-key-models_table"] table.differences th:first-child { min-width: 6rem; }
  table.listed :is(th, td):nth-child(n) {
    padding-right: 0.4rem; white-space: normal; font-size: 0.875rem;
  }
  table.measures:not(.all-columns) :is(th, td):nth-child(n+4) { display: none; }
  table.measures small { white-space: normal; }
}
</style>
"""


_COLOURS = {
    "light": "--better: #1a7f37; --worse: #b3261e; --under: #1f5fa8; --both: #6b3fa0;"
    " --ground: #FFFFFF;",
    "dark": "--better: #4ac26b; --worse: #ff8a80; --under: #7ab8ff; --both: #c8a6ff;"
    " --ground: #0E1117;",
}
"""Of words; graphs have a palette of their own."""


def apply() -> None:
    """Add the rules to the page."""
    st.html(_RULES)
    st.html(f"<style>:root {{ {_COLOURS[st.context.theme.type or 'light']} }}</style>")


def name_on_phones(title: str) -> None:
    """Write the page's name into the bar above where that is too narrow to list the pages."""
    place = "position: absolute; left: 4rem; top: 1rem; font-weight: 600; font-size: 1.125rem;"
    rule = f"[data-testid=\"stHeader\"]::after {{ content: '{title}'; {place} }}"
    st.html(f"<style>@media (max-width: 767px) {{ {rule} }}</style>")


def hide_on_phones(prefix: str) -> None:
    """Hide containers whose keys start so where the page is as narrow as a phone."""
    rule = f'[class*="st-key-{prefix}"] {{ display: none; }}'
    st.html(f"<style>@media (max-width: 640px) {{ {rule} }}</style>")


def project() -> None:
    """Enlarge the type, so that a hall can read it, to as large a share of any screen."""
    st.html(
        "<style>html { font-size: max(17px, 2.2vh); }"
        ' [data-testid="stMainBlockContainer"] { padding-top: 3.75rem; }</style>'
    )


def palette() -> Palette:
    """Return the colours that fit the theme in use."""
    return DARK if st.context.theme.type == "dark" else LIGHT
