"""What a page says, as blocks, and their writers."""
