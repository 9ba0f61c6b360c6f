"""From score maps to vector maps: a map per class or rank, one for all, one after another."""
