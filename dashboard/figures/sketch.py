"""The parts of a figure, gathered before it is made."""

from typing import Any

from plotly import graph_objects as go

from dashboard.figures.drawing import Drawing


class Sketch:
    """Lines, bars and names, which `figure` makes into one figure at once.

    Notes
    -----
    Plotly checks the whole figure at each addition, which takes five times as long.
    """

    def __init__(self) -> None:
        self.data: list[dict[str, Any]] = []
        self.annotations: list[dict[str, Any]] = []

    def add_scatter(self, **trace: Any) -> None:
        """Add points or a line, as `plotly.graph_objects.Figure.add_scatter` takes them."""
        self.data.append({"type": "scatter", **trace})

    def add_bar(self, **trace: Any) -> None:
        """Add bars, as `plotly.graph_objects.Figure.add_bar` takes them."""
        self.data.append({"type": "bar", **trace})

    def add_annotation(self, **annotation: Any) -> None:
        """Add a name, as `plotly.graph_objects.Figure.add_annotation` takes it."""
        self.annotations.append(annotation)

    def figure(self, layout: dict[str, Any], **more: Any) -> go.Figure:
        """Make the figure."""
        return Drawing(self.data, {**layout, "annotations": self.annotations, **more})
