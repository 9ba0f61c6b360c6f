"""What each calibrator keeps and needs, and Zhang's guideline, on the page of calibrators."""

from dashboard.texts import choosing as words
from tests.app.pages import bodies, open_page


def test_the_guideline_is_shown_with_what_was_found_here() -> None:
    page = open_page("calibrators", sample="three_garments", methods="temperature")
    sentence = " ".join(bodies(page))
    assert "3. **If the calibration set is large and accuracy may change:**" in sentence
    assert "Here: 1,500 rows, 500 per class." in sentence
    assert "Lowest Brier score here" not in sentence
    next(button for button in page.button if button.label == words.ADD).click().run()
    assert not page.exception
    assert set(words.PATH) <= set(page.multiselect(key="methods_seen").value)
    steps = next(text for text in bodies(page) if text.startswith("1. **In general")).split("\n")
    briers = [
        float(step.split("Brier score ")[1].split(",")[0].split(".badge")[0].rstrip(". ")[:5])
        for step in steps
    ]
    marked = ["Lowest Brier score here" in step for step in steps]
    assert marked.count(True) == 1
    assert briers[marked.index(True)] == min(briers)


def test_the_table_says_what_a_fit_determines_and_from_how_many_rows() -> None:
    (ets, matrix, iro) = words.table(
        ["ensemble_temperature", "matrix", "one_vs_rest_isotonic"], 100, 5_000
    )
    assert ets[1:] == ("all classes", "kept", "3 numbers", "1,667 rows per number")
    assert matrix[1:] == ("all classes", "can change", "10,100 numbers", "0.5 rows per number, few")
    assert iro[3:] == ("100 curves", "50 rows per curve")
