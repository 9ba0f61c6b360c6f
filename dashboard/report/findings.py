"""What was found, as sections of a report: graphs, measures, subgroups, decisions, calibrators."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from plotly import graph_objects as go

from calibcore.comparison import pick, ranked, sides_shown
from calibcore.events import OneClass
from calibcore.inference import Inference
from calibcore.verdict import DETECTION_LEVEL
from dashboard.compute.comparison import RANKED_BY, ComparisonResults, Dealt, conclusion_of
from dashboard.compute.subgroups import find_groups, find_slices
from dashboard.compute.verdict import lines_of
from dashboard.document.blocks import Block, Picture, Pictures, Section, Sentences
from dashboard.figures.plotly_json import Titles
from dashboard.scene import Scene
from dashboard.tables import contest_table, measures_shown
from dashboard.texts import comparison as contest_words
from dashboard.texts import report as words
from dashboard.texts.verdict import sides_of
from dashboard.views.decisions.document import Choices
from dashboard.views.decisions.document import document as decisions_document
from dashboard.views.ks_graphs import drawing
from dashboard.views.ks_graphs import words as graph_words
from dashboard.views.overview.document import measure_notes, measures_of, measures_table
from dashboard.views.subgroups import words as slice_words
from dashboard.views.subgroups.document import slice_table

MOST_SUBGROUPS = 20
"""Subgroups that are listed for each column."""


MOST_COLUMNS = 8
"""Columns whose subgroups are listed."""


def section(scene: Scene, title: str, key: str, *blocks: Block | None) -> Section:
    """Return a section of the blocks that hold something; what is no other after stands once."""
    practice = words.practice(title, risk=isinstance(scene.settings.event, OneClass))
    return Section(key, title, practice, tuple(filter(None, (_shown(scene, b) for b in blocks))))


def _shown(scene: Scene, block: Block | None) -> Block | None:
    match block:
        case Sentences():
            return block if block.plain_lines else None
        case Pictures():
            n_sides = 1 if scene.evaluated.after is scene.evaluated.before else 2
            drawn = [one for one in block.pictures[:n_sides] if one.figure is not None]
            return replace(block, pictures=tuple(drawn))
    return block


def lines(key: str, texts: Sequence[str], heading: str = "") -> Sentences:
    """Return sentences of a page."""
    return Sentences(key, tuple(text for text in texts if text), heading)


def graphs(scene: Scene) -> Section:
    """Return the gap and the four graphs of each side, before beside after."""
    sides = [*sides_of(scene.evaluated).items()]
    drawn = drawing.draw_graphs(scene, alike=[scene], n_figures=drawing.USUAL_FIGURES)
    gaps = drawing.draw_gaps(scene, alike=[scene], n_figures=drawing.USUAL_FIGURES)
    captions = drawing.captions_of(scene)

    def panel(letter: str, of_sides: Sequence[go.Figure | None]) -> Pictures:
        shown = [
            Picture(
                f"{letter} {name.lower()}", caption[letter], figure,
                Titles(name, partial(graph_words.titled, expert=scene.expert)),
            )
            for (name, _), figure, caption in zip(sides, of_sides, captions, strict=False)
            if figure is not None
        ]  # fmt: skip
        return Pictures(letter, tuple(shown))

    blocks = [panel("gap", gaps)]
    for letter, (figure_of, _) in drawing.PANELS.items():
        blocks.append(panel(letter, [figure_of(four) for four in drawn]))
    note = lines("band", [graph_words.band_note(sides[0][1], expert=scene.expert)])
    return section(scene, words.GRAPHS, "graphs", note, *blocks)


# Measures -----------------------------------------------------------------------------------


def measures(scene: Scene, inference: Inference | None) -> Section:
    """Return every measure with its definition."""
    evaluated, listed = scene.evaluated, measures_of(scene, full=True)
    both = evaluated.after is not evaluated.before
    table = measures_table(evaluated, inference, listed, both=both, expert=scene.expert)
    notes = measure_notes(scene, inference, listed)
    return section(scene, words.MEASURES, "measures", table, notes)


# Subgroups ----------------------------------------------------------------------------------


def subgroups(scene: Scene) -> Section:
    """Return the worst subgroup, and every subgroup of the columns."""
    groups = find_groups(scene)
    blocks: list[Block | None] = [lines("worst", lines_of(scene))]
    noted: set[str] = set()
    for slicing in groups.slicings[:MOST_COLUMNS]:
        one = find_slices(scene, slicing.by)
        after = None if one.after is one.before else one.after
        order = one.before.order(DETECTION_LEVEL)
        shown = (np.sort(order) if slicing.in_time else order)[:MOST_SUBGROUPS].tolist()
        table = slice_table(
            slicing.by, slicing.shown, (one.before, after), (one.right, one.right_after), shown,
            prediction=scene.event_words.prediction,
        )  # fmt: skip
        blocks.append(table)
        note = slice_words.table_note(
            one.before, order.size, by=slicing.by, worst_first=not slicing.in_time
        )
        cut = words.largest_shown(len(shown), order.size)
        blocks.append(lines(f"note {slicing.by}", [note if note not in noted else "", cut]))
        noted.add(note)
    if not groups.slicings:
        blocks.append(lines("none", [words.NO_GROUPS]))
    return section(scene, words.SUBGROUPS, "subgroups", *blocks)


# Decisions ----------------------------------------------------------------------------------


def decisions(scene: Scene, choices: Choices) -> Section:
    """Return what acting on the scores comes to, at a cut-off or for a wanted accuracy."""
    return section(scene, words.DECISIONS, "decisions", *decisions_document(scene, choices))


# Calibrators --------------------------------------------------------------------------------


def contest(scene: Scene, results: ComparisonResults | None, dealt: Dealt) -> Section:
    """Return how the calibrators compare in cross-validation; that they were not compared."""
    if results is None or len(results.contestants) < 2:
        return section(scene, words.CONTEST, "contest", lines("none", [words.NOT_COMPARED]))
    contestants = ranked(results.contestants, RANKED_BY, "crossed")
    picks = pick(contestants, RANKED_BY)
    sentences = [] if picks is None else conclusion_of(scene, picks, contestants, dealt).lines
    columns = measures_shown((RANKED_BY.key, "ks_error", "ece"), RANKED_BY)
    table = contest_table(contestants, columns)
    n_fit, n_test = contestants[0].crossed.n_samples, contestants[0].test.n_samples
    apart = len(sides_shown(contestants)) > 1
    n_folds = min(dealt.n_folds, n_fit)
    note = contest_words.table_note(n_fit, n_test if apart else None, n_folds)
    return section(
        scene, words.CONTEST, "contest", lines("best", sentences), table, lines("how", [note])
    )
