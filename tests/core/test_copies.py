"""Whatever a user holds can be pickled and copied, and says the same afterwards."""

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from calibcore import AuditResult, TopR, audit, split_rows
from calibcore.calibrators import CATALOGUE
from calibcore.drift import compare_batches
from calibcore.metrics import METRICS
from tests.core.draws import overconfident
from tests.marks import first_and_long

WAYS = {
    "pickle": lambda one: pickle.loads(pickle.dumps(one)),  # noqa: S301 - own
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@cache
def result(key: str | None) -> AuditResult:
    rows = overconfident(np.random.default_rng(0), 240, 3, spread=1, by=1)
    return audit(split_rows(rows), event=TopR(1), calibrator=key)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("key", [None, "temperature", "spline", "isotonic"])
def test_a_result_says_the_same(key: str | None, way: str) -> None:
    held = result(key)
    again = WAYS[way](held)
    assert again.to_json() == held.to_json()
    assert [one.measure for one in again.test.comparisons] == [*METRICS]
    answer, twice = (one.intervals("ks_error", n_resamples=40) for one in (held, again))
    assert repr(WAYS[way](answer).find("ks_error")) == repr(twice.find("ks_error"))


@pytest.mark.parametrize("way", WAYS)
def test_so_does_what_is_made_of_one(way: str) -> None:
    do: Callable[[object], object] = WAYS[way]
    counted = result(None).test.before.counted
    compared = compare_batches(counted, counted, n_draws=100)
    assert [row.p_value for row in do(compared).rows] == [row.p_value for row in compared.rows]  # type: ignore[attr-defined]
    assert [one is do(one) for one in METRICS] == [True] * len(METRICS)
    assert [one.key for one in do(CATALOGUE)] == [one.key for one in CATALOGUE]  # type: ignore[attr-defined]


PICKLED = "import pickle, sys; print(pickle.load(sys.stdin.buffer).to_json(), end='')"


def test_another_process_reads_it() -> None:
    held = result("platt")
    done = subprocess.run(
        [sys.executable, "-c", PICKLED], input=pickle.dumps(held), capture_output=True, check=True
    )
    assert done.stdout.decode() == held.to_json()


SCRIPT = """
import sys
from calibcore import audit
if len(sys.argv) > 1:
    import dashboard
    import dashboard as before
result = audit([0.2, 0.4, 0.6, 0.8] * 25, [0, 0, 1, 1] * 25)
result.report("one.html")
result.report("two.json")
import dashboard
assert dashboard.MINE == 1
assert not [name for name in sys.modules if name.startswith("dashboard.")]
if len(sys.argv) > 1:
    assert dashboard is before
"""


@pytest.mark.parametrize("imported", first_and_long([[], ["first"]]))
def test_a_user_s_own_dashboard_breaks_nothing(tmp_path: Path, imported: list[str]) -> None:
    (tmp_path / "dashboard.py").write_text("MINE = 1\n", encoding="utf-8")
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    words = [sys.executable, "script.py", *imported]
    # Without what the command tells its own processes, where a test of it ran here before.
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(words, cwd=tmp_path, env=own, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "<html" in (tmp_path / "one.html").read_text("utf-8")
    assert (tmp_path / "two.json").exists()
