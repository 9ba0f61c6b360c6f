"""The files of docs/service, in a folder and at free ports; what each says is left as it is."""

import json
import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "service"

NAME = "audit.example.org"

REQUIRED = "FRACTILE_SERVICE"
"""Variable of the environment under which a program that is not there fails a test: CI sets it."""


def program(name: str) -> str:
    """Return where a program of the system is, or skip the test, or fail it in CI."""
    path = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
    if path is None:
        reason = f"{name} is not installed; on Debian: apt-get install nginx-light openssl"
        (pytest.fail if os.environ.get(REQUIRED) else pytest.skip)(reason)
    return path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def nginx(folder: Path, behind: str, *, base: str = "", user: str = "") -> Iterator[int]:
    """Run docs/service/nginx.conf before a server; give its port.

    ``folder``: for its certificate and whatever it writes. ``behind``: address of the server.
    ``base``: path below which it serves. ``user``: the name that it passes on, as if signed in.
    """
    own, port = program("nginx"), free_port()
    _certify(folder)
    text = (FOLDER / "nginx.conf").read_text("utf-8")
    for old, new in {
        "listen 443 ": f"listen 127.0.0.1:{port} ",
        "/etc/ssl/": f"{folder}/",
        "http://127.0.0.1:8501": behind,
        "location / {": f"location {base}/ {{",
        'X-Forwarded-User "";': f'X-Forwarded-User "{user}";',
    }.items():
        assert old in text, old
        text = text.replace(old, new)
    (folder / "site.conf").write_text(text, encoding="utf-8")
    temporary = "\n".join(
        f"{kind}_temp_path {folder}/temporary_{kind};"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    whole = f"pid {folder}/pid; error_log {folder}/error.log;\nevents {{}}\nhttp {{\n{temporary}\n"
    (folder / "nginx.conf").write_text(
        f"{whole}include {folder}/site.conf;\n}}\n", encoding="utf-8"
    )
    command = [own, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-g", "daemon off;"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            _wait_for(port, process)
            yield port
        finally:
            process.terminate()


def _certify(folder: Path) -> None:
    subprocess.run(
        [
            program("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt",
            "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1", "-subj", f"/CN={NAME}",
            "-addext", f"subjectAltName=DNS:{NAME}", "-keyout", folder / "audit.key",
            "-out", folder / "audit.pem",
        ],
        check=True, capture_output=True,
    )  # fmt: skip


def _wait_for(port: int, process: subprocess.Popen[str]) -> None:
    for _ in range(100):
        if process.poll() is not None:
            raise RuntimeError(process.stderr.read() if process.stderr else "")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError("nginx did not start")


def lists_of(containerfile: str) -> dict[str, list[str]]:
    """Return the commands of a Containerfile that are written as lists, by their instruction."""
    pattern = r"^(ENTRYPOINT|CMD|HEALTHCHECK)\b.*?(\[.*\])$"
    found = re.finditer(pattern, containerfile, re.MULTILINE)
    return {match[1]: json.loads(match[2]) for match in found}
