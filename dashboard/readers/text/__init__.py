"""Tables of text: lines, fields, and their numbers."""
