"""Result object in, plotly figure out: nothing is computed or fitted here."""

from dashboard.figures.bins import bins_graph
from dashboard.figures.graphs import FourGraphs, RowMark, four_graphs, mark_rows
from dashboard.figures.palette import DARK, LIGHT, Palette
from dashboard.figures.reliability import Diagram, class_picture, reliability_diagram

__all__ = [
    "DARK",
    "LIGHT",
    "Diagram",
    "FourGraphs",
    "Palette",
    "RowMark",
    "bins_graph",
    "class_picture",
    "four_graphs",
    "mark_rows",
    "reliability_diagram",
]
