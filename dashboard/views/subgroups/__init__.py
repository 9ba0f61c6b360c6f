"""Subgroups of the rows."""
