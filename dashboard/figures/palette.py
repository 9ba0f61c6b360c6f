"""The two colours that carry the meaning everywhere, in light and in dark."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Palette:
    """Colours of one theme."""

    score: str
    """Scores."""
    frequency: str
    """What happened: probability, observed frequency."""
    gap: str
    """Translucent fill between the two."""
    band: str
    """Translucent fill of the band under perfect calibration."""
    neutral: str
    """Reference lines."""
    text: str
    """Labels inside a graph."""
    ground: str
    """Page background, for the thin edges between bars."""


LIGHT = Palette(
    score="#0B63A8",
    frequency="#BD5107",
    gap="rgba(189, 81, 7, 0.18)",
    band="rgba(105, 105, 105, 0.32)",
    neutral="#6B7280",
    text="#1F2937",
    ground="#FFFFFF",
)
DARK = Palette(
    score="#6FB7F2",
    frequency="#F5A25D",
    gap="rgba(245, 162, 93, 0.22)",
    band="rgba(165, 165, 165, 0.36)",
    neutral="#9CA3AF",
    text="#E5E7EB",
    ground="#0E1117",
)
