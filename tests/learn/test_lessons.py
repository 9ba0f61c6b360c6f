"""What holds of every lesson."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from calibcore.cumulative import ks_error
from dashboard.app import PAGES
from dashboard.figures import DARK, LIGHT
from dashboard.figures.plotly_json import LightFigure
from dashboard.learn.data import few_rows
from dashboard.learn.lesson import ChoiceGuess, Lesson, LessonView, NumberGuess, start_of
from dashboard.learn.lessons import LESSONS, find, ks
from dashboard.samples import samples

MOST_WORDS = 60

LONGEST_TITLE = 46
"""Letters of a title that stand over half of a projected page 1024 pixels wide."""

every_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.key)


def all_of(shown: LessonView) -> str:
    """Everything that a state sends, as one text."""
    # As they are sent: any word may stand by chance in an array that plotly writes as bytes.
    figures = [
        [LightFigure(p.figure, LIGHT).to_dict(), p.text] for p in (*shown.pictures, *shown.behind)
    ]
    return json.dumps([shown.sentence, shown.answer, shown.note, shown.numbers, *figures])


def words_of(text: str) -> int:
    return len(re.findall(r"[\w%]+", text))


def test_keys_are_found_and_differ() -> None:
    assert len({lesson.key for lesson in LESSONS}) == len(LESSONS)
    assert [find(lesson.key) for lesson in LESSONS] == list(LESSONS)
    assert find("none of them") is None


def test_the_documents_say_how_long_lessons_take() -> None:
    numbers = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    shortest, longest = (numbers[of(one.minutes for one in LESSONS) - 1] for of in (min, max))
    text = (Path(__file__).parents[2] / "docs" / "teaching.md").read_text("utf-8")
    assert f"one idea each, {shortest} to {longest} minutes," in text


def test_the_documents_say_how_far_the_rows_of_the_walk_are_off() -> None:
    text = (Path(__file__).parents[2] / "docs" / "decisions.md").read_text("utf-8")
    shared, few = (ks_error(rows.scores, rows.hits) for rows in (few_rows(), ks.few_drawn()))
    for error in (f"(KS {100 * shared:.1f}%)", f"({100 * few:.1f}%, median of {ks.N_DRAWS} draws"):
        assert error in text
    assert f"median of {ks.N_DRAWS} draws {100 * ks.usual_ks():.1f}%)" in text


@every_lesson
def test_every_step_of_each_control_is_drawn_and_said(lesson: Lesson) -> None:
    assert 1 <= len(lesson.controls) <= 2
    for control in lesson.controls:
        assert control.start in control.values
        for word in control.values:
            shown = lesson.show(start_of(lesson, chosen={control.name: word}))
            assert 1 <= len(shown.pictures) <= 2
            assert shown.sentence
            assert shown.answer
            assert "nan" not in all_of(shown).lower().replace("financ", "")
            for picture in shown.pictures:
                assert len(picture.figure.layout.title.text) <= LONGEST_TITLE
                assert picture.text.endswith(".")
                assert picture.figure.layout.title.text


@every_lesson
def test_the_same_address_shows_the_same(lesson: Lesson) -> None:
    state = start_of(lesson, seed=41, seat=7, draws=3)
    assert all_of(lesson.show(state)) == all_of(lesson.show(state))


@every_lesson
def test_another_draw_shows_something_else(lesson: Lesson) -> None:
    if lesson.draw:
        first, second = (lesson.show(start_of(lesson, draws=n)) for n in (1, 2))
        assert all_of(first) != all_of(second)


@every_lesson
def test_nothing_of_the_answer_is_sent_before(lesson: Lesson) -> None:
    before = lesson.show(start_of(lesson, revealed=False))
    assert before.answer == before.right == ""
    assert before.numbers == ()
    after = lesson.show(start_of(lesson))
    assert after.answer
    assert len(before.pictures) <= len(after.pictures)
    assert all_of(before) != all_of(after)


@every_lesson
def test_few_words_stand_before_the_answer(lesson: Lesson) -> None:
    before = lesson.show(start_of(lesson, revealed=False))
    captions = "".join(picture.text for picture in before.pictures)
    assert words_of(lesson.question + before.sentence) <= MOST_WORDS
    assert words_of(captions) <= MOST_WORDS


@every_lesson
def test_colours_follow_the_theme_and_figures_do_not(lesson: Lesson) -> None:
    light, dark = (lesson.show(start_of(lesson, **more)) for more in ({}, {"palette": DARK}))
    assert light.sentence == dark.sentence
    assert light.numbers == dark.numbers


@every_lesson
def test_the_check_has_a_right_answer_and_a_reason(lesson: Lesson) -> None:
    assert lesson.check.right in lesson.check.answers
    assert 2 <= len(lesson.check.answers) <= 4
    assert lesson.check.why


def test_the_place_of_the_right_answer_gives_nothing_away() -> None:
    places = [list(one.check.answers).index(one.check.right) for one in LESSONS]
    assert max(Counter(places).values()) <= len(LESSONS) / 2


def test_what_hedges_is_not_always_right() -> None:
    hedges = re.compile(r"not show|hardly|little|not yet|cannot be|depends", re.IGNORECASE)
    right = [one.key for one in LESSONS if hedges.search(one.check.answers[one.check.right])]
    wrong = [
        one.key
        for one in LESSONS
        for word, answer in one.check.answers.items()
        if word != one.check.right and hedges.search(answer)
    ]
    assert 0 < len(right) <= len(LESSONS) / 3
    assert wrong


@every_lesson
def test_a_guess_can_be_made(lesson: Lesson) -> None:
    match lesson.guess:
        case NumberGuess(low, high, step, start):
            assert low <= start <= high
            assert (start - low) % step == 0
        case ChoiceGuess(answers):
            assert 2 <= len(answers) <= 6
            assert lesson.show(start_of(lesson)).right in answers


@every_lesson
def test_the_link_opens_a_page_of_the_dashboard(lesson: Lesson) -> None:
    link = lesson.link(start_of(lesson))
    assert link.page in {path for _, path, _ in PAGES}
    assert link.query.get("sample", samples()[0].name) in {sample.name for sample in samples()}
