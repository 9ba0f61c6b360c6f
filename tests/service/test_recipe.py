"""The recipe of docs/service as it is run: nginx, the container's commands, the ends of it."""

import http.client
import json
import os
import re
import signal
import ssl
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, expect

from dashboard.logs import LEVEL
from dashboard.readers.limits import MAX_UPLOAD
from dashboard.server import HEADERS, HEALTH
from tests.browser.chromium import ARGUMENTS, find_chromium
from tests.browser.server import running_dashboard
from tests.marks import first_and_long
from tests.service.recipe import CONTAINER, FOLDER, NAME, contained, lists_of, nginx, program

ALLOWED = f"--server.allowedHosts={NAME}"

ROOT = FOLDER.parents[1]

linux = pytest.mark.skipif(
    not sys.platform.startswith("linux") or os.geteuid() != 0,
    reason="mounts folders read-only, as Linux's root",
)


class Place(http.client.HTTPSConnection):
    """A connection to nginx that names a host, whatever the address."""

    def __init__(self, port: int, folder: Path, name: str = NAME) -> None:
        self.known = ssl.create_default_context(cafile=folder / "audit.pem")
        self.name = name
        super().__init__("127.0.0.1", port, timeout=30, context=self.known)

    def connect(self) -> None:
        http.client.HTTPConnection.connect(self)
        self.sock = self.known.wrap_socket(self.sock, server_hostname=self.name)


def get(place: Place, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    with closing(place):
        place.request("GET", path, headers={"Host": place.name} | headers)
        result = place.getresponse()
        body = b"" if result.status == 101 else result.read()
        return result.status, {name.lower(): text for name, text in result.getheaders()}, body


@pytest.mark.parametrize("base", first_and_long(["/audit", ""]))
def test_nginx_serves_the_pages_by_tls_with_every_header(tmp_path: Path, base: str) -> None:
    options = [ALLOWED, *([f"--server.baseUrlPath={base}"] if base else [])]
    health = f"{base}{HEALTH}"
    with (
        running_dashboard(None, *options, health=health) as behind,
        nginx(tmp_path, behind, base=base) as port,
    ):
        status, headers, body = get(Place(port, tmp_path), f"{base}/")
        assert (status, b"Streamlit" in body) == (200, True)
        assert {name: headers.get(name.lower()) for name in HEADERS} == HEADERS
        assert headers["strict-transport-security"] == "max-age=31536000"
        assert headers["server"] == "nginx"
        assert len(headers["x-request-id"]) == 32  # nginx's own
        with urlopen(f"{behind}{HEALTH}", timeout=10) as answer:  # noqa: S310 - own
            assert answer.status == 200  # where the container's check looks, whatever the path
        with pytest.raises(ssl.SSLError):
            get(Place(port, tmp_path, "other.example.org"), "/")
        upgrade = {
            "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        }  # fmt: skip
        for origin, wanted in ((f"https://{NAME}", 101), ("https://evil.example", 403)):
            result = get(Place(port, tmp_path), f"{base}/_stcore/stream", Origin=origin, **upgrade)
            assert result[0] == wanted
        place = Place(port, tmp_path)
        with closing(place):
            place.putrequest("POST", f"{base}/", skip_host=True)
            place.putheader("Host", NAME)
            place.putheader("Content-Length", str(MAX_UPLOAD + (2 << 20)))
            place.endheaders()
            assert place.getresponse().status == 413


@pytest.mark.long
@pytest.mark.browser
def test_an_upload_passes_nginx_without_a_file(browser: Browser, tmp_path: Path) -> None:
    rows = "\n".join(f"{k % 1000 / 1000:.3f},{k % 3 == 0:d},{k:012d}" for k in range(60_000))
    with (
        (tmp_path / "log").open("w") as log,
        running_dashboard({LEVEL: "info"}, ALLOWED, stderr=log) as behind,
        nginx(tmp_path, behind) as port,
    ):
        own = browser.browser_type.launch(
            executable_path=find_chromium(),
            args=[*ARGUMENTS, f"--host-resolver-rules=MAP {NAME} 127.0.0.1"],
        )
        page = own.new_context(ignore_https_errors=True).new_page()
        page.goto(f"https://{NAME}:{port}/?data=file&resamples=0&method=spline")
        written = {folder: set(folder.iterdir()) for folder in tmp_path.glob("temporary_*")}
        assert len(written) == 5
        page.locator("input[type=file]").first.set_input_files(
            {"name": "rows.csv", "mimeType": "text/csv",
             "buffer": f"risk,outcome,case\n{rows}".encode()}
        )  # fmt: skip
        expect(page.get_by_text("60,000").first).to_be_visible()
        expect(page.get_by_text("After Spline").first).to_be_visible()  # once it is fitted
        assert not any(path.is_file() for path in tmp_path.glob("temporary_*/**/*"))
        own.close()
    lines = (tmp_path / "log").read_text("utf-8")
    assert "external IP" not in lines
    assert "rows.csv" not in lines
    assert "risk" not in lines
    pattern = r"session=([0-9a-f]{8}) file kind=\.csv bytes=\d+ read seconds="
    assert len(re.findall(pattern, lines)) == 1
    assert "session=- fit calibrator=SplineCalibration rows=" in lines


@linux
def test_the_container_s_command_needs_no_root_no_home_and_no_disk() -> None:
    with contained() as (address, process):
        place = http.client.HTTPConnection(urlsplit(address).netloc, timeout=20)
        with closing(place):
            place.request("GET", "/", headers={"Host": NAME})
            assert place.getresponse().status == 200
        status = Path(f"/proc/{process.pid}/status").read_text("ascii")
        (users,) = (line for line in status.splitlines() if line.startswith("Uid:"))
        assert users.split()[1:] == ["10001"] * 4
        (health,) = (lists_of(CONTAINER)["HEALTHCHECK"],)
        port = str(urlsplit(address).port)
        check = [sys.executable, *(word.replace("8501", port) for word in health[1:])]
        assert subprocess.run(check, check=False).returncode == 0
        before = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) in {0, -signal.SIGTERM, 143}
        assert time.monotonic() - before < 15  # below the grace that the compose file gives
        assert subprocess.run(check, check=False, capture_output=True).returncode != 0
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()


@pytest.mark.parametrize("signs_in", [False, True])
def test_systemd_takes_the_unit(tmp_path: Path, *, signs_in: bool) -> None:
    text = (FOLDER / "fractile.service").read_text("utf-8")
    if signs_in:  # as its head says
        ((credential, option),) = re.findall(r"(LoadCredential=\S+) below, and (--\S+)\.\n", text)
        text = re.sub(r"(?m)^(ExecStart=.*)$", rf"\1 {option}\n{credential}", text)
        assert text.count(credential) == 2
    unit = tmp_path / "fractile.service"
    unit.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [program("systemd-analyze"), "verify", unit], capture_output=True, text=True, check=False
    )
    others = [line for line in done.stderr.splitlines() if "is not executable" not in line]
    assert others == []  # the program itself is not there


def test_the_recipes_start_the_same_program() -> None:
    compose = (FOLDER / "compose.yaml").read_text("utf-8")
    unit = (FOLDER / "fractile.service").read_text("utf-8")
    lists = lists_of(CONTAINER)
    assert f"command: {json.dumps(lists['CMD'])}" in compose
    assert " ".join([*lists["ENTRYPOINT"], *lists["CMD"]]) in unit
    limit = re.findall(r"(?:mem_limit: |MemoryMax=)(\d+)", compose + unit)
    assert limit == ["12", "12"]  # of 2^30 bytes, more than 50 users took at most, in 10^6
    results = (ROOT / "benchmarks" / "RESULTS.md").read_text("utf-8")
    most = [row.rsplit("|", 2)[1] for row in results.splitlines() if "| 50, 10 |" in row]
    assert 1.2 * max(int(one.replace(",", "")) for one in most) < 12 * 2**30 / 1e6
    variables = next(line for line in CONTAINER.splitlines() if line.startswith("ENV "))
    assert set(variables.split()[1:]) == set(
        next(line for line in unit.splitlines() if line.startswith("Environment="))
        .removeprefix("Environment=").split()
    )  # fmt: skip
