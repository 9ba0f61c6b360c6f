"""JSON: a piece at a time, and what its lists grow into."""
