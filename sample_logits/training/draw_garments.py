"""Draw the pictures of "Your own calibration": ``dashboard/learn/garments.npz``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np
from fashion_data import add_folder_option, read_images
from sample_io import SAMPLES_FOLDER

from calibcore.samples import load_sample
from dashboard.learn import data
from dashboard.learn.garments import N_RANGES, pairs_of, range_of

if TYPE_CHECKING:
    from pathlib import Path

SEED = 20260
PER_RANGE = 24
TARGET = SAMPLES_FOLDER.parent / "dashboard" / "learn" / "garments.npz"


def build(folder: Path) -> None:
    """Draw as many test rows from each range of the network's score, and keep their pictures.

    Only the score decides, and that the true class is among the two likeliest: whether the network
    was right does not. So its calibration on them is that on all such rows.
    """
    sample = load_sample(data.NETWORK)
    images = read_images(folder, "t10k")
    if not np.array_equal(images.labels, sample["labels_test"]):
        raise SystemExit("The pictures are not those of the sample's test rows.")
    pairs, labels = pairs_of(sample["logits_test"]), sample["labels_test"]
    asked = (pairs.first == labels) | (pairs.second == labels)
    generator = np.random.default_rng(SEED)
    ranges = range_of(pairs.score)
    rows = np.sort(
        np.concatenate(
            [
                generator.choice(np.flatnonzero(asked & (ranges == k)), PER_RANGE, replace=False)
                for k in range(N_RANGES)
            ]
        )
    )
    pixels = np.rint(images.pixels[rows, 0] * 255).astype(np.uint8)
    np.savez_compressed(TARGET, rows=rows.astype(np.int32), pixels=pixels)
    wrong = int((pairs.first[rows] != labels[rows]).sum())
    print(f"{TARGET.name}: {len(rows)} pictures, {TARGET.stat().st_size:,} bytes, {wrong} wrong")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_folder_option(parser)
    build(parser.parse_args().fashion_mnist)


if __name__ == "__main__":
    main()
