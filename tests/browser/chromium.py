"""Find a Chromium for the browser tests, or install one: ``python -m tests.browser.chromium``."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

NAMES = (
    "chromium-headless-shell",  # Chromium without its windows, which takes a fifth less time
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find_chromium() -> str | None:
    """Give the path of a Chromium on PATH, or of the browser tool's own."""
    for name in NAMES:
        if path := shutil.which(name):
            return path
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if Path(own).is_file() else None


def _install() -> None:
    """Try the distribution's packages when root, then the browser tool's own download."""
    ways: list[list[list[str]]] = []
    if hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        quiet = ["apt-get", "--quiet", "--quiet"]
        ways += [
            [[*quiet, "update"], [*quiet, "install", "--yes", package]] for package in NAMES[:2]
        ]
    ways.append([[sys.executable, "-m", "playwright", "install", "chromium"]])
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for commands in ways:
        done = all(
            subprocess.run(command, env=environment, check=False).returncode == 0
            for command in commands
        )
        if done and find_chromium():
            return


def main() -> None:
    """Make sure that there is a Chromium, and say where."""
    if find_chromium() is None:
        _install()
    path = find_chromium()
    if path is None:
        sys.exit(
            "No Chromium was found and none could be installed; the browser tests need one."
            " Install it (for example: apt-get install chromium) and run this again."
        )
    sys.stdout.write(f"Browser tests use {path}\n")


if __name__ == "__main__":
    main()
