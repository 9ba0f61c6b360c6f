"""Which column is what: features, candidates, scores of the evidence, a choice or a question."""

from dashboard.readers.recognition.choose import recognise

__all__ = ["recognise"]
