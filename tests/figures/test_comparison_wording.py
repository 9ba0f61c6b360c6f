"""Sentences of the page Calibrators, of values written by hand: as reviewed in a text beside."""

from pathlib import Path

from calibcore.comparison import Advice, Contestant, Standing, pick
from calibcore.evaluation import Comparison
from calibcore.inference import Finding, Interval, Mark
from calibcore.metrics import METRICS
from dashboard.settings import NO_METHOD
from dashboard.texts import comparison as words
from tests.reviewed import check_reviewed

BY_KEY = {measure.key: measure for measure in METRICS}
NLL = BY_KEY["event_nll"]


def rival(key: str, crossed: float, test: float) -> Contestant:
    """A contestant by its NLL of the event: 0.5 and 0.6 before, these after calibration."""
    standings = (
        Standing((Comparison(NLL, *values),), 0, 1_000, None)
        for values in ((0.5, crossed), (0.6, test))
    )
    return Contestant(key, *standings)


NOTHING, GOOD = rival(NO_METHOD, 0.5, 0.6), rival("temperature", 0.3, 0.45)
LUCKY, BAD = rival("isotonic", 0.4, 0.42), rival("histogram", 0.9, 0.9)


def leading(
    *shown: Contestant, n_folds: int = 5, expert: bool = False, keeping: bool = False
) -> list[str]:
    """What is said of the lowest in cross-validation, and of the test set."""
    picks = pick(shown, NLL)
    assert picks is not None
    level = words.level_with(picks, shown)
    return [
        words.conclusion(picks, n_folds, level, expert=expert, keeping=keeping),
        words.on_test(picks, shown, level, same_data=expert, keeping=keeping),
        words.dots_caption(NLL, shown, ranks=True, intervals=expert),
    ]


def advised(best: str, chosen: str | None, *level: str, expert: bool = False) -> list[str]:
    """What is said of the one that is advised, and of those that are not clearly different."""
    shown = [NOTHING, LUCKY, GOOD, rival("beta", 0.305, 0.44), rival("spline", 0.51, 0.6)]
    choice = Advice(best, chosen, level)
    return [
        *(words.advice(choice, shown, NLL, 5, expert=expert, keeping=one) for one in (False, True)),
        words.level(choice),
    ]


def beside_keeping(*others: Contestant) -> list[str]:
    """What is said where others are lower, but change predicted classes."""
    picks = pick([NOTHING, GOOD, LUCKY], NLL)
    assert picks is not None
    alone = [words.keeping_alone(picks, others, side) for side in ("crossed", "test")]
    return [words.better_still(picks, others), f"in cross-validation, on the test set: {alone}"]


def changing(advised_one: str | None) -> list[str]:
    """What is said of two that change classes, of which the first gets worse."""
    nll, accuracy = BY_KEY["nll"], BY_KEY["accuracy"]

    def standing(*after: float) -> Standing:
        rows = zip((nll, accuracy), (1.2, 0.7), after, strict=True)
        return Standing(tuple(Comparison(*row) for row in rows), 30, 1_000, None)

    bad, good = standing(3.7, 0.65), standing(1.1, 0.72)
    both = [Contestant("per_rank", bad, bad), Contestant("vector", good, good)]
    return [
        *(words.worse_there(one, (nll, accuracy)) for one in both),
        words.changers(Advice("vector", advised_one, ()), both, nll, accuracy),
        words.changers(None, both, nll, accuracy),
    ]


def change(key: str, before: float | None, after: float | None, *ends: float) -> str:
    mark: Mark = "not comparable" if before is None else "better" if ends[1] < 0 else "no evidence"
    finding = Finding(key, None, None, Interval(*ends) if ends else None, mark)
    return " | ".join(words.change_words(finding, Comparison(BY_KEY[key], before, after), 1_000))


def rules() -> dict[str, list[str]]:
    """Each rule on a comparison made for it, by what it is about."""
    alike = [rival(key, 0.3004, 0.44) for key in ("platt", "beta", "isotonic")]
    near, vector = rival("dirichlet", 0.3001, 0.4201), rival("vector", 0.2, 0.41)
    lowest, higher = rival("matrix", 0.1, 0.5), rival("dirichlet", 0.301, 0.421)
    return {
        "lowest, another is lower on the test set": leading(NOTHING, LUCKY, GOOD),
        "for experts, in 7 folds": leading(NOTHING, LUCKY, GOOD, n_folds=7, expert=True),
        "lowest on both": leading(NOTHING, GOOD),
        "lowest of those that keep predicted classes": leading(NOTHING, GOOD, keeping=True),
        "none improves": leading(NOTHING, BAD),
        "none that keeps predicted classes improves": leading(NOTHING, BAD, keeping=True),
        "another is as low, as written": leading(GOOD, rival("isotonic", 0.4, 0.4499)),
        "improves by less than is written": leading(NOTHING, rival("temperature", 0.4999, 0.7)),
        "worse than uncalibrated on the test set": leading(NOTHING, rival("temperature", 0.3, 0.7)),
        "two level": leading(NOTHING, GOOD, LUCKY, *alike[:1]),
        "three level": leading(NOTHING, GOOD, LUCKY, *alike[:2]),
        "four level": leading(NOTHING, GOOD, *alike),
        "two level on the test set": leading(NOTHING, LUCKY, GOOD, rival("beta", 0.4, 0.4201)),
        "some better as written": leading(NOTHING, LUCKY, GOOD, BAD, rival("beta", 0.4999, 0.59)),
        "advised, a clear lead": advised("temperature", "temperature"),
        "advised, two not clearly different": advised(
            "temperature", "beta", "temperature", "isotonic", expert=True
        ),
        "advised, one not clearly different": advised("temperature", "temperature", "beta"),
        "none advised": advised("temperature", None, "beta"),
        "none advised, the best is no better": advised("spline", None),
        "one that changes classes is higher": beside_keeping(higher),
        "one that changes classes is alike": beside_keeping(near),
        "one that changes classes is lower": beside_keeping(vector),
        "two that change classes are lower": beside_keeping(vector, higher, lowest),
        "one that changes classes is lower in cross-validation alone": beside_keeping(lowest),
        "changes classes and is advised": changing("vector"),
        "changes classes, none is advised": changing(None),
        "changes": [
            change("ks_error", 0.06, 0.04, -0.05, 0.012),
            change("nll", None, None),
            change("event_nll", 0.0417, 0.0414, -0.0004, -0.00021),
        ],
        "costs and refusals": [
            words.fit_cost_sentence(21, 170, 5),
            words.fit_cost_sentence(1, 170, 5),
            words.working_on("vector", 3, 5),
            words.working_on("vector", 0, 5),
            words.refusal("spline", "<b>"),
            words.calibrators_label(8),
        ],
    }


def test_rules_say_what_was_reviewed() -> None:
    lines = [line for about, says in rules().items() for line in (f"# {about}", *says)]
    check_reviewed(Path(__file__).with_name("comparison.txt"), lines)
