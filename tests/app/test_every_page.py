"""What holds of every page: a few rows, scores alone, a filter, groups and hostile text open it."""

import json
import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from calibcore.data import LogitSet
from dashboard.app import PAGES
from tests.app.pages import (
    MARKUP,
    bodies,
    charts,
    check_opens,
    html_of,
    made_set,
    npz_of,
    open_page,
    open_upload,
    top_1_file,
)
from tests.marks import first_and_long

each_page = pytest.mark.parametrize("path", [path for _, path, _ in PAGES])

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "<b>bold</b> _it_ `code`",
    "'><script>alert(1)</script>",
    "[link](https://evil.example) ![](https://evil.example/x.png)",
    "$x^2$ :red[red] {says}",
    "</th></tr></table>",
    "=1+1",
)
"""Names of classes, and of a column that is none."""


def hostile(n_rows: int = 220) -> bytes:
    """Write scores and labels of such classes, and two groups, one of a single class."""
    rows = made_set(np.random.default_rng(3), n_rows, len(HOSTILE))
    town = np.arange(n_rows) % 2
    labels = np.where(town == 1, 2, rows.labels % (len(HOSTILE) - 1))
    lines = [
        [*(f"{x:.4f}" for x in logits), HOSTILE[label], HOSTILE[k]]
        for logits, label, k in zip(rows.logits, labels, town, strict=True)
    ]
    table = [[*HOSTILE, "label", "<i>town</i>"], *lines]
    return "\n".join(",".join(f'"{cell}"' for cell in line) for line in table).encode()


def check_text(page: AppTest, *raw: str) -> None:
    """Expect that no text of a file is markup: in Markdown, in HTML, in pictures."""
    for text in bodies(page):
        assert not MARKUP.search(text), text
        assert not any(name in text for name in raw), text
    for sent in html_of(page):
        assert not re.search("<(img|script>alert|b>bold|i>town)", sent)
        assert sent.count("<table") == sent.count("</table>")
    for chart in charts(page):
        spec = json.loads(chart.spec)
        assert not any(name in json.dumps(spec) for name in HOSTILE[:5])


@each_page
@pytest.mark.parametrize("wording", first_and_long(["expert", "plain"]))
def test_text_of_a_file_is_text(path: str, wording: str) -> None:
    name = "<img src=x> **b** [l](https://evil.example).csv"
    chosen = {"event": "class", "class": HOSTILE[2], "method": "vector", "wording": wording}
    further = {"second": f"class_{HOSTILE[3]}", "subgroups_by": "<i>town</i>"}
    further["roles"] = "group:<i>town</i>"  # one of the towns has a single class
    page = open_upload((name, hostile()), path=path, measures="all", **chosen, **further)
    check_opens(page)
    check_text(page, *HOSTILE[:5], name)


@each_page
def test_a_few_rows_of_two_classes_open(path: str) -> None:
    rng = np.random.default_rng(2)
    few = made_set(rng, 8, 2)
    page = open_upload(
        ("few.npz", npz_of(few, made_set(rng, 9, 2))), path=path, measures="all", event="class"
    )
    check_opens(page)
    one_class = LogitSet(few.logits, np.zeros(8, dtype=int))
    check_opens(
        open_upload(("one.npz", npz_of(few, one_class)), path=path, measures="all", method="none")
    )


@each_page
def test_scores_alone_open(path: str) -> None:
    rng = np.random.default_rng(1)
    scores = rng.uniform(0.4, 1, 300)
    data = top_1_file(scores, rng.random(300) < scores - 0.1)
    check_opens(open_upload(("scores.csv", data), path=path, measures="all", methods="platt"))


@each_page
def test_a_part_of_the_rows_and_their_groups_open(path: str) -> None:
    by_group = {"method": "by_group", "group": "seatbelt"}
    page = open_page(
        path, sample="crash_survival", only="sex", only_which="female", methods="platt", **by_group
    )
    check_opens(page)
    assert "Filtered to sex" in " ".join(bodies(page))
