"""Build every sample: ``python sample_logits/training/build_all.py``."""

from __future__ import annotations

import argparse

import draw_garments
import draw_perfect_synthetic
import train_city_country
import train_crash_survival
import train_fashion_cnn
import train_fashion_series
import train_three_garments
from fashion_data import add_folder_option


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_folder_option(parser)
    folder = parser.parse_args().fashion_mnist
    train_fashion_cnn.build(folder)
    train_fashion_series.build(folder)
    train_city_country.build()
    train_crash_survival.build()
    train_three_garments.build(folder)
    draw_perfect_synthetic.build()
    draw_garments.build(folder)


if __name__ == "__main__":
    main()
