"""What columns are called: names of labels, predictions and scores, and prefixes of classes."""

import re
from collections.abc import Sequence

from dashboard.readers.columns.named import INDEX_KEYS, LABEL_KEYS, WEAK_LABEL_KEYS

LABELS = LABEL_KEYS | {
    "class", "true", "actual", "obs", "true_class", "actual_class", "target_class", "class_label",
    "gold", "gold_label", "y_test", "y_val",
}  # fmt: skip
WEAK_LABELS = (WEAK_LABEL_KEYS | {"_from_"}) - LABELS
PREDICTED = frozenset(
    {"pred_label", "predicted_label", "prediction", "predicted", "pred", "y_pred", "pred_class",
     ".pred_class", "predicted_class", "y_hat", "yhat", "predict", "prediction_label",
     "scored_labels", "hypothesis", "_into_", "preds", "predictions"}
)  # fmt: skip
WEAK_PREDICTED = frozenset({"estimate", "argmax", "response", "model_answer", "top1", "vorhersage"})
CONFIDENCE = frozenset(
    {"confidence", "conf", "max_prob", "top1", "top_1", "top1_score", "top1_prob", "confidences",
     "confs", "top1conf", "top1_conf", "prediction_score", "max_softmax", "max_probability",
     "konfidenz", "confiance"}
)  # fmt: skip
HITS = frozenset(
    {"correct", "hit", "hits", "is_correct", "corrects", "correct?", "correctness", "is_right",
     "exact_match"}
)  # fmt: skip
WEAK_HITS = frozenset({"accuracy", "accuracies", "acc", "matched", "is_match"})
JUDGED = (("wrong", "right"), ("incorrect", "correct"))
"""Words for a prediction that is wrong or right."""

INDEX = INDEX_KEYS
_LONGEST = 200
_SCORES = frozenset(
    {"score", "scores", "probability", "prob", "probs", "proba", "p", "p1", "y_prob", "y_proba",
     "y_score", "y_scores", "logit", "logits", "phat", "p_hat", "scored_probabilities", "pre_1",
     "em_eventprobability", "fitted", "predicted_probability", "pred_prob"}
)  # fmt: skip
_PREFIXES = (
    ".pred_", "logits_", "logit_", "probability_", "proba_", "probs_", "prob_", "scores_", "score_",
    "softmax_", "class_", "pred_", "logits.", "logit.", "prob.", "logprobs_", "logit", "prob",
    "p_", "p", "c",
)  # fmt: skip
SCORE_WORDS = frozenset(
    {"prob", "probs", "proba", "probability", "probabilities", "score", "scores", "confidence",
     "logit", "logits", "prediction", "predicted", "pred", "softmax"}
)  # fmt: skip
_SCORE_PREFIXES = tuple(p for p in _PREFIXES if len(p) > 4 and p not in ("class_", "pred_"))


def key_of(name: str) -> str:
    """Bring a heading to the spelling in which names are compared.

    Examples
    --------
    >>> key_of(" True-Label "), key_of("rowIndex")
    ('true_label', 'row_index')
    """
    name = name.strip()[:_LONGEST]
    if name.islower() and name.isidentifier():
        return name
    spaced = re.sub(r"([a-z])([A-Z])", r"\1_\2", name)
    return re.sub(r"[\s\-]+", "_", spaced.lower())


def is_score(key: str) -> bool:
    """Tell the name of a score or logit."""
    return key in _SCORES or key.startswith(_SCORE_PREFIXES)


def strip_prefix(names: Sequence[str]) -> tuple[str, ...]:
    """Take a prefix such as ``prob_`` off, if all names have it and stay different."""
    for prefix in _PREFIXES:
        short = tuple(n[len(prefix) :].strip() for n in names if n.lower().startswith(prefix))
        usable = len(short) == len(names) and all(short) and len(set(short)) == len(short)
        if usable and (_tells(prefix) or all(map(_digits, short))):
            return short
    return _without_frame([name.strip() for name in names])


def _without_frame(names: Sequence[str]) -> tuple[str, ...]:
    """Take off what all names share around a class, as in ``P (class=cat)``, ``cat_score``."""
    before = re.sub(r"[^\W_]*\Z", "", _shared(names))
    after = re.sub(r"\A[^\W_]*", "", _shared([name[len(before) :][::-1] for name in names])[::-1])
    tells = before.endswith(("(", "=", "[", ":")) or SCORE_WORDS & {
        *re.split("[^a-z]+", f"{before} {after}".lower())
    }
    short = tuple(name[len(before) : len(name) - len(after)].strip() for name in names)
    return short if tells and all(short) and len(set(short)) == len(short) else tuple(names)


def _shared(names: Sequence[str]) -> str:
    """Give the beginning that several names share."""
    first, last = min(names), max(names)
    parts = (k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
    return first[: next(parts, min(len(first), len(last)))] if len(names) > 1 else ""


def prefixed(columns: Sequence[int], names: Sequence[str]) -> list[int]:
    """Choose the columns that have one of the prefixes, if two or more have it."""
    for prefix in _PREFIXES:
        chosen = [c for c in columns if names[c].lower().startswith(prefix)]
        if not _tells(prefix):
            chosen = [c for c in chosen if _digits(names[c][len(prefix) :])]
        if len(chosen) > 1:
            return chosen
    return []


def digits_after(names: Sequence[str]) -> list[bool]:
    """Tell the numbered ones of names such as ``prob_0``, ``prob_1``, ``prob_max``."""
    numbers = [re.search(r"[0-9]+$", name.strip(), re.ASCII) for name in names]
    counted = sorted(int(number[0][:9]) for number in numbers if number)
    runs = counted in (list(range(len(counted))), list(range(1, len(counted) + 1)))
    if len(counted) < 2 or not runs:
        return [True] * len(names)
    return [number is not None for number in numbers]


def _tells(prefix: str) -> bool:
    return len(prefix) > 4 or prefix.endswith(("_", "."))


def _digits(text: str) -> bool:
    return text.isascii() and text.isdigit()
