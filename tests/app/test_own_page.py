"""Your own calibration: all twenty questions on the page, the result, and a class."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.learn import own
from dashboard.learn.own import LEVELS, OwnAnswer
from dashboard.learn.questions import N_QUESTIONS, OwnQuestion
from dashboard.views.learn import own_words as words
from tests.app.pages import bodies, charts, open_page, turn_to

SEED = 7
GRAPHS = ("(a)", "(b)", "(c)", "(d)")


def press(page: AppTest, key: str) -> AppTest:
    return page.button(key=f"own_{key}").click().run()


def start(which: str = "facts", **query: str) -> AppTest:
    page = press(open_page("you", set=which, seed=str(SEED), **query), "start")
    assert not page.exception
    return page


def slide(page: AppTest, level: int) -> AppTest:
    return page.select_slider[0].set_value(level).run()


def answer(page: AppTest, choice: int, level: int) -> AppTest:
    return press(slide(press(page, f"choice_{choice}"), level), "next")


def progress(page: AppTest) -> str:
    (bar,) = page.get("progress")
    result: Any = bar
    return str(result.proto.text)


def every_text(page: AppTest) -> str:
    tables = [str(table.value.to_dict()) for table in page.table]
    return "\n".join([*bodies(page), *tables, *(chart.alt for chart in charts(page))])


def planned(which: str = "facts") -> tuple[list[tuple[OwnQuestion, int, int]], list[OwnAnswer]]:
    """Plan a choice and a confidence for each question; two in three are right."""
    plan, given = [], []
    for k, question in enumerate(own.SETS[which](SEED)):
        right, level = k % 3 > 0, LEVELS[k % 11]
        plan.append((question, question.right if right else 1 - question.right, level))
        given.append(OwnAnswer(level, right))
    return plan, given


def answer_all(page: AppTest, which: str = "facts") -> AppTest:
    for _, choice, level in planned(which)[0]:
        page = answer(page, choice, level)
    return page


def test_twenty_answers_give_the_four_graphs_and_nothing_of_the_truth_before() -> None:
    page = start()
    plan, given = planned()
    for number, (question, choice, level) in enumerate(plan, start=1):
        assert question.ask in [one.value for one in page.subheader]
        assert not charts(page)
        shown = every_text(page)
        assert question.fact not in shown
        assert question.source not in shown
        assert "code" not in page.query_params
        assert progress(page) == f"{number} of 20"
        page = answer(page, choice, level)
    assert not page.exception
    assert page.query_params["code"] == own.code_of(given)
    result = own.result_of(own.scores_of(given))
    shown = every_text(page)
    assert bodies(page).index(words.band(result)) < bodies(page).index(words.yours(result))
    assert own.code_of(given) in [block.value for block in page.code]
    titles = [chart.alt for chart in charts(page)]
    assert all(any(title.startswith(letter) for title in titles) for letter in GRAPHS)
    assert len(titles) == 6
    truths = [words.true_answer(question) for question, _, _ in plan]
    assert page.table[1].value["Truth"].tolist() == truths
    assert words.against_half(result) in shown


def test_an_answer_is_needed_and_going_back_keeps_what_was_given() -> None:
    page = start()
    assert page.button(key="own_next").disabled
    assert page.button(key="own_back").disabled
    assert page.select_slider[0].value == 50
    page = answer(page, 1, 85)
    page = answer(page, 0, 60)
    page = press(press(page, "back"), "back")
    assert page.select_slider[0].value == 85
    assert page.button(key="own_choice_1").proto.type == "primary"
    page = press(press(page, "choice_0"), "next")
    assert page.select_slider[0].value == 60
    assert page.button(key="own_choice_0").proto.type == "primary"


def test_everything_has_a_key_and_buttons_move_the_slider_from_end_to_end() -> None:
    page = start()
    shortcuts = {one.key: one.proto.shortcut for one in page.button if one.proto.shortcut}
    assert shortcuts == {
        "own_choice_0": "1", "own_choice_1": "2", "own_step_-1": "left", "own_step_1": "right",
        "own_back": "b", "own_next": "n",
    }  # fmt: skip
    assert page.button(key="own_step_-1").disabled
    page = press(press(page, "step_1"), "step_1")
    assert page.select_slider[0].value == 60
    page = press(page, "step_-1")
    assert page.select_slider[0].value == 55
    page = slide(page, 99)
    assert page.button(key="own_step_1").disabled


def test_teaching_shows_the_truth_at_once_and_lets_nothing_be_changed_after() -> None:
    page = open_page("you", set="facts", seed=str(SEED))
    page = press(page.toggle(key="own_teach").set_value(True).run(), "start")
    first, second = own.SETS["facts"](SEED)[:2]
    page = press(press(page, f"choice_{1 - first.right}"), "next")
    (told,) = page.info
    assert told.value.startswith("**No:** **")
    assert first.source in told.value
    assert page.button(key="own_choice_0").disabled
    assert not page.select_slider
    assert words.given(first.answers[1 - first.right], 50) in bodies(page)
    assert "own_back" not in [button.key for button in page.button]
    page = press(page, "next")
    assert second.ask in [one.value for one in page.subheader]
    page = press(press(page, f"choice_{second.right}"), "next")
    assert page.success[0].value.startswith("**Right:** **")


def test_100_percent_is_offered_only_when_asked_for() -> None:
    page = start()
    assert page.select_slider[0].options[-1] == "99%"
    page = open_page("you", seed=str(SEED))
    page = press(page.toggle(key="own_certain").set_value(True).run(), "start")
    assert page.select_slider[0].options[-1] == "100%"


@pytest.mark.long
def test_a_code_in_the_address_opens_the_result_again() -> None:
    page = answer_all(start())
    code = own.code_of(planned()[1])
    again = open_page("you", set="facts", seed=str(SEED), code=code)
    assert every_text(again) == every_text(page)


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ({"code": "AAA", "seed": "7"}, "code"),
        ({"code": "A" * 20}, "code"),
        ({"seed": "-1"}, "seed"),
        ({"seed": "12345"}, "seed"),
        ({"set": "songs"}, "set"),
    ],
)
def test_an_address_that_cannot_be_used_is_said(query: dict[str, str], named: str) -> None:
    page = open_page("you", **query)
    assert not page.exception
    assert page.warning[0].value == words.UNUSABLE.format(names=named)
    assert page.button(key="own_start")


def test_answers_stay_while_another_page_is_looked_at() -> None:
    page = answer(answer(start(), 1, 85), 0, 60)
    page = turn_to(turn_to(page, "glossary"), "you")
    assert progress(page) == "3 of 20"


@pytest.mark.long
def test_again_asks_other_questions() -> None:
    page = press(answer_all(start()), "again")
    assert page.query_params["seed"] == str(SEED + 1)
    assert "code" not in page.query_params
    page = press(page, "start")
    assert own.SETS["facts"](SEED + 1)[0].ask in [one.value for one in page.subheader]
    assert page.button(key="own_next").disabled


@pytest.mark.long
def test_you_and_the_network_are_in_one_diagram() -> None:
    page = start("pictures")
    assert page.get("imgs") or page.get("image")
    page = answer_all(page, "pictures")
    assert not page.exception
    assert "Diamonds, network:" in charts(page)[0].alt
    assert any(one.startswith("**Network:**") for one in bodies(page))
    assert list(page.table[0].value.columns) == ["Measure", "You", "Always 50%", "Network"]
    assert len(page.table[1].value) == N_QUESTIONS
    assert "MIT licence" in every_text(page)


def test_codes_of_a_class_are_pooled_without_a_p_value() -> None:
    page = open_page("you", seed=str(SEED))
    codes = [own.code_of([OwnAnswer(80, k < n) for k in range(N_QUESTIONS)]) for n in (10, 14, 18)]
    page = page.text_area(key="own_codes").set_value("\n".join([*codes, "no code"])).run()
    assert not page.exception
    assert page.warning[0].value == (
        "Line 4 is not a code of 20 letters from A to X, and is left out."
    )
    assert [chart.alt.split(".")[0] for chart in charts(page)] == [
        "Right, by confidence: all answers",
        "Each person",
    ]
    (told,) = [one for one in bodies(page) if one.startswith("**3 people, 60 answers:**")]
    assert "mean confidence 80.0%, 70.0% right; mean gap +10.0 pp" in told
    assert "p <" not in told
    assert "p =" not in told
    assert f":small[{words.CLASS_NOTE}]" in bodies(page)
