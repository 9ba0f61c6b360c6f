"""The four graphs of both sides, of either set and of a second event; and the spline itself."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from plotly import graph_objects as go

from calibcore.calibrators import FittedSpline, SplineCalibration
from calibcore.evaluation import Side
from calibcore.reliability import SplineFit
from dashboard.compute.cache import key_of, once
from dashboard.compute.fits import fitted_on, run_audit
from dashboard.compute.split import evaluated_split, part_of
from dashboard.figures import FourGraphs, four_graphs
from dashboard.figures.graphs import fit_graph, gap_graph
from dashboard.scene import Scene
from dashboard.settings import ChosenEvent, SetChoice
from dashboard.texts.rows import rows
from dashboard.views.ks_graphs import words

Caption = Callable[..., str]
Captions = dict[str, str]
Graphs = dict[str, go.Figure | None]
"""By its letter; that of the gap by "gap"."""

PANELS: dict[str, tuple[Callable[[FourGraphs], go.Figure | None], Caption]] = {
    "a": (lambda graphs: graphs.cumulative_by_fractile, words.cumulative_caption),
    "b": (lambda graphs: graphs.cumulative_by_score, words.warped_caption),
    "c": (lambda graphs: graphs.frequency_by_fractile, words.fractile_caption),
    "d": (lambda graphs: graphs.frequency_by_score, words.score_caption),
}
"""Each graph and its caption, by its letter."""

MOST_FIGURES = 16
"""Figures on a page at once; more would be too much to send and to take in."""

USUAL_FIGURES, FEWER_POINTS = 8, 200
"""With more figures than usual their lines get fewer points, so that a page stays light."""


def on_set(scene: Scene, chosen: SetChoice) -> Scene:
    """Look at the other set, or at the same."""
    if chosen == scene.chosen:
        return scene
    evaluated = evaluated_split(scene.upload, scene.settings)
    rows = evaluated.test if chosen == "test" else evaluated.calibration
    part = part_of(scene.upload, scene.settings, chosen)
    return replace(scene, chosen=chosen, rows=rows, part=part)


def with_event(scene: Scene, event: ChosenEvent) -> Scene:
    """Look at another event with the same calibrator, fitted to it where it acts on events."""
    settings = replace(scene.settings, event=event)
    result = run_audit(scene.upload, settings, lambda _: None)
    split = evaluated_split(scene.upload, settings)
    rows = split.test if scene.chosen == "test" else split.calibration
    return replace(scene, settings=settings, result=result, rows=rows)


def draw_graphs(scene: Scene, *, alike: Sequence[Scene], n_figures: int) -> tuple[Graphs, Graphs]:
    """Draw the gap and the four graphs before and after on one set.

    ``scene``: what is drawn. ``alike``: what shares its axes; itself may be among them.
    ``n_figures``: how many are on the page.
    """
    evaluated = scene.evaluated
    shared = [side for other in alike for side in (other.evaluated.before, other.evaluated.after)]
    most = {} if n_figures <= USUAL_FIGURES else {"most": FEWER_POINTS}

    def draw(side: Side, beside: Side) -> Graphs:
        four = four_graphs(side, beside, scene.palette, alike=shared, **most)
        gap = gap_graph(side, shared, scene.palette, **most)
        return {"gap": gap} | {key: figure_of(four) for key, (figure_of, _) in PANELS.items()}

    def make() -> tuple[Graphs, Graphs]:
        before = draw(evaluated.before, evaluated.after)
        if not evaluated.calibrated:
            return before, before
        return before, draw(evaluated.after, evaluated.before)

    with_whom = tuple(other.chosen for other in alike)
    key = key_of(scene.upload, scene.settings), scene.chosen, with_whom, scene.palette
    return once("graphs", (*key, tuple(most)), make)


def captions_of(scene: Scene) -> tuple[Captions, Captions]:
    """Write what each graph shows before and after.

    Once for each result: of many rows it takes a while to find.
    """
    write = {letter: caption for letter, (_, caption) in PANELS.items()} | {
        "gap": words.gap_caption
    }

    def make() -> tuple[Captions, Captions]:
        before, after = (
            {letter: caption(side, expert=scene.expert) for letter, caption in write.items()}
            for side in (scene.evaluated.before, scene.evaluated.after)
        )
        return before, after

    key = key_of(scene.upload, scene.settings), scene.chosen, scene.expert, rows()
    return once("captions", key, make)


def spline_fit(scene: Scene) -> SplineFit | None:
    """Set the fitted spline beside what it was fitted to; None where the calibrator is another.

    None also of a summary, whose rows are too many to be drawn.
    """
    fitted, calibrator = scene.result.fitted, scene.settings.calibrator()
    if not isinstance(fitted, FittedSpline) or not isinstance(calibrator, SplineCalibration):
        return None
    if scene.upload.summary is not None:
        return None
    rows = fitted_on(scene)
    key = key_of(scene.upload, replace(scene.settings, only=None))
    given = rows.scores, rows.hits
    return once(
        "spline fits", key, lambda: calibrator.shown(fitted, *given, sample_weight=rows.weights)
    )


def draw_fit(scene: Scene, fit: SplineFit) -> go.Figure:
    """Draw the spline over what it was fitted to."""
    key = key_of(scene.upload, replace(scene.settings, only=None)), scene.palette
    return once("fit graphs", key, lambda: fit_graph(fit, scene.palette))
