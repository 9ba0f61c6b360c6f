"""Calibrators compared: which take part, how they are fitted, what comes of it, and how level."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from calibcore.calibrators import Switch
from calibcore.calibrators.base import FittedMap, Progress
from calibcore.calibrators.catalogue import SIMPLEST_FIRST
from calibcore.comparison import (
    Advice,
    Contestant,
    EvaluatedOn,
    Picks,
    Standing,
    advise,
    lead,
    moves_mean_away,
    penalty,
    pick,
    ranked,
    row_losses,
    sides_shown,
)
from calibcore.counted import mean_loss
from calibcore.data import Rows, is_designed
from calibcore.errors import CalibrationInputError
from calibcore.evaluation import Side, evaluate, side_of, sides_of
from calibcore.events import Event, OneClass, WithinTopR
from calibcore.fitting import FoldedScoreMap, FoldedVectorMap, check_pooled, prepare
from calibcore.inference import Inference, Plan, infer
from calibcore.metrics import EventMeasure, Measure, Options, measure_by_key
from calibcore.splits import N_FOLDS, Folds, deal_folds
from calibcore.validation import Floats
from dashboard.compute.cache import MOST_RESULTS, is_known, key_of, once
from dashboard.compute.fits import (
    are_fitted,
    fit_seconds,
    fit_together,
    fitted_in_folds,
    fitted_whole,
    is_fitted,
    run_audit,
    seconds_per_logit,
)
from dashboard.compute.groupings import groupings
from dashboard.compute.processes import FitJob, side_by_side_seconds
from dashboard.compute.split import evaluated_rows, evaluated_split, methods_for, whole_split
from dashboard.compute.subgroups import most_telling
from dashboard.compute.uncertainty import LEAST_RESAMPLES, affordable, refits_of
from dashboard.document.blocks import Sentences
from dashboard.readers import Upload
from dashboard.scene import Scene
from dashboard.settings import NO_METHOD, USUAL, Settings, method_by_key, method_of, options_of
from dashboard.texts import comparison as words


def settings_of(scene: Scene, key: str) -> Settings:
    """Return the settings with which a method takes part."""
    if key == scene.settings.method:
        return scene.settings
    if key == NO_METHOD:
        return replace(scene.settings, method=key, options=(), group=None)
    chosen = options_of(key)
    # Listed as the panel lists them, so that a method chosen there is not fitted once more.
    within = isinstance(scene.settings.event, WithinTopR)
    options = tuple(
        (option.name, chosen.get(option.name, option.default))
        for option in method_by_key(key).options
        if not (within and isinstance(option, Switch) and option.one_class)
    )
    return replace(
        scene.settings, method=method_of(key), options=options, group=group_of(scene, key)
    )


def group_of(scene: Scene, key: str) -> str | None:
    """Return the column by which a method is told groups: the one chosen, or the most telling.

    None of one that takes those of all columns.
    """
    if key == NO_METHOD or not method_by_key(key).asks_column:
        return None
    offered, telling = groupings(scene.upload), most_telling(scene)
    return scene.settings.group or (telling if telling in offered else offered[0])


_CONTESTANTS = "contestants"

_ROWS_WITH_CURVES = 100_000
"""Up to so many rows the fits of a comparison are kept with their curves, for the other pages."""

_EVALUATING = 8_000, 40
"""Passes of `numpy.exp` that the evaluation of a row takes, and of each of its classes."""

_REFIT_SECONDS = 1.0
"""For about so long the fits of one method are repeated, to know how uncertain its change is."""

_FITS_SHARE = 0.9
"""Of the work of a comparison, where the fits are made side by side and long."""

_FEW_CLASSES = 10
"""For which a method's cost is taken where only the scores of an event are known."""

Tell = Callable[[float, str, int], None]
"""Told the share that is done, the method at work and its fold, from 1; 0 for all rows."""


@dataclass(frozen=True)
class FoldPlan:
    """How the calibration set is dealt to folds."""

    n_folds: int = 5
    """As many as there are rows, where there are fewer."""
    seed: int = 0
    """Of the dealing."""


@dataclass(frozen=True)
class ComparisonResults:
    """What a comparison has found so far."""

    contestants: tuple[Contestant, ...]
    """In the order asked for; their keys are those of the methods."""
    refused: tuple[tuple[str, str], ...]
    """Methods that cannot be fitted to these data, with the reason."""
    missing: tuple[str, ...]
    """Methods that have not been tried."""
    ends: int = 0
    """How often processes that fitted were ended from outside: see `fit_side_by_side`."""


def usual(upload: Upload) -> list[str]:
    """List the methods that are compared unless others are chosen, none among them."""
    return [key for key in contestants(upload) if key == NO_METHOD or key in USUAL]


def contestants(upload: Upload) -> list[str]:
    """List the methods that fit the data; the choice to change nothing comes first."""
    return [NO_METHOD, *(method.key for method in methods_for(upload))]


def seconds_of(scene: Scene, key: str) -> float | None:
    """Return how long the fit of a method to the whole calibration set took, if it was made."""
    return fit_seconds(scene.upload, replace(settings_of(scene, key), only=None))


def estimate_comparison(scene: Scene, keys: Sequence[str], fold_plan: FoldPlan) -> float:
    """Estimate how many seconds the methods take that have not been tried."""
    n_classes = len(scene.class_names or ()) or _FEW_CLASSES
    n_fit, n_test = scene.split.calibration.n_samples, scene.split.test.n_samples
    n_folds = max(min(fold_plan.n_folds, n_fit), 1)
    per_row, per_class = _EVALUATING
    evaluating = (per_row + per_class * n_classes) * (2 * n_fit + n_test) * seconds_per_logit()
    total = fits = 0.0
    for key in keys:
        settings = settings_of(scene, key)
        if _is_fitted(scene, key, fold_plan):
            continue
        total += evaluating
        if key != NO_METHOD:
            cost, speed = method_by_key(key).cost_of(**dict(settings.options)), seconds_per_logit()
            if not is_fitted(scene.upload, settings):
                fits += cost.seconds(n_fit, n_classes, speed)
            if not _has_fits(scene, key, fold_plan):
                fits += n_folds * cost.seconds(n_fit - n_fit // n_folds, n_classes, speed)
    return total + side_by_side_seconds(fits, scene.split.calibration)


def run_comparison(
    scene: Scene, keys: Sequence[str], fold_plan: FoldPlan, report: Tell, *, go: bool
) -> ComparisonResults:
    """Cross-fit and evaluate every method, once each for the data, its settings and the folds.

    ``scene``: the data and what is chosen: the method chosen there takes part with its options, the
    others with their defaults. ``keys``: the methods. ``fold_plan``: how folds are dealt.
    ``report``: see `Tell`; whatever it raises ends the comparison, and what was finished is kept.
    ``go``: whether those that have not been tried are; otherwise they are listed as missing.
    """
    fitted, refused, missing = [], [], []
    ahead, ends = _fit_together(scene, keys, fold_plan, report) if go else (0.0, 0)
    for number, key in enumerate(keys):

        def tell(share: float, fold: int, number: int = number, key: str = key) -> None:
            report(ahead + (1 - ahead) * (number + share) / len(keys), key, fold)

        if not go and not _is_ready(scene, key, fold_plan):
            missing.append(key)
            continue
        try:
            fitted.append(_contestant(scene, key, fold_plan, tell))
        except CalibrationInputError as error:
            refused.append((key, str(error)))
    return ComparisonResults(tuple(fitted), tuple(refused), tuple(missing), ends)


def _fit_together(
    scene: Scene, keys: Sequence[str], fold_plan: FoldPlan, report: Tell
) -> tuple[float, int]:
    """Fit side by side what has not been fitted, if that saves time.

    Returns the share of all work that is done, and how often processes were ended from outside.
    """
    wanted = [replace(settings_of(scene, key), only=None) for key in keys]
    wanted = [one for one in wanted if not is_known(_CONTESTANTS, _key(scene, one, fold_plan))]
    done, ends = 0.0, 0

    def tell(share: float, job: FitJob, fold: int) -> None:
        nonlocal done
        done = _FITS_SHARE
        report(_FITS_SHARE * share, job.key, fold)

    if wanted and not _is_fitted(scene, NO_METHOD, fold_plan):  # there if the rest is stopped
        _contestant(scene, NO_METHOD, fold_plan, lambda *_: None)
    if wanted:
        fold = _fold(scene.upload, wanted[0], fold_plan)
        ends = fit_together(scene.upload, wanted, fold, tell)
    return done, ends


def _contestant(
    scene: Scene, key: str, fold_plan: FoldPlan, tell: Callable[[float, int], None]
) -> Contestant:
    """Return a contestant on the rows that are evaluated, fitted once whatever part they are."""
    whole = replace(settings_of(scene, key), only=None)
    result = once(
        _CONTESTANTS,
        _key(scene, whole, fold_plan),
        lambda: _fit_contestant(scene.upload, whole, fold_plan, tell),
    )
    if scene.settings.only is None:
        return result if result.key == key else replace(result, key=key)
    options = Options(scene.settings.n_bins)

    def evaluated(side: EvaluatedOn) -> Standing:
        fitted = _fitted_on(scene, result, side)
        event = scene.settings.event
        return _standing(rows_evaluated(scene, key, side), event, fitted, options)

    def make() -> Contestant:
        crossed = evaluated("crossed")
        same = result.test is result.crossed
        return Contestant(key, crossed, crossed if same else evaluated("test"))

    there = once("contestants on a part", _key(scene, settings_of(scene, key), fold_plan), make)
    return there if there.key == key else replace(there, key=key)


def rows_evaluated(scene: Scene, key: str, side: EvaluatedOn) -> Rows:
    """Return the rows on which a contestant is evaluated, of the part that is chosen."""
    split = evaluated_split(scene.upload, settings_of(scene, key))
    return split.calibration if side == "crossed" else split.test


def _fitted_on(scene: Scene, contestant: Contestant, side: EvaluatedOn) -> FittedMap | None:
    """Return what calibrates the rows that are evaluated, of a contestant fitted on all."""
    fitted = contestant.on(side).fitted
    chosen = evaluated_rows(scene.upload, scene.settings, "calibration")
    if isinstance(fitted, FoldedScoreMap | FoldedVectorMap) and chosen is not None:
        return fitted.part(chosen)
    return fitted


def _fit_contestant(
    upload: Upload, settings: Settings, fold_plan: FoldPlan, tell: Callable[[float, int], None]
) -> Contestant:
    """Fit on the whole calibration set, and once without each fold; evaluate all rows."""
    check_pooled(settings.calibrator(), settings.event)
    split = whole_split(upload, settings)
    n_folds = min(fold_plan.n_folds, split.calibration.n_samples)
    if split.fold is not None:  # the rows of the other pages, by the same fits

        def in_folds(share: float) -> None:
            tell(share, int(share * (n_folds + 1)))

        crossed_there = _on_test(upload, settings, in_folds)
        return Contestant(settings.method, crossed_there, crossed_there)

    def whole(share: float) -> None:
        tell(share / (n_folds + 1), 0)

    def part(share: float) -> None:
        fold = min(int(share * n_folds), n_folds - 1) + 1
        tell((1 + share * n_folds) / (n_folds + 1), fold)

    whole(0.0)
    test = _on_test(upload, settings, whole)
    folded = fitted_in_folds(upload, settings, part, _fold(upload, settings, fold_plan))
    crossed = _standing(split.calibration, settings.event, folded, Options(settings.n_bins))
    return Contestant(settings.method, crossed, test)


def _fold(upload: Upload, settings: Settings, fold_plan: FoldPlan) -> Folds:
    """Return the fold of each row that calibrators are fitted on."""
    split = whole_split(upload, settings)
    if split.fold is not None:
        return split.fold
    rows, n_folds = split.calibration, min(fold_plan.n_folds, split.calibration.n_samples)
    key = *key_of(upload, settings)[:3], settings.calibration_share, settings.seed, fold_plan
    return once("folds", key, lambda: deal_folds(rows, n_folds=n_folds, seed=fold_plan.seed))


def _on_test(upload: Upload, settings: Settings, progress: Progress) -> Standing:
    """Fit on the whole calibration set, evaluate on the test set."""
    split = whole_split(upload, settings)
    n_rows = split.calibration.n_samples + split.test.n_samples
    event, options = settings.event, Options(settings.n_bins)
    if n_rows <= _ROWS_WITH_CURVES or is_fitted(upload, settings):
        result = run_audit(upload, settings, progress)
        return Standing.of(result.test, split.test, event, result.of_test, options)
    fitted = fitted_whole(upload, settings, progress)
    if split.fold is not None:
        fitted = fitted_in_folds(upload, settings, progress)
    return _standing(split.test, event, fitted, options)


def _standing(rows: Rows, event: Event, fitted: FittedMap | None, options: Options) -> Standing:
    result = evaluate(prepare(rows, event), event, fitted, options)
    return Standing.of(result, rows, event, fitted, options)


def comparison_closer(
    scene: Scene,
    contestant: Contestant,
    fold_plan: FoldPlan,
    evaluated_on: EvaluatedOn,
    measure: Measure,
) -> Inference:
    """Find the uncertainty of one measure of one contestant, and of its change from no method."""
    rows = rows_evaluated(scene, contestant.key, evaluated_on)
    options, event = Options(scene.settings.n_bins), scene.settings.event
    plan = Plan((measure,), options, affordable(scene.n_resamples, rows.n_samples))
    fitted, settings = contestant.on(evaluated_on).fitted, settings_of(scene, contestant.key)

    def make() -> Inference:
        evaluated = evaluate(prepare(rows, event), event, fitted, options)
        inference = infer(*sides_of(rows, evaluated, fitted), plan)
        if evaluated_on == "test" or fitted is None:
            return inference
        fold = _fold(scene.upload, settings, fold_plan)
        return refits_of(scene.upload, settings, fold, plan, _REFIT_SECONDS).widened(inference)

    key = _key(scene, settings, fold_plan), evaluated_on, measure.key, plan.n_resamples
    return once("comparison inferences", key, make)


def advice_of(
    scene: Scene, contestants: Sequence[Contestant], fold_plan: FoldPlan, measure: Measure
) -> Advice | None:
    """Say which calibrator to use by a loss, in cross-validation; None by other measures.

    One that moves the mean score away from the observed frequency is none to use.
    """
    by_key, losses = {one.key: one for one in contestants}, {}
    for key, one in by_key.items():
        of_rows = (
            None
            if key == NO_METHOD or moves_mean(one, measure)
            else _losses(scene, one.crossed, fold_plan, measure, key)
        )
        if of_rows is not None:
            losses[key] = of_rows

    without = _losses(scene, None, fold_plan, measure, NO_METHOD)
    rows = rows_evaluated(scene, NO_METHOD, "crossed")

    def improves(key: str) -> bool:
        one_by_one = not is_designed(rows)
        if without is not None and one_by_one:
            # Losses that fall too little for intervals of the change to be worth their time.
            change, error = mean_loss(losses[key] - without, rows)
            if change + error >= 0:
                return False
        least = replace(scene, n_resamples=max(scene.n_resamples, LEAST_RESAMPLES))
        closer = comparison_closer(least, by_key[key], fold_plan, "crossed", measure)
        if closer.fits != "unknown":
            return closer.find(measure.key).mark == "better"
        # Fits that are too slow to be repeated are allowed for as between two calibrators.
        return without is not None and lead(losses[key], without, fold_plan.n_folds, rows).high < 0

    order = {key: place for place, key in enumerate(SIMPLEST_FIRST)}
    simplest = sorted(losses, key=lambda key: order.get(method_of(key), len(order)))
    return advise(losses, improves, simplest, fold_plan.n_folds, rows)


def moves_mean(one: Contestant, measure: Measure) -> bool:
    """Return whether a contestant moves the mean score of the event away from what happens."""
    gap, rate = (one.crossed.compare(key) for key in ("mean_gap", "hit_rate"))
    return isinstance(measure, EventMeasure) and moves_mean_away(gap, rate, one.crossed.n_samples)


def _losses(
    scene: Scene, standing: Standing | None, fold_plan: FoldPlan, measure: Measure, key: str
) -> Floats | None:
    """Return the out-of-fold loss of each row; of uncalibrated scores where nothing stands."""
    rows, event = rows_evaluated(scene, key, "crossed"), scene.settings.event
    fitted = None if standing is None else standing.fitted

    def make() -> Floats | None:
        return row_losses(measure, side_of(prepare(rows, event), event, fitted))

    key_of_losses = _key(scene, settings_of(scene, key), fold_plan), measure.key
    return once("comparison losses", key_of_losses, make)


def _key(scene: Scene, settings: Settings, fold_plan: FoldPlan) -> tuple[object, ...]:
    return key_of(scene.upload, settings), fold_plan


def _is_fitted(scene: Scene, key: str, fold_plan: FoldPlan) -> bool:
    whole = replace(settings_of(scene, key), only=None)
    return is_known(_CONTESTANTS, _key(scene, whole, fold_plan))


def _is_ready(scene: Scene, key: str, fold_plan: FoldPlan) -> bool:
    """Return whether a contestant is known, or at least fitted in a comparison that was stopped."""
    begun = _is_fitted(scene, NO_METHOD, fold_plan)
    return _is_fitted(scene, key, fold_plan) or (begun and _has_fits(scene, key, fold_plan))


def _has_fits(scene: Scene, key: str, fold_plan: FoldPlan) -> bool:
    settings = replace(settings_of(scene, key), only=None)
    return are_fitted(scene.upload, settings, _fold(scene.upload, settings, fold_plan))


_MANY_ROWS, _OF_MANY_ROWS = 100_000, 9
"""Of more rows than this, so few sides are kept: each holds arrays of all rows."""


def comparison_sides(
    scene: Scene, contestants: Sequence[Contestant], fold_plan: FoldPlan, evaluated_on: EvaluatedOn
) -> list[Side]:
    """Return each contestant's calibrated side of one set."""
    return [_side(scene, one, fold_plan, evaluated_on) for one in contestants]


def _side(
    scene: Scene, contestant: Contestant, fold_plan: FoldPlan, evaluated_on: EvaluatedOn
) -> Side:
    settings = settings_of(scene, contestant.key)
    fitted, event = contestant.on(evaluated_on).fitted, settings.event

    def make() -> Side:
        prepared = prepare(rows_evaluated(scene, contestant.key, evaluated_on), event)
        return evaluate(prepared, event, fitted, Options(settings.n_bins)).after

    key = key_of(scene.upload, settings), fold_plan, evaluated_on
    few = contestant.on(evaluated_on).n_samples > _MANY_ROWS
    return once("comparison sides", key, make, most=_OF_MANY_ROWS if few else MOST_RESULTS)


_OF_ALL = tuple(measure_by_key(key) for key in ("nll", "accuracy"))
"""Measures of all classes, which an event does not decide."""

RANKED_BY = measure_by_key("event_nll")
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
    def blocks(self) -> tuple[Sentences, Sentences]:
        """Which to use and its equals; calibrators that change predictions, and the test set."""
        small = f":small[{self.not_tested}]" if self.not_tested else ""
        level = " ".join(filter(None, (self.level, small)))
        best, more = (self.head, level), (self.changers, self.on_test)
        return (
            Sentences("best", tuple(filter(None, best)), headline=True),
            Sentences("more", tuple(filter(None, more))),
        )


def conclusion_of(
    scene: Scene, picks: Picks, among: list[Contestant], fold_plan: FoldPlan
) -> Conclusion:
    """Test the lead of the best, and say what is known of it, of its equals and of the test set."""
    n_folds = min(fold_plan.n_folds, scene.split.calibration.n_samples)
    apart = _changers(scene, picks.measure, among)
    alike = [one for one in among if one not in apart]
    picks = pick(alike, picks.measure) or picks
    nll, accuracy = _OF_ALL
    advice = advice_of(scene, alike, fold_plan, picks.measure)
    by_nll = advice_of(scene, apart, fold_plan, nll)
    level: list[Contestant] = []
    conclusion = Conclusion()
    if advice is not None:
        used = next(one for one in alike if one.key == (advice.advised or advice.best))
        picks = replace(picks, winner=used)
        moving = _lower_but_moving(alike, used, picks.measure)
        levels = [
            words.level(advice), words.worse_there(used, _OF_ALL) if advice.advised else "",
            *map(words.moves_mean, moving),
        ]  # fmt: skip
        head = words.advice(
            advice, alike, picks.measure, n_folds, expert=scene.expert, keeping=bool(apart),
        )  # fmt: skip
        why = f"{words.figures_of(used, picks.measure)} in cross-validation."
        level_with = " ".join(filter(None, levels))
        conclusion = Conclusion(head, level_with, advised=advice.advised or "", why=why)
    elif len(alike) > 1:
        level = words.level_with(picks, alike)
        alone = words.keeping_alone(picks, apart, "crossed")
        head = words.conclusion(picks, n_folds, level, expert=scene.expert, keeping=alone)
        conclusion = Conclusion(head, words.better_still(picks, apart), words.NOT_TESTED)
    if apart:
        conclusion = replace(conclusion, changers=words.changers(by_nll, apart, nll, accuracy))
    if len(sides_shown(among)) > 1:
        same = scene.result.same_data
        alone = words.keeping_alone(picks, apart, "test")
        there = words.on_test(picks, alike, level, same_data=same, keeping=alone)
        conclusion = replace(conclusion, on_test=there)
    return conclusion


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
    fold_plan = FoldPlan(N_FOLDS, scene.settings.seed) if scene.in_folds else FoldPlan()
    scene = replace(scene, settings=scene.settings.in_any_bins)
    keys, by = usual(scene.upload), RANKED_BY
    go = estimate_comparison(scene, keys, fold_plan) <= QUICK_SECONDS
    compared = run_comparison(scene, keys, fold_plan, lambda *_: None, go=go)
    among = ranked(compared.contestants, by, "crossed")
    picks = pick(among, by) if len(among) > 1 and not compared.missing else None
    return None if picks is None else conclusion_of(scene, picks, among, fold_plan)


def _changers(scene: Scene, measure: Measure, among: list[Contestant]) -> list[Contestant]:
    """Return those that change the predicted classes, and so what an event of ranks is about."""
    if isinstance(scene.settings.event, OneClass) or not isinstance(measure, EventMeasure):
        return []
    return [one for one in among if one.crossed.changed_decisions]
