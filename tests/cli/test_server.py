"""What the server answers, to whom, and that an upload touches no disk."""

import asyncio
import http.client
import os
import re
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple
from urllib.error import HTTPError
from urllib.parse import urlsplit

import pytest
import websockets
from click.testing import CliRunner
from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartParser
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import StopException
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from benchmarks.visitors import Visitor, logits, visit
from calibcore import audit
from calibcore.calibrators import PlattScaling
from dashboard import server
from dashboard.cli.main import main
from dashboard.compute import cache
from dashboard.compute.cache import once
from dashboard.compute.memory import MEMORY
from dashboard.folder import SUMMARIES
from dashboard.logs import LEVEL
from dashboard.readers.limits import MAX_UPLOAD
from dashboard.server import HEADERS, HEALTH
from tests.browser.server import running_dashboard
from tests.marks import first_and_long


@pytest.fixture(scope="module")
def place() -> Iterator[str]:
    with running_dashboard() as address:
        yield urlsplit(address).netloc


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


def answer(place: str, path: str, **headers: str) -> Answer:
    connection = http.client.HTTPConnection(place, timeout=20)
    connection.putrequest("GET", path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    with closing(connection), connection.getresponse() as result:
        body = b"" if result.status == 101 else result.read()
        return Answer(
            result.status, {name.lower(): text for name, text in result.getheaders()}, body
        )


@pytest.mark.parametrize("path", ["/", "/subgroups", HEALTH, "/_stcore/host-config", "/no/such.js"])
def test_every_answer_forbids_framing_and_sniffing(place: str, path: str) -> None:
    result = answer(place, path)
    assert {name: result.headers.get(name.lower()) for name in HEADERS} == HEADERS


def test_the_page_is_streamlit_s(place: str) -> None:
    result = answer(place, "/")
    assert (result.status, b"Streamlit" in result.body) == (200, True)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost@evil", ""])
def test_other_hosts_are_turned_away(place: str, host: str) -> None:
    result = answer(place, "/", Host=host)
    assert (result.status, result.body) == (421, b"Not this host.")
    assert answer(place, HEALTH, Host=host).status == 200


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:9000", "[::1]:8501", "127.0.0.1"])
def test_its_own_names_are_answered(place: str, host: str) -> None:
    assert answer(place, "/", Host=host).status == 200


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://evil.example", 403),
        ("http://127.0.0.1:1", 101),
        ("null", 403),
        ("http://[::1]:1", 403),
    ],
)
def test_pages_of_other_origins_get_no_connection(place: str, origin: str, status: int) -> None:
    """The last is a name of this computer, of another port; Streamlit would ask outside."""
    result = answer(
        place, "/_stcore/stream", Connection="Upgrade", Upgrade="websocket", Origin=origin,
        Sec_WebSocket_Version="13", Sec_WebSocket_Key="dGhlIHNhbXBsZSBub25jZQ==",
    )  # fmt: skip
    assert result.status == status


def opened() -> set[str]:
    """Return what files this process has open."""
    results = set()
    for link in Path("/proc/self/fd").iterdir():
        try:
            results.add(str(link.readlink()))
        except FileNotFoundError:  # the listing's own
            continue
    return results


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")
@pytest.mark.parametrize("most", [1 << 20, MAX_UPLOAD + 1])
def test_an_upload_opens_no_file(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At Starlette's own limit of 1 MB it would: that the test can see."""
    in_force = MultiPartParser.spool_max_size
    assert in_force > MAX_UPLOAD
    monkeypatch.setattr(MultiPartParser, "spool_max_size", most)
    head = b'--x\r\nContent-Disposition: form-data; name="f"; filename="a.csv"\r\n\r\n'

    async def body() -> AsyncGenerator[bytes, None]:
        yield head
        for _ in range(20):
            yield b"1" * (1 << 20)
        yield b"\r\n--x--\r\n"

    async def read() -> set[str]:
        before = opened()
        headers = Headers({"content-type": "multipart/form-data; boundary=x"})
        form = await MultiPartParser(headers, body()).parse()
        after = opened()
        file = form["f"]
        assert isinstance(file, UploadFile)
        assert file.size == 20 << 20
        await form.close()
        return after - before

    with ThreadPoolExecutor(1) as elsewhere:  # a browser's tests leave a loop in this thread
        assert bool(elsewhere.submit(asyncio.run, read()).result()) is (most == 1 << 20)


def put(length: int | None) -> Scope:
    headers = [(b"host", b"localhost")]
    if length is not None:
        headers.append((b"content-length", str(length).encode()))
    return {"type": "http", "method": "PUT", "path": "/_stcore/upload_file/a/b", "headers": headers}


def test_uploads_that_come_at_once_stay_within_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "brought", lambda: 30)
    monkeypatch.setattr(server, "budget", lambda: 100)
    statuses: list[int] = []

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    async def receive() -> Message:
        return {"type": "http.request"}

    async def act() -> None:
        may_end = asyncio.Event()

        async def taken(scope: Scope, receive: Receive, send: Send) -> None:
            await may_end.wait()
            await PlainTextResponse("", 204)(scope, receive, send)

        guard = server.Guard(taken)
        first = asyncio.create_task(guard(put(50), receive, send))
        await asyncio.sleep(0)
        for length in (21, None):
            await guard(put(length), receive, send)
        may_end.set()
        await first
        await guard(put(70), receive, send)

    with ThreadPoolExecutor(1) as elsewhere:
        elsewhere.submit(asyncio.run, act()).result()
    assert statuses == [507, 507, 204, 204]


def brings(address: str, sizes: list[int]) -> list[int]:
    """Bring files of some sizes in one session that stays; return the answers."""
    statuses = []

    async def act() -> None:
        stream = f"{address.replace('http', 'ws')}/_stcore/stream"
        async with websockets.connect(stream, subprotocols=["streamlit"], max_size=None) as tab:  # type: ignore[list-item]
            visitor = Visitor(address, tab)
            await visitor.run(ClientState())
            for size in sizes:
                try:
                    await visitor.bring("a.csv", bytes(size))
                    statuses.append(204)
                except HTTPError as error:
                    statuses.append(error.code)

    with ThreadPoolExecutor(1) as elsewhere:  # as above
        elsewhere.submit(asyncio.run, act()).result()
    return statuses


@pytest.mark.long
def test_files_of_visitors_stay_within_the_memory() -> None:
    with running_dashboard({MEMORY: "100 kB"}) as address:
        assert brings(address, [40_000, 40_000, 40_000, 1000]) == [204, 204, 507, 204]


def test_who_has_not_signed_in_brings_no_file(tmp_path: Path) -> None:
    secrets = tmp_path / "secrets.toml"
    secrets.write_text(
        "[auth]\n"
        'redirect_uri = "http://127.0.0.1/oauth2callback"\n'
        'cookie_secret = "0123456789abcdef0123456789abcdef"\n'
        'client_id = "a"\nclient_secret = "b"\nserver_metadata_url = "http://127.0.0.1:9/c"\n',
        encoding="utf-8",
    )
    with running_dashboard(None, f"--secrets.files={secrets}") as address:
        assert brings(address, [1000]) == [401]


class Tabs:
    """Which sessions are connected."""

    def __init__(self, *active: str) -> None:
        self.uploaded_file_mgr = MemoryUploadedFileManager("/upload")
        self.active, self.closed = set(active), list[str]()

    def is_active_session(self, session: str) -> bool:
        return session in self.active

    def close_session(self, session: str) -> None:
        self.closed.append(session)


def test_a_run_ends_before_long_work_once_its_tab_has_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tabs, run = Tabs("ann"), SimpleNamespace(session_id="ann")
    monkeypatch.setattr(server, "get_instance", lambda: tabs)
    monkeypatch.setattr(server, "get_script_run_ctx", lambda **_: run)
    server.go_on()
    tabs.active = set()
    with pytest.raises(StopException):
        server.go_on()


def test_who_is_away_for_long_has_left_with_files_and_results(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tabs = Tabs("ann", "ben")
    monkeypatch.setattr(server, "get_instance", lambda: tabs)
    for session in ("ann", "ben"):
        tabs.uploaded_file_mgr.add_file(session, UploadedFileRec("1", "a.csv", "text/csv", b"a"))
        monkeypatch.setattr(cache, "who_visits", lambda session=session: session)
        once("rows of visitors", session, lambda: 0)
    presence = server.Presence()
    assert not presence.look(0.0)
    tabs.active = {"ben"}
    assert not presence.look(10.0)
    tabs.active = {"ann", "ben"}  # her connection was lost for a moment
    assert not presence.look(20.0)
    tabs.active = {"ben"}
    assert not presence.look(30.0)
    assert not presence.look(29.0 + server.AWAY)
    assert presence.look(30.0 + server.AWAY)
    assert (tabs.closed, set(tabs.uploaded_file_mgr.file_storage)) == (["ann"], {"ben"})
    assert cache.visitors() == {"ben"}
    cache.forget()


def uploaded_bytes(address: str) -> float:
    text = answer(urlsplit(address).netloc, "/_stcore/metrics").body.decode()
    sizes = [line.split()[-1] for line in text.splitlines() if "UploadedFileManager" in line]
    return sum(map(float, sizes))


@pytest.mark.long
def test_the_file_of_a_closed_tab_is_gone_within_a_minute() -> None:
    with running_dashboard() as address:
        data = logits(2_000_000, 0)
        with ThreadPoolExecutor(1) as elsewhere:  # a browser of other tests may have a loop here
            elsewhere.submit(asyncio.run, visit(address, "logits.npz", data)).result()
        assert uploaded_bytes(address) == len(data)
        until = time.monotonic() + 60
        while uploaded_bytes(address) and time.monotonic() < until:
            time.sleep(1)
        assert uploaded_bytes(address) == 0


HIDDEN = "b0b-hidden"


def lines_logged(level: str | None, act: Callable[[str], None]) -> list[str]:
    """Return what a server with a level writes while something is done with it."""
    with tempfile.TemporaryFile("w+") as held:
        with running_dashboard({} if level is None else {LEVEL: level}, stderr=held) as address:
            act(urlsplit(address).netloc)
        held.seek(0)
        return [line for line in held if line.count(" request=") == 1]


def test_requests_are_logged_by_number_without_what_they_hold() -> None:
    def act(place: str) -> None:
        result = answer(place, f"/subgroups?class={HIDDEN}", X_Request_ID="proxy-7")
        assert result.headers["x-request-id"] == "proxy-7"
        answer(place, f"/_stcore/upload_file/{HIDDEN}/{HIDDEN}", Cookie=HIDDEN)
        made = answer(place, "/", X_Request_ID="two words\tand more").headers["x-request-id"]
        assert re.fullmatch("[0-9a-f]{12}", made)

    lines = lines_logged("info", act)
    assert any("request=proxy-7 session=- GET /subgroups status=200 mil" in line for line in lines)
    assert any("GET /_stcore/upload_file status=" in line for line in lines)
    assert not any(HIDDEN in line or "two words" in line or HEALTH in line for line in lines)


def test_nothing_is_logged_unless_it_is_asked_for() -> None:
    assert lines_logged(None, lambda place: answer(place, "/") and None) == []


def test_no_such_level_is_said_before_the_server_starts() -> None:
    result = CliRunner().invoke(main, ["serve"], env={LEVEL: "loud"})
    assert result.exit_code == 2
    assert "FRACTILE_LOG: 'loud'. Expected debug, info, warning or error." in result.output


@pytest.mark.parametrize("words", [[], ["serve"]])
@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        (MEMORY, "bananas", "'bananas'. Expected a size such as 500MB or 4GB."),
        (SUMMARIES, "/no/such", "Directory '/no/such' does not exist."),
    ],
)
def test_a_variable_of_no_use_is_said_before_the_server_starts(
    words: list[str], name: str, value: str, text: str
) -> None:
    result = CliRunner().invoke(main, words, env={name: value})
    assert (result.exit_code, text in result.output) == (2, True)


@pytest.mark.parametrize(
    ("text", "sentence"),
    first_and_long(
        [(None, "No such file"), ("[Auth]\na = 1", "no [auth]"), ("[auth", "Expected ']'")]
    ),
)
def test_no_server_starts_whose_sign_in_is_not_there(
    text: str | None, sentence: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Else all would enter without it."""
    secrets = tmp_path / "secrets.toml"
    if text is not None:
        secrets.write_text(text, encoding="utf-8")
    with (
        pytest.raises(RuntimeError, match="did not start"),
        running_dashboard(None, f"--secrets.files={secrets}"),
    ):
        pass
    error = capfd.readouterr().err.strip()
    assert error.startswith(f"Error: secrets.files: {secrets} (")
    assert sentence in error
    assert error.count("\n") == 0


def test_a_port_that_is_none_gets_a_sentence() -> None:
    result = CliRunner().invoke(main, ["serve", "--", "--server.port=80000"])
    assert result.exit_code == 2
    assert result.output.splitlines()[-1] == "Error: bind(): port must be 0-65535."


def test_a_fit_is_logged_by_name_rows_and_time(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "calibcore"):
        audit([0.2, 0.4, 0.6, 0.8] * 25, [0, 0, 1, 1] * 25, calibrator=PlattScaling())
    pattern = r"fit calibrator=PlattScaling rows=(\d+) seconds=\d+\.\d{3}"
    results = [re.fullmatch(pattern, one) for one in caplog.messages]
    rows = [int(one[1]) for one in results if one]
    assert len(rows) == len(results)
    assert rows.count(100) == 1
    assert sum(100 - count for count in rows) == 100  # each row is left out once


def test_the_folder_of_summaries_is_told_to_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setenv(SUMMARIES, "")  # to be as before afterwards
    monkeypatch.setattr("dashboard.cli.main._serve", lambda _: told.append(os.environ[SUMMARIES]))
    (tmp_path / "link").symlink_to(tmp_path, target_is_directory=True)
    assert CliRunner().invoke(main, ["serve", "--summaries", str(tmp_path / "link")]).exit_code == 0
    assert told == [str(tmp_path.resolve())]
    missing = CliRunner().invoke(main, ["serve", "--summaries", str(tmp_path / "none")])
    assert (missing.exit_code, "does not exist" in missing.output) == (2, True)
