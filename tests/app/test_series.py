"""A series of networks on the page Models: of examples, and of files that are brought."""

import csv
import io
import re

import pytest
from streamlit.testing.v1 import AppTest

from calibcore.events import TopR
from calibcore.series import Checkpoint, checkpoint
from dashboard.figures.models import PANELS
from dashboard.readers import read
from dashboard.samples import sample_series, stored
from dashboard.texts.numbers import percent
from dashboard.views.models import series_words as words
from dashboard.views.models.series import series_csv
from tests.app.pages import MARKUP, bodies, charts, html_of, npz_of, open_page, open_upload
from tests.app.test_models import again, bring, sets
from tests.app.test_several_files import scores_file

WIDTHS = next(one for one in sample_series() if one.name == "widths")


def rows_of(page: AppTest) -> list[list[str]]:
    (body,) = html_of(page, "class='measures models")
    return [
        [re.sub("<[^>]*>", " ", cell).strip() for cell in re.findall("<t[hd].*?>(.*?)</t", line)]
        for line in re.findall("<tr>(.*?)</tr>", body)[1:]
    ]


def cells_of(one: Checkpoint) -> list[str]:
    shares = [[percent(v, one.n_samples) for v in pair] for pair in (one.ece, one.ks_error)]
    nats = [[f"{v:.3f}" for v in pair] for pair in (one.nll, one.entropy)]
    error = percent(one.error, one.n_samples)
    shares.append([f"{100 * v:.3f}%" for v in one.classwise_ece])
    return [f"{one.number:g}", f"{one.temperature:.2f}", error, *map(" ".join, [*nats, *shares])]


def test_a_series_of_examples_shows_the_audit_of_each_file() -> None:
    page = open_page("models", models_view="series", series="widths")
    assert not page.exception
    results = [
        checkpoint(number, read("x.npz", stored(name)).split(), event=TopR(1))  # type: ignore[arg-type]
        for number, name in zip(WIDTHS.numbers, WIDTHS.files, strict=True)
    ]
    assert rows_of(page) == [cells_of(one) for one in results]
    assert page.subheader[0].value == words.conclusion(results, WIDTHS.along)
    assert [chart.alt.split(":")[0] for chart in charts(page)] == ["Series"] * len(PANELS)
    text = " ".join(bodies(page))
    for panel in PANELS:
        assert words.caption(panel.field, results, WIDTHS.along) in text
    head, *lines = csv.reader(io.StringIO(series_csv(results, WIDTHS.along)))
    assert head[:4] == ["Width", "Error", "NLL (nats), before", "NLL (nats), after"]
    assert [float(line[-1]) for line in lines] == [one.temperature for one in results]


def test_brought_files_stand_by_the_numbers_of_their_names_which_can_be_changed() -> None:
    first = sets(0)
    page = open_upload(("<b>epoch_10</b>.npz", npz_of(*first)), path="models", models_view="series")
    assert words.NO_FILES in " ".join(bodies(page))
    other = npz_of(again(first[0], 1), again(first[1], 2))
    bring(page, ("epoch_2.npz", other), ("short.npz", npz_of(*sets(3, 40))))
    assert not page.exception
    assert "short\\.npz cannot be compared" in page.error[0].value
    results = [
        checkpoint(number, read("x.npz", data).split())  # type: ignore[arg-type]
        for number, data in ((2, other), (10, npz_of(*first)))
    ]
    assert rows_of(page) == [cells_of(one) for one in results]
    assert not MARKUP.search(" ".join(bodies(page)))
    (number,) = [one for one in page.number_input if one.label == "epoch_2.npz"]
    number.set_value(20.0).run()
    assert [row[0] for row in rows_of(page)] == ["10", "20"]


@pytest.mark.long
def test_files_that_were_brought_together_are_a_series() -> None:
    page = open_upload(
        scores_file("width_64.csv", seed=1), scores_file("width_8.csv", seed=2),
        path="models", models_view="series",
    )  # fmt: skip
    (button,) = [one for one in page.button if one.label.startswith("width") and "64" in one.label]
    button.click().run()
    assert not page.exception
    assert [row[0] for row in rows_of(page)] == ["8", "64"]


def test_other_examples_say_where_a_series_is() -> None:
    page = open_page("models", models_view="series", sample="three_garments")
    assert [info.value for info in page.info] == [words.NO_SERIES]
    assert not charts(page)
