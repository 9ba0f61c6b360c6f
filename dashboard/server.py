"""The server: which hosts it answers, what answers forbid a browser, uploads in memory alone."""

from pathlib import Path
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.formparsers import MultiPartParser
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config
from streamlit.starlette import App
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

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
"""Answered whatever the host, as those that ask know the address alone; it says ``ok``."""

# Starlette writes larger parts of a form to a temporary file.
MultiPartParser.spool_max_size = MAX_UPLOAD + 1


class Guard:
    """Turns away other hosts, and pages of other origins, and adds `HEADERS`."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        headers = Headers(scope=scope) if scope["type"] in {"http", "websocket"} else Headers()

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        if scope["type"] == "websocket" and not _is_own(headers.get("origin")):
            await send({"type": "websocket.close", "code": 1008})
        elif (
            scope["type"] == "http"
            and scope["path"] != HEALTH
            and not is_host_allowed(headers.get("host"))
        ):
            await PlainTextResponse("Not this host.", 421)(scope, receive, send_on)
        else:
            await self.app(scope, receive, send_on)


def _is_own(origin: str | None) -> bool:
    """Return whether a page of this origin may connect.

    Those that Streamlit would know are left to it; of others it would ask an address outside for
    its own.
    """
    if origin is None or not config.get_option("server.enableCORS"):
        return True
    named = config.get_option("server.corsAllowedOrigins") or ()
    return origin in named or is_host_allowed(urlsplit(origin).netloc)


app = App(Path(__file__).with_name("app.py"), middleware=[Middleware(Guard)])
