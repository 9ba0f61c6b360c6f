"""Models: two or more of them, beside each other."""
