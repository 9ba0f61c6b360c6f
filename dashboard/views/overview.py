"""Overview: what was read, the conclusion, and the measures that carry it."""

from dashboard.parts import diagrams, graph, headline, imported, measures
from dashboard.scene import Scene


def show(scene: Scene) -> None:
    """Show the page."""
    imported.show_imported(scene.upload, scene.sample)
    headline.show_verdict(scene)
    headline.show_tiles(scene)
    graph.choose_side_on_phones()
    diagrams.show_diagrams(scene)
    measures.show(scene)
