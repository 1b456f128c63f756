"""The server of the studio: loopback only, a random token, requests of other origins refused.

GET /?token=… is the page. POST /api/ACTION takes and gives JSON; POST /api/derive gives one line of
JSON for each part, as soon as it
is there.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from inspect import signature
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from dalembert.errors import DalembertError, Unknown
from dalembert.interface.studio.folder import ChangedOnDisk
from dalembert.interface.studio.session import ACTIONS, Session
from dalembert.interface.studio.studio_page import studio_page

ADDRESS: Final = "127.0.0.1"
TOKEN_HEADER: Final = "X-Studio-Token"  # noqa: S105 - the name of a header
# a model of the largest size, with every character escaped
MOST_BYTES: Final = 8 * 2**20
_SECONDS: Final = 60.0
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class Refused(Exception):
    """A request that is not answered: the status, and why."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


class StudioServer(ThreadingHTTPServer):
    """A server for one session; `address` opens its page."""

    daemon_threads = True
    # a second studio on the same port is refused, not shared
    allow_reuse_address = False

    def __init__(self, session: Session, port: int = 0) -> None:
        self.session, self.token = session, secrets.token_urlsafe(32)
        super().__init__((ADDRESS, port), Requests)

    @property
    def origin(self) -> str:
        """http://127.0.0.1:PORT"""
        return f"http://{ADDRESS}:{self.server_port}"

    @property
    def address(self) -> str:
        """The address of the page, with its token."""
        return f"{self.origin}/?token={self.token}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that closes its connection is no error."""

    def server_close(self) -> None:
        """End the worker with the server."""
        super().server_close()
        self.session.workshop.close()


class Requests(BaseHTTPRequestHandler):
    """One connection."""

    server: StudioServer
    protocol_version = "HTTP/1.1"
    server_version = "dalembert-studio"
    sys_version = ""
    timeout = _SECONDS

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as the library names it
        """The terminal stays quiet."""

    def do_GET(self) -> None:
        """The page, for requests with the token."""
        self._answered(self._page)

    def do_POST(self) -> None:
        """An action of the page."""
        self._answered(self._act)

    def _answered(self, act: Any) -> None:
        try:
            self._check_origin()
            act()
        except Refused as problem:
            self.close_connection = True
            self._send(problem.status, _json({"error": problem.sentence}))
        except (BrokenPipeError, ConnectionError, TimeoutError):
            self.close_connection = True

    # ---- who asks ----------------------------------------------------------------------------

    def _check_origin(self) -> None:
        """Refuse names that were made to lead here, and pages of other sites."""
        own = self.server.origin
        if self.headers.get("Host") != urlsplit(own).netloc:
            raise Refused(403, "this server answers only under its own address")
        if self.headers.get("Origin", own) != own:
            raise Refused(403, "requests of other origins are refused")
        if self.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
            raise Refused(403, "requests of other sites are refused")

    def _check_token(self, token: str) -> None:
        if not hmac.compare_digest(token.encode(), self.server.token.encode()):
            raise Refused(
                403, "the token is missing or wrong: open the address that dalembert studio printed"
            )

    def _body(self) -> dict[str, Any]:
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit():
            raise Refused(411, "the length of the request is missing")
        if int(length) > MOST_BYTES:
            raise Refused(413, f"{int(length) / 2**20:.1f} MB are more than any model needs")
        try:
            given = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            raise Refused(400, "the request is not JSON") from None
        if not isinstance(given, dict) or not all(isinstance(x, str) for x in given.values()):
            raise Refused(400, "expected a table of texts")
        return given

    # ---- what is answered --------------------------------------------------------------------

    def _page(self) -> None:
        parts = urlsplit(self.path)
        if parts.path != "/":
            raise Refused(404, "there is nothing here")
        self._check_token(parse_qs(parts.query).get("token", [""])[0])
        nonce = secrets.token_urlsafe(16)
        text, policy = studio_page(nonce, self.server.session.gallery)
        self._send(
            200, text.encode(), "text/html; charset=utf-8", {"Content-Security-Policy": policy}
        )

    def _act(self) -> None:
        self._check_token(self.headers.get(TOKEN_HEADER, ""))
        given, session = self._body(), self.server.session
        action = self.path.removeprefix("/api/")
        if action == "derive":
            _check_arguments(session.derive, given)
            self._stream(session.derive(**given))
            return
        if action not in ACTIONS:
            raise Refused(404, "there is no such action")
        _check_arguments(ACTIONS[action].__get__(session), given)
        try:
            self._send(200, _json(ACTIONS[action](session, **given)))
        except ChangedOnDisk as problem:
            self._send(409, _json({"error": str(problem)}))
        except DalembertError as problem:
            self._send(422, _json({"error": str(problem)}))

    def _head(self, status: int, kind: str, more: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Type": kind, **more}.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()

    def _send(
        self,
        status: int,
        body: bytes,
        kind: str = "application/json",
        more: dict[str, str] | None = None,
    ) -> None:
        self._head(status, kind, {"Content-Length": str(len(body)), **(more or {})})
        self.wfile.write(body)

    def _stream(self, parts: Iterable[dict[str, Any]]) -> None:
        """One line for each part, in chunks."""
        self._head(200, "application/x-ndjson", {"Transfer-Encoding": "chunked"})
        for part in parts:
            line = _json(part) + b"\n"
            self.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")


def _json(data: Any) -> bytes:
    return json.dumps(data, ensure_ascii=False).encode("utf-8", "replace")


def _check_arguments(action: Any, given: dict[str, Any]) -> None:
    try:
        signature(action).bind(**given)
    except TypeError:
        raise Refused(400, "the request has other fields than the action takes") from None


def start_server(session: Session, port: int) -> StudioServer:
    """A server that listens; a port that is taken is refused with a sentence."""
    try:
        return StudioServer(session, port)
    except (OSError, OverflowError) as problem:
        session.workshop.close()
        why = getattr(problem, "strerror", None) or problem
        msg = f"--port {port}: {why}; leave --port out for any free port"
        raise Unknown(msg) from None
