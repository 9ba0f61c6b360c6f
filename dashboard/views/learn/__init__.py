"""The pages that teach."""
