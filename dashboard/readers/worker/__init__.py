"""The bounded process in which every file is parsed."""

from dashboard.readers.worker.process import WORKERS, parse_apart

__all__ = ["WORKERS", "parse_apart"]
