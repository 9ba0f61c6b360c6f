"""What stands around every lesson."""

from collections.abc import Mapping, Sequence

TITLE = "Lessons"

INTRO = (
    "Each lesson has one idea and takes at most five minutes: guess first, then see. All figures"
    " are computed while you look, by the functions behind every other page. Nothing is stored."
)

ALL = "All lessons"
GUESS = "Your guess"
LOCK = "Show the answer"
SKIP = "Skip the guess"
AGAIN = "Guess again"
HIDDEN = "Your guess is kept. A link from your teacher shows the answer."
CHECK = "Check yourself"
KEEP = "To keep"
NUMBERS = "The picture in numbers"
COMPUTED = "How this is computed"
TERMS = "Words"
NEXT, BEFORE = "Next", "Previous"
RIGHT = "Yes."
OTHER = "Another answer is right: {answer}."


def lesson_name(number: int, title: str) -> str:
    """Return how a lesson is called in a list."""
    return f"{number}. {title}"


def guessed(answer: str, guess: str | None = None, *, right: bool | None = None) -> str:
    """Put a guess beside what was computed, and say whether it is right where it was a choice."""
    if guess is None:
        return f"Computed: **{answer}**"
    verdict = {True: " (right)", False: " (not right)", None: ""}[right]
    return f"Your guess: **{guess}**{verdict} · Computed: **{answer}**"


def progress(n_seen: int, n_lessons: int) -> str:
    """Say how many lessons were opened in this tab."""
    if n_seen == 0:
        return ""
    return f"{n_seen} of {n_lessons} lessons done in this tab."


def checked(answers: Mapping[str, str], chosen: str, right: str, why: str) -> str:
    """Say whether an answer is right, and why."""
    first = RIGHT if chosen == right else OTHER.format(answer=answers[right])
    return f"{first} {why}"


def alt_text(name: str, text: str) -> str:
    """Describe a picture for who cannot see it."""
    return f"{name}. {text}"


def table(rows: Sequence[Sequence[str]]) -> str:
    r"""Write rows of cells, the first one the head, as a table of Markdown.

    Examples
    --------
    >>> table([("Bins", "ECE"), ("5", "4.4%")])
    '| Bins | ECE |\n| --- | --- |\n| 5 | 4.4% |'
    """
    head, *body = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([head, f"| {' | '.join('---' for _ in rows[0])} |", *body])


def unusable(names: Sequence[str]) -> str:
    """Name what of a link was not understood."""
    return f"Not understood in this link: {', '.join(names)}. The usual values are used instead."
