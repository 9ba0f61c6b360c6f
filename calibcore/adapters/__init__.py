"""The calls of other libraries, each in a file of its own that the core does without."""
