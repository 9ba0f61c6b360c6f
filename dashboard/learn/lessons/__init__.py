"""The lessons by chapter, in the order in which they build on each other."""

from dataclasses import dataclass

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
    hosmer,
    in_the_large,
    ks,
    luck,
    splines,
    training,
    transport,
    useful,
)


@dataclass(frozen=True)
class Chapter:
    """Lessons that belong together."""

    title: str
    """One word."""
    about: str
    """One sentence."""
    lessons: tuple[Lesson, ...]
    """In the order in which they build on each other."""


CHAPTERS: tuple[Chapter, ...] = (
    Chapter(
        "Meaning",
        "What a score says, and how rows become a diagram.",
        (eighty.LESSON, diagram.LESSON),
    ),
    Chapter(
        "Measuring",
        "How far scores are from what is observed, and how much of it is luck.",
        (
            bins.LESSON,
            ks.LESSON,
            luck.LESSON,
            in_the_large.LESSON,
            hosmer.LESSON,
            events.LESSON,
        ),
    ),
    Chapter(
        "Correcting",
        "How scores are calibrated, and how the result is evaluated.",
        (
            confident.LESSON,
            held_out.LESSON,
            splines.LESSON,
            training.LESSON,
            transport.LESSON,
        ),
    ),
    Chapter(
        "Acting",
        "What scores are worth, for whom, and from which risk on to act.",
        (useful.LESSON, groups.LESSON, acting.LESSON),
    ),
)

LESSONS: tuple[Lesson, ...] = tuple(one for chapter in CHAPTERS for one in chapter.lessons)


def find(key: str) -> Lesson | None:
    """Find a lesson by its word in the address; None where no lesson has it."""
    return next((lesson for lesson in LESSONS if lesson.key == key), None)
