"""A lender's workbook: two models' risks, loans still open, customers with several, copies."""

import io
from typing import NamedTuple

import numpy as np
import pandas as pd

N_LOANS, N_COPIES = 3_000, 24

BRANCHES = ("Centre", "East", "Harbour", "North", "West")

BAD_BRANCH, BAD_SHIFT = "Harbour", 0.9
"""The branch whose loans default more often than the models know, and by how much log-odds."""

DRIFT_FROM, DRIFT_SHIFT = np.datetime64("2025-10"), 0.7
"""From this month on, all loans do."""

OLD, NEW = "PD model v2", "PD model v3"


class Loans(NamedTuple):
    """The workbook, and its rows as a table."""

    data: bytes
    table: pd.DataFrame

    @property
    def closed(self) -> pd.DataFrame:
        """Rows that can be evaluated: those with an outcome."""
        return self.table[self.table["Defaulted"] != "Open"]


def loans(seed: int = 4) -> Loans:
    """Write two years of loans as a spreadsheet, a title above the table and a total below it."""
    rng = np.random.default_rng(seed)
    day = np.sort(rng.integers(0, 730, N_LOANS)).astype("timedelta64[D]")
    date = np.datetime64("2024-01-01") + day
    branch = rng.choice(BRANCHES, N_LOANS)
    known = rng.normal(-1.8, 1.0, N_LOANS)
    unknown = BAD_SHIFT * (branch == BAD_BRANCH)
    unknown = unknown + DRIFT_SHIFT * (date.astype("datetime64[M]") >= DRIFT_FROM)
    default = rng.random(N_LOANS) < 1 / (1 + np.exp(-known - unknown))
    noisy = -1.8 + 0.9 * (known + 1.8) + rng.normal(0, 0.9, N_LOANS)
    status = np.where(default, "Yes", "No").astype(object)
    status[rng.random(N_LOANS) < 0.06] = "Open"
    table = pd.DataFrame({
        "Loan ID": [f"L-{200_000 + k}" for k in range(N_LOANS)],
        "Customer": [f"C{k:05d}" for k in rng.integers(0, 2_000, N_LOANS)],
        "Booked": date,
        "Branch": branch,
        "Amount": np.round(rng.lognormal(9.5, 0.6, N_LOANS), 2),
        OLD: np.round(100 / (1 + np.exp(-noisy)), 2),
        NEW: np.round(1 / (1 + np.exp(-known)), 4),
        "Defaulted": status,
    })  # fmt: skip
    table = pd.concat([table, table.iloc[100 : 100 + N_COPIES]], ignore_index=True)
    return Loans(_workbook(table), table)


def _workbook(table: pd.DataFrame) -> bytes:
    """Write it as its owner would: the older model's risks as percentages in text."""
    shown = table.assign(**{OLD: [f"{value:.2f}%" for value in table[OLD]]})
    buffer = io.BytesIO()
    with pd.ExcelWriter(buffer, engine="xlsxwriter", datetime_format="yyyy-mm-dd") as book:
        shown.to_excel(book, sheet_name="Loans", index=False, startrow=2)
        sheet = book.sheets["Loans"]
        sheet.write(0, 0, "Consumer loans, validation of PD models")
        last = 3 + len(shown)
        sheet.write(last, 0, "Total")
        sheet.write(last, 4, float(table["Amount"].sum()))
        sheet.write(last, 7, int((table["Defaulted"] == "Yes").sum()))
    return buffer.getvalue()
