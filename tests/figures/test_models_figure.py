"""Several models drawn and written."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from calibcore import LogitSet, Split, TopR, audit
from calibcore.calibrators import TemperatureScaling
from calibcore.evaluation import SetResult
from calibcore.inference import Plan, SideRows, infer
from calibcore.metrics import METRICS, measure_by_key
from calibcore.models import plane_of
from dashboard.figures import DARK, LIGHT, Palette
from dashboard.figures.models import measure_figure, plane_figure
from dashboard.settings import NO_METHOD, Settings
from dashboard.tables import models_table
from dashboard.texts.classes import shortened
from dashboard.texts.glossary import OPTIONS
from dashboard.texts.numbers import escape_markdown, measured, p_words
from dashboard.texts.tiles import raised_nll
from dashboard.texts.verdict import across_half
from dashboard.views.models import words
from tests.figures.conftest import Keep
from tests.figures.small_results import pct, texts, trace

NAMES = ("plain", "<b>sharp</b> $x$", "soft")


def evaluated(*, calibrated: bool = True) -> list[SetResult]:
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=900)
    results = []
    for sharper in (1.2, 3.0, 0.4):
        logits = 2 * np.eye(3)[labels] + rng.gumbel(size=(900, 3))
        rows = LogitSet(sharper * logits, labels)
        calibrator = TemperatureScaling() if calibrated else None
        results.append(audit(Split(rows, rows), event=TopR(1), calibrator=calibrator).test)
    return results


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_the_plane_draws_every_model_before_and_after(palette: Palette, keep: Keep) -> None:
    plane = plane_of(evaluated())
    figure = plane_figure(plane, NAMES, palette, calibrated=True)
    keep(f"plane_{'light' if palette is LIGHT else 'dark'}", figure)
    for side, name in enumerate(("before", "after")):
        drawn = trace(figure, name)
        assert_allclose(drawn.x, plane.miscalibration[:, side])
        assert_allclose(drawn.y, plane.discrimination[:, side])
    assert {text for text in texts(figure) if text in {"plain", "soft"}} == {"plain", "soft"}
    assert any("&lt;b&gt;sharp" in text for text in texts(figure))
    assert not any("<b>" in text or "$" in text for text in texts(figure))


def test_along_a_line_the_brier_score_is_the_one_it_is_named_for() -> None:
    plane = plane_of(evaluated())
    figure = plane_figure(plane, NAMES, LIGHT, calibrated=True)
    lines = [drawn for drawn in figure.data if drawn.name == "equal Brier score"]
    named = [one for one in figure.layout.annotations if one.text.startswith("Brier")]
    assert len(lines) >= 3
    assert named
    values = [np.array(line.x) - np.array(line.y) + plane.uncertainty for line in lines]
    assert all(np.ptp(value) < 1e-12 for value in values)
    assert len({round(float(value[0]), 9) for value in values}) == len(lines)
    assert len({len(one.text) for one in named}) == 1  # with the same number of decimals
    for one in named:
        assert one.x - one.y + plane.uncertainty == pytest.approx(float(one.text.split()[1]))
        assert figure.layout.yaxis.range[0] <= one.y <= figure.layout.yaxis.range[1]


def test_without_a_calibrator_there_is_one_mark_a_model() -> None:
    figure = plane_figure(plane_of(evaluated(calibrated=False)), NAMES, LIGHT, calibrated=False)
    assert {"after calibration", "from before to after"}.isdisjoint(
        drawn.name for drawn in figure.data
    )


def test_one_point_alone_has_room_around_it() -> None:
    one = evaluated()[:1]
    figure = plane_figure(plane_of([one[0], one[0]]), ("a", "a"), LIGHT, calibrated=False)
    low, high = figure.layout.yaxis.range
    assert low < plane_of(one).discrimination[0, 0] < high


# Table and words ----------------------------------------------------------------------------


def test_the_table_marks_the_best_of_each_side_by_itself() -> None:
    results = evaluated()
    measures = [measure for measure in METRICS if measure.key in {"ks_error", "accuracy"}]
    table = models_table("abc"[: len(results)], results, measures, calibrated=True)
    column = [(row.cells[0], *row.cells[0].below) for row in table.rows]
    errors = [one.compare("ks_error") for one in results]
    rows = results[0].n_samples
    assert [cell.shown for cell, _ in column] == [measured(e, e.before, rows) for e in errors]
    assert [cell.shown for _, cell in column] == [measured(e, e.after, rows) for e in errors]
    values = [error.before or 0.0 for error in errors]
    assert [cell.place for cell, _ in column][int(np.argmin(values))] == "best"
    rights = [row.cells[1] for row in table.rows]
    shares = [one.compare("accuracy").before or 0.0 for one in results]
    assert rights[int(np.argmax(shares))].place == "best"


def test_the_conclusion_names_the_smallest_error_and_what_remains() -> None:
    results = evaluated()
    errors = [one.before.curves.ks_error for one in results]
    left = [one.after.curves.ks_error for one in results]
    text = words.conclusion(NAMES, results, "temperature", expert=False)
    assert int(np.argmin(errors)) == 0
    best = f"({pct(f'{100 * errors[0]:.1f}')})"
    least = pct(f"{100 * min(left):.1f}")
    last = shortened(NAMES[int(np.argmin(left))])
    assert text.endswith(
        f"pp. Lowest KS error before: plain {best}; after: {escape_markdown(last)} ({least})."
    )
    low, high = f"{100 * min(left):.1f}", f"{100 * max(left):.1f}"
    assert [one.after.omnibus.p_value < 0.05 for one in results] == [True] * 3
    still = "miscalibration still detected in all 3 models"
    assert text.startswith(f"After Temperature scaling: {still}, KS errors {low}\u2013{high}%; ")
    rights = [one.compare("accuracy").after or 0.0 for one in results]
    apart = 100 * (max(rights) - min(rights))
    assert f"; accuracies differ by up to {apart:.1f} pp. " in text
    assert "p <" not in text
    p_value = results[0].before.curves.ks_p_value
    assert p_words(p_value) in words.conclusion(NAMES, results, "temperature", expert=True)
    none = words.conclusion(NAMES, evaluated(calibrated=False), NO_METHOD, expert=False)
    assert none == f"Lowest KS error: plain {best}."


def test_a_name_of_a_file_is_no_markup_in_the_conclusion() -> None:
    one = evaluated()[0]
    text = words.conclusion((NAMES[1], "b"), [one, one], NO_METHOD, expert=False)
    assert text.startswith(r"Lowest KS error: \<b\>sharp\</b\> \$x\$ and b (")


def test_of_equal_models_none_is_the_best() -> None:
    one = evaluated()[0]
    text = words.conclusion(("a", "b"), [one, one], "temperature", expert=False)
    error = pct(f"{100 * one.before.curves.ks_error:.1f}")
    after = pct(f"{100 * one.after.curves.ks_error:.1f}")
    assert text.endswith(
        f"Lowest KS error before: a and b ({error} each); after: a and b ({after} each)."
    )
    assert "miscalibration still detected in both models" in text


def test_the_headline_names_the_models_that_are_still_off() -> None:
    assert words.still_off([], 3) == "no miscalibration detected"
    assert words.still_off(["a", "b"], 3).endswith("still detected in a and b (2 of 3)")
    assert words.still_off(["a", "b", "c"], 4).endswith("still detected in 3 of 4 models")
    assert words.still_off(["a", "b", "c"], 3).endswith("still detected in all 3 models")


def test_a_difference_is_written_with_its_interval() -> None:
    first, other = evaluated()[:2]
    measure = measure_by_key("ks_error")
    plan = Plan((measure,), n_resamples=50)
    mine, its = SideRows(first.before.event), SideRows(other.before.event)
    finding = infer(mine, its, plan).find("ks_error")
    value, interval, text, kind = words.difference_cell(finding, measure, 900)
    gap = 100 * (other.before.curves.ks_error - first.before.curves.ks_error)
    assert value == f"+{gap:.1f} pp"
    assert finding.change is not None
    assert interval == f"+{100 * finding.change.low:.1f} to +{100 * finding.change.high:.1f}"
    assert (text, kind) == ("\u25bc worse", "worse")
    same = infer(mine, SideRows(first.before.event), plan).find("ks_error")
    assert words.difference_cell(same, measure, 900)[2] == "\u25cb no clear difference"


def test_the_help_says_where_the_uncertainties_differ() -> None:
    plane = plane_of(evaluated())
    best = int(plane.brier[:, 1].argmin())
    assert words.plane_caption(plane, ("a", "b", "c"), calibrated=True) == (
        f"Lowest Brier score after calibration: {'abc'[best]}, {plane.brier[best, 1]:.3f}."
    )
    text = words.plane_help(plane, expert=False)
    assert "uncertainties differ" in text
    assert "discrimination at equal uncertainty" in text
    assert "CORP" not in text
    assert "CORP" in words.plane_help(plane, expert=True)
    figure = plane_figure(plane, NAMES, LIGHT, calibrated=True)
    assert (
        figure.layout.yaxis.title.text == "Discrimination at equal uncertainty (higher is better)"
    )
    alike = plane_of([evaluated()[0]] * 2)
    assert alike.shared
    assert "equal uncertainty" not in words.plane_help(alike, expert=False)
    figure = plane_figure(alike, ("a", "b"), LIGHT, calibrated=True)
    assert figure.layout.yaxis.title.text == "Discrimination (higher is better)"
    text = words.plane_caption(alike, ("a", "b"), calibrated=True)
    assert text.startswith("Lowest Brier score after calibration: a and b, 0.")


def test_models_with_certain_misses_are_named_with_what_helps() -> None:
    one = evaluated()[0]
    given = {"certain_misses": (0.0, 2.0), "nll": (0.5, 0.75)}
    rows = (
        replace(row, before=given[row.measure.key][0], after=given[row.measure.key][1])
        if row.measure.key in given
        else row
        for row in one.comparisons
    )
    results = [one, replace(one, comparisons=tuple(rows))]
    text, which = words.certain_note(("a", "b"), results, Settings(TopR(1), "spline"))
    counted = "1 of 2 models now has wrong predictions at 0% or 100%, and a higher NLL."
    assert text == f"{counted} Turn on **{OPTIONS['spline', 'constrained'][0]}**."
    assert which == f"**b**: {raised_nll(results[1])}."
    assert "0.500" in which
    assert "0.750" in which
    kept = Settings(TopR(1), "spline", (("constrained", True),))
    for settings in (kept, Settings(TopR(1), "isotonic")):
        assert words.certain_note(("a", "b"), results, settings) == (counted, which)
    assert words.certain_note(("a",), [one], kept) == ("", "")


def test_scores_that_cross_half_are_counted() -> None:
    one = evaluated()[0]
    assert words.half_note([one]) == ""
    text = words.half_note([one, replace(one, past_half=3)])
    assert text == f" Up to {across_half(3)}, but predicted classes are not updated."


def test_the_errors_of_models_are_drawn_before_and_after() -> None:
    rows = [("a", 0.05, 0.01), ("b <i>", 0.02, 0.03)]
    figure = measure_figure(rows, "KS error", LIGHT, calibrated=True)
    dots = {trace.name: list(trace.x) for trace in figure.data if trace.mode == "markers"}
    assert dots == {"before": [0.05, 0.02], "after": [0.01, 0.03]}
    assert figure.layout.xaxis.range[1] > 0.05
    assert figure.layout.yaxis.ticktext == ("a", "b &lt;i&gt;")
    alone = measure_figure(rows, "KS error", LIGHT, calibrated=False)
    assert [trace.name for trace in alone.data] == ["before"]
