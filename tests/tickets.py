"""A help desk's log of a classifier of tickets: seven queues, and one language it routes badly."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

QUEUES = ("Billing", "Delivery", "Hardware", "Login", "Network", "Returns", "Software")

LANGUAGES = ("de", "en", "fr", "pl")

BAD_LANGUAGE = "pl"

N_TICKETS = 6_000


class Tickets(NamedTuple):
    """The file, and what it holds."""

    data: bytes
    probabilities: NDArray[np.float64]
    labels: NDArray[np.intp]
    language: NDArray[np.str_]

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether the likeliest queue is the true one."""
        right: NDArray[np.bool_] = self.probabilities.argmax(1) == self.labels
        return right


def tickets(seed: int = 8) -> Tickets:
    """Write tickets with their queue, language and seven probabilities.

    The probabilities are too extreme everywhere (temperature 1.6); of the bad language, a third of
    the tickets have a queue that has nothing to do with them.
    """
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 1.0, (N_TICKETS, len(QUEUES)))
    logits[np.arange(N_TICKETS), rng.integers(0, len(QUEUES), N_TICKETS)] += 4.2
    true = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    labels = (true.cumsum(1) > rng.random((N_TICKETS, 1))).argmax(1)
    language = rng.choice(LANGUAGES, N_TICKETS, p=(0.3, 0.4, 0.2, 0.1))
    wrong = (language == BAD_LANGUAGE) & (rng.random(N_TICKETS) < 1 / 3)
    labels[wrong] = rng.integers(0, len(QUEUES), int(wrong.sum()))
    sharp = np.exp(1.6 * logits)
    probabilities = np.round(sharp / sharp.sum(1, keepdims=True), 4)
    largest = np.arange(N_TICKETS), probabilities.argmax(1)
    probabilities[largest] += np.round(1 - probabilities.sum(1), 4)  # rows of the file sum to 1
    lines = ["ticket,language,queue," + ",".join(f"prob_{name}" for name in QUEUES)]
    for k in range(N_TICKETS):
        values = ",".join(f"{value:.4f}" for value in probabilities[k])
        lines.append(f"T{k:05d},{language[k]},{QUEUES[labels[k]]},{values}")
    return Tickets("\n".join(lines).encode(), probabilities, labels, language)
