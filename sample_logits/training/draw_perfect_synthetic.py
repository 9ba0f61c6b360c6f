"""Draw logits, and labels from exactly their softmax: ``perfect_synthetic``."""

from __future__ import annotations

import argparse

import numpy as np
from sample_io import Description, Rows, write_sample

NAME = "perfect_synthetic"
SEED = 20236
CLASSES = 5
CALIBRATION_ROWS = 5000
TEST_ROWS = 10_000
SMALLEST_SPREAD = 0.3
LARGEST_SPREAD = 9.0

DESCRIPTION = Description(
    name=NAME,
    title="Synthetic: labels drawn from the scores",
    kind="synthetic",
    source="Synthetic: drawn by a seeded random number generator, no data behind it.",
    licence="CC0-1.0",
    model=(
        "None. Each row's logits are normal with its own spread, log-uniform between "
        f"{SMALLEST_SPREAD:g} and {LARGEST_SPREAD:g}."
    ),
    training=(
        "None. Each label is drawn from the softmax of the row's stored float32 logits. The seed "
        "before this one was set aside: by chance its calibration rows had 1.4 points more hits "
        "than the scores say, 2.4 standard errors."
    ),
    seed=SEED,
    teaches=(
        "Every score is the true chance of its class, so each deviation seen here is sampling "
        "noise alone. It shows how far from zero a measured error lies when there is no error."
    ),
)


def draw(rows: int, generator: np.random.Generator) -> Rows:
    """Draw logits, then a label for each row from the softmax of the stored logits."""
    limits = np.log([SMALLEST_SPREAD, LARGEST_SPREAD])
    spread = np.exp(generator.uniform(limits[0], limits[1], size=(rows, 1)))
    logits = (spread * generator.standard_normal((rows, CLASSES))).astype(np.float32)
    wide = logits.astype(np.float64)
    weights = np.exp(wide - wide.max(axis=1, keepdims=True))
    edges = np.cumsum(weights, axis=1)
    mark = generator.random((rows, 1)) * edges[:, -1:]
    labels = np.minimum((mark >= edges).sum(axis=1), CLASSES - 1)
    return Rows(logits, labels.astype(np.int64))


def build() -> None:
    """Draw both sets and write the sample."""
    print(NAME, flush=True)
    generator = np.random.default_rng(SEED)
    calibration = draw(CALIBRATION_ROWS, generator)
    test = draw(TEST_ROWS, generator)
    write_sample(DESCRIPTION, calibration, test, [f"class {letter}" for letter in "ABCDE"])
    print(f"  test accuracy {test.accuracy():.4f}")


def main() -> None:
    """Run from the command line."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    build()


if __name__ == "__main__":
    main()
