"""The lessons, in the order in which they build on each other."""

from dashboard.learn.lesson import Lesson
from dashboard.learn.lessons import (
    acting,
    bins,
    confident,
    diagram,
    eighty,
    events,
    groups,
    held_out,
    ks,
    luck,
    splines,
    training,
    useful,
)

LESSONS: tuple[Lesson, ...] = (
    eighty.LESSON,
    confident.LESSON,
    diagram.LESSON,
    bins.LESSON,
    ks.LESSON,
    luck.LESSON,
    useful.LESSON,
    held_out.LESSON,
    splines.LESSON,
    events.LESSON,
    training.LESSON,
    groups.LESSON,
    acting.LESSON,
)


def find(key: str) -> Lesson | None:
    """Find a lesson by its word in the address; None where no lesson has it."""
    return next((lesson for lesson in LESSONS if lesson.key == key), None)
