"""Lessons: a question, a guess, one interaction, and an answer that is computed."""

from dashboard.learn.lesson import Lesson

__all__ = ["Lesson"]
