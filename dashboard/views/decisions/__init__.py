"""What acting on a score comes to, by the cut-off."""
