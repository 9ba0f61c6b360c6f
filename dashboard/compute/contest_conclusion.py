"""What a comparison of calibrators lets one say."""

from dataclasses import dataclass, replace

from calibcore.comparison import Contestant, Picks, penalty, pick, ranked, sides_shown
from calibcore.events import OneClass
from calibcore.metrics import METRICS, EventMeasure, Measure
from dashboard.compute.contest import (
    Dealt,
    advice_of,
    estimate_contest,
    moves_mean,
    run_contest,
    usual,
)
from dashboard.readers.upload import N_FOLDS
from dashboard.scene import Scene
from dashboard.wording import contest as words

_OF_ALL = tuple(next(m for m in METRICS if m.key == key) for key in ("nll", "accuracy"))
"""Measures of all classes, which an event does not decide."""

RANKED_BY = next(m for m in METRICS if m.key == "event_nll")
"""Measure by which calibrators are ranked until another is chosen."""


@dataclass(frozen=True)
class Conclusion:
    """Sentences, for Markdown; each may be empty."""

    head: str = ""
    """Which calibrator to use, or which lead."""
    level: str = ""
    """Which others are not clearly different, and what it makes worse; or which do better, but
    change predictions.
    """
    not_tested: str = ""
    """That a lead may be luck."""
    changers: str = ""
    on_test: str = ""
    """On calibrators that change predictions, and on the test set."""
    advised: str = ""
    """Key of the calibrator to use; empty where none is."""
    why: str = ""
    """Its figures."""

    @property
    def lines(self) -> list[str]:
        """All that is said."""
        all_said = (self.head, self.level, self.not_tested, self.changers, self.on_test)
        return [one for one in all_said if one]


def conclusion_of(scene: Scene, picks: Picks, among: list[Contestant], dealt: Dealt) -> Conclusion:
    """Test the lead of the best, and say what is known of it, of its equals and of the test set."""
    n_folds = min(dealt.n_folds, scene.split.calibration.n_samples)
    apart = _changers(scene, picks.measure, among)
    alike = [one for one in among if one not in apart]
    picks = pick(alike, picks.measure) or picks
    nll, accuracy = _OF_ALL
    found = advice_of(scene, alike, dealt, picks.measure)
    by_nll = advice_of(scene, apart, dealt, nll)
    level: list[Contestant] = []
    said = Conclusion()
    if found is not None:
        used = next(one for one in alike if one.key == (found.advised or found.best))
        picks = replace(picks, winner=used)
        moving = _lower_but_moving(alike, used, picks.measure)
        told = [
            words.level(found), words.worse_there(used, _OF_ALL) if found.advised else "",
            *map(words.moves_mean, moving),
        ]  # fmt: skip
        head = words.advice(
            found, alike, picks.measure, n_folds, expert=scene.expert, keeping=bool(apart),
        )  # fmt: skip
        why = f"{words.figures_of(used, picks.measure)} in cross-validation."
        level_with = " ".join(filter(None, told))
        said = Conclusion(head, level_with, advised=found.advised or "", why=why)
    elif len(alike) > 1:
        level = words.level_with(picks, alike)
        alone = words.keeping_alone(picks, apart, "crossed")
        head = words.conclusion(picks, n_folds, level, expert=scene.expert, keeping=alone)
        said = Conclusion(head, words.better_still(picks, apart), words.NOT_TESTED)
    if apart:
        said = replace(said, changers=words.changers(by_nll, apart, nll, accuracy))
    if len(sides_shown(among)) > 1:
        same = scene.result.same_data
        alone = words.keeping_alone(picks, apart, "test")
        there = words.on_test(picks, alike, level, same_data=same, keeping=alone)
        said = replace(said, on_test=there)
    return said


def _lower_but_moving(
    among: list[Contestant], used: Contestant, measure: Measure
) -> list[Contestant]:
    """Return those with a lower loss than what is used, as they move the mean score away."""
    best = penalty(measure, used.value(measure, "crossed"))
    return [
        one
        for one in among
        if moves_mean(one, measure) and penalty(measure, one.value(measure, "crossed")) < best
    ]


QUICK_SECONDS = 15.0
"""Estimated seconds up to which calibrators are compared unasked."""


def recommendation_of(scene: Scene) -> Conclusion | None:
    """Return what the comparison of the usual calibrators advises, as their page does.

    None where it would take long and was not made, or without intervals, which are part of it.
    """
    looked_at = scene.chosen == "test" and not scene.result.same_data
    if not (looked_at and scene.n_resamples) or scene.split.calibration.n_samples < 2:
        return None
    dealt = Dealt(N_FOLDS, scene.settings.seed) if scene.crossed else Dealt()
    scene = replace(scene, settings=replace(scene.settings, n_bins=15))
    keys, by = usual(scene.upload), RANKED_BY
    go = estimate_contest(scene, keys, dealt) <= QUICK_SECONDS
    found = run_contest(scene, keys, dealt, lambda *_: None, go=go)
    among = ranked(found.contestants, by, "crossed")
    picks = pick(among, by) if len(among) > 1 and not found.missing else None
    return None if picks is None else conclusion_of(scene, picks, among, dealt)


def _changers(scene: Scene, measure: Measure, among: list[Contestant]) -> list[Contestant]:
    """Return those that change the predicted classes, and so what an event of ranks is about."""
    if isinstance(scene.settings.event, OneClass) or not isinstance(measure, EventMeasure):
        return []
    return [one for one in among if one.crossed.changed_decisions]
