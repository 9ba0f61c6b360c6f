"""Columns that are known only after the outcome are no subgroups, unless they are chosen."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from dashboard.readers import Upload, read
from dashboard.readers.records import ColumnRole
from tests.readers.files import headed
from tests.reference_measures import isotonic

N = 2000
RNG = np.random.default_rng(1)
ODDS = RNG.normal(-2, 1, N)
RISK = (1 / (1 + np.exp(-ODDS))).round(4)
EVENT = (RNG.random(N) < RISK).astype(int)
WARD = RNG.choice(["A", "B", "C"], N)


def opened(beside: Any, name: str = "beside", *, risk: Any = RISK, event: Any = EVENT,
           roles: tuple[tuple[str, ColumnRole], ...] = ()) -> Upload:  # fmt: skip
    roles = (("p", "score"), ("default", "outcome"), *roles)
    return read("a.csv", headed(f"p,default,{name}", risk, event, beside), roles=roles)


def checks(upload: Upload) -> list[str]:
    return [doubt for doubt in upload.doubts if "known only after the outcome" in doubt]


def grouped_by(upload: Upload) -> list[str]:
    return [*upload.columns["rows"]]


LOSS = np.where(EVENT == 1, RNG.lognormal(8, 1, N).round(2), 0)


def test_a_loss_is_left_out_with_its_reason_until_it_is_chosen() -> None:
    upload = opened(LOSS, "loss_amount")
    n_events, mean = int(EVENT.sum()), 100 * RISK[EVENT == 1].mean()
    (check,) = checks(upload)
    assert check == (
        f"All {n_events} rows with loss_amount of {LOSS[EVENT == 1].min():.6g} and more have"
        f" default = 1, though their mean score is {mean:.1f}%: it seems to be known only after the"
        " outcome, so it is not used for subgroups. To use it all the same, set its role to"
        " Grouping (--column loss_amount=group)."
    )
    assert grouped_by(upload) == []
    assert not any(note.startswith("Grouping columns") for note in upload.notes)
    place = upload.preview.headings.index("loss_amount")
    assert upload.preview.roles[place] == "left out"
    assert upload.preview.reasons[place] == "known only after the outcome"
    assert upload.uses["loss_amount"] == upload.preview.uses[place] == "left out"
    chosen = opened(LOSS, "loss_amount", roles=(("loss_amount", "group"),))
    assert checks(chosen) == []
    assert grouped_by(chosen) == ["loss_amount"]
    assert chosen.preview.roles[place] == "group"


def test_another_outcome_that_implies_this_one() -> None:
    sooner = EVENT * (RNG.random(N) < 0.6)
    upload = opened(sooner, "default_30d")
    (check,) = checks(upload)
    assert check.startswith(
        f"All {sooner.sum()} rows with default_30d = 1 have default = 1, though"
    )
    assert grouped_by(upload) == []


def test_a_group_that_never_has_a_likely_event() -> None:
    pays = np.where((EVENT == 0) & (RISK > 0.3), "pays", "settles")
    (check,) = checks(opened(pays, "status"))
    n_paying = np.count_nonzero(pays == "pays")
    assert check.startswith(f"All {n_paying} rows with status = pays have default = 0, though")


def test_a_date_of_the_event_goes_and_a_month_without_outcomes_stays() -> None:
    months = np.array([f"2024-{k:02d}-03" for k in RNG.integers(1, 13, N)])
    (check,) = checks(opened(np.where(EVENT == 1, months, ""), "defaulted_on"))
    assert "defaulted_on" in check
    unknown = np.where(months == "2024-12-03", 0, RNG.random(N) < 0.5).astype(int)
    upload = opened(months, "opened_on", risk=RNG.uniform(0.4, 0.6, N).round(3), event=unknown)
    assert checks(upload) == []
    assert grouped_by(upload) == ["opened_on"]


def test_a_final_score_decides_each_row() -> None:
    home = RNG.random(N) < np.linspace(0.3, 0.7, N)
    goals = np.where(home, RNG.choice(["1-0", "2-0", "2-1"], N), RNG.choice(["0-1", "1-2"], N))
    upload = opened(goals, "final", risk=np.linspace(0.3, 0.7, N).round(4), event=home.astype(int))
    assert len(checks(upload)) == 1
    assert grouped_by(upload) == []


LOWEST = np.argsort(np.argsort(RISK)) < N // 2
"""The half of the rows with the lowest risks."""


@pytest.mark.parametrize(
    ("name", "beside"),
    [
        ("ward", WARD),
        ("ward", np.where(LOWEST & (EVENT == 0), "maternity", WARD)),
        ("ward", np.where((RISK > 0.4) & (EVENT == 1) & (RNG.random(N) < 0.3), "ICU", WARD)),
        ("age", RNG.integers(18, 90, N)),
        ("few", np.where((EVENT == 1) & (np.cumsum(EVENT) < 20), "D", WARD)),
        ("patient", [f"P{k}" for k in np.where(EVENT == 1, RNG.integers(0, 9, N), 9)]),
    ],
)  # fmt: skip
def test_columns_that_stay(name: str, beside: Any) -> None:
    upload = opened(beside, name)
    assert checks(upload) == []


def test_scores_that_are_all_too_low_make_no_ward_suspicious() -> None:
    often = (RNG.random(N) < 0.985).astype(int)
    upload = opened(np.arange(N) // 50 % 40, "site_group", event=often)
    assert checks(upload) == []


def chance_of(scores: Sequence[float], hits: Sequence[int], members: Sequence[bool]) -> float:
    """Sum the logarithms of the best rising frequencies of some rows, by loops."""
    best = isotonic(scores, hits)
    return sum(math.log(best[s]) for s, chosen in zip(scores, members, strict=True) if chosen)


def test_a_group_is_left_out_from_one_in_a_thousand_million() -> None:
    rng, seen = np.random.default_rng(4), set()
    scores = rng.choice([0.2, 0.3, 0.4, 0.5, 0.6], 300)
    for size in range(16, 60, 2):
        hits = (rng.random(300) < scores).astype(int)
        members = np.zeros(300, np.bool_)
        members[rng.choice(np.flatnonzero(hits), size, replace=False)] = True
        chance = chance_of(scores.tolist(), hits.tolist(), members.tolist())
        if abs(chance - math.log(1e-9)) < 1e-6:
            continue
        wanted = size >= 20 and chance < math.log(1e-9)
        upload = opened(np.where(members, "yes", "no"), "closed", risk=scores, event=hits)
        assert bool(checks(upload)) == wanted, size
        seen.add(wanted)
    assert seen == {False, True}


def test_classes_and_top_predictions() -> None:
    rng = np.random.default_rng(2)
    table = rng.dirichlet([1, 1, 1], N).round(6)
    table[:, 2] = (1 - table[:, 0] - table[:, 1]).round(6)
    labels = (table.cumsum(axis=1) < rng.random((N, 1))).sum(axis=1).clip(0, 2)
    names = np.array(["cat", "dog", "fox"])
    result = np.where((labels == 1) & (rng.random(N) < 0.5), "barks", "quiet")
    upload = read("a.csv", headed("cat,dog,fox,label,sound", *table.T, names[labels], result))
    (check,) = checks(upload)
    assert "rows with sound = barks have label = dog," in check
    assert "mean score of that class" in check
    scores = rng.uniform(0.4, 0.95, N).round(3)
    right = (rng.random(N) < scores).astype(int)
    for share in (0.7, 1.0):
        review = np.where((right == 0) & (rng.random(N) < share), "corrected", "none")
        data = headed("confidence,correct,review", scores, right, review)
        upload = read("a.csv", data, roles=(("correct", "correct"),))
        assert grouped_by(upload) == []
        if share == 1:  # the other way to say what is right
            assert checks(upload) == []
            assert "Column review says whether the predicted class is right" in upload.missing[-1]
        else:
            (check,) = checks(upload)
            assert "rows with review = corrected are wrong, though their mean score is" in check
