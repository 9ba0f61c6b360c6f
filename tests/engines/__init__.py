"""Engines that count rows elsewhere, each a real one: `make engines`."""
