"""Which column or array is what, whatever the format."""
