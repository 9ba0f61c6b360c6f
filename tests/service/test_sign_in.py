"""Sign-in by a provider of OpenID Connect that runs here, and a name that a proxy passes on."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from dashboard.texts import report as words
from dashboard.texts.opening import SIGN_IN, SIGN_OUT
from tests.browser.chromium import ARGUMENTS, find_chromium
from tests.browser.server import running_dashboard, wait_until_healthy
from tests.service.recipe import FOLDER, NAME, free_port, nginx

pytestmark = pytest.mark.browser

PAGE = FOLDER.parent / "service.md"


@contextmanager
def provider() -> Iterator[str]:
    port = free_port()
    claims = [{"sub": name.lower(), "name": f"{name} Example"} for name in ("Ann", "Bob")]
    groups = {"groups": [f"department-{number:04d}" for number in range(400)]}  # as large firms do
    users = [json.dumps({**one, **groups}) for one in claims]
    named = [word for user in users for word in ("--user-claims", user)]
    command = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port), *named]
    address = f"http://127.0.0.1:{port}"
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until_healthy(f"{address}/.well-known/openid-configuration", process)
            yield address
        finally:
            process.terminate()


def secrets_of(folder: Path, address: str, issuer: str) -> Path:
    """Write what docs/service.md asks for a server at an address."""
    path = folder / "secrets.toml"
    text = re.findall(r"(?m)^    (\[auth\](?:\n    .+)+)", PAGE.read_text("utf-8"))[0]
    for old, new in {
        f"https://{NAME}": address,
        "https://login.example.org": issuer,
        "a long random text": "0123456789abcdef0123456789abcdef",
        "what the provider gave": "fractile",
    }.items():
        assert old in text, old
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A dashboard that is set up as docs/service.md says."""
    folder = tmp_path_factory.mktemp("signed")
    with provider() as issuer:
        port = free_port()
        secrets = secrets_of(folder, f"http://127.0.0.1:{port}", issuer)
        options = f"--secrets.files={secrets}", f"--server.port={port}"
        with running_dashboard(None, *options) as address:
            yield address


def entered(browser: Browser, address: str, name: str) -> Page:
    page = browser.new_context(ignore_https_errors=True).new_page()
    page.goto(f"{address}/subgroups?sample=crash_survival")
    expect(page.get_by_role("button", name=SIGN_IN)).to_be_visible()
    expect(page.get_by_role("button", name=words.BUTTON)).to_have_count(0)
    page.get_by_role("button", name=SIGN_IN).click()
    page.locator("input[name=sub]").first.fill(name)
    page.locator("button[type=submit], input[type=submit]").first.click()
    page.wait_for_url(f"{address}/**")
    expect(page.get_by_role("button", name=SIGN_OUT)).to_be_visible()
    return page


def author(page: Page) -> Locator:
    page.get_by_role("button", name=words.BUTTON, exact=True).click()
    return page.get_by_label(words.FIELDS["author"][0])


@pytest.mark.long
def test_each_user_signs_in_and_is_the_author_of_their_report(
    browser: Browser, signed: str
) -> None:
    ann, bob = (entered(browser, signed, name) for name in ("ann", "bob"))
    expect(author(ann)).to_have_value("Ann Example")
    expect(author(bob)).to_have_value("Bob Example")
    bob.keyboard.press("Escape")
    bob.get_by_role("button", name=SIGN_OUT).click()
    bob.get_by_role("button", name="End session").click()  # the provider's own page
    expect(bob.get_by_role("button", name=SIGN_IN)).to_be_visible()
    ann.goto(signed)  # the other stays
    expect(ann.get_by_role("button", name=SIGN_OUT)).to_be_visible()
    for page in (ann, bob):
        page.context.close()


def test_pages_are_not_sent_to_who_has_not_signed_in(browser: Browser, signed: str) -> None:
    page = browser.new_context().new_page()
    page.goto(signed)
    expect(page.get_by_role("button", name=SIGN_IN)).to_be_visible()
    assert page.locator("input[type=file]").count() == 0
    page.context.close()


@pytest.mark.long
def test_the_name_that_a_proxy_passes_on_is_the_author(browser: Browser, tmp_path: Path) -> None:
    headers = json.dumps({"X-Forwarded-User": "name"})
    options = f"--server.trustedUserHeaders={headers}", f"--server.allowedHosts={NAME}"
    with running_dashboard(None, *options) as behind:
        for user in ("Carol Example", ""):
            with nginx(tmp_path, behind, user=user) as port:
                host = f"--host-resolver-rules=MAP {NAME} 127.0.0.1"
                own = browser.browser_type.launch(
                    executable_path=find_chromium(), args=[*ARGUMENTS, host]
                )
                forged = {"X-Forwarded-User": "Mallory"}
                page = own.new_context(
                    ignore_https_errors=True, extra_http_headers=forged
                ).new_page()
                page.goto(f"https://{NAME}:{port}/")
                expect(author(page)).to_have_value(user)
                own.close()
