"""The only place that keeps results; everything is keyed by digest and settings."""
