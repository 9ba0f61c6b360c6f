"""Reliability: said against seen, in bins and curves, and class by class."""

from dashboard.parts import bins, classes, diagrams, graph, headline
from dashboard.scene import Scene


def show(scene: Scene) -> None:
    """Show the page."""
    headline.show_verdict(scene)
    diagram = diagrams.choose_diagram()
    graph.choose_side_on_phones()
    diagrams.show_diagrams(scene, diagram)
    bins.show(scene)
    classes.show(scene)
