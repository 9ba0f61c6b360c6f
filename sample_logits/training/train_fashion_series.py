"""Train the series of Fashion-MNIST networks: by epoch and by width.

The series by epoch keeps checkpoints of the network of ``fashion_cnn_overconfident`` as it is
trained. The series by width trains narrower networks on the same rows and schedule; its widest is
the last checkpoint.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

import torch
from fashion_data import CLASS_NAMES, Images, add_folder_option
from nets import cross_entropy, make_deterministic, predict, small_cnn, train
from sample_io import SERIES_FOLDER, write_checkpoint
from train_fashion_cnn import SCHEDULE, SEED, Sets, read_sets

if TYPE_CHECKING:
    from pathlib import Path

    from sample_io import FloatArray, IntArray
    from torch import nn

EPOCHS = (1, 2, 3, 4, 6, 8, 10, 13, 16, 20)
"""Epochs after which the network is kept."""

WIDTHS = {3: 16, 6: 32, 12: 64, 24: 128}
"""Channels of the first convolution, with the hidden units that go with them."""

WIDEST = max(WIDTHS)

CALIBRATION_ROWS, TEST_ROWS = 2000, 5000
"""Rows kept of each set, the first ones."""


def _keep(net: nn.Module, sets: Sets, name: str) -> None:
    """Write the logits of a network as one file of a series."""

    def logits(images: Images, rows: int) -> tuple[FloatArray, IntArray]:
        return predict(net, torch.from_numpy(images.pixels[:rows])), images.labels[:rows]

    write_checkpoint(
        SERIES_FOLDER / f"{name}.npz",
        logits(sets.calibration, CALIBRATION_ROWS),
        logits(sets.test, TEST_ROWS),
        CLASS_NAMES,
    )


def train_width(channels: int, sets: Sets) -> None:
    """Train a network of one width, and keep it at its end; the widest also on the way."""
    print(f"width {channels}", flush=True)
    start = time.perf_counter()
    make_deterministic(SEED)
    net = small_cnn(channels=channels, hidden=WIDTHS[channels], classes=len(CLASS_NAMES))

    def after_epoch(epoch: int) -> None:
        if channels == WIDEST and epoch in EPOCHS:
            _keep(net, sets, f"fashion_cnn_epoch_{epoch:02d}")

    train(
        net,
        cross_entropy,
        (torch.from_numpy(sets.training.pixels), torch.from_numpy(sets.training.labels)),
        (torch.from_numpy(sets.validation.pixels), sets.validation.labels),
        SCHEDULE,
        after_epoch,
    )
    if channels != WIDEST:
        _keep(net, sets, f"fashion_cnn_width_{channels:02d}")
    print(f"  {time.perf_counter() - start:.0f} s")


def build(folder: Path, widths: list[int] | None = None) -> None:
    """Build the series from the images in ``folder``: all widths, or those named."""
    sets = read_sets(folder)
    for channels in widths or WIDTHS:
        train_width(channels, sets)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_folder_option(parser)
    parser.add_argument("--widths", nargs="+", type=int, choices=WIDTHS, help="else all")
    options = parser.parse_args()
    build(options.fashion_mnist, options.widths)


if __name__ == "__main__":
    main()
