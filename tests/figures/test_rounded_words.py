"""Rounded scores are mentioned where they matter to a result, and nowhere else."""

import numpy as np
import pytest

from calibcore.inference import ks_by_worst_order
from dashboard.texts.power import MATTERS, rounded_note
from tests.figures.small_results import side_of

N = 4000


@pytest.mark.parametrize(
    ("decimals", "text"), [(1, True), (2, True), (3, False), (4, False), (None, False)]
)
def test_the_ks_error_is_given_with_its_range_where_ties_can_move_it(
    decimals: int | None, *, text: bool
) -> None:
    rng = np.random.default_rng(7)
    exact = rng.uniform(0.2, 0.8, N)
    scores = exact if decimals is None else exact.round(decimals)
    side = side_of(scores, rng.random(N) < exact)
    note, worst = rounded_note(side), ks_by_worst_order(side.curves)
    assert bool(note) == text
    low, high = (f"{100 * end:.1f}" for end in (side.curves.ks_error, worst))
    moved = worst - side.curves.ks_error > MATTERS * 3.92 * side.curves.null_deviation
    assert moved == text
    if text:
        digits = f"{decimals} decimal{'' if decimals == 1 else 's'}"
        assert note.startswith(f"Scores are rounded to {digits}: ")
        assert f"the KS error may be {low}\u2013{high}%" in note
