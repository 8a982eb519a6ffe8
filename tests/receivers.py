"""Real servers on loopback that receive notifications: a webhook and a mail server."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope, LoginPassword, Session

from tests.home import Home, until


class Webhook:
    """Answers 200, or what `answers` says, one each; `hold` makes it hang until `release` is called."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []  # that were accepted
        self.paths: list[str] = []
        self.asked = 0
        self.answers: list[int] = []
        self._is_open = threading.Event()
        self._is_open.set()
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                hook.asked += 1
                hook._is_open.wait(60)
                status = hook.answers.pop(0) if hook.answers else 200
                if status == 200:
                    hook.paths.append(self.path)
                    hook.messages.append(json.loads(body))
                try:
                    self.send_response(status)
                    self.end_headers()
                except OSError:
                    pass  # the sender was killed

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def url(self, more: str = "") -> str:
        return f"json://127.0.0.1:{self.port}/{more}"

    def hold(self) -> None:
        self._is_open.clear()

    def release(self) -> None:
        self._is_open.set()

    def titles(self) -> list[str]:
        return [message["title"] for message in self.messages]

    def gets(self, count: int, within_s: float = 30) -> list[dict[str, Any]]:
        """The first `count` messages, once they are there."""
        assert until(lambda: len(self.messages) >= count, within_s), self.messages
        return self.messages

    def close(self) -> None:
        self.release()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)


class MailServer:
    """Takes mail of all senders, or with a password only of those who know it."""

    def __init__(self, password: str | None = None) -> None:
        self.mails: list[EmailMessage] = []
        self.recipients: list[list[str]] = []
        self._password = password

        def login(_server: object, _session: object, _envelope: object, _kind: str, given: object) -> AuthResult:
            is_right = isinstance(given, LoginPassword) and given.password.decode() == password
            return AuthResult(success=is_right, handled=False)

        self._controller = self._started(login if password else None)
        self.port: int = self._controller.server.sockets[0].getsockname()[1]  # type: ignore[union-attr]

    def _started(self, login: object) -> Controller:
        """On a free port; on another one if a process took it meanwhile."""
        for _ in range(20):
            server = Controller(
                self, hostname="127.0.0.1", port=_free_port(), authenticator=login, auth_require_tls=False
            )
            with suppress(OSError):
                server.start()
                return server
        raise RuntimeError("no free port")

    async def handle_MAIL(  # noqa: N802
        self, _server: object, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self._password is not None and not session.authenticated:
            return "530 5.7.0 Authentication required"
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 OK"

    async def handle_DATA(self, _server: object, _session: object, envelope: Envelope) -> str:  # noqa: N802
        assert isinstance(envelope.content, bytes)
        self.mails.append(message_from_bytes(envelope.content, policy=policy.default))  # type: ignore[arg-type]
        self.recipients.append(list(envelope.rcpt_tos))
        return "250 OK"

    def gets(self, count: int) -> list[EmailMessage]:
        assert until(lambda: len(self.mails) >= count, 30), self.mails
        return self.mails

    def close(self) -> None:
        self._controller.stop(no_assert=True)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


@contextmanager
def webhook() -> Iterator[Webhook]:
    hook = Webhook()
    try:
        yield hook
    finally:
        hook.close()


@contextmanager
def mail_server(password: str | None = None) -> Iterator[MailServer]:
    server = MailServer(password)
    try:
        yield server
    finally:
        server.close()


def configure(home: Home, targets: dict[str, str], more: str = "", settings: str = "") -> None:
    """Write the config file. Events are sent at once, and again after a second, unless `settings` say otherwise."""
    home.path.mkdir(mode=0o700, exist_ok=True)
    lines = [f"{name} = {json.dumps(url)}" for name, url in targets.items()]
    quick = settings or "notify_digest_s = 0\nnotify_retry_s = 1"
    (home.path / "config.toml").write_text("\n".join([quick, "[notify.targets]", *lines, more, ""]))
