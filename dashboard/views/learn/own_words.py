"""What the page about your own calibration says."""

import math
from base64 import b64encode
from collections.abc import Mapping, Sequence

from calibcore.data import EventScores
from dashboard.learn.garments import png_of
from dashboard.learn.own import CERTAIN, LETTERS, N_MORE, OwnAnswer, PastedCodes, Result
from dashboard.learn.questions import N_QUESTIONS, OwnQuestion
from dashboard.texts.badges import NOT_DETECTED, Badge, badge_for
from dashboard.texts.measures import spelled_out
from dashboard.texts.numbers import (
    DASH,
    INFINITY,
    detected_points,
    escape_markdown,
    listing,
    p_words,
    percent,
    pp,
    span,
)

TITLE = "Your own calibration"
YOURS, WHOLE_CLASS = f"{N_QUESTIONS} questions", "Whole class"

# Before the questions ------------------------------------------------------------------------

INTRO = (
    f"Answer {N_QUESTIONS} questions, and say how sure you are of each answer. Your confidences are"
    " then evaluated as the scores of a model are. Nothing is stored: your answers stay in this"
    " tab."
)
SET = "Questions"
SETS: Mapping[str, str] = {
    "facts": "General knowledge",
    "pictures": "Pictures: you and a network",
}
SET_NOTES: Mapping[str, str] = {
    "facts": "Two answers to each question, one of them right.",
    "pictures": (
        "Small grey pictures of garments, and the two classes that a network found likeliest. As"
        " many pictures of each range of its score, so hard ones are frequent."
    ),
}
TEACH = "Show the truth after each answer"
OFFER_CERTAIN = "Offer 100%"
OFFER_CERTAIN_HELP = (
    "Wrong once with 100%, the NLL is infinite: what happened had a probability of 0. So the"
    " highest confidence is 99% unless you choose otherwise."
)
START = "Start"
UNUSABLE = "Not understood in this link: {names}. The usual values are used instead."

# Questions -----------------------------------------------------------------------------------

CONFIDENCE = "How sure are you?"
CONFIDENCE_HELP = "50%: as good as a coin. 90%: right in nine of ten such answers."
NEXT, BACK, SHOW_TRUTH, RESULT = "Next", "Back", "Show the truth", "Show the result"
LESS, MORE = "\u2212", "+"
KEYS = "Keys: 1 and 2 choose, arrows change how sure, N goes on, B goes back."


def percentage(level: int) -> str:
    """Write a confidence."""
    return f"{level}%"


def place(number: int) -> str:
    """Say which question this is, counted from 1."""
    return f"{number} of {N_QUESTIONS}"


def confidence(answer: str | None) -> str:
    """Ask for the confidence in an answer; None where none is chosen yet."""
    return CONFIDENCE if answer is None else f"{CONFIDENCE} Your answer: **{answer}**"


def given(answer: str, level: int) -> str:
    """Say what was answered, and how surely."""
    return f"Your answer: **{answer}**, {percentage(level)}"


def picture_alt(number: int) -> str:
    """Name a picture without saying what is on it."""
    return f"Grey picture of a garment, question {number}"


def truth(question: OwnQuestion, *, right: bool) -> str:
    """Say whether an answer was right, and why."""
    return f"**{'Right' if right else 'No'}:** {true_answer(question)}"


def true_answer(question: OwnQuestion) -> str:
    """Return the right answer with the fact and where it is from, as Markdown."""
    fact = f"{question.fact} " if question.fact else ""
    return f"**{escape_markdown(question.answers[question.right])}.** " + escape_markdown(
        f"{fact}({question.source})"
    )


# Result --------------------------------------------------------------------------------------

AGAIN = "Again with other questions"
MEASURES, ANSWERS, CODE = "Measures", "Your answers", "Your code"
FOUR_GRAPHS = "The four graphs"
FOUR_NOTE = (
    "Score: your confidence. Outcome: whether the answer was right. Answers are sorted by"
    " confidence, lowest first. Grey: 95% band if perfectly calibrated."
)
MEASURE_HEAD = ("Measure", "You", "Always 50%")
NETWORK = "Network"
_SMALL = 2
"""Pixels of the page for one of a picture in the table."""

_SIGNS = ("\u2717", "\u2713")
ANSWER_HEAD = ("Question", "You", "Truth")
PICTURE_NOTE = "Truth: the label of the data set, which may itself be wrong."
PICTURE_HEAD = ("Picture", "You", NETWORK, "Truth")
CODE_NOTE = (
    "One letter per answer: its confidence, and whether it was right. No name, no question. To hand"
    " it in, send the code or this link, which opens this result again."
)
COMPUTED = "How this is computed"
COMPUTED_TEXT = (
    "`EventScores(confidence, right)`, then the functions of every page: `cumulative_curves`,"
    " `ks_null`, `spline_frequency` with 6 knots, `event_brier`, `event_nll`, and Wilson intervals"
    " in 5 bins from 50 to 100%, each with its lower end. The limit of the KS error is the Brownian"
    " one, which so few answers exceed in about 3% of cases. Which questions are asked matters: a"
    " set with many surprising answers makes everybody look overconfident."
)


def badge_of(result: Result) -> Badge:
    """Return over- or underconfident, or that neither is detected, by the test of the KS error."""
    curves = result.side.curves
    return badge_for(result.gap, curves.ks_error, curves.ks_p_value, prediction=True)


def band(result: Result) -> str:
    """Say how large the KS error of so many perfectly calibrated answers may be."""
    n, curves = result.n_answers, result.side.curves
    return (
        f"**First, luck.** {n} perfectly calibrated answers with these confidences have a"
        f" {spelled_out('KS error')} of up to **{percent(curves.ks_null_95, n)}** in at least 95%"
        f" of cases. With {N_MORE * n} such answers: up to {percent(result.limit_of_more, n)}."
    )


def yours(result: Result) -> str:
    """Say what your answers show, and what they cannot."""
    return f"**You:** {_summary(result)}"


def network(result: Result, on_all: Result) -> str:
    """Say the same of the network, and what many more pictures show of it."""
    n = on_all.n_answers
    many = f"All {n:,} such test pictures: {_verdict(on_all)}."
    return f"**Network:** {_summary(result)} {many}"


def _summary(result: Result) -> str:
    n, curves = result.n_answers, result.side.curves
    return (
        f"KS error **{percent(curves.ks_error, n)}**; mean confidence"
        f" {percent(result.mean_confidence, n)}, {percent(result.right, n)} right."
        f" {_verdict(result)}.{_outside(result)}"
    )


def _outside(result: Result) -> str:
    """Name bars whose interval leaves their confidence out, where the test detects nothing."""
    bins, off = result.binned.bins, result.binned.off
    names = [
        span(f"{100 * bins.edges[k]:.0f}%", f"{100 * bins.edges[k + 1]:.0f}%")
        for k in range(bins.counts.size)
        if off[k]
    ]
    if badge_of(result) is not NOT_DETECTED or not names:
        return ""
    return (
        f" The KS test does not detect it; yet at {' and '.join(names)} the mean confidence lies"
        " outside the interval of the bar: a hint, no proof."
    )


def _verdict(result: Result) -> str:
    """Return over- or underconfident with its size, or that so few answers cannot show it."""
    n, verdict = result.n_answers, badge_of(result)
    if verdict is NOT_DETECTED:
        return f"**{n:,} answers do not show** over- or underconfidence"
    size = "" if "and" in verdict.word else f" by {detected_points(abs(result.gap), n)}"
    return f"**{verdict.word}{size}** ({p_words(result.side.curves.ks_p_value)})"


def against_half(result: Result) -> str:
    """Compare the Brier score with that of saying 50% each time."""
    difference = round(result.brier - result.brier_of_half, 3)
    conclusion = "your confidences help"
    if difference >= 0:
        conclusion = (
            "50% each time would do better" if difference else "50% each time would do as well"
        )
    text = (
        f"Brier score {result.brier:.3f}; always saying 50% gives {result.brier_of_half:.3f}. Lower"
        f" is better: {conclusion}."
    )
    return f"{text} {INFINITE}" if math.isinf(result.nll) else text


INFINITE = (
    f"The NLL is infinite, as an answer with {CERTAIN}% was wrong: no number of good answers makes"
    " up for it."
)


def measure_rows(result: Result, beside: Result | None) -> list[tuple[str, ...]]:
    """Return the table of measures, the network's column last where there is one."""
    n, curves = result.n_answers, result.side.curves
    rows: list[tuple[str, ...]] = [
        ("Right", percent(result.right, n), DASH),
        ("Mean confidence", percent(result.mean_confidence, n), percent(0.5, n)),
        ("Mean gap", pp(result.gap, n, signed=True), DASH),
        ("KS error", percent(curves.ks_error, n), DASH),
        ("KS error, 95% limit if calibrated", percent(curves.ks_null_95, n), DASH),
        ("Brier score", f"{result.brier:.3f}", f"{result.brier_of_half:.3f}"),
        ("NLL (nats)", _nats(result.nll), _nats(result.nll_of_half)),
    ]
    if beside is None:
        return rows
    others = [row[1] for row in measure_rows(beside, None)]
    return [(*row, other) for row, other in zip(rows, others, strict=True)]


def _nats(value: float) -> str:
    return INFINITY if math.isinf(value) else f"{value:.3f}"


def answer_rows(
    questions: Sequence[OwnQuestion], answers: Sequence[OwnAnswer]
) -> list[tuple[str, ...]]:
    """Return the table of answers: question, what was chosen, and the truth with its source."""
    return [
        (
            escape_markdown(question.ask),
            _given(question, percentage(one.level), right=one.right),
            true_answer(question),
        )
        for question, one in zip(questions, answers, strict=True)
    ]


def picture_rows(
    questions: Sequence[OwnQuestion], answers: Sequence[OwnAnswer], beside: EventScores
) -> list[tuple[str, ...]]:
    """Return the same of pictures, with the network's answers."""
    every = zip(questions, answers, beside.scores, beside.hits, strict=True)
    return [
        (
            f"![{picture_alt(number)}]({_address(png_of(question.row or 0, _SMALL))})",
            _given(question, percentage(one.level), right=one.right),
            _given(question, _rounded(float(score)), right=bool(hit)),
            true_answer(question),
        )
        for number, (question, one, score, hit) in enumerate(every, start=1)
    ]


def _given(question: OwnQuestion, sure: str, *, right: bool) -> str:
    answer = question.answers[question.right if right else 1 - question.right]
    return escape_markdown(f"{_SIGNS[right]} {answer}, {sure}")


def _rounded(score: float) -> str:
    """Write a score in whole percent, which is 100 only where it is 1."""
    return "> 99%" if 0.99 < score < 1 else f"{100 * score:.0f}%"


def _address(png: bytes) -> str:
    return f"data:image/png;base64,{b64encode(png).decode()}"


# Whole class ---------------------------------------------------------------------------------

CLASS_INTRO = (
    "Each student sends you the code at the end of the result, or its link. Paste them here, one"
    " per"
    " line, with or without a name (`Anna: CODE`). They are read in this tab and stored nowhere."
    " The same code twice counts once. For the same questions for all, hand out the address with a"
    " seed, such as `you?seed=7`."
)
CODES = "Codes or links, one per line"
CLASS_NOTE = (
    "Answers of one person belong together: some people are surer than others. So no p-value and"
    " no error bars are given for all answers together."
)


def class_sentence(result: Result, n_people: int) -> str:
    """Say what all answers show together."""
    n = result.n_answers
    people = "1 person" if n_people == 1 else f"{n_people:,} people"
    return (
        f"**{people}, {n:,} answers:** mean confidence {percent(result.mean_confidence, n)},"
        f" {percent(result.right, n)} right; mean gap {pp(result.gap, n, signed=True)}, KS error"
        f" {percent(result.side.curves.ks_error, n)}."
    )


def refused(collected: PastedCodes) -> str:
    """Name the lines that are no code, in one sentence; "" where all are."""
    if not collected.refused:
        return ""
    several = len(collected.refused) > 1
    return (
        f"{_lines(collected.refused)} {'are' if several else 'is'} not a code of {N_QUESTIONS}"
        f" letters from {LETTERS[0]} to {LETTERS[-1]}, and {'are' if several else 'is'} left out."
    )


def repeated(collected: PastedCodes) -> str:
    """Say which codes stand twice, and how many were too many; "" for none."""
    parts = []
    if collected.repeated:
        several = len(collected.repeated) > 1
        verbs = ("repeat", "count") if several else ("repeats", "counts")
        parts.append(f"{_lines(collected.repeated)} {verbs[0]} a code above, and {verbs[1]} once.")
    if collected.left_out:
        parts.append(f"The last {collected.left_out:,} codes are left out: too many.")
    return " ".join(parts)


def mixed(collected: PastedCodes) -> str:
    """Say that links are of different questions; "" where they are of the same."""
    if len(collected.questions) < 2:
        return ""
    named = "; ".join(f"{SETS[which]}, seed {seed}" for which, seed in collected.questions)
    return (
        f"These links are of different questions ({named}): these people did not answer the same"
        " ones, so compare them with care."
    )


def _lines(numbers: Sequence[int]) -> str:
    """Name some lines.

    >>> _lines([3]), _lines([3, 7, 9])
    ('Line 3', 'Lines 3, 7 and 9')
    """
    return f"{'Line' if len(numbers) == 1 else 'Lines'} {listing([*map(str, numbers)])}"
