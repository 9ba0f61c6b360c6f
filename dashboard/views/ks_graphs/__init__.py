"""Cumulative (KS): the four graphs."""
