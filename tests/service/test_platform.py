"""The service as a whole, by the documents alone: wheel, container's command, nginx, sign-in."""

import re
import shlex
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.chromium import ARGUMENTS, find_chromium
from tests.service.recipe import CONTAINER, FOLDER, NAME, OWN, SECRETS, contained, free_port, nginx
from tests.service.test_recipe import linux
from tests.service.test_sign_in import author, entered, provider, secrets_of

ROOT = FOLDER.parents[1]


def installed(folder: Path) -> Path:
    """Install as the Containerfile does, in an environment of its own; return the program."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "wheel", str(ROOT), "--no-deps", "--wheel-dir", str(folder)], check=True)
    (folder / "constraints.txt").write_bytes((ROOT / "constraints.txt").read_bytes())
    venv.create(folder / "env", symlinks=True)
    (words,) = re.findall(r"(?m)^RUN pip (install .*?) \\$", CONTAINER)
    words = shlex.split(words.replace("/build/", f"{folder}/"))
    subprocess.run([*pip, "--python", str(folder / "env" / "bin" / "python"), *words], check=True)
    return folder / "env" / "bin" / "fractile"


@linux
@pytest.mark.long
@pytest.mark.browser
@pytest.mark.parametrize("fresh", [False, True])
def test_who_signs_in_behind_nginx_has_a_file_audited(
    browser: Browser, tmp_path: Path, *, fresh: bool
) -> None:
    command, port = installed(tmp_path) if fresh else OWN, free_port()
    host = f"--host-resolver-rules=MAP {NAME} 127.0.0.1"
    own = browser.browser_type.launch(executable_path=find_chromium(), args=[*ARGUMENTS, host])
    address = f"https://{NAME}:{port}"
    with provider() as issuer:
        secrets = secrets_of(tmp_path, address, issuer)
        options = f"--secrets.files={SECRETS}"
        with (
            contained(options, command=command, secrets=secrets) as (behind, server),
            nginx(tmp_path, behind, port=port),
        ):
            page = entered(own, address, "ann")
            (cookie,) = (one for one in page.context.cookies() if one["name"] == "_streamlit_user")
            assert (cookie["secure"], cookie["httpOnly"]) == (True, True)
            rows = "\n".join(f"{k % 1000 / 1000:.3f},{k % 3 == 0:d},{k:012d}" for k in range(3000))
            page.goto(f"{address}/?data=file&resamples=0&method=spline")
            page.locator("input[type=file]").first.set_input_files(
                {"name": "rows.csv", "mimeType": "text/csv",
                 "buffer": f"risk,outcome,case\n{rows}".encode()}
            )  # fmt: skip
            expect(page.get_by_text("3,000").first).to_be_visible()
            expect(page.get_by_text("After Spline").first).to_be_visible()  # by a process that fits
            expect(author(page)).to_have_value("Ann Example")
            status = Path(f"/proc/{server.pid}/cmdline").read_text("utf-8")
            assert str(command) in status
    own.close()
