"""Files called as Python's own or as packages, where the command runs: none of them is imported."""

import os
import subprocess
import sys
import tomllib
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import psutil
import pytest
from streamlit.runtime.scriptrunner.exec_code import modified_sys_path

import dashboard
from dashboard import leave_working_folder
from tests.browser.server import running_dashboard
from tests.cli.test_server import answer

NAMES = "queue", "random", "json", "numpy", "pickle", "struct", "sitecustomize", "click", "pandas"

COMMAND = "from dashboard.cli.main import main; main()"

PROCESSES = """
from dashboard.cli.main import main
from dashboard.compute.processes import pool
from dashboard.readers.worker import parse_apart
print(len(parse_apart("rows.csv", open("rows.csv", "rb").read()).columns))
print(pool().submit(eval, "__import__('queue').__file__").result(60))
"""
"""The process that parses files; loky's, and with it its tracker of resources."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    score = rng.random(200)
    lines = [f"{a:.3f},{b:d}" for a, b in zip(score, rng.random(200) < score, strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(["risk,outcome", *lines]), encoding="utf-8")
    for name in NAMES:
        code = f"open(r'{tmp_path / 'ran.txt'}', 'a').write(__name__ + ' ')\nraise ImportError\n"
        (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
    return tmp_path


def run(folder: Path, *words: str) -> str:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=kept, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_command_imports_nothing_of_the_working_folder(folder: Path) -> None:
    assert "Read: 200 rows" in run(folder, "-c", COMMAND, "audit", "rows.csv", "--resamples", "0")
    assert not (folder / "ran.txt").exists()


def test_its_processes_import_nothing_of_it_either(folder: Path) -> None:
    columns, queue = run(folder, "-c", PROCESSES).split()
    assert columns == "2"
    assert Path(queue).parent == Path(os.__file__).parent
    assert not (folder / "ran.txt").exists()


def test_the_server_imports_nothing_of_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    with running_dashboard() as address, urllib.request.urlopen(address, timeout=10) as page:  # noqa: S310 - own
        assert b"Streamlit" in page.read()
    assert not (folder / "ran.txt").exists()


HOSTILE = """
[server]
address = "0.0.0.0"
allowedHosts = ["evil.example"]
enableCORS = false
corsAllowedOrigins = ["http://evil.example"]
enableXsrfProtection = false
trustedUserHeaders = {X-Name = "name"}
[client]
showErrorDetails = "full"
"""


def test_no_settings_of_it_open_the_server(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / ".streamlit").mkdir()
    (folder / ".streamlit" / "config.toml").write_text(HOSTILE, encoding="utf-8")
    monkeypatch.chdir(folder)
    with running_dashboard() as address:
        place = urlsplit(address).netloc
        for origin, wanted in (("http://evil.example", 403), (address, 101)):
            result = answer(
                place, "/_stcore/stream", Connection="Upgrade", Upgrade="websocket", Origin=origin,
                Sec_WebSocket_Version="13", Sec_WebSocket_Key="dGhlIHNhbXBsZSBub25jZQ==",
            )  # fmt: skip
            assert result.status == wanted
        assert answer(place, "/", Host="evil.example").status == 421
        (listens,) = {
            one.laddr[0] for one in psutil.net_connections("tcp")
            if one.status == "LISTEN" and one.laddr and one.laddr[1] == urlsplit(address).port
        }  # fmt: skip
        assert listens == "127.0.0.1"


def test_every_setting_that_could_open_the_server_is_made_here() -> None:
    own = Path(dashboard.__file__).parent / ".streamlit" / "config.toml"
    settings = tomllib.loads(own.read_text("utf-8"))
    for section, names in tomllib.loads(HOSTILE).items():
        assert names.keys() <= settings[section].keys()


def test_no_module_is_called_as_one_of_python_s() -> None:
    """Streamlit puts the folder of the page's script before all others."""
    own = {path.stem for path in (Path(__file__).parents[2] / "dashboard").iterdir()}
    assert not own & {*sys.stdlib_module_names, *NAMES}


@pytest.mark.parametrize("start", ["streamlit run", "fractile serve"])
def test_who_goes_through_the_path_during_a_run_misses_no_folder(
    start: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = str(Path(dashboard.__file__).parent / "app.py")
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    monkeypatch.setattr(sys, "path", [*sys.path])
    if start == "streamlit run":
        with modified_sys_path(script):
            leave_working_folder()
    leave_working_folder()
    before = [*sys.path]
    with modified_sys_path(script):
        path = iter(sys.path)
        seen = [next(path)]
        leave_working_folder()
        seen += path
    assert (seen, sys.path) == (before, before)


def test_no_folder_is_lost_to_a_run_that_ends_meanwhile(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own, real = str(Path(dashboard.__file__).parent), os.path.realpath
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    monkeypatch.setattr(sys, "path", [own, str(tmp_path), *sys.path])

    def after_another_has_ended(path: str) -> str:
        if path == sys.path[0] == own:
            del sys.path[0]
        return real(path)

    monkeypatch.setattr(os.path, "realpath", after_another_has_ended)
    leave_working_folder()
    assert str(tmp_path) in sys.path
