"""Workbooks, of which the cells of one sheet are read."""
