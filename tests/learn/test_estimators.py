"""The study of estimators in pictures and words."""

import math
import re

import numpy as np
import pytest

from calibcore.synthetic import EstimatorStudy, Redraws, redraw_estimates, zhang_world
from calibcore.synthetic.study import ESTIMATES
from dashboard.compute import learn
from dashboard.compute.learn import finished_study, study_of, study_seconds
from dashboard.figures import LIGHT
from dashboard.figures.estimators import error_graph
from dashboard.learn.laboratory import LaboratoryModel
from dashboard.texts import laboratory as words
from tests import reference
from tests.learn.reference import quantile
from tests.reference_worlds import Slow

STUDY = EstimatorStudy(
    tuple(redraw_estimates(zhang_world(0.5, -1.5), n, 30, seed=0) for n in (64, 256, 1_024))
)


def study_with(**errors: list[float]) -> EstimatorStudy:
    """Each estimate's error at each of some sizes, the same in every draw; others are far off."""
    n_sizes = len(next(iter(errors.values())))
    table = [[errors.get(key, [0.5] * n_sizes)[k] for key in ESTIMATES] for k in range(n_sizes)]
    aims = np.zeros(len(ESTIMATES))
    return EstimatorStudy(
        tuple(Redraws(ESTIMATES, np.array([row]), aims, aims, 10**k) for k, row in enumerate(table))
    )


def test_the_picture_draws_the_mean_errors_of_all_estimates() -> None:
    figure = error_graph(STUDY, words.SHORT_NAMES, words.GRAPH, words.AXIS, LIGHT)
    assert set(words.SHORT_NAMES) == set(words.NAMES) == set(ESTIMATES)
    for (key, name), trace in zip(words.SHORT_NAMES.items(), figure.data, strict=True):
        assert trace.name == name
        assert np.allclose(trace.y, 100 * STUDY.mean_error(key))
        assert trace.x.tolist() == [64, 256, 1_024]
    named = {one.text: one.y for one in figure.layout.annotations}
    assert set(named) == set(words.SHORT_NAMES.values())
    first = {name: STUDY.mean_error(key)[0] for key, name in words.SHORT_NAMES.items()}
    assert sorted(named, key=named.__getitem__) == sorted(first, key=first.__getitem__)
    assert (figure.layout.xaxis.type, figure.layout.yaxis.type) == ("log", "log")
    looks = {(trace.line.color, trace.line.dash) for trace in figure.data}
    assert len(looks) == len(ESTIMATES)


@pytest.mark.parametrize(
    ("errors", "told"),
    [
        (
            {"ece": [0.3, 0.2, 0.1], "kde_ece": [0.1, 0.1, 0.095]},
            (
                "With 1 rows KDE-ECE has the lowest error of an ECE estimate (10.00 pp); {name}:"
                " 30.00 pp. From 100 rows on, 15 bins are within 10% of the lowest error."
            ),
        ),
        (
            {"ece": [0.1, 0.1], "kde_ece": [0.2, 0.05]},
            (
                "With 1 rows no estimate of ECE has a lower error than {name} (10.00 pp). Up to 10"
                " rows, 15 bins stay behind by more than 10%."
            ),
        ),
        (
            {"ece": [0.105, 0.1], "kde_ece": [0.1, 0.1], "sweep_ece": [0.1, 0.2]},
            (
                "With 1 rows KDE-ECE has the lowest error of an ECE estimate (10.00 pp, not clearly"
                " lower than Sweep ECE 10.00 pp); {name}: 10.50 pp. At every size, 15 bins are"
                " within 10% of the lowest error."
            ),
        ),
        (
            {"ece": [0.1, 0.1], "kde_ece": [0.1, 0.1]},
            (
                "With 1 rows KDE-ECE has the lowest error of an ECE estimate (10.00 pp, not clearly"
                " lower than {name} 10.00 pp). At every size, 15 bins are within 10% of the lowest"
                " error."
            ),
        ),
    ],
)
def test_the_conclusion_by_hand(errors: dict[str, list[float]], told: str) -> None:
    n_sizes = len(errors["ece"])
    study = study_with(ks_error=[0.04] * n_sizes, smooth_ece=[0.03] * n_sizes, **errors)
    told = told.format(name="ECE (15 equal-width bins)")
    assert (
        words.estimators_conclusion(study)
        == f"{told} By their own truths: Smooth ECE 3.00 pp and KS error 4.00 pp."
    )


def test_the_table_has_the_lowest_first() -> None:
    rows = words.rows(STUDY)
    assert words.heads(STUDY) == ("Estimate", "Truth", "64 rows", "256 rows", "1,024 rows")
    assert len(rows) == len(ESTIMATES)
    shown = [float(row[2].split()[0]) for row in rows]
    assert shown == sorted(shown)
    assert "in brackets the 10th\u201390th percentile of the errors" in words.NOTE
    slow = Slow(zhang_world(0.5, -1.5))
    distance = slow.mean(lambda s, p: abs(s - p))
    own = {
        "debiased_ece": math.sqrt(slow.mean(lambda s, p: (s - p) ** 2)),
        "smooth_ece": slow.smooth_ece(),
        "ks_error": slow.ks(),
    }
    keys = {name: key for key, name in words.NAMES.items()}
    for name, truth, *cells in rows:
        key = keys[name]
        aim = own.get(key, distance)
        assert float(truth.removesuffix("%")) == pytest.approx(100 * aim, abs=0.00501)
        for cell, size in zip(cells, STUDY.sizes, strict=True):
            errors = [100 * abs(one - aim) for one in size.of(key).tolist()]
            mean, low, high = (float(one) for one in re.findall(r"[\d.]+", cell))
            assert cell == f"{mean:.2f} pp ({low:.2f}\u2013{high:.2f})"
            assert mean == pytest.approx(math.fsum(errors) / len(errors), abs=0.006)
            for written, share in ((low, 0.1), (high, 0.9)):
                assert written == pytest.approx(quantile(errors, share), abs=0.006)


def test_names_say_how_many_bins_there_are() -> None:
    event = zhang_world(0.5, -1.5).draw(64, seed=[0, 64, 0]).event
    rows = event.scores.tolist(), [int(hit) for hit in event.hits]
    for key, binning in (("ece", "equal_width"), ("ece_equal_mass", "equal_mass")):
        slow = reference.ece(*rows, 15, binning)
        assert STUDY.sizes[0].of(key)[0] == pytest.approx(slow)
        assert re.findall(r"\d+", words.NAMES[key] + words.SHORT_NAMES[key]) == ["15", "15"]


class StoppedError(Exception):
    pass


def test_a_stopped_study_keeps_what_is_finished() -> None:
    model, told = LaboratoryModel(form="zhang", seed=77), []

    def stop(share: float, n_rows: int) -> None:
        told.append(share)
        if n_rows == 256:
            raise StoppedError

    assert finished_study(model, 3) is None
    whole = study_seconds(model, 3)
    with pytest.raises(StoppedError):
        study_of(model, 3, stop)
    assert told == sorted(told)
    result = finished_study(LaboratoryModel(form="zhang", seed=77, rows=50, draw=9), 3)
    assert result is not None
    assert result.n_rows.tolist() == [64, 128]
    assert 0 < study_seconds(model, 3) < whole
    assert study_seconds(model, 30) == pytest.approx(10 * whole)


def test_what_is_dropped_once_it_was_looked_for_is_not_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(learn, "is_known", lambda *_: True)
    assert finished_study(LaboratoryModel(form="zhang", seed=78), 3) is None
