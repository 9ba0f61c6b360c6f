"""The pages call the event as the file does."""

import json
import re

import numpy as np

from dashboard.wording import escape_markdown
from dashboard.wording.numbers import percent
from tests.app.pages import bodies, charts, open_page, open_upload

NAME = "readmitted_30d = Yes"
PATHS = ("overview", "reliability", "ks", "maps", "decisions", "slices")


def risk_file(n_rows: int = 600, outcome: str = "readmitted_30d") -> tuple[bytes, int]:
    """One risk per row, too high by a third, beside the outcome; with the count of events."""
    rng = np.random.default_rng(5)
    risk = rng.beta(2, 5, n_rows)
    back = rng.random(n_rows) < 0.67 * risk
    lines = [
        f"{p:.6f},{'Yes' if hit else 'No'},Ward {k % 3}"
        for k, (p, hit) in enumerate(zip(risk, back, strict=True))
    ]
    return "\n".join([f"risk,{outcome},ward", *lines]).encode(), int(back.sum())


def test_the_event_is_called_as_the_file_calls_it_on_every_page() -> None:
    data, n_events = risk_file()
    for path in PATHS:
        page = open_upload(("risk.csv", data), path=path)
        assert not page.exception
        said = "\n".join(bodies(page))
        assert escape_markdown(NAME) in said, path
        assert "class Yes" not in said, path
        assert "Class Yes" not in said, path
        count = f"{n_events} of 600 ({percent(n_events / 600, 600)})"
        assert escape_markdown(f"{NAME}: {count}") in said
        assert page.selectbox(key="class").label == escape_markdown("readmitted_30d")
    axis = json.loads(charts(open_upload(("risk.csv", data)))[0].spec)["layout"]["yaxis"]
    assert axis["title"]["text"] == f"Frequency of {NAME}"


def test_the_list_of_rows_calls_the_event_so_and_its_download_too() -> None:
    data, _ = risk_file()
    page = open_upload(("risk.csv", data), path="slices")
    (table,) = (
        one.proto.body for one in page.get("html") if "class='measures listed" in one.proto.body
    )
    heads = re.findall("<th scope='col'>(.*?)</th>", table)
    assert heads == ["Row", "True", "Predicted", NAME, "Score before", "Score after", "ward"]
    assert escape_markdown(f"highest scores without {NAME}") in "\n".join(bodies(page))


def test_a_hostile_name_is_escaped_and_files_without_names_stay_as_they_are() -> None:
    data, n_events = risk_file(outcome="<b>y</b>")
    page = open_upload(("risk.csv", data))
    said = "\n".join(bodies(page))
    assert escape_markdown("<b>y</b> = Yes") in said
    assert f"{n_events} of 600" in said
    other = "\n".join(bodies(open_page(event="class", sample="crash_survival")))
    assert re.search("class ", other)
    assert " = " not in re.sub(r"\\.", "", other.split("Recommend")[0])
