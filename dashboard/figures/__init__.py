"""Result object in, plotly figure out: nothing is computed or fitted here."""

from dashboard.figures.graphs import FourGraphs, four_graphs
from dashboard.figures.palette import DARK, LIGHT, Palette
from dashboard.figures.reliability import reliability_diagram

__all__ = ["DARK", "LIGHT", "FourGraphs", "Palette", "four_graphs", "reliability_diagram"]
