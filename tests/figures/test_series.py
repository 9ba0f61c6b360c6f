"""Pictures of a series and the sentences below them, of numbers written by hand."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from calibcore.series import Checkpoint
from dashboard.figures import DARK, LIGHT
from dashboard.figures.models import PANELS, series_graph
from dashboard.views.models import series_words as words
from dashboard.views.models.results import numbers_in

SPREAD = np.where(np.arange(10_000) < 5000, 0.5, -0.5)


def one(
    number: float, error: float, nll: float, temperature: float = 1.0, *, moved: int = 0
) -> Checkpoint:
    """Make a network that is wrong on the first rows, from the row `moved` on."""
    wrong = np.arange(10_000) < round(error * 10_000)
    return Checkpoint(
        number=number,
        n_samples=10_000,
        temperature=temperature,
        correct=(~np.roll(wrong, moved)).astype(np.int8),
        losses=nll + np.roll(SPREAD, moved),
        nll=(nll, nll - 0.01),
        entropy=(0.2, 0.25),
        ece=(0.05, 0.01),
        ks_error=(0.04, 0.002),
        classwise_ece=(0.00948, 0.003),
    )


OVERFIT = (one(1, 0.30, 0.9, 0.8), one(5, 0.20, 0.6, 0.97), one(20, 0.15, 0.7, 1.5))


@pytest.mark.parametrize(
    ("results", "text"),
    [
        (OVERFIT, "From epoch 5 to 20, NLL rises (0.600 \u2192 0.700) while error falls (20.0%"),
        # 1,100 rows are gained and 1,000 lost; 1.96 times the root of 2,099 is 90 rows.
        ((one(1, 0.2, 0.5, moved=1000), one(2, 0.19, 0.6)), "error falls (20.0% \u2192 19.0%)."),
        # 1,450 rows are gained and 1,350 lost; 1.96 times the root of 2,799 is 104 rows.
        ((one(1, 0.2, 0.5, moved=1350), one(2, 0.19, 0.6)), "error shows no clear change"),
        ((one(1, 0.194, 0.5), one(2, 0.206, 0.6)), "error rises"),
        # All rows differ by 1 nat, half of them up: a standard error is 0.01.
        ((one(1, 0.2, 0.5, moved=5000), one(2, 0.2, 0.519)), "(0.500), with no clear rise up to 2"),
        ((one(1, 0.2, 0.5, moved=5000), one(2, 0.2, 0.521)), "NLL rises (0.500 \u2192 0.521)"),
        ((one(1, 0.2, 0.5), one(2, 0.2, 0.4)), "NLL is lowest at the last epoch, 2 (0.400)."),
    ],
)
def test_the_conclusion_names_the_lowest_nll_and_what_follows(
    results: Sequence[Checkpoint], text: str
) -> None:
    assert text in words.conclusion(results, "Epoch")


def test_what_is_shaded_reaches_from_the_lowest_nll_to_a_later_lowest_error() -> None:
    assert words.overfit(OVERFIT) == (5, 20)
    assert words.overfit((one(1, 0.1, 0.5), one(2, 0.2, 0.4))) is None
    assert "(epoch 5) to the lowest error (epoch 20)" in words.legend((5, 20), "Epoch")


@pytest.mark.parametrize(
    ("temperatures", "text"),
    [
        ((0.8, 0.97, 1.5), "From epoch 20 on it is more than 0.05 above 1: scores are too high."),
        ((1.2, 1.4, 1.5), "above 1 at every epoch: scores are too high throughout."),
        ((0.8, 0.7, 0.9), "below 1 at every epoch: scores are too low throughout."),
        ((1.2, 0.7, 0.9), "From epoch 5 on it is more than 0.05 below 1: scores are too low."),
        ((1.2, 0.7, 1.2), "it is above 1 at 2 of 3."),
        ((0.99, 1.02, 1.01), "about 1 at every epoch: scores need no correction."),
    ],
)
def test_the_temperature_is_said_with_its_side(temperatures: tuple[float, ...], text: str) -> None:
    results = [replace(e, temperature=t) for e, t in zip(OVERFIT, temperatures, strict=True)]
    assert text in words.caption("temperature", results, "Epoch")


@pytest.mark.parametrize("palette", [LIGHT, DARK])
@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.field)
def test_a_picture_holds_the_numbers_in_order(panel: object, palette: object) -> None:
    figure = series_graph(panel, OVERFIT, "<b>Epoch</b>", palette, (5, 20))  # type: ignore[arg-type]
    wanted = np.atleast_2d(np.array([getattr(e, panel.field) for e in OVERFIT]).T)  # type: ignore[attr-defined]
    assert len(figure.data) == len(wanted)
    for trace, values in zip(figure.data, wanted, strict=True):
        assert list(trace.x) == [1, 5, 20]
        np.testing.assert_array_equal(trace.y, values)
        low, high = figure.layout.yaxis.range
        assert low <= min(values) <= max(values) <= high
    assert (figure.layout.shapes[0].x0, figure.layout.shapes[0].x1) == (5, 20)
    assert "<b>" not in figure.layout.xaxis.title.text


def test_numbers_far_apart_are_drawn_on_a_logarithmic_axis() -> None:
    decays = [replace(e, number=n) for e, n in zip(OVERFIT, (1e-5, 1e-4, 1e-2), strict=True)]
    assert series_graph(PANELS[0], decays, "Decay", LIGHT).layout.xaxis.type == "log"
    assert series_graph(PANELS[0], OVERFIT, "Epoch", LIGHT).layout.xaxis.type is None


@pytest.mark.parametrize(
    ("names", "numbers"),
    [
        (["resnet110_ep3.csv", "resnet110_ep12.csv"], ([3, 12], "ep")),
        (["width 0.5 seed 1.npz", "width 2 seed 1.npz"], ([0.5, 2], "width")),
        (["010.csv", "020.csv"], ([10, 20], "")),
        (["a_1.csv", "a_1_2.csv"], ([1, 2], "")),
        (["ckpt-1.csv", "ckpt-1.csv"], ([1, 2], "")),
        (["x.csv"], ([1], "")),
    ],
)
def test_numbers_are_read_from_names(names: list[str], numbers: tuple[list[float], str]) -> None:
    assert numbers_in(names) == numbers
