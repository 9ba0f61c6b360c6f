"""What stands around every lesson."""

import math
from collections.abc import Mapping, Sequence

from dashboard.texts.numbers import listing

TITLE = "Lessons"

INTRO = "One idea each: guess first, then see. All figures are computed while you look."

ALL = "All lessons"
GUESS = "Your guess"
GUESS_NUMBER = "Your guess"
LOCK = "Show the answer"
SKIP = "Skip the guess"
AGAIN = "Guess again"
HIDDEN = "Your guess is kept. A link from your teacher shows the answer."
HIDDEN_SKIPPED = "A link from your teacher shows the answer."
CHECK = "Check yourself"
KEEP, TERMS = "Takeaway", "Words"
PLAY, STOP_PLAYING = "\u25b6 Play", "\u25a0 Stop"
NLL = (
    "mean of \u2212ln of the probability given to what happened: 80% costs"
    f" {-math.log(0.8):.2f}, 1% costs {-math.log(0.01):.1f}."
)
"""Its definition, in every lesson that speaks of it."""
LOGITS = "one number per class, of any size; softmax makes them scores that add up to 100%."
SLIDES = "Pictures for slides"
NUMBERS = "The picture in numbers"
COMPUTED = "How this is computed"
NEXT, BEFORE, FURTHER = "Next", "Previous", "After the lessons"
NEXT_LESSON, LAST_LESSON = "Next: {name}", "This is the last lesson. Go on with:"
ANSWER = "Answer to the question"
"""Said of its figures, which stay where they are when the controls are moved."""

RIGHT = "Yes."
OTHER = "Not quite. The answer is: {answer}."


def minutes_of(n: int) -> str:
    """Say how long a lesson takes."""
    return f"about {n} minutes"


def my_guess(guess: str) -> str:
    """Name a guess on the button that makes it and shows the answer."""
    return f"My guess: {guess}"


def lesson_name(number: int, title: str) -> str:
    """Return how a lesson is called in a list."""
    return f"{number}. {title}"


def guessed(
    answer: str, guess: str | None = None, *, right: bool | None = None, if_right: str = "right"
) -> str:
    """Put a guess beside what was computed, and say whether it is right where it was a choice.

    ``if_right``: what a right guess is called.
    """
    if guess is None:
        return f"{ANSWER}: **{answer}**"
    verdict = {True: f" ({if_right})", False: " (not quite)", None: ""}[right]
    return f"Your guess: **{guess}**{verdict} · {ANSWER}: **{answer}**"


def takeaway(text: str) -> str:
    """Return what to take away from a lesson, so that it is seen first."""
    return f":green-background[**{KEEP}:**] **{text}**"


def progress(n_seen: int, n_lessons: int) -> str:
    """Say how many lessons were done."""
    if n_seen == 0:
        return ""
    return f"**{n_seen} of {n_lessons} lessons done.** The address of this page keeps it."


def checked(answers: Mapping[str, str], chosen: str, right: str, why: str) -> str:
    """Say whether an answer is right, and why."""
    first = RIGHT if chosen == right else OTHER.format(answer=answers[right])
    return f"{first} {why}"


def alt_text(name: str, text: str) -> str:
    """Describe a picture for who cannot see it."""
    return f"{name}. {text}"


def table(rows: Sequence[Sequence[str]]) -> str:
    r"""Write rows of cells, the first one the head, as a table of Markdown.

    >>> table([("Bins", "ECE"), ("5", "4.4%")])
    '| Bins | ECE |\n| --- | --- |\n| 5 | 4.4% |'
    """
    head, *body = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([head, f"| {' | '.join('---' for _ in rows[0])} |", *body])


def unusable(names: Sequence[str]) -> str:
    """Name what of a link was not understood."""
    return f"Not understood in this link: {', '.join(names)}. The usual values are used instead."


LINK, EXERCISES, PLAN, IN_CLASS = "A link", "Exercises", "Plan of 45 minutes", "In class"
PARTS = {"plan": PLAN, "link": LINK, "exercises": EXERCISES, "class": IN_CLASS}
"""Parts of the page for teachers, by their words in its address."""

PART = "Part of this page"

LINK_INTRO = (
    "A link opens a lesson in the same state for everybody: the same draws, the same controls."
    " Nothing is stored anywhere."
)
LESSON, SEED, SEATS, ANSWERS, SIZE, HIDE = (
    "Lesson", "Seed of all draws", "Draws", "Answers", "Type", "Leave out",
)  # fmt: skip
SEATS_OFFERED = {"0": "The same for all", "ask": "Each student's own, by a seat number"}
ANSWERS_OFFERED = {
    "after": "After a guess", "hidden": "Not shown", "shown": "Shown at once",
}  # fmt: skip
SIZES_OFFERED = {"screen": "Screen", "projector": "Projector"}
HIDE_OFFERED = {
    "link": "Link to the dashboard", "computed": "How it is computed", "check": "Check question",
    "numbers": "Table of numbers", "lessons": "Ways to other lessons",
}  # fmt: skip
OPEN = "Open it"
SET = (
    "For other positions of the controls: open the lesson, skip the guess, move the controls, copy"
    " its address. After a guess, the address would give it to everybody."
)
OWN = "The same twenty questions for all, in Your own calibration:"
NO_LOCK = (
    "A link is not a lock: anyone who types `answers=after` into the address sees the answer. For"
    " marked work, change the seed."
)
SEAT = "Your seat number"
SEAT_FIRST = "Type your seat number to begin."
SEAT_RANGE = "1 to 400"
SEAT_HELP = "Each seat has draws of its own; your teacher sees the same with your number."

SHEET = "Calibration: exercises"
SOLUTIONS = "Solutions"
SOLUTION = "Solution"
EXERCISES_INTRO = (
    "For pencil and paper. The seed draws the data, and the address of this page holds it: a link"
    " hands out the same exercises. Every solution is computed by the functions of the dashboard."
)
SAVE = "Save to print (HTML)"
SAVE_WITHOUT = "Save without solutions"


def of_seed(seed: int) -> str:
    """Say which exercises these are."""
    return f"Seed {seed}. The same seed gives the same exercises and solutions."


HOMEWORK = "Homework"
OWN_LATER = "And [Your own calibration](you): twenty questions, and the codes for the next hour."


def biostatistics(minutes: int, instead: Sequence[str]) -> str:
    """Head the stops for biostatistics."""
    titles = listing([f"*{title}*" for title in instead])
    return f"For biostatistics: {minutes} minutes instead of {titles}."


def later(name: str, titles: Sequence[tuple[str, str]]) -> str:
    """Name lessons for later, with their links."""
    return f"{name}: {'; '.join(f'[{t}](learn?lesson={key})' for key, t in titles)}."


PLAN_INTRO = (
    "Before: open each link once. Students need a phone or a laptop, or nothing but the projector."
    " For a large hall, add `&size=projector` to a link."
)
ASK, DO, SAY = "Ask", "Do", "Say"
QR, QR_OF = "QR codes", "QR code of the link: {name}"
QR_HELP = "For phones that see the projector. A click shows a code alone, without this plan."


def minutes_short(n: int) -> str:
    """Write minutes in a narrow column."""
    return f"{n} min"


def span_of(start: int, minutes: int) -> str:
    """Return from which minute to which a step lasts."""
    return f"{start}\u2013{start + minutes}"


LOCAL = "This address works on this computer alone; the tab In class says how others reach it."

MEASURED = (
    "On a server with two cores, 40 sessions that each move a slider every two seconds have their"
    " answer within 0.1 seconds in 90% of cases, in the laboratory within 0.5 seconds; the browser"
    " then draws for about 0.1 seconds."
    " `fractile class` measures it on yours, while it runs. On the other pages, free play of 40"
    " people at once queues: project them, or give out links."
)

IN_CLASS_TEXT = """
**On your laptop, for a class in the same network.** Start it with

    fractile serve -- --server.address 0.0.0.0 --server.allowedHosts '*'

and hand out `http://`, the laptop's name or number in the network, and `:8501`. No account is
needed, nothing is stored, no page asks for anything outside. Whoever is in the network can then
open the dashboard, so end it after class.

**How many at once.** {measured}

**What students see.** Their guesses and progress stay in their tab and are gone when it is closed.
With seats, each student's draws are their own: type a student's seat number to see the same.
"""
