"""Lessons and laboratory in a real browser: guess, answer, interaction, width, keyboard."""

import re
import struct
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dashboard.learn import own
from dashboard.learn.laboratory import PRESETS, LaboratoryModel, chosen_of, preset_of, result_of
from dashboard.learn.lesson import Lesson, Steps, start_of
from dashboard.learn.lessons import LESSONS
from dashboard.texts import laboratory as lab
from dashboard.texts import learn as words
from dashboard.widgets.links import TEACHING
from tests.browser.axe import findings
from tests.browser.conftest import OpenPage
from tests.browser.settled import click, settle
from tests.marks import first_and_long

pytestmark = pytest.mark.browser

FOLD = 900
"""Height of the first screen."""


def plain(text: str) -> str:
    """Return the words of Markdown as a page shows them."""
    return re.sub(r"\s+", " ", re.sub(r"\*\*|`", "", text)).strip()


def text_of(page: Page) -> str:
    return re.sub(r"\s+", " ", page.get_by_test_id("stMain").inner_text())


def sideways(page: Page) -> float:
    """How far the page is wider than its window."""
    return float(page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))


def lowest_picture(page: Page) -> float:
    open_ones = page.locator('[data-testid="stPlotlyChart"]:not(details:not([open]) *)')
    boxes = [chart.bounding_box() for chart in open_ones.all()]
    return max(box["y"] + box["height"] for box in boxes if box is not None)


def move(page: Page, control: Steps) -> str:
    """Move a control by one step with the keyboard alone; return the word it comes to."""
    every = list(control.values)
    place = every.index(control.start)
    if control.as_buttons:
        word = every[place - 1]
        group = page.get_by_role("radiogroup", name=control.label, exact=True)
        choice = group.get_by_role("radio", name=control.values[word], exact=True)
        choice.focus()
        choice.press("Space")
        return word
    forward = place + 1 < len(every)
    slider = page.get_by_role("slider", name=re.compile(f"^{re.escape(control.label)}"))
    slider.focus()
    slider.press("ArrowRight" if forward else "ArrowLeft")
    return every[place + 1 if forward else place - 1]


def take(page: Page, lesson: Lesson) -> None:
    """Take a lesson: pass over the guess, read the answer, move its first control, read again."""
    answer = lesson.show(start_of(lesson))
    before = text_of(page)
    assert plain(lesson.question) in before
    assert plain(answer.sentence) not in before
    assert words.KEEP not in before
    skip = page.get_by_role("button", name=words.SKIP)
    skip.focus()
    skip.press("Enter")
    expect(page.get_by_text(plain(words.guessed(answer.answer)))).to_be_visible()
    settle(page)
    assert plain(answer.sentence) in text_of(page)
    word = move(page, lesson.controls[0])
    moved = lesson.show(start_of(lesson, chosen={lesson.controls[0].name: word}))
    page.wait_for_function(
        "text => document.querySelector('[data-testid=\"stMain\"]').innerText"
        ".replace(/\\s+/g, ' ').includes(text)",
        arg=plain(moved.sentence),
    )
    settle(page)
    assert f"{lesson.controls[0].name}={word}" in page.url


@pytest.mark.parametrize(
    ("width", "scheme", "lessons"),
    first_and_long(
        [(1440, "light", LESSONS[:1]), (1440, "light", LESSONS[1:]), (390, "dark", LESSONS)]
    ),
    ids=["first", "others", "phone"],
)
def test_each_lesson_is_taken_by_keyboard_alone(
    open_page: OpenPage, width: int, scheme: str, lessons: Sequence[Lesson]
) -> None:
    page = open_page(f"learn?lesson={lessons[0].key}", width=width, scheme=scheme)
    for lesson in lessons:
        settle(page)
        take(page, lesson)
        assert sideways(page) <= 0, lesson.key
        assert (lesson.key, findings(page)) == (lesson.key, [])
        if width > 1000:
            assert lowest_picture(page) <= FOLD, lesson.key
        turn_over(page, lesson)


def turn_over(page: Page, lesson: Lesson) -> None:
    """Go to the next lesson, if there is one."""
    place = LESSONS.index(lesson) + 1
    if place < len(LESSONS):
        page.get_by_role("button", name=words.NEXT, exact=True).click()
        page.wait_for_url(re.compile(f"lesson={LESSONS[place].key}"))


@pytest.mark.long
def test_a_guess_is_kept_on_reload_and_by_back(open_page: OpenPage) -> None:
    page = open_page("learn?lesson=bins")
    settle(page)
    slider = page.get_by_role("slider", name=words.GUESS_NUMBER)
    slider.focus()
    slider.press("ArrowRight")
    settle(page)
    click(page.get_by_role("button", name=words.my_guess("5%")))
    settle(page)
    expect(page.get_by_text("Your guess: 5%")).to_be_visible()
    page.reload()
    settle(page)
    expect(page.get_by_text("Your guess: 5%")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("button", name=re.compile("^My guess"))).to_be_visible()


EVERY_LESSON, TWO_LESSONS = tuple(one.key for one in LESSONS), ("ks", "luck")
"""The two have the longest takeaways."""


@pytest.mark.parametrize(
    ("keys", "width", "height"),
    first_and_long(
        [(TWO_LESSONS, 1024, 768), (EVERY_LESSON, 1024, 768), (EVERY_LESSON, 1440, 900)]
    ),
)
def test_question_picture_and_takeaway_are_on_the_first_screen(
    open_page: OpenPage, keys: tuple[str, ...], width: int, height: int
) -> None:
    page = open_page("learn", width=width)
    page.set_viewport_size({"width": width, "height": height})
    for lesson in (one for one in LESSONS if one.key in keys):
        page.goto(f"{page.url.partition('?')[0]}?lesson={lesson.key}&answers=shown")
        settle(page)
        box = page.get_by_text(f"{words.KEEP}:").first.bounding_box()
        assert box is not None, lesson.key
        held = page.get_by_text(plain(lesson.takeaway)).first.bounding_box()
        assert held is not None, lesson.key
        assert held["y"] + held["height"] <= height, lesson.key
        assert lowest_picture(page) <= height, lesson.key
        if lesson.key in TWO_LESSONS and width > 1400:
            last = page.get_by_text(list(lesson.check.answers.values())[-1], exact=True)
            answer = last.last.bounding_box()
            assert answer is not None
            assert answer["y"] + answer["height"] <= height, lesson.key


@pytest.mark.long
@pytest.mark.parametrize("key", [one.key for one in LESSONS])
def test_pictures_are_whole_on_a_projector(open_page: OpenPage, key: str) -> None:
    page = open_page(f"learn?lesson={key}&size=projector", width=1024)
    page.set_viewport_size({"width": 1024, "height": 768})
    settle(page)
    assert lowest_picture(page) <= 768
    click(page.get_by_role("button", name=words.SKIP))
    settle(page)
    assert lowest_picture(page) <= 768


LONGEST = {
    "ks": "&guess=steepest&rows=all&added=30",
    "luck": "&guess=3",
    "large": "&guess=high&shift=1",
    "hosmer": "&guess=100&model=clustered",
    "groups": "&guess=50",
}
"""States in which most is written above the takeaway, by lesson."""


@pytest.mark.parametrize("key", first_and_long(list(LONGEST)))
def test_the_takeaway_is_on_a_small_screen_beside_a_guess(open_page: OpenPage, key: str) -> None:
    page = open_page(f"learn?lesson={key}{LONGEST[key]}", width=1024)
    page.set_viewport_size({"width": 1024, "height": 768})
    settle(page)
    lesson = next(one for one in LESSONS if one.key == key)
    box = page.get_by_text(plain(lesson.takeaway)).first.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 768


@pytest.mark.long
def test_a_card_is_a_link_as_a_whole_and_the_address_keeps_the_place(open_page: OpenPage) -> None:
    page = open_page("learn")
    settle(page)
    card = page.locator(".st-key-card_bins")
    box = card.bounding_box()
    assert box is not None
    card.click(position={"x": box["width"] - 12, "y": box["height"] - 8})
    page.wait_for_url(re.compile(r"learn\?lesson=bins$"))
    settle(page)
    click(page.get_by_role("button", name=words.SKIP))
    settle(page)
    click(page.get_by_role("button", name=words.ALL))
    page.wait_for_url(re.compile(r"learn\?done=bins$"))
    page.reload()
    settle(page)
    expect(page.get_by_text("1 of 16 lessons done.")).to_be_visible()


def check_play_in_line(page: Page, name: str) -> None:
    """Expect the button Play in line with another one."""
    boxes = [
        page.get_by_text(text, exact=True).locator("xpath=ancestor-or-self::button").bounding_box()
        for text in (words.PLAY, name)
    ]
    play, other = (box for box in boxes if box is not None)
    for side in ("y", "height"):
        assert play[side] == pytest.approx(other[side], abs=0.6)


@pytest.mark.long
def test_play_moves_the_slider_and_stops(open_page: OpenPage) -> None:
    page = open_page("learn?lesson=ks&answers=shown")
    settle(page)
    check_play_in_line(page, "60 rows")
    page.get_by_role("button", name=words.PLAY).click()
    page.wait_for_url(re.compile(r"added=[3-9]&"))
    page.get_by_role("button", name=words.STOP_PLAYING).click()
    settle(page)
    stopped = page.url
    page.wait_for_timeout(2_000)  # five steps, had it gone on
    assert page.url == stopped
    page.emulate_media(reduced_motion="reduce")
    expect(page.locator(".play")).to_be_hidden()


@pytest.mark.long
def test_play_draws_line_ups_and_keeps_the_answer_shown(open_page: OpenPage) -> None:
    page = open_page("learn?lesson=luck")
    settle(page)
    expect(page.get_by_role("button", name=words.PLAY)).to_have_count(0)
    click(page.get_by_role("button", name=words.SKIP))
    settle(page)
    lesson = next(one for one in LESSONS if one.key == "luck")
    check_play_in_line(page, lesson.draw_open)
    page.get_by_role("button", name=words.PLAY).click()
    page.wait_for_url(re.compile(r"draw=3"))
    page.get_by_role("button", name=words.STOP_PLAYING).click()
    settle(page)
    (drawn,) = re.findall(r"draw=(\d+)", page.url)
    assert plain(lesson.show(start_of(lesson, draws=int(drawn))).sentence) in text_of(page)


def saved_picture(page: Page, kind: str, folder: Path) -> Path:
    with page.expect_download() as saved:
        page.get_by_role("button", name=f"{words.SLIDES}: {kind}").click()
    file = folder / saved.value.suggested_filename
    saved.value.save_as(file)
    assert file.suffix == f".{kind.lower()}"
    return file


def check_picture_for_slides(page: Page, folder: Path) -> tuple[int, int]:
    """Expect each picture in the SVG, with title, caption and address; return its size."""
    file = saved_picture(page, "SVG", folder)
    drawn = ET.fromstring(file.read_text("utf-8"))  # noqa: S314 - our own
    text = re.sub(r"\s+", "", " ".join(drawn.itertext()))
    server, path = re.split(r"(?<=\d)(?=/)", page.url, maxsplit=1)
    assert re.sub(r"&guess=\w+", "", path) in text
    assert "guess=" not in text  # it is of one person
    assert server not in text  # 127.0.0.1, which leads nobody else anywhere
    open_ones = page.locator('[data-testid="stPlotlyChart"]:not(details:not([open]) *)')
    assert open_ones.count() > 0
    for chart in open_ones.all():
        title = chart.locator(".gtitle")
        if title.count():
            assert re.sub(r"\s+", "", title.text_content() or "") in text
        caption = chart.locator(
            "xpath=ancestor::*[@data-testid='stElementContainer'][1]/following-sibling::*[1]"
        )
        assert re.sub(r"\s+", "", caption.inner_text()) in text
        assert chart.locator("svg.main-svg").count() > 0
    layers = sum(chart.locator("svg.main-svg").count() for chart in open_ones.all())
    assert len(drawn.findall("{http://www.w3.org/2000/svg}svg")) == layers
    return int(float(drawn.attrib["width"])), int(float(drawn.attrib["height"]))


@pytest.mark.long
def test_pictures_for_slides_hold_captions_and_address(open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page("learn?lesson=ks&guess=steepest")
    settle(page)
    size = check_picture_for_slides(page, tmp_path)
    png = saved_picture(page, "PNG", tmp_path).read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    # Twice as large, so that it is sharp when projected.
    assert struct.unpack(">II", png[16:24]) == pytest.approx([2 * one for one in size], abs=2)


@pytest.mark.long
def test_pictures_for_slides_are_those_of_every_page_that_teaches(
    open_page: OpenPage, tmp_path: Path
) -> None:
    code = own.code_of([own.OwnAnswer(own.LEVELS[k % 12], k % 3 > 0) for k in range(20)])
    page = open_page("laboratory")
    settle(page)
    check_picture_for_slides(page, tmp_path)
    start = page.url.partition("laboratory")[0]
    lessons = [f"learn?lesson={one.key}&answers=shown" for one in LESSONS]
    for path in (*lessons, f"you?set=facts&seed=7&code={code}"):
        page.goto(start + path)
        settle(page)
        check_picture_for_slides(page, tmp_path)


@pytest.mark.long
def test_the_laboratory_moves_and_opens_elsewhere(open_page: OpenPage) -> None:
    page = open_page("laboratory", width=390)
    settle(page)
    assert sideways(page) <= 0
    assert findings(page) == []
    slider = page.get_by_role("slider", name=re.compile("^Slope"))
    slider.focus()
    slider.press("ArrowRight")
    settle(page)
    model = chosen_of(page.url.partition("model=")[2])
    assert model == LaboratoryModel(slope=55)
    assert plain(lab.conclusion(result_of(model))) in text_of(page)
    with page.expect_popup() as opened:
        page.get_by_role("link", name=lab.OPEN).click()
    other = opened.value
    settle(other)
    hits = int(result_of(model).test.event.hits.sum())
    expect(other.get_by_text(f"{hits:,} of 2,000").first).to_be_visible()


@pytest.mark.long
def test_a_click_moves_a_handle_of_the_curve_drawn_by_hand(open_page: OpenPage) -> None:
    page = open_page(f"laboratory?model={PRESETS['by_hand'].code}")
    settle(page)
    graph = page.get_by_test_id("stPlotlyChart").first
    place = page.evaluate(
        """graph => {
          const layout = graph.querySelector('.js-plotly-plot')._fullLayout;
          const box = graph.querySelector('.nsewdrag').getBoundingClientRect();
          const {xaxis, yaxis} = layout;
          return [box.left + xaxis.d2p(0.3), box.top + yaxis.d2p(0.6)];
        }""",
        graph.element_handle(),
    )
    page.mouse.click(*place)
    page.wait_for_url(re.compile(r"0-5-12-60-35"))


@pytest.mark.long
def test_a_model_to_begin_with_moves_the_sliders_and_is_kept(open_page: OpenPage) -> None:
    page = open_page("laboratory")
    settle(page)
    slope = page.get_by_role("slider", name=re.compile("^Slope"))
    for name in ("calibrated", "too_high"):
        page.get_by_role("combobox", name=re.compile(f"{lab.PRESET}$")).click()
        page.get_by_role("option", name=lab.PRESETS[name], exact=True).click()
        settle(page)
        expect(slope).to_have_value("1")
        click(page.get_by_role("button", name=re.compile(f"{lab.DRAW}")))
        settle(page)
        drawn = chosen_of(page.url.partition("model=")[2])
        assert drawn is not None
        assert preset_of(drawn) == name
    shift = page.get_by_role("slider", name=re.compile("^Shift"))
    shift.focus()
    shift.press("ArrowRight")
    settle(page)
    moved = chosen_of(page.url.partition("model=")[2])
    assert moved is not None
    assert (moved.slope, moved.shift) == (100, PRESETS["too_high"].shift + 1)
    expect(page.get_by_role("combobox", name=re.compile(f"{lab.PRESET}$"))).to_have_value("")


def test_no_way_between_the_pages_that_teach_looks_like_the_page_itself(
    open_page: OpenPage,
) -> None:
    page = open_page("teachers")
    settle(page)
    ways = page.locator(".st-key-teaching a")
    looks = ways.evaluate_all(
        "all => all.map(one => [getComputedStyle(one).backgroundColor,"
        " getComputedStyle(one.querySelector('p')).fontWeight])"
    )
    assert len(looks) == len(TEACHING)
    assert len({tuple(look) for look in looks}) == 1


@pytest.mark.long
def test_lessons_have_the_whole_width_and_light_learn_in_the_bar_above(open_page: OpenPage) -> None:
    def ground() -> str:
        link = page.get_by_role("link", name="Learn", exact=True).first
        return str(link.evaluate("node => getComputedStyle(node).backgroundColor"))

    page = open_page("?sample=crash_survival&resamples=0")
    settle(page)
    panel, unlit = page.get_by_test_id("stSidebar"), ground()
    expect(panel).to_be_visible()
    page.get_by_role("link", name="Learn", exact=True).click()
    expect(page.locator(".st-key-card_bins")).to_be_visible()
    settle(page)
    expect(panel).to_be_hidden()
    lit = ground()
    page.get_by_role("link", name="Laboratory", exact=True).first.click()
    page.wait_for_url(re.compile("/laboratory"))
    settle(page)
    assert ground() == lit != unlit
    page.get_by_role("link", name="Reliability", exact=True).click()
    expect(panel).to_be_visible()
