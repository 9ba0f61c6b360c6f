"""The command ``fractile``."""
