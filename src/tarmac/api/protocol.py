"""uvicorn's HTTP protocol with what it lacks: who the peer is, and limits on what a peer may hold or make us wait for.

uvicorn has no limit on the size of a head, on the time that a request takes to arrive, on pipelined requests or on
connections of one peer. Nothing here costs an ordinary request more than a few counters and one timer per connection.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from tarmac.api.admission import Place
from tarmac.api.errors import from_refused
from tarmac.api.uvicorn_parts import HttpToolsProtocol
from tarmac.refusal import Refused, invalid, unavailable
from tarmac.shared.system.sockets import peer_uid

if TYPE_CHECKING:
    import socket

    from tarmac.api.admission import Admission
    from tarmac.api.uvicorn_parts import RequestResponseCycle

log = logging.getLogger(__name__)

PEER_UID = "tarmac.peer_uid"
ABORT = "tarmac.abort"  # resets the connection
IS_CROWDED = "tarmac.is_crowded"  # the peer has too many connections; this one is for short requests only

MOST_HEAD_BYTES = 1 << 16
MOST_HEADERS = 100
MOST_PIPELINED = 8
MOST_DISCARDED_BYTES = 8 << 20  # of a request that has been answered
FIRST_REQUEST_WITHIN_S = 20.0
CROWDED_WITHIN_S = 2.0
HEAD_WITHIN_S = 20.0
BODY_LOOK_EVERY_S = 20.0
BODY_BYTES_PER_LOOK = 20_000
ANSWER_TAKEN_WITHIN_S = 60.0
LINGER_S = 2.0


class BoundedProtocol(HttpToolsProtocol):
    def __init__(self, *args: Any, admission: Admission, **more: Any) -> None:
        super().__init__(*args, **more)
        self._admission = admission
        self._refusal: Refused | None = None  # why the parser was stopped
        self._is_refused = False
        self._is_in_head = False
        self._is_in_body = False
        self._raw_head_bytes = self._head_bytes = self._headers = 0
        self._body_bytes = self._framing_bytes = self._discarded_bytes = 0
        self._looked_at_bytes = 0
        self._unsent_bytes: int | None = None
        self._slow: asyncio.TimerHandle | None = None

    # The connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        connection = transport.get_extra_info("socket")
        self._peer_uid = self.peer(connection)
        self._place = self._admission.enter(self._peer_uid, connection.fileno())
        if self._place is Place.NONE:
            self._refuse(unavailable("server.too_many_connections"))
        else:
            self._admission.is_idle(self._peer_uid, self)
            within_s = FIRST_REQUEST_WITHIN_S if self._place is Place.ORDINARY else CROWDED_WITHIN_S
            self.timeout_keep_alive_task = self.loop.call_later(within_s, self.timeout_keep_alive_handler)

    def peer(self, connection: socket.socket) -> int:
        """Whose connection it is."""
        return peer_uid(connection)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._place is not Place.NONE:
            self._admission.leave(self._peer_uid, self)
        self._unset_keepalive_if_required()
        self._stop_watch()

    def evict(self) -> None:
        """Make room for another connection of the same peer."""
        self.transport.abort()

    def shutdown(self) -> None:
        """A request that has not arrived completely is not waited for: the client repeats it."""
        if self._is_in_head or self._is_in_body or self._is_refused:
            self.transport.abort()
        else:
            super().shutdown()

    # Reading

    def data_received(self, data: bytes) -> None:
        if self._is_refused:
            self._discarded_bytes += len(data)
            if self._discarded_bytes > MOST_DISCARDED_BYTES:
                self.transport.abort()
            return
        self._unsent_bytes = None
        self._raw_head_bytes += len(data)
        if self._is_in_body:
            self._framing_bytes += len(data)
        super().data_received(data)
        if self._is_in_head and self._raw_head_bytes > MOST_HEAD_BYTES:
            self._refuse(invalid("request.head_too_large", most=MOST_HEAD_BYTES))
        elif self._is_in_body and self._framing_bytes > MOST_HEAD_BYTES + 8 * self._body_bytes:
            self._refuse(invalid("request.not_http"))
        elif self._is_in_head or self._is_in_body or not self._is_answering():
            self._watch()  # empty lines before a request do not extend its time
        else:
            self._stop_watch()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_in_head = True
        self._head_bytes = self._headers = self._raw_head_bytes = 0
        extensions: dict[str, Any] = {PEER_UID: self._peer_uid, ABORT: self.transport.abort}
        if self._place is Place.SHORT:
            extensions[IS_CROWDED] = True
        self.scope["extensions"] = extensions

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers += 1
        self._count(len(name) + len(value))
        if self._is_in_head:  # else it is a trailer, which no handler reads
            super().on_header(name, value)

    def _count(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > MOST_HEAD_BYTES or self._headers > MOST_HEADERS:
            self._stop_parser(invalid("request.head_too_large", most=MOST_HEAD_BYTES))

    def on_headers_complete(self) -> None:
        self._is_in_head = False
        if len(self.pipeline) >= MOST_PIPELINED:
            self._stop_parser(invalid("request.not_http"))
        self._is_in_body = True
        self._body_bytes = self._framing_bytes = self._discarded_bytes = self._looked_at_bytes = 0
        super().on_headers_complete()
        self._admission.is_busy(self._peer_uid, self)
        if self._place is Place.SHORT:
            self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        self._framing_bytes -= len(body)
        if self.cycle.response_complete:
            self._discarded_bytes += len(body)
            if self._discarded_bytes > MOST_DISCARDED_BYTES:
                self.transport.abort()
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._is_in_body = False
        super().on_message_complete()

    def _unsupported_upgrade_warning(self) -> None:
        """Answer as if nothing had been asked. What follows is not HTTP, so the connection ends with the answer."""
        self.cycle.keep_alive = False

    def _is_answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    # Timeouts

    def _watch(self) -> None:
        if self._slow is None:
            within_s = BODY_LOOK_EVERY_S if self._is_in_body else HEAD_WITHIN_S
            self._slow = self.loop.call_later(within_s, self._look)

    def _stop_watch(self) -> None:
        if self._slow is not None:
            self._slow.cancel()
            self._slow = None

    def _look(self) -> None:
        """A head has a deadline. A body must make progress, except while we do not read it."""
        self._slow = None
        arrived = self._body_bytes - self._looked_at_bytes
        if not self._is_in_body or (arrived < BODY_BYTES_PER_LOOK and not self.flow.read_paused):
            self._refuse(invalid("request.too_slow"))
        else:
            self._looked_at_bytes = self._body_bytes
            self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self._is_answering() and not self.pipeline:
            self._admission.is_idle(self._peer_uid, self)
        if self.transport.is_closing():
            self.timeout_keep_alive_task = self.loop.call_later(ANSWER_TAKEN_WITHIN_S, self.timeout_keep_alive_handler)

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection. One whose client does not take the answer is given more time, then reset."""
        unsent = self.transport.get_write_buffer_size()
        if not unsent:
            self.transport.close()
        elif self._unsent_bytes is not None and unsent >= self._unsent_bytes:
            self.transport.abort()
        else:
            self._unsent_bytes = unsent
            self.timeout_keep_alive_task = self.loop.call_later(ANSWER_TAKEN_WITHIN_S, self.timeout_keep_alive_handler)

    # Refusing

    def _stop_parser(self, refusal: Refused) -> None:
        """The parser passes this error on, and `send_400_response` answers."""
        self._refusal = refusal
        raise ValueError(refusal.key)

    def send_400_response(self, _: str) -> None:
        self._refuse(self._refusal or invalid("request.not_http"))

    def _refuse(self, refusal: Refused) -> None:
        """Answer without the application, and close. In the middle of another answer, close only."""
        self._is_refused = True
        self._stop_watch()
        self._unset_keepalive_if_required()
        if self.pipeline or (self._is_answering() and self.cycle.response_started):
            self.transport.abort()
            return
        answer = from_refused(refusal)
        head = b"HTTP/1.1 %d \r\nconnection: close\r\n" % answer.status_code
        fields = b"".join(b"%s: %s\r\n" % field for field in answer.raw_headers)
        self.transport.write(b"%s%s\r\n%s" % (head, fields, answer.body))
        if self._place is Place.NONE:
            self.transport.close()
        else:  # a client that is still sending would be reset before it reads the answer
            self._discarded_bytes = 0
            self.transport.write_eof()
            self._slow = self.loop.call_later(LINGER_S, self.transport.abort)
