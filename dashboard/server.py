"""The server: whom it answers, what answers forbid a browser, what stays in memory and how long."""

import asyncio
import logging
import re
import sys
import time
import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.formparsers import MultiPartParser
from starlette.middleware import Middleware
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config
from streamlit.auth_util import get_cookie_with_chunks, get_secrets_auth_section
from streamlit.runtime import Runtime, get_instance
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import StopException, get_script_run_ctx
from streamlit.starlette import App
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from dashboard import leave_working_folder
from dashboard.compute import cache
from dashboard.compute.memory import budget, few_arenas, give_back, sweep
from dashboard.logs import LOG, REQUEST, begin, request_id, route
from dashboard.readers.limits import MAX_UPLOAD

HEADERS = {
    "Content-Security-Policy": (
        "frame-ancestors 'self'; object-src 'none'; base-uri 'self'; form-action 'self'"
    ),
    "X-Frame-Options": "SAMEORIGIN",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}
"""Of every answer. Streamlit's page needs scripts of its own, so none are forbidden."""

HEALTH = "/_stcore/health"
"""Answered whatever the host, below the path of the pages or not, as those that ask know the
address alone; it says ``ok``."""

REQUEST_ID = "X-Request-ID"
"""Taken from a proxy, or made; of every answer and every line of the log."""

_METHOD = re.compile(r"[^A-Za-z]")

leave_working_folder()  # before the first run, as many may begin at once
few_arenas()

# Starlette writes larger parts of a form to a temporary file.
MultiPartParser.spool_max_size = MAX_UPLOAD + 1


class Guard:
    """Turns away other hosts, pages of other origins, files without room; adds `HEADERS`."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.coming = 0
        """Bytes of the uploads that are under way."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] not in {"http", "websocket"}:
            await self.app(scope, receive, send)
            return
        if scope["path"] == HEALTH:  # those that ask know of no path below which pages are
            scope = {**scope, "path": (path := _base() + HEALTH), "raw_path": path.encode()}
        headers = Headers(scope=scope)
        number, begun, status = request_id(headers.get(REQUEST_ID)), time.monotonic(), 0
        REQUEST.set(number)

        async def send_on(message: Message) -> None:
            nonlocal status
            if message["type"] == "websocket.accept":
                status = 101
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message).update({**HEADERS, REQUEST_ID: number})
            await send(message)

        try:
            await self._answer(scope, receive, send_on, headers)
        finally:
            line = "%s %s status=%d milliseconds=%.0f"
            level = logging.DEBUG if scope["path"].endswith(HEALTH) else logging.INFO
            method = _METHOD.sub("?", scope.get("method", "connection"))[:10]
            passed = 1000 * (time.monotonic() - begun)
            LOG.log(level, line, method, route(scope["path"]), status, passed)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, headers: Headers) -> None:
        if scope["type"] == "websocket" and not _is_own(headers.get("origin"), headers.get("host")):
            await send({"type": "websocket.close", "code": 1008})
        elif (
            scope["type"] == "http"
            and scope["path"].removeprefix(_base()) != HEALTH
            and not is_host_allowed(headers.get("host"))
        ):
            await PlainTextResponse("Not this host.", 421)(scope, receive, send)
        elif scope["type"] == "http" and scope["method"] == "PUT":
            await self._take(scope, receive, send, headers)
        else:
            await self.app(scope, receive, send)

    async def _take(self, scope: Scope, receive: Receive, send: Send, headers: Headers) -> None:
        """Take an upload of somebody who may enter, while there is memory for it."""
        length = headers.get("content-length", "")
        size = int(length[:20]) if length.isdecimal() else MAX_UPLOAD
        if not _has_entered(headers):
            await PlainTextResponse("Sign in first.", 401)(scope, receive, send)
        elif brought() + self.coming + min(size, MAX_UPLOAD) > budget():
            LOG.warning("no memory for an upload of %d bytes", size)
            await PlainTextResponse("No memory for this file now.", 507)(scope, receive, send)
        else:
            self.coming += size
            try:
                await self.app(scope, receive, send)
            finally:
                self.coming -= size


def _base() -> str:
    """Return the path at which the pages are served behind a proxy."""
    path = str(config.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{path}" if path else ""


def _is_own(origin: str | None, host: str | None) -> bool:
    """Return whether a page of this origin may connect to this host, which Streamlit checks.

    Those that Streamlit would know at once are left to it; of others it would ask an address
    outside for its own.
    """
    if origin is None or not config.get_option("server.enableCORS"):
        return True
    page = urlsplit(origin)
    named = config.get_option("server.corsAllowedOrigins") or ()
    return origin in named or page.netloc == host or page.hostname in _HERE


_HERE = "localhost", "127.0.0.1"


def _has_entered(headers: Headers) -> bool:
    """Return whether a request is of somebody who has signed in, where sign-in is set up."""
    if not get_secrets_auth_section():
        return True
    cookies = cookie_parser(headers.get("cookie", ""))

    def signed(name: str) -> bytes | None:
        value = cookies.get(name, "").encode("latin-1", "replace")
        return decode_signed_value(get_cookie_secret(), name, value)

    return get_cookie_with_chunks(signed, USER_COOKIE_NAME) is not None


# Memory ---------------------------------------------------------------------------------------


AWAY = 40.0
"""Seconds after which a visitor whose tab has closed or lost its connection has left."""

LOOK = 10.0
"""Seconds between two looks at who is there."""


def uploads() -> MemoryUploadedFileManager:
    """Return where the files lie that visitors have brought."""
    manager = get_instance().uploaded_file_mgr
    if not isinstance(manager, MemoryUploadedFileManager):
        raise TypeError(manager)
    return manager


def brought() -> int:
    """Return how many bytes the files take that visitors have brought."""
    return sum(
        len(file.data)
        for files in list(uploads().file_storage.values())
        for file in list(files.values())
    )


def visitor() -> str | None:
    """Return the session of this run if it has brought files; None of any other thread."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is None or not Runtime.exists():
        return None
    return context.session_id if uploads().file_storage.get(context.session_id) else None


def go_on() -> None:
    """End a run whose tab has closed: Streamlit does so where the page is drawn, not in long work.

    Raises StopException, as ``st.stop`` does; for a visitor who comes back the page is drawn again.
    """
    context = get_script_run_ctx(suppress_warning=True)
    if context is not None and not get_instance().is_active_session(context.session_id):
        raise StopException


class Presence:
    """Notes since when visitors are away, and ends the sessions of those who have left."""

    def __init__(self) -> None:
        self._away_since: dict[str, float] = {}

    def look(self, now: float) -> bool:
        """Free what belongs to visitors who have left; return whether there were any.

        ``now``: seconds on the clock that the last looks had.
        """
        runtime = get_instance()
        with_data = {*list(uploads().file_storage), *cache.visitors()}
        self._away_since = {
            one: self._away_since.get(one, now)
            for one in with_data
            if not runtime.is_active_session(one)
        }
        left = [one for one, since in self._away_since.items() if now - since >= AWAY]
        for one in left:
            runtime.close_session(one)
            uploads().remove_session_files(one)
            cache.leave(one)
        return bool(left)


async def _keep_within_memory() -> None:
    presence = Presence()
    while True:
        await asyncio.sleep(LOOK)
        left = presence.look(time.monotonic())
        n_bytes = brought()
        await asyncio.to_thread(cache.bound, max(budget() - n_bytes, 0))
        await asyncio.to_thread(sweep if left or n_bytes else give_back)


@asynccontextmanager
async def _serving(_: App) -> AsyncIterator[None]:
    cache.who_visits, cache.go_on = visitor, go_on
    task = asyncio.create_task(_keep_within_memory())
    yield
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


def check_sign_in() -> None:
    """End where sign-in is asked for by files that do not tell of it, so that none enter without.

    Streamlit goes on without the files that it does not find.
    """
    for path in (
        config.get_option("secrets.files") if config.is_manually_set("secrets.files") else ()
    ):
        try:
            lacks = "" if tomllib.loads(Path(path).read_text("utf-8")).get("auth") else "no [auth]"
        except (OSError, ValueError) as error:
            lacks = str(error)
        if lacks:
            sys.stderr.write(f"Error: secrets.files: {path} ({lacks}). {_SECRETS}\n")
            sys.exit(2)


_SECRETS = "Expected a file that says how users sign in: docs/service.md."


def _session() -> str:
    """Return the number of the session whose page is drawn, if any is."""
    running = get_script_run_ctx(suppress_warning=True)
    return running.session_id if running is not None else ""


check_sign_in()
begin(_session)
app = App(Path(__file__).with_name("app.py"), lifespan=_serving, middleware=[Middleware(Guard)])
