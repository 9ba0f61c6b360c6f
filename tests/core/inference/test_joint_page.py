"""What docs/validation.md says of the joint tests."""

import re
from pathlib import Path

import pytest

from benchmarks.validation import CHANGES, JOINT, with_changes

PAGE = (Path(__file__).parents[3] / "docs" / "validation.md").read_text(encoding="utf-8")
SHARE = re.compile(r"([\d.]+) \(([\d.]+) to ([\d.]+)\)")


def _shares(title: str) -> list[list[tuple[float, ...]]]:
    """Return each line's shares, with their intervals, of one part of the section."""
    part = PAGE.partition(f"\n{JOINT}\n")[2].partition(f"## {title}\n")[2].partition("\n## ")[0]
    lines = [SHARE.findall(line) for line in part.splitlines()]
    return [[tuple(map(float, share)) for share in line] for line in lines if line]


def test_false_alarms_do_not_contradict_their_level() -> None:
    lines = _shares("False alarms")
    assert len(lines) == 16
    for share, low, high in sum(lines, []):
        assert low <= share <= high
        assert low <= 6
        assert high >= 4


def test_the_joint_test_is_near_the_best_part_and_all_rows_beat_half() -> None:
    whole, wards = _shares("Power of the joint test"), _shares("Power of the test of subgroups")
    assert (len(whole), len(wards)) == (3, 2)
    for joint, ks in whole:
        assert joint[0] > ks[0] - 5
    for all_rows, _, half, _ in wards:
        assert all_rows[0] >= half[0]


@pytest.mark.parametrize("rest", ["", f"\n{JOINT}\n\nlast\n"])
def test_new_changes_keep_the_section_after_them(rest: str) -> None:
    page = with_changes(f"first\n\n{CHANGES}\nold\n{rest}", f"{CHANGES}\nnew\n")
    assert page == f"first\n\n{CHANGES}\nnew\n{rest}"
