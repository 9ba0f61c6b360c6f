"""A file on its way in: what is read, asked and chosen."""
