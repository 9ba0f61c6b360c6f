"""The lessons, in the order in which they build on each other."""

from dashboard.learn.lesson import Lesson
from dashboard.learn.lessons import bins, eighty, ks, luck

LESSONS: tuple[Lesson, ...] = (
    eighty.LESSON,
    bins.LESSON,
    ks.LESSON,
    luck.LESSON,
)


def find(key: str) -> Lesson | None:
    """Find a lesson by its word in the address; None where no lesson has it."""
    return next((lesson for lesson in LESSONS if lesson.key == key), None)
