"""Ensembles: mixtures of temperature-scaled probabilities, and of beta maps."""
