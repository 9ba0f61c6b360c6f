"""The page of lessons: guess, answer, control, check, and what its address holds."""

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.learn import plan
from dashboard.learn.exercises import exercises
from dashboard.learn.lesson import MOST_DRAWS, Lesson, NumberGuess, start_of
from dashboard.learn.lessons import CHAPTERS, LESSONS, find, luck
from dashboard.texts import learn as words
from dashboard.texts.numbers import escape_markdown
from tests.app.pages import open_page

each_kind = pytest.mark.parametrize(
    "lesson",
    {(type(one.guess), one.guess_each_draw): one for one in LESSONS}.values(),
    ids=lambda lesson: lesson.key,
)
"""A lesson of each kind of guess; what each of them says is tested in tests/learn."""


def open_lesson(**query: str) -> AppTest:
    page = open_page("learn", **query)
    assert not page.exception
    return page


def text_of(page: AppTest) -> str:
    alts = [chart.proto.alt for chart in page.get("plotly_chart")]
    return " ".join([one.value for one in page.markdown] + alts)


def lesson_of(key: str) -> Lesson:
    result = find(key)
    assert result is not None
    return result


def answer_of(lesson: Lesson, **fixed: object) -> str:
    return lesson.show(start_of(lesson, **fixed)).answer


def test_the_list_names_every_lesson_in_its_chapter_in_the_order_of_the_plan() -> None:
    page = open_lesson()
    links = {one.proto.label: one.proto.query_string for one in page.get("page_link")}
    for number, lesson in enumerate(LESSONS, start=1):
        assert links[words.lesson_name(number, lesson.title)] == f"lesson={lesson.key}"
    for chapter in CHAPTERS:
        assert f"**{chapter.title}.** {chapter.about}" in text_of(page)
    keys = [one.key for one in LESSONS]
    assert len({*keys}) == len(keys)
    planned = [step.lesson for step in plan.PLAN if step.lesson]
    assert planned == sorted(planned, key=keys.index)


def test_a_lesson_leads_on_to_the_next_and_the_last_to_what_else_there_is() -> None:
    page = open_lesson(lesson=LESSONS[0].key, answers="shown")
    page.button(key="way_on").click().run()
    assert page.query_params["lesson"] == LESSONS[1].key
    page = open_lesson(lesson=LESSONS[-1].key, answers="shown")
    assert words.LAST_LESSON in text_of(page)
    labels = [one.proto.label for one in page.get("page_link")]
    assert labels[-3:] == ["Laboratory", "Your own calibration", words.EXERCISES]


def check_terms(page: AppTest, lesson: Lesson, *, answered: bool) -> None:
    """Expect the words of a question before its answer and beside it, the others beside it."""
    for terms, times in ((lesson.terms, 1), (lesson.later, int(answered))):
        for term, meaning in terms.items():
            assert text_of(page).count(f"**{term}**: {meaning}") == times


@each_kind
def test_a_guess_comes_before_the_answer_and_a_check_after_it(lesson: Lesson) -> None:
    page = open_lesson(lesson=lesson.key)
    assert lesson.question in text_of(page)
    assert lesson.takeaway not in text_of(page)
    check_terms(page, lesson, answered=False)
    if isinstance(lesson.guess, NumberGuess):
        page.slider(key=f"guess_{lesson.key}").set_value(lesson.guess.low).run()
        guess = str(lesson.guess.low)
    else:
        assert page.radio(key=f"guess_{lesson.key}").value is None
        assert page.button(key=f"lock_{lesson.key}").disabled
        guess = next(iter(lesson.guess.answers))
        page.radio(key=f"guess_{lesson.key}").set_value(guess).run()
    page.button(key=f"lock_{lesson.key}").click().run()
    assert not page.exception
    answer = lesson.show(start_of(lesson, guess=guess))
    told = words.guessed(
        answer.answer,
        lesson.guess.shown(guess),
        right=guess == answer.right if answer.right else None,
        if_right=answer.if_right,
    )
    assert told in text_of(page)
    assert words.takeaway(lesson.takeaway) in text_of(page)
    assert page.query_params["guess"] == guess
    check_terms(page, lesson, answered=True)
    check = lesson.check
    wrong = next(word for word in check.answers if word != check.right)
    for word in (check.right, wrong):
        page.radio(key=f"check_{lesson.key}").set_value(word).run()
        shown = page.success if word == check.right else page.info
        sentence = words.checked(check.answers, word, check.right, check.why)
        assert sentence in [one.value for one in shown]


def test_few_words_stand_before_the_guess_of_a_lesson_with_many() -> None:
    useful = next(one for one in LESSONS if one.key == "useful")
    assert len(useful.terms) <= 3 < len(useful.later)


def test_a_hidden_answer_leaves_the_guess_as_it_is_until_it_is_made_again() -> None:
    page = open_lesson(lesson="bins", answers="hidden")
    assert not page.slider(key="guess_bins").disabled
    page.slider(key="guess_bins").set_value(7).run()
    page.button(key="lock_bins").click().run()
    assert page.slider(key="guess_bins").disabled
    assert page.slider(key="guess_bins").value == 7
    assert not [one for one in page.button if one.key in {"lock_bins", "skip_bins"}]
    assert [one.value for one in page.info] == [words.HIDDEN]
    assert answer_of(lesson_of("bins")) not in text_of(page)
    assert words.KEEP not in text_of(page)
    page.button(key="again_bins").click().run()
    assert not page.slider(key="guess_bins").disabled
    page.button(key="skip_bins").click().run()
    assert [one.value for one in page.info] == [words.HIDDEN_SKIPPED]


@each_kind
def test_skipping_shows_the_answer_as_well(lesson: Lesson) -> None:
    page = open_lesson(lesson=lesson.key)
    page.button(key=f"skip_{lesson.key}").click().run()
    assert words.guessed(answer_of(lesson)) in text_of(page)
    again = f"draw_{lesson.key}" if lesson.guess_each_draw else f"again_{lesson.key}"
    page.button(key=again).click().run()
    assert page.button(key=f"lock_{lesson.key}")


def test_six_others_are_shown_with_their_answer() -> None:
    page = open_lesson(lesson="luck")
    assert "open_luck" not in [one.key for one in page.button]
    page.button(key="skip_luck").click().run()
    page.button(key="open_luck").click().run()
    lesson = lesson_of("luck")
    assert lesson.show(start_of(lesson, draws=2)).sentence in text_of(page)
    hidden = open_lesson(lesson="luck", answers="hidden")
    hidden.button(key="skip_luck").click().run()
    assert "open_luck" not in [one.key for one in hidden.button]


@each_kind
def test_a_link_opens_the_lesson_in_its_state(lesson: Lesson) -> None:
    control = lesson.controls[-1]
    word = next(word for word in control.values if word != control.start)
    query = {control.name: word, "seed": "41", "draw": "3", "seat": "7"}
    page = open_lesson(lesson=lesson.key, answers="shown", **query)
    state = {"chosen": {control.name: word}, "seed": 41, "draws": 3, "seat": 7}
    assert lesson.show(start_of(lesson, **state)).sentence in text_of(page)
    assert {name: page.query_params[name] for name in query} == query


def test_the_control_and_another_draw_move_the_answer_and_the_address() -> None:
    page, lesson = open_lesson(lesson="bins", answers="shown"), lesson_of("bins")
    page.select_slider(key="control_bins_bins").set_value("5").run()
    moved = {"chosen": {"bins": "5"}}
    assert lesson.show(start_of(lesson, **moved)).sentence in text_of(page)
    assert page.query_params["bins"] == "5"
    page.button(key="draw_bins").click().run()
    assert lesson.show(start_of(lesson, draws=2, **moved)).sentence in text_of(page)
    assert page.query_params["draw"] == "2"


def test_each_seat_has_draws_of_its_own() -> None:
    page = open_lesson(lesson="bins", answers="shown", seat="ask")
    assert not page.get("plotly_chart")
    page.number_input(key="learn_seat").set_value(17).run()
    assert page.query_params["seat"] == "ask-17"
    assert text_of(page) == text_of(open_lesson(lesson="bins", answers="shown", seat="17"))
    assert text_of(page) == text_of(open_lesson(lesson="bins", answers="shown", seat="ask-17"))


def test_a_seat_that_was_typed_holds_for_the_next_link_that_asks_for_one() -> None:
    page = open_lesson(lesson="eighty", seat="ask")
    page.number_input(key="learn_seat").set_value(17).run()
    page.query_params.clear()
    page.query_params["lesson"], page.query_params["seat"] = "bins", "ask"
    page.run()
    assert page.number_input(key="learn_seat").value == 17
    assert page.query_params["seat"] == "ask-17"
    assert page.get("plotly_chart")


def test_exercises_are_handed_out_by_a_link() -> None:
    page = open_page("teachers", part="exercises", seed="41")
    assert not page.exception
    assert page.number_input(key="exercises_seed").value == 41
    page.number_input(key="exercises_seed").set_value(42).run()
    assert page.query_params["seed"] == "42"
    assert page.query_params["part"] == "exercises"
    (first, *_) = exercises(42)
    assert escape_markdown(first.task) in " ".join(one.value for one in page.markdown)


def test_parts_are_left_out_by_the_link() -> None:
    page = open_lesson(lesson="bins", answers="shown", hide="check,numbers,computed,link,lessons")
    assert not page.radio
    assert not page.expander
    assert not page.get("link_button")
    assert [one.key for one in page.button] == ["again_bins", "draw_bins"]


@pytest.mark.parametrize(
    ("name", "value"),
    [("lesson", "none"), ("seed", "-1"), ("seat", "x"), ("answers", "no"), ("bins", "7"),
     ("hide", "all"), ("size", "xl"), ("guess", "999"), ("draw", "0"), ("seed", "9" * 400)],
)  # fmt: skip
def test_what_a_link_says_wrongly_is_named(name: str, value: str) -> None:
    page = open_lesson(**({"lesson": "bins"} | {name: value}))
    assert [one.value for one in page.warning] == [words.unusable([f"{name}={value[:40]}"])]


def test_progress_is_kept_in_the_tab() -> None:
    page = open_lesson(lesson="bins")
    assert "guess" not in page.query_params
    assert page.button(key="lock_bins").label == words.my_guess("4%")
    page.slider(key="guess_bins").set_value(7).run()
    assert page.button(key="lock_bins").label == words.my_guess("7%")
    page.slider(key="guess_bins").set_value(4).run()  # where it stood
    page.button(key="lock_bins").click().run()
    page.button(key=f"to_{words.ALL}").click().run()
    assert words.progress(1, len(LESSONS)) in text_of(page)
    assert dict(page.query_params) == {"done": "bins"}
    links = [one.proto.query_string for one in page.get("page_link")]
    assert "lesson=bins&guess=4" in links  # where it was left
    page.query_params.update({"lesson": "bins", "guess": "4"})
    page.run()
    assert page.query_params["guess"] == "4"
    assert words.guessed(answer_of(lesson_of("bins"), guess="4"), "4%") in text_of(page)


def test_the_list_keeps_what_a_link_fixes() -> None:
    page = open_lesson(seed="41", hide="check")
    links = [one.proto.query_string for one in page.get("page_link")]
    assert "lesson=bins&seed=41&hide=check" in links


def test_many_groups_are_drawn_by_one_click() -> None:
    page = open_lesson(lesson="eighty", answers="shown")
    for _ in range(5):
        page.button(key="many_eighty").click().run()
    assert page.query_params["draw"] == str(MOST_DRAWS)
    assert page.button(key="many_eighty").disabled
    assert page.button(key="draw_eighty").disabled
    assert not page.exception


def test_the_address_keeps_what_was_done() -> None:
    page = open_lesson(done="ks.eighty")
    assert words.progress(2, len(LESSONS)) in text_of(page)
    assert dict(page.query_params) == {"done": "eighty.ks"}
    page = open_lesson(lesson="bins", done="ks.none")
    assert [one.value for one in page.warning] == [words.unusable(["done=none"])]
    assert page.query_params["done"] == "ks"


def is_asked(page: AppTest) -> bool:
    return "lock_luck" in [one.key for one in page.button]


def test_a_line_up_is_guessed_again_after_each_draw() -> None:
    page = open_lesson(lesson="luck")
    page.radio(key="guess_luck").set_value("3").run()
    page.button(key="lock_luck").click().run()
    assert not is_asked(page)
    page.button(key="draw_luck").click().run()
    assert is_asked(page)
    assert page.radio(key="guess_luck").value is None
    assert dict(page.query_params) == {"lesson": "luck", "draw": "2"}
    page.radio(key="guess_luck").set_value("1").run()
    page.select_slider(key="control_luck_rows").set_value("500").run()
    assert page.radio(key="guess_luck").value == "1"
    page.button(key="lock_luck").click().run()
    assert not is_asked(page)
    page.select_slider(key="control_luck_rows").set_value("2000").run()
    assert not is_asked(page)
    assert "Your guess: **1**" in text_of(page)
    page.button(key="draw_luck").click().run()
    assert is_asked(page)
    assert page.radio(key="guess_luck").value is None
    page.button(key="skip_luck").click().run()
    state = {"chosen": {"rows": "2000"}, "draws": 3}
    assert words.guessed(answer_of(luck.LESSON, **state)) in text_of(page)


def test_the_picture_before_the_answer_is_that_of_the_question() -> None:
    lesson = next(one for one in LESSONS if one.key == "large")
    moved = {"slope": "1.6", "shift": "1"}
    page = open_lesson(lesson="large", **moved)
    assert lesson.show(start_of(lesson, revealed=False)).sentence in text_of(page)
    page.button(key="skip_large").click().run()
    assert lesson.show(start_of(lesson, chosen=moved)).sentence in text_of(page)
    assert {"lesson", *moved} == set(page.query_params)


def test_a_link_to_a_line_up_does_not_give_it_away() -> None:
    assert is_asked(open_lesson(lesson="luck", draw="3", rows="500"))
    assert not is_asked(open_lesson(lesson="luck", draw="3", rows="500", guess="2"))


def test_a_code_is_shown_alone_to_be_projected() -> None:
    page = open_page("teachers")
    script = " ".join(one.value for one in page.markdown)
    every = [step for step in (*plan.PLAN, *plan.BIOSTATISTICS) if step.lesson]
    for step in every:
        assert f"](teachers?code={step.lesson})" in script
    alone = open_page("teachers", code="eighty")
    assert not alone.exception
    text = " ".join(one.value for one in (*alone.markdown, *alone.subheader))
    assert "What does 80% mean?" in text
    assert "data:image/svg+xml" in text
    assert words.SAY not in text
    assert "96.7%" not in text
    (address,) = alone.code
    assert address.value.endswith("learn?lesson=eighty&seat=ask")
    unknown = open_page("teachers", code="none")
    assert words.PLAN_INTRO in [one.value for one in unknown.markdown]
