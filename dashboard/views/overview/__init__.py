"""Overview: whether the score is right, and how far it can be trusted."""
