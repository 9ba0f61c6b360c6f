"""The files of docs/service, in a folder and at free ports; what each says is left as it is."""

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dashboard.server import HEALTH
from tests.browser.server import wait_until_healthy

FOLDER = Path(__file__).parents[2] / "docs" / "service"

CONTAINER = (FOLDER / "Containerfile").read_text("utf-8")

OWN = Path(sys.executable).parent / "fractile"

SECRETS = "/run/secrets/fractile.toml"
"""Where the compose file puts what docs/service.md asks for sign-in."""

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
def nginx(
    folder: Path, behind: str, *, base: str = "", user: str = "", port: int = 0
) -> Iterator[int]:
    """Run docs/service/nginx.conf before a server; give its port.

    ``folder``: for its certificate and whatever it writes. ``behind``: address of the server.
    ``base``: path below which it serves. ``user``: the name that it passes on, as if signed in.
    ``port``: a free one; any by default.
    """
    own, port = program("nginx"), port or free_port()
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


@contextmanager
def contained(
    *options: str, command: Path = OWN, secrets: Path | None = None, port: int = 0
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run the Containerfile's command as it would: its user, its environment, all read-only.

    In a mount namespace of its own, whose root is read-only, whose /tmp is memory and in which no
    user has a home. The user must reach Python itself, which may be in root's home.
    ``command``: the program ``fractile``. ``secrets``: a file that is mounted at `SECRETS`.
    ``port``: a free one; any by default.
    """
    port, lists = port or free_port(), lists_of(CONTAINER)
    variables = next(line for line in CONTAINER.splitlines() if line.startswith("ENV ")).split()[1:]
    user = next(line for line in CONTAINER.splitlines() if line.startswith("USER "))
    user = user.split()[1].partition(":")[0]
    assert lists["ENTRYPOINT"][0] == command.name
    started = [
        str(command), *lists["ENTRYPOINT"][1:], *lists["CMD"], f"--server.port={port}", *options,
    ]  # fmt: skip
    given = ""
    if secrets is not None:
        copied = f"install -D -m 444 {shlex.quote(str(secrets))} {SECRETS}"
        given = f" && mount -t tmpfs tmpfs /run && {copied}"
    keep, show = "mount -t tmpfs tmpfs /mnt", ""
    needed = FOLDER.parents[1], command.parents[1], Path(sys.base_prefix)
    for number, place in enumerate(needed):
        path, kept = shlex.quote(str(place)), f"/mnt/{number}"
        keep += f" && mkdir {kept} && mount --bind {path} {kept}"
        if place.parts[:2] in {("/", "tmp"), ("/", "root")}:  # which is covered, as below
            show += f" && mkdir -p {path} && mount --bind {kept} {path}"
    mounts = (
        f"mount --make-rprivate /{given} && {keep}"
        " && mount -t tmpfs -o size=256m,mode=1777 tmpfs /tmp"
        f" && mount -t tmpfs -o mode=755 tmpfs /root{show}"
        " && mount -o remount,bind,ro / && cd /"
        f' && exec setpriv --reuid={user} --regid={user} --clear-groups --no-new-privs "$@"'
    )
    environment = {"PATH": os.environ["PATH"], **dict(one.split("=") for one in variables)}
    with subprocess.Popen(
        [program("unshare"), "-m", "sh", "-c", mounts, "sh", *started],
        env=environment, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            wait_until_healthy(f"http://127.0.0.1:{port}{HEALTH}", process)
            yield f"http://127.0.0.1:{port}", process
        finally:
            process.kill()


def lists_of(containerfile: str) -> dict[str, list[str]]:
    """Return the commands of a Containerfile that are written as lists, by their instruction."""
    pattern = r"^(ENTRYPOINT|CMD|HEALTHCHECK)\b.*?(\[.*\])$"
    results = re.finditer(pattern, containerfile, re.MULTILINE)
    return {match[1]: json.loads(match[2]) for match in results}
