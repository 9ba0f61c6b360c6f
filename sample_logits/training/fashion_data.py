"""Read Fashion-MNIST from the Debian package ``dataset-fashion-mnist`` and split it."""

from __future__ import annotations

import gzip
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import argparse

    from numpy.typing import NDArray
    from sample_io import FloatArray, IntArray

DEFAULT_FOLDER = Path("/usr/share/datasets/fashion-mnist")
"""Where the Debian package puts the files."""

CLASS_NAMES = [
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
]

SOURCE = (
    "Fashion-MNIST (Zalando Research, 2017), 28 x 28 grey images of garments, "
    "read from the Debian package dataset-fashion-mnist."
)
LICENCE = "MIT (Expat), copyright 2017 Zalando SE"


@dataclass(frozen=True)
class Images:
    """Images scaled to [0, 1], shape ``(rows, 1, 28, 28)``, with their labels."""

    pixels: FloatArray
    labels: IntArray

    def take(self, rows: IntArray) -> Images:
        """Return the chosen rows, in the order given."""
        return Images(self.pixels[rows], self.labels[rows])

    def only(self, classes: list[int]) -> Images:
        """Return the rows of some classes, in file order, relabelled by place in ``classes``."""
        rows = np.flatnonzero(np.isin(self.labels, classes)).astype(np.int64)
        lookup = np.full(len(CLASS_NAMES), -1, dtype=np.int64)
        lookup[classes] = np.arange(len(classes))
        return Images(self.pixels[rows], lookup[self.labels[rows]])


def add_folder_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--fashion-mnist DIR`` to a command line."""
    parser.add_argument(
        "--fashion-mnist",
        type=Path,
        default=DEFAULT_FOLDER,
        metavar="DIR",
        help="folder with the four idx .gz files (default: %(default)s)",
    )


def read_images(folder: Path, part: str) -> Images:
    """Read one part of Fashion-MNIST.

    Parameters
    ----------
    folder
        The folder with the idx ``.gz`` files.
    part
        ``"train"`` (60,000 images) or ``"t10k"`` (10,000 images).
    """
    if not folder.is_dir():
        raise SystemExit(
            f"Fashion-MNIST is not in {folder}; install the Debian package "
            "dataset-fashion-mnist or name another folder with --fashion-mnist DIR."
        )
    pixels = _read_idx(folder / f"{part}-images-idx3-ubyte.gz")
    labels = _read_idx(folder / f"{part}-labels-idx1-ubyte.gz")
    scaled = (pixels[:, None].astype(np.float32) / np.float32(255)).astype(np.float32)
    return Images(scaled, labels.astype(np.int64))


def _read_idx(path: Path) -> NDArray[np.uint8]:
    """Read one gzipped idx file of unsigned bytes."""
    with gzip.open(path, "rb") as stream:
        content = stream.read()
    if content[:3] != b"\x00\x00\x08":
        raise ValueError(f"{path.name} is not an idx file of unsigned bytes.")
    places = content[3]
    shape = tuple(int(size) for size in np.frombuffer(content, ">i4", places, 4))
    start = 4 + 4 * places
    if len(content) - start != math.prod(shape):
        raise ValueError(f"{path.name} does not hold as many bytes as its header says.")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def stratified_split(labels: IntArray, per_class: list[int], seed: int) -> list[IntArray]:
    """Split rows into disjoint groups with equal numbers of every class.

    Parameters
    ----------
    labels
        The label of every row.
    per_class
        For each group, how many rows of each class it gets.
    seed
        Seed of the shuffles.

    Returns
    -------
    list of row numbers
        One shuffled array per group.
    """
    generator = np.random.default_rng(seed)
    parts: list[list[NDArray[np.int64]]] = [[] for _ in per_class]
    for each in np.unique(labels):
        rows = generator.permutation(np.flatnonzero(labels == each).astype(np.int64))
        if len(rows) < sum(per_class):
            raise ValueError(f"Class {each} has only {len(rows)} rows.")
        starts = np.cumsum([0, *per_class])
        for part, start, stop in zip(parts, starts[:-1], starts[1:], strict=True):
            part.append(rows[start:stop])
    return [generator.permutation(np.concatenate(part)) for part in parts]
