"""The tables behind the pictures of lessons, cell by cell against plain loops over the rows."""

import numpy as np
import pytest

from calibcore.data import EventScores
from dashboard.learn import data
from dashboard.learn.lesson import start_of
from dashboard.learn.lessons import diagram, events, in_the_large, transport
from tests import reference
from tests.learn.reference import at_temperature, ks_error
from tests.reference import mean


def pairs(event: EventScores) -> list[tuple[float, int]]:
    return sorted(zip(event.scores.tolist(), event.hits.astype(int).tolist(), strict=True))


def assert_cells(cells: tuple[str, ...], *expected: float) -> None:
    """Compare written numbers with their values, to the digits that are written."""
    assert len(cells) == len(expected)
    for cell, value in zip(cells, expected, strict=True):
        number = cell.removesuffix("%").replace(",", "").replace("\u2212", "-")
        unit = 10.0 ** -len(number.partition(".")[2])
        times = 100 if cell.endswith("%") else 1
        assert float(number) == pytest.approx(times * value, abs=0.501 * unit)


@pytest.mark.parametrize("n_rows", [1, 12, 60])
def test_the_bins_of_the_rows_that_have_fallen(n_rows: int) -> None:
    every = pairs(data.few_rows(60))
    rows = pairs(diagram.find(n_rows).rows)
    assert len(rows) == n_rows
    assert all(row in every for row in rows)
    _, *table = diagram.show(start_of(diagram.LESSON, chosen={"rows": str(n_rows)})).numbers
    for tenth, (name, n, correct, *rest) in zip(range(4, 10), table, strict=True):
        assert name == f"{10 * tenth}\u2013{10 * tenth + 10}%"
        inside = [row for row in rows if tenth / 10 < row[0] <= (tenth + 1) / 10]
        assert (int(n), int(correct)) == (len(inside), sum(hit for _, hit in inside))
        if inside:
            score, rate = mean([s for s, _ in inside]), mean([h for _, h in inside])
            assert_cells(tuple(rest[:2]), rate, score)
            # The gap is of what is written.
            written = [float(cell.removesuffix("%")) for cell in rest[:2]]
            assert_cells((rest[2],), written[1] - written[0])
        else:
            assert rest == ["\u2013"] * 3


@pytest.mark.parametrize(("slope", "shift"), [("0.6", "0"), ("1.6", "0.5")])
def test_expected_and_observed_events_by_fifth(slope: str, shift: str) -> None:
    state = start_of(in_the_large.LESSON, chosen={"slope": slope, "shift": shift})
    rows = pairs(in_the_large.find(state).event)
    size = len(rows) // 5
    assert size == 400
    parts = [rows[k * size : (k + 1) * size] for k in range(5)]
    _, *table = in_the_large.show(state).numbers
    names = [*(f"Fifth {k} by risk" for k in range(1, 6)), "All"]
    for name, part, (written, *cells) in zip(names, [*parts, rows], table, strict=True):
        assert written == name
        expected, observed = (sum(row[k] for row in part) for k in (0, 1))
        assert_cells(tuple(cells), expected, observed, observed / expected)


@pytest.mark.parametrize("rate", ["10", "50"])
def test_what_is_usual_to_report_of_each_hospital(rate: str) -> None:
    state = start_of(transport.LESSON, chosen={"rate": rate})
    result = transport.find(state)
    _, *table = transport.show(state).numbers
    for name, one, (written, *cells) in zip(
        ("A", "B", "B, offset"), (result.home, result.before, result.after), table, strict=True
    ):
        assert written == name
        rows = pairs(one.event)
        scores, hits = [s for s, _ in rows], [h for _, h in rows]
        ill = np.array([s for s, h in rows if h])[:, np.newaxis]
        well = np.array([s for s, h in rows if not h])
        auroc = float(((ill > well) + 0.5 * (ill == well)).mean())
        ratio = sum(hits) / sum(scores)
        error = ks_error(scores, hits)
        assert_cells(tuple(cells), mean(scores), mean(hits), ratio, auroc, error)


def test_each_event_of_the_network() -> None:
    rows = at_temperature(1.0, data.NETWORK)
    names = data.sample().test.class_names
    every = {
        "Top prediction": reference.top_r(rows.probabilities, rows.labels, 1),
        "Prediction 2": reference.top_r(rows.probabilities, rows.labels, 2),
        "Top-2 set": reference.within_top_r(rows.probabilities, rows.labels, 2),
    } | {
        f"Class {name}": reference.one_class(rows.probabilities, rows.labels, k)
        for k, name in enumerate(names)
    }
    _, *table = events.show(start_of(events.LESSON, chosen={"calibrator": "none"})).numbers
    assert [row[0] for row in table] == list(every)
    for (_, *cells), event in zip(table, every.values(), strict=True):
        error = ks_error(event.scores, event.hits)
        assert_cells(tuple(cells[:3]), mean(event.scores), mean(event.hits), error)
        # Luck alone exceeds the last one, before it is rounded, in 5% of draws.
        limit = float(cells[3].removesuffix("%")) / 100
        below, above = (reference.gap_p_value(event.scores, limit + x) for x in (-5.1e-4, 5.1e-4))
        assert below >= 0.05 >= above
