"""Long work is offered, started, watched and stopped."""

from streamlit.testing.v1 import AppTest

from dashboard.widgets.long_work import ASK_FROM, RUN, STOP


def page_of(seconds: float, *, ask_from: float = ASK_FROM) -> AppTest:
    def script(seconds: float, ask_from: float) -> None:
        import streamlit as st  # noqa: PLC0415 - the script is run alone

        from dashboard.widgets.long_work import LongWork  # noqa: PLC0415 - the same

        work = LongWork(("sums", 7))
        if work.agreed(seconds, "Adding", ask_from=ask_from):
            with work.watched() as report:
                for step in range(3):
                    report(step / 3, f"step {step}")
                    if st.session_state.get("until") == step:
                        st.stop()
            st.text("added")

    page = AppTest.from_function(script, kwargs={"seconds": seconds, "ask_from": ask_from})
    return page.run()


def labels(page: AppTest) -> list[str]:
    return [button.label for button in page.button]


def texts(page: AppTest) -> list[str]:
    return [text.value for text in page.text]


def test_quick_work_is_done_unasked() -> None:
    page = page_of(0.5)
    assert (labels(page), texts(page)) == ([], ["added"])


def test_dear_work_says_what_it_takes_and_waits_for_a_click() -> None:
    page = page_of(90.0)
    assert (labels(page), texts(page)) == ([RUN], [])
    assert page.markdown[0].value == "Adding takes about 2 minutes."
    page.button[0].click().run()
    assert (labels(page), texts(page)) == ([], ["added"])
    assert labels(page_of(0.5, ask_from=0.2)) == [RUN]


def test_work_can_be_stopped_and_is_then_offered_again() -> None:
    page = page_of(90.0)
    page.session_state["until"] = 1
    page.button[0].click().run()
    assert (labels(page), texts(page)) == ([STOP], [])
    (bar,) = page.get("progress")
    assert bar.proto.text == "step 1"
    page.button[0].click().run()
    assert (labels(page), texts(page)) == ([RUN], [])
