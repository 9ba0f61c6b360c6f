"""A hospital's export of discharges, with faults that are known."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

HEADS = (
    "case_no", "discharge_date", "ward", "age_group", "sex", "length_of_stay",
    "predicted_risk_pct", "readmitted_30d",
)  # fmt: skip

N_ROWS = 7_400

WARDS = ("Cardiology", "Geriatrics", "Medicine", "Orthopaedics", "Surgery")

SHARES = (0.2, 0.17, 0.19, 0.22, 0.22)

SHIFT = {"Geriatrics": 0.65, "Orthopaedics": -0.26, "Surgery": -0.26}
"""What a ward adds to the log-odds of a readmission, and the model does not know."""


class Discharges(NamedTuple):
    """The file, and what it holds."""

    data: bytes
    risk: NDArray[np.float64]
    back: NDArray[np.bool_]
    ward: NDArray[np.str_]


def discharges(seed: int = 1) -> Discharges:
    """Write a year of discharges: decimal commas, percent, Yes and No.

    Risks are too extreme everywhere; one ward's are 10 percentage points too low besides, two
    wards' 3.6 too high. Age, sex, length of stay and month have no fault of their own.
    """
    rng = np.random.default_rng(seed)
    ward = rng.choice(WARDS, N_ROWS, p=SHARES)
    true = rng.normal(-1.6, 0.95, N_ROWS)
    text = -1.75 + 1.3 * (true + 1.6)
    risk = np.round(1 / (1 + np.exp(-text)), 3)
    shift = np.array([SHIFT.get(name, 0.0) for name in ward])
    back = rng.random(N_ROWS) < 1 / (1 + np.exp(-true - shift))
    day = np.sort(rng.integers(0, 365, N_ROWS)).astype("timedelta64[D]")
    date = np.datetime64("2025-01-01") + day
    stay = 1 + rng.gamma(2, 2, N_ROWS).astype(int)
    age, sex = (
        rng.choice(["18-39", "40-64", "65-79", "80+"], N_ROWS),
        rng.choice(["f", "m"], N_ROWS),
    )
    lines = [";".join(HEADS)]
    for k in range(N_ROWS):
        year, month, number = str(date[k]).split("-")
        percent = f"{100 * risk[k]:.1f}".replace(".", ",")
        lines.append(
            f"F{100_000 + k};{number}.{month}.{year};{ward[k]};{age[k]};{sex[k]};{stay[k]}"
            f";{percent};{'Yes' if back[k] else 'No'}"
        )
    return Discharges("\r\n".join(lines).encode("utf-8-sig"), risk, back, ward)
