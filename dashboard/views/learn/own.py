"""Your own calibration: twenty questions, then your own four graphs; and those of a class."""

from dataclasses import dataclass, field
from urllib.parse import urlencode

import numpy as np
import streamlit as st

from dashboard import style
from dashboard.learn import own, own_pictures
from dashboard.learn.garments import LICENCE, network_scores, png_of
from dashboard.learn.own import CERTAIN, LEVELS, MOST_SEED, SETS, OwnAnswer, Result
from dashboard.learn.questions import N_QUESTIONS, OwnQuestion
from dashboard.texts.learn import SLIDES
from dashboard.views.learn import own_words as words
from dashboard.views.learn.picture import show_picture, show_table
from dashboard.widgets.links import full_address, show_teaching
from dashboard.widgets.slides import offer_slides

_RUN, _WRITTEN = "own_run", "own_written"
_ENLARGED = 10
"""Pixels of the page for one of a picture."""

_MOST_TEXT = 50_000


@dataclass
class Run:
    """How far somebody has come, in this tab alone."""

    which: str = "facts"
    seed: int = 0
    teach: bool = False
    certain: bool = False
    place: int = -1
    chosen: dict[int, int] = field(default_factory=dict)
    levels: dict[int, int] = field(default_factory=dict)
    shown: bool = False

    @property
    def questions(self) -> tuple[OwnQuestion, ...]:
        """What is asked."""
        return SETS[self.which](self.seed)

    @property
    def answers(self) -> tuple[OwnAnswer, ...]:
        """What was answered, once all is."""
        return tuple(
            OwnAnswer(self.levels[k], self.chosen[k] == one.right)
            for k, one in enumerate(self.questions)
        )

    @property
    def query(self) -> dict[str, str]:
        """What the address holds: the questions, and the answers once all are given."""
        settings = {"set": self.which, "seed": str(self.seed)}
        done = self.place >= N_QUESTIONS
        return settings | {"code": own.code_of(self.answers)} if done else settings


def show() -> None:
    """Show the questions or their result, and beside them the place for a class."""
    show_teaching("you")
    query = st.query_params.to_dict()
    if _RUN not in st.session_state or (query and query != st.session_state.get(_WRITTEN)):
        _take(query)
    yours, whole_class = st.tabs([words.YOURS, words.WHOLE_CLASS])
    with yours:
        _show_yours()
    with whole_class:
        _show_class()


def _take(query: dict[str, str]) -> None:
    """Begin with what the address holds; say what of it cannot be used."""
    run = Run(seed=int(np.random.default_rng().integers(MOST_SEED + 1)))
    wrong = []
    if query.get("set", run.which) in SETS:
        run.which = query.get("set", run.which)
    else:
        wrong.append("set")
    seed = query.get("seed", "")
    if seed.isascii() and seed.isdigit() and int(seed[:9]) <= MOST_SEED:
        run.seed = int(seed[:9])
    elif seed:
        wrong.append("seed")
    if "code" in query:
        answers = own.answers_of(query["code"])
        if answers is None or wrong or not seed:
            wrong.append("code")
        else:
            for k, (one, question) in enumerate(zip(answers, run.questions, strict=True)):
                run.levels[k] = one.level
                run.chosen[k] = question.right if one.right else 1 - question.right
            run.place = N_QUESTIONS
    st.session_state[_RUN] = run
    if wrong:
        st.warning(words.UNUSABLE.format(names=", ".join(wrong)), icon=":material/link:")


@st.fragment
def _show_yours() -> None:
    run: Run = st.session_state[_RUN]
    if run.place < 0:
        _show_start(run)
    elif run.place < N_QUESTIONS:
        with st.container(width=760):
            _show_question(run)
    else:
        _show_result(run)
    if st.query_params.to_dict() != run.query:
        st.query_params.from_dict(run.query)
    st.session_state[_WRITTEN] = run.query


# Questions ----------------------------------------------------------------------------------


def _show_start(run: Run) -> None:
    st.markdown(words.INTRO)
    for key, value in (
        ("own_set", run.which),
        ("own_teach", run.teach),
        ("own_certain", run.certain),
    ):
        st.session_state.setdefault(key, value)
    run.which = str(
        st.segmented_control(
            words.SET, list(SETS), format_func=words.SETS.__getitem__, required=True, key="own_set"
        )
    )
    st.markdown(f":small[{words.SET_NOTES[run.which]}]")
    run.teach = st.toggle(words.TEACH, key="own_teach")
    run.certain = st.toggle(words.OFFER_CERTAIN, key="own_certain", help=words.OFFER_CERTAIN_HELP)
    st.button(
        words.START, type="primary", icon=":material/play_arrow:", key="own_start",
        on_click=_begin, args=(run,),
    )  # fmt: skip


def _begin(run: Run) -> None:
    run.place = 0


def _show_question(run: Run) -> None:
    place, question = run.place, run.questions[run.place]
    st.progress(place / N_QUESTIONS, words.place(place + 1))
    if question.row is not None:
        _show_garment(question.row, place + 1)
    st.subheader(question.ask, anchor=False)
    chosen = run.chosen.get(place)
    answer = None if chosen is None else question.answers[chosen]
    _show_choices(run, question, chosen)
    if run.shown and answer is not None:
        level, right = run.levels[place], chosen == question.right
        st.markdown(words.given(answer, level))
        tell = st.success if right else st.info
        tell(words.truth(question, right=right), icon=":material/school:")
    else:
        level = _show_levels(run, answer)
    _show_ways(run, level)
    with st.container(key="own_keys"):
        st.markdown(f":small[{words.KEYS}]")
    if question.row is not None:
        st.markdown(f":small[{LICENCE}]")


def _show_choices(run: Run, question: OwnQuestion, chosen: int | None) -> None:
    """Show the two answers as large buttons."""
    with st.container(key="own_choices"):
        for k, column in enumerate(st.columns(2, gap="small")):
            column.button(
                question.answers[k],
                type="primary" if chosen == k else "secondary",
                icon=":material/check:" if chosen == k else None,
                key=f"own_choice_{k}",
                on_click=_choose,
                args=(run, k),
                shortcut=str(k + 1),
                width="stretch",
                wrap=True,
                disabled=run.shown,
            )


def _show_levels(run: Run, answer: str | None) -> int:
    """Show the slider, with a button at either end of it; return where it stands."""
    levels = [one for one in LEVELS if one < CERTAIN or run.certain]
    key = f"own_level_{run.seed}_{run.place}"
    st.session_state.setdefault(key, run.levels.get(run.place, levels[0]))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        for label, step, shortcut in ((words.LESS, -1, "Left"), (words.MORE, 1, "Right")):
            if step > 0:
                level = st.select_slider(
                    words.confidence(answer), levels, format_func=words.percentage, key=key,
                    help=words.CONFIDENCE_HELP,
                )  # fmt: skip
            end = levels[0 if step < 0 else -1]
            st.button(
                label, key=f"own_step_{step}", shortcut=shortcut, on_click=_step,
                args=(key, levels, step), disabled=st.session_state[key] == end,
            )  # fmt: skip
    return int(level)


def _step(key: str, levels: list[int], step: int) -> None:
    st.session_state[key] = levels[levels.index(st.session_state[key]) + step]


def _show_garment(row: int, number: int) -> None:
    with st.container(key="own_picture"):
        st.image(png_of(row, _ENLARGED), alt=words.picture_alt(number))


def _show_ways(run: Run, level: int) -> None:
    """Show the ways on and back; back only where no truth was shown."""
    last = run.place == N_QUESTIONS - 1
    onward = words.RESULT if last else words.NEXT
    if run.teach and not run.shown:
        onward = words.SHOW_TRUTH
    with st.container(horizontal=True, gap="small"):
        if not run.teach:
            st.button(
                words.BACK, icon=":material/chevron_left:", key="own_back", shortcut="B",
                disabled=run.place == 0, on_click=_back, args=(run, level),
            )  # fmt: skip
        st.button(
            onward, type="primary", key="own_next", shortcut="N",
            disabled=run.place not in run.chosen, on_click=_go_on, args=(run, level),
        )  # fmt: skip


def _choose(run: Run, k: int) -> None:
    run.chosen[run.place] = k


def _back(run: Run, level: int) -> None:
    run.levels[run.place] = level
    run.place -= 1


def _go_on(run: Run, level: int) -> None:
    run.levels[run.place] = level
    if run.teach and not run.shown:
        run.shown = True
    else:
        run.place, run.shown = run.place + 1, False


# Result -------------------------------------------------------------------------------------


def _show_result(run: Run) -> None:
    """Show first what luck does, then the answers."""
    palette = style.palette()
    result, beside, network = own.result_of(own.scores_of(run.answers)), None, None
    if run.which == "pictures":
        beside = network_scores(run.questions)
        network = own.result_of(beside)
    st.markdown(words.band(result))
    st.markdown(words.yours(result))
    if network is not None:
        st.markdown(words.network(network, own.network_on_all()))
    left, right = st.columns(2, gap="medium")
    with left:
        show_picture(own_pictures.diagram(result, network, palette), "own_diagram")
    with right:
        show_picture(own_pictures.gap(result, palette), "own_gap")
    st.button(
        words.AGAIN, icon=":material/refresh:", key="own_again", type="primary",
        on_click=_again, args=(run,),
    )  # fmt: skip
    _show_four(result)
    offer_slides(SLIDES, f"{words.TITLE} (Fractile)", "own_calibration")
    _show_measures(result, network)
    st.markdown(f"**{words.CODE}**")
    st.code(own.code_of(run.answers), language=None)
    link = full_address(f"you?{urlencode(run.query)}")
    st.code(link, language=None, wrap_lines=True)
    st.markdown(f":small[{words.CODE_NOTE}]")
    given = run.questions, run.answers
    if beside is None:
        show_table(words.ANSWERS, words.ANSWER_HEAD, words.answer_rows(*given))
    else:
        show_table(words.ANSWERS, words.PICTURE_HEAD, words.picture_rows(*given, beside))
        st.markdown(f":small[{words.PICTURE_NOTE} {LICENCE}]")
    with st.expander(words.COMPUTED):
        st.markdown(words.COMPUTED_TEXT)


def _again(run: Run) -> None:
    st.session_state[_RUN] = Run(
        run.which, (run.seed + 1) % (MOST_SEED + 1), run.teach, run.certain
    )


def _show_four(result: Result) -> None:
    st.markdown(f"**{words.FOUR_GRAPHS}**")
    st.markdown(f":small[{words.FOUR_NOTE}]")
    graphs = own_pictures.four(result, style.palette())
    for column, picture in zip(st.columns(len(graphs), gap="small"), graphs, strict=True):
        with column:
            show_picture(picture, f"own_{picture.name}")


def _show_measures(result: Result, network: Result | None) -> None:
    head = words.MEASURE_HEAD if network is None else (*words.MEASURE_HEAD, words.NETWORK)
    show_table(words.MEASURES, head, words.measure_rows(result, network), narrow=True)
    st.markdown(f":small[{words.against_half(result)}]")


# Whole class --------------------------------------------------------------------------------


@st.fragment
def _show_class() -> None:
    """Let codes be pasted, and show all answers together."""
    st.markdown(words.CLASS_INTRO)
    text = st.text_area(words.CODES, height=160, max_chars=_MOST_TEXT, key="own_codes")
    collected = own.collect(text or "")
    for show_words, write in (
        (st.warning, words.refused),
        (st.warning, words.mixed),
        (st.info, words.repeated),
    ):
        if message := write(collected):
            show_words(message)
    if not collected.people:
        return
    result = own.result_of(collected.together)
    st.markdown(words.class_sentence(result, len(collected.people)))
    left, right = st.columns(2, gap="medium")
    with left:
        show_picture(own_pictures.pooled(result, style.palette()), "own_pooled")
    with right:
        show_picture(own_pictures.people(collected.people, style.palette()), "own_people")
    st.markdown(f":small[{words.CLASS_NOTE}]")
