"""Reliability: the diagram, its bins, and every class."""
