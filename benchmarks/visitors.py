"""Visitors who bring a file, look, and leave: ``python -m benchmarks.visitors [VISITORS] [MB]``.

Each has a web socket of its own to a real server on this machine, as a browser has, uploads a file
that nobody else has, waits for its first picture, and closes the tab. The memory of the server,
with its processes, is read as they come, and for two minutes after the last has left.
"""

import asyncio
import io
import sys
import time
import urllib.request
from http.cookies import SimpleCookie

import numpy as np
import psutil
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.users import server_on
from tests.browser.server import running_dashboard

QUERY = "data=file"
FIRST = 3
"""Visitors whose memory is that of imports and of a server in use."""

SECONDS_AFTER = 120
LONGEST = 300.0


def logits(n_bytes: int, number: int) -> bytes:
    """Return an npz file of logits of 1,000 classes; each number is another file."""
    generator = np.random.default_rng(number)
    table = generator.normal(0, 2, (n_bytes // 4000, 1000)).astype(np.float32)
    labels = (table + generator.gumbel(0, 1, table.shape)).argmax(axis=1)
    file = io.BytesIO()
    np.savez(file, logits=table, labels=labels)
    return file.getvalue()


def resident(process: psutil.Process) -> int:
    """Return the bytes of a process and of those that it has started; what they share counts once.

    Where the system does not tell what is shared (Linux does), it counts in each of them.
    """
    size = 0
    for one in [process, *process.children(recursive=True)]:
        try:
            memory = one.memory_full_info()
            size += getattr(memory, "pss", memory.rss)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return int(size)


class Visitor:
    """One web socket, with what its page needs to take a file."""

    def __init__(self, address: str, socket: websockets.ClientConnection) -> None:
        self._address, self._socket = address, socket
        self._page = self._uploader = self._session = ""
        self.shows: list[str] = []
        """What alerts say, in the last run."""
        self.exceptions: list[str] = []
        """What it shows that nobody foresaw."""

    async def _receive(self) -> ForwardMsg:
        answer = await asyncio.wait_for(self._socket.recv(decode=False), LONGEST)
        message: ForwardMsg = ForwardMsg.FromString(answer)
        return message

    async def run(self, state: ClientState) -> bool:
        """Ask for a run of the page, and read it until the first picture; False if none came."""
        state.query_string, state.page_script_hash = QUERY, self._page
        await self._socket.send(BackMsg(rerun_script=state).SerializeToString())
        self.shows.clear()
        self.exceptions.clear()
        while True:
            message = await self._receive()
            kind, element = message.WhichOneof("type"), message.delta.new_element
            if kind == "new_session":
                self._page = message.new_session.page_script_hash
                self._session = message.new_session.initialize.session_id
            elif kind == "script_finished":
                if message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                    return False
            elif element.WhichOneof("type") == "file_uploader":
                self._uploader = element.file_uploader.id
            elif element.WhichOneof("type") == "plotly_chart":
                return True
            elif element.WhichOneof("type") == "exception":
                self.exceptions.append(element.exception.message)
            elif element.WhichOneof("type") == "alert":
                self.shows.append(element.alert.body)

    async def bring(self, name: str, data: bytes) -> bool:
        """Upload a file and have the page drawn with it; False if no picture came."""
        asked = BackMsg()
        asked.file_urls_request.file_names.append(name)
        asked.file_urls_request.request_id = "1"
        asked.file_urls_request.session_id = self._session
        await self._socket.send(asked.SerializeToString())
        while (message := await self._receive()).WhichOneof("type") != "file_urls_response":
            pass
        (urls,) = message.file_urls_response.file_urls
        await asyncio.to_thread(self._put, urls.upload_url, name, data)
        state = ClientState()
        brought = state.widget_states.widgets.add(id=self._uploader)
        file = brought.file_uploader_state_value.uploaded_file_info.add(
            file_id=urls.file_id, name=name, size=len(data)
        )
        file.file_urls.CopyFrom(urls)
        return await self.run(state)

    def _put(self, path: str, name: str, data: bytes) -> None:
        with urllib.request.urlopen(f"{self._address}/_stcore/health") as answer:  # noqa: S310 - own
            token = SimpleCookie(answer.headers["Set-Cookie"])["_streamlit_xsrf"]
        head = f'--b\r\nContent-Disposition: form-data; name="f"; filename="{name}"\r\n\r\n'
        request = urllib.request.Request(  # noqa: S310 - the server that was started here
            self._address + path,
            head.encode() + data + b"\r\n--b--\r\n",
            {
                "Content-Type": "multipart/form-data; boundary=b",
                "Cookie": f"_streamlit_xsrf={token.coded_value}",
                "X-Xsrftoken": token.value,
            },
            method="PUT",
        )
        with urllib.request.urlopen(request, timeout=LONGEST):  # noqa: S310 - the same
            pass


async def visit(address: str, name: str, data: bytes) -> list[str]:
    """Open the dashboard, bring a file, leave; return what the page showed last."""
    stream = f"{address.replace('http', 'ws')}/_stcore/stream"
    async with websockets.connect(stream, subprotocols=["streamlit"], max_size=None) as socket:  # type: ignore[list-item]
        visitor = Visitor(address, socket)
        await visitor.run(ClientState())
        await visitor.bring(name, data)
        return visitor.shows + visitor.exceptions


def main() -> None:
    """Print the memory after each visitor and after all have left."""
    n_visitors = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    n_bytes = int(float(sys.argv[2]) * 1e6) if len(sys.argv) > 2 else 50_000_000
    with running_dashboard() as address:
        server = psutil.Process(server_on(address.rsplit(":", 1)[1]))
        print(f"at the start {resident(server) / 1e6:,.0f} MB", flush=True)
        for number in range(n_visitors):
            start = time.perf_counter()
            shows = asyncio.run(visit(address, f"v{number}.npz", logits(n_bytes, number)))
            took = time.perf_counter() - start
            print(f"{number + 1}: {took:.1f} s, {resident(server) / 1e6:,.0f} MB", flush=True)
            if number == 0:
                print(shows, flush=True)
            if number == FIRST - 1:
                time.sleep(SECONDS_AFTER)
                first = resident(server)
                print(f"when these {FIRST} have left {first / 1e6:,.0f} MB", flush=True)
        for _ in range(4):
            time.sleep(SECONDS_AFTER / 4)
            print(f"later {resident(server) / 1e6:,.0f} MB", flush=True)
        print(f"{resident(server) / first:.2f} times what {FIRST} visitors left behind")


if __name__ == "__main__":
    main()
