"""Train a small net on three confusable garments until it overfits: ``three_garments``."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

import torch
from fashion_data import (
    CLASS_NAMES,
    LICENCE,
    SOURCE,
    add_folder_option,
    read_images,
    stratified_split,
)
from nets import Fit, Schedule, cross_entropy, make_deterministic, predict, small_cnn, train
from sample_io import Description, Rows, write_sample

if TYPE_CHECKING:
    from pathlib import Path

NAME = "three_garments"
SEED = 20234
GARMENTS = ["T-shirt/top", "Pullover", "Shirt"]
CALIBRATION_PER_CLASS = 500
VALIDATION_PER_CLASS = 300
TRAINING_PER_CLASS = 1000
SCHEDULE = Schedule(epochs=30, batch_size=32, learning_rate=1e-3)


def _description(fit: Fit) -> Description:
    """Return the manifest's texts for a run."""
    return Description(
        name=NAME,
        title="Three garments that look alike",
        source=f"{SOURCE} Only the classes {', '.join(GARMENTS)}.",
        licence=LICENCE,
        model=(
            "Convolutional network in PyTorch: two 3 x 3 convolutions (8 and 16 channels), each "
            "followed by ReLU and 2 x 2 max-pooling, a hidden layer of 64, no dropout."
        ),
        training=(
            f"{SCHEDULE.epochs} epochs of Adam (learning rate {SCHEDULE.learning_rate:g}, batches "
            f"of {SCHEDULE.batch_size}), loss: cross-entropy; {TRAINING_PER_CLASS * 3:,} of the "
            f"18,000 training images of these classes. On {VALIDATION_PER_CLASS * 3:,} further "
            f"training images the NLL was lowest after epoch {fit.best_epoch} "
            f"({min(fit.validation_nll):.3f}) and {fit.validation_nll[-1]:.3f} after the last. "
            "Calibration rows: other training images; test rows: the test images of these "
            "classes in file order."
        ),
        seed=SEED,
        teaches=(
            "Three classes fit on a triangle: too many rows sit in its corners, and a temperature "
            "draws them back along curved paths. Most mistakes lie on the edges that end at Shirt."
        ),
    )


def build(folder: Path) -> None:
    """Build the sample from the images in ``folder``."""
    print(NAME, flush=True)
    start = time.perf_counter()
    make_deterministic(SEED)
    classes = [CLASS_NAMES.index(name) for name in GARMENTS]
    images = read_images(folder, "train").only(classes)
    per_class = [CALIBRATION_PER_CLASS, VALIDATION_PER_CLASS, TRAINING_PER_CLASS]
    calibration, validation, training = (
        images.take(rows) for rows in stratified_split(images.labels, per_class, SEED)
    )
    test = read_images(folder, "t10k").only(classes)
    net = small_cnn(channels=8, hidden=64, classes=len(GARMENTS))
    fit = train(
        net,
        cross_entropy,
        (torch.from_numpy(training.pixels), torch.from_numpy(training.labels)),
        (torch.from_numpy(validation.pixels), validation.labels),
        SCHEDULE,
    )
    rows = [
        Rows(predict(net, torch.from_numpy(each.pixels)), each.labels)
        for each in (calibration, test)
    ]
    write_sample(_description(fit), rows[0], rows[1], GARMENTS)
    print(f"  {time.perf_counter() - start:.0f} s, test accuracy {rows[1].accuracy():.4f}")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_folder_option(parser)
    build(parser.parse_args().fashion_mnist)


if __name__ == "__main__":
    main()
