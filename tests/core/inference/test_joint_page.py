"""What docs/validation.md says of the joint tests."""

import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks.validation import with_section
from calibcore.inference.groups import _leaning

PAGE = (Path(__file__).parents[3] / "docs" / "validation.md").read_text(encoding="utf-8")
SHARE = re.compile(r"([\d.]+) \(([\d.]+) to ([\d.]+)\)")


def _shares(title: str) -> list[list[tuple[float, ...]]]:
    """Return each line's shares, with their intervals, of one part of the section."""
    part = PAGE.partition("# Joint tests\n")[2].partition(f"## {title}\n")[2].partition("\n## ")[0]
    lines = [SHARE.findall(line) for line in part.splitlines()]
    return [[tuple(map(float, share)) for share in line] for line in lines if line]


def test_false_alarms_do_not_contradict_their_level() -> None:
    lines = _shares("False alarms")
    assert len(lines) == 16
    for share, low, high in (cell for line in lines for cell in line):
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


def test_counts_at_a_cut_off_hold_but_after_steps_and_groups_are_corrected() -> None:
    part = PAGE.partition("# Decisions and groups\n")[2]
    counts = part.partition("## At a cut-off\n")[2].partition("\n## ")[0].splitlines()
    smooth = [SHARE.findall(line) for line in counts if "Isotonic" not in line]
    assert len([line for line in smooth if line]) == 12
    assert all(high >= 93 for line in smooth for _, _, high in (map(float, one) for one in line))
    gaps = re.findall(r"^\| By group \|.* (\S+) \| (\S+) \|$", part, re.MULTILINE)
    assert all(float(off) < 0.1 and float(gap) < 6 for off, gap in gaps)
    cancel = [SHARE.findall(line) for line in part.splitlines() if line.startswith("| 12 |")]
    assert [float(one[0]) > 90 for one in cancel[0]] == [False, False, True, True]


@pytest.mark.parametrize("rest", ["", "\n# Later\n\nlast\n"])
def test_a_part_that_is_written_anew_keeps_the_others(rest: str) -> None:
    page = with_section(f"# First\n\n## A\n\n# Second\n\nold\n{rest}", "# Second\n\nnew\n")
    assert page == f"# First\n\n## A\n\n# Second\n\nnew\n{rest}"
    assert with_section(page, "# Last\n\none\n") == page + "\n# Last\n\none\n"


@pytest.mark.parametrize("expected", [6.0, 20.0])
def test_sums_of_rare_events_have_the_tails_of_poisson_counts(expected: float) -> None:
    rng = np.random.default_rng(0)
    spread, lean = np.array([expected]), np.array([-(expected**-0.5)])  # of scores minus hits
    normal = np.sqrt(expected) * rng.normal(size=(1, 400_000))
    counts = expected - (rng.poisson(expected, normal.size) + rng.uniform(-0.5, 0.5, normal.size))
    levels = 0.005, 0.05, 0.95, 0.995
    wanted = np.quantile(counts, levels)
    result = np.quantile(_leaning(normal, spread, lean), levels)
    assert np.abs(result - wanted).max() < 0.15
    assert np.abs(np.quantile(normal, levels) - wanted).max() > 0.6
