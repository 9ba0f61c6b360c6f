"""Two audits by people who do not program, each from the file to the answers, with the steps."""

import re

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from calibcore.metrics import ks_error
from tests.browser.conftest import OpenPage
from tests.browser.settled import click, settle, turn_to
from tests.loans import BAD_BRANCH, NEW, OLD, Loans, loans
from tests.tickets import BAD_LANGUAGE, N_TICKETS, Tickets, tickets

pytestmark = pytest.mark.browser

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def text_of(page: Page) -> str:
    """Read the page's text, spaces of every kind alike."""
    settle(page)
    return re.sub(r"\s+", " ", page.get_by_test_id("stMain").inner_text())


def upload(page: Page, name: str, kind: str, data: bytes) -> None:
    """Give the dashboard a file."""
    page.locator("input[type=file]").first.set_input_files(
        {"name": name, "mimeType": kind, "buffer": data}
    )


@pytest.mark.long
def test_a_credit_analyst_before_a_committee(open_page: OpenPage) -> None:
    book = loans()
    page = open_page("?data=file&resamples=0")
    upload(page, "loans.xlsx", XLSX, book.data)
    _loans_questions(page, book)
    text = text_of(page)
    _loans_rows(text, book)
    _loans_verdict(text, book.closed)
    _loans_models(page, book.closed)


def _loans_questions(page: Page, book: Loans) -> None:
    """What only a person can know is asked: which model's risk, and what open loans are."""
    question = page.locator(".st-key-import_question")
    expect(question).to_contain_text("Which of these is the score")
    expect(question.get_by_role("button")).to_contain_text([OLD, NEW, "None of these"])
    click(question.get_by_role("button", name=NEW))
    n_open = len(book.table) - len(book.closed)
    expect(question).to_contain_text(f'Defaulted {n_open} neither "No" nor "Yes" ("Open")')
    click(question.get_by_role("button", name=f"Leave out {n_open} rows"))
    expect(page.locator(".st-key-verdict")).to_be_visible()


def _loans_rows(text: str, book: Loans) -> None:
    """How many loans are these, what was left out, and what do rows stand for?"""
    closed = book.closed
    n_bad = int((closed["Defaulted"] == "Yes").sum())
    assert f"Defaulted = Yes: {n_bad:,} of {len(closed):,} ({n_bad / len(closed):.1%})" in text
    assert f"{len(book.table) - len(closed):,} of {len(book.table):,} rows left out" in text
    assert '1 row below the data left out: "Total"' in text
    assert f"{closed['Customer'].nunique():,} " in text


def _loans_verdict(text: str, closed: pd.DataFrame) -> None:
    """Are the risks right, where not, and since when?"""
    bad = closed["Defaulted"] == "Yes"
    assert f"mean score {closed[NEW].mean():.1%}, observed {bad.mean():.1%}" in text
    branch = closed["Branch"] == BAD_BRANCH
    gap = 100 * (bad[branch].mean() - closed.loc[branch, NEW].mean())
    size = f"{gap:.1f} percentage points"
    assert f"Branch = {BAD_BRANCH}, scores too low by {size} (95% CI" in text
    assert "Drift over Booked before calibration: since Sep 2025 scores are too low by" in text


def _loans_models(page: Page, closed: pd.DataFrame) -> None:
    """Is the new model better calibrated than the old one of the same workbook?"""
    turn_to(page, "Models")
    settle(page)
    page.get_by_role("combobox", name="Further scores of this file").click()
    page.get_by_role("option", name=OLD).click()
    page.keyboard.press("Escape")
    table = page.locator("table").filter(has_text="KS error").first
    expect(table).to_be_visible()
    bad = (closed["Defaulted"] == "Yes").to_numpy(int)
    for score in (closed[NEW], closed[OLD] / 100):
        expect(table).to_contain_text(f"{ks_error(score.to_numpy(), bad):.1%}")


@pytest.mark.long
def test_a_support_analyst_routes_tickets(open_page: OpenPage) -> None:
    log = tickets()
    page = open_page("?data=file&resamples=200")
    upload(page, "tickets.csv", "text/csv", log.data)
    expect(page.locator(".st-key-verdict")).to_be_visible()
    text = text_of(page)
    top = log.probabilities.max(axis=1)
    # Is the classifier as often right as it says?
    assert f"mean score {top.mean():.2%}, but {log.right.mean():.2%} correct" in text
    # For which tickets is it worst?
    bad = log.language == BAD_LANGUAGE
    gap = 100 * (top[bad].mean() - log.right[bad].mean())
    assert f"language = {BAD_LANGUAGE}, overconfident by {gap:.1f} percentage points" in text
    # From which score on may tickets be routed alone, if 95% have to be right?
    turn_to(page, "Decisions")
    _routed(text_of(page), log)


def _routed(text: str, log: Tickets) -> None:
    """The threshold in the file's own scores, by trying each, and whom it fails."""
    top, right = log.probabilities.max(axis=1), log.right
    least = min(score for score in np.unique(top) if right[top >= score].mean() >= 0.95)
    acted = top >= least
    own = f"In the file's own scores (before calibration) the threshold is {100 * least:.3g}%"
    assert own in text
    n_acted = int(acted.sum())
    keeps = f"it keeps {n_acted:,} of {N_TICKETS:,} rows ({n_acted / N_TICKETS:.1%})"
    assert f"{own}: {keeps}, {right[acted].mean():.1%} correct" in text
    bad = acted & (log.language == BAD_LANGUAGE)
    assert f"of language = {BAD_LANGUAGE}, {right[bad].mean():.1%} of {bad.sum()} rows" in text
    assert re.search(r"Acting on calibrated scores of at least [\d.]+% keeps", text)
