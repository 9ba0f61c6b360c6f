"""Ordinary tables are read as a person reads them, or the right question is asked."""

from collections import Counter

import pytest

from tests.readers.ordinary import Verdict, evaluated, ordinary


@pytest.fixture(scope="module")
def verdicts() -> list[Verdict]:
    return [evaluated(table) for table in ordinary()]


def _told(verdicts: list[Verdict], *text: str) -> list[str]:
    return [f"{v.table.name}: {v.said}: {v.why}" for v in verdicts if v.said in text]


def test_there_are_a_hundred_tables_of_different_names() -> None:
    names = Counter(table.name for table in ordinary())
    assert len(names) >= 100
    assert max(names.values()) == 1


def test_none_is_read_wrong_or_refused(verdicts: list[Verdict]) -> None:
    assert _told(verdicts, "wrong", "refused") == []


def test_nineteen_of_twenty_are_read_right_at_once(verdicts: list[Verdict]) -> None:
    certain = [verdict for verdict in verdicts if not verdict.table.ask]
    right = sum(verdict.said == "right" for verdict in certain)
    assert right >= 0.95 * len(certain), "\n".join(_told(certain, "asks", "asks otherwise"))


def test_every_question_names_the_right_answer_first(verdicts: list[Verdict]) -> None:
    assert _told(verdicts, "asks otherwise") == []
