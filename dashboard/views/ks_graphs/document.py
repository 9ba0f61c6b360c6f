"""The gap and the four graphs of each side, before beside after."""

from collections.abc import Sequence
from functools import partial

from dashboard.document.blocks import Picture, Pictures, Sentences
from dashboard.figures import mark_rows
from dashboard.figures.plotly_json import Titles
from dashboard.scene import Scene
from dashboard.texts.verdict import named_sides
from dashboard.views.ks_graphs import drawing, words


def note_of(scene: Scene) -> Sentences:
    """Return the KS error of each side, and what the grey region is."""
    errors, before = words.errors_note(scene.evaluated), scene.evaluated.before
    note = f"{errors} {words.band_note(before, expert=scene.expert)}"
    return Sentences("note", (note,), small=True)


def document(
    scene: Scene,
    letters: Sequence[str] = "abcd",
    *,
    alike: Sequence[Scene] = (),
    n_rows: int = 1,
    fractile: float | None = None,
) -> tuple[Pictures, ...]:
    """Return the gap and the graphs of some ``letters`` on one set.

    ``alike``: what shares their axes; none for the scene alone. ``n_rows``: how many such rows of
    graphs a page has. ``fractile``: where the same rows are marked in each.
    """
    evaluated, expert = scene.evaluated, scene.expert
    n_figures = 2 * n_rows * len(letters)
    drawn = drawing.draw_graphs(scene, alike=alike or [scene], n_figures=n_figures)
    shown: dict[str, list[Picture]] = {key: [] for key in ("gap", *letters)}
    sides, captions_of = named_sides(evaluated), drawing.captions_of(scene)
    for (name, side), figures, captions in zip(sides.items(), drawn, captions_of, strict=False):
        marks = {} if fractile is None else mark_rows(side, fractile, scene.palette)
        titles = Titles(name if len(sides) > 1 else "", partial(words.titled, expert=expert))
        note = words.band_note(side, expert=expert)
        for key, pictures in shown.items():
            one = f"{name.lower()} {key}", captions[key], figures[key], titles, note
            pictures.append(Picture(*one, marks.get(key)))
    return tuple(Pictures(key, tuple(pictures)) for key, pictures in shown.items())
