"""A connection with limits: how many there are, how long one may take over its head or stay idle, how slowly an answer may be read."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from rome.service.limits import Limits
from rome.service.refusal import Refusal, raw_answer

__all__ = ["Connection", "connection_class"]

PROGRESS = 64 * 1024
UNWANTED = 4 * 1024 * 1024
LINGER_SECONDS = 0.5


def connection_class(limits: Limits) -> type[Connection]:
    """The class of one service's connections, which share a count."""
    return type("LimitedConnection", (Connection,), {"limits": limits, "open": set(), "turned_away": set()})


class Connection(H11Protocol):
    """uvicorn's connection, watched from outside: only the methods of ``asyncio.Protocol`` are extended.

    A connection over the limit is answered with 503. Whoever sends no complete head in time is answered with 408 and closed; so is an
    idle connection, without an answer; and one whose answer is not read. What is sent after an answer is thrown away, up to UNWANTED bytes.
    """

    app: Any
    limits: Limits
    open: set[Connection]
    turned_away: set[Connection]

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.app = self._watched(self.app)
        self._answering = 0
        self._received = self._unread = 0
        self._deaf = False
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Take the connection, or turn it away."""
        if len(self.open) >= self.limits.connections:
            self._turn_away(transport)
            return
        self.open.add(self)
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Pass the bytes on, unless there are too many of them that nobody asked for."""
        if self._deaf:
            return
        if not self._answering:
            self._received += len(data)
            if self._received > UNWANTED:
                self.transport.abort()
                return
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Free the place."""
        if self._timer is not None:
            self._timer.cancel()
        if self in self.turned_away:
            self.turned_away.discard(self)
            return
        self.open.discard(self)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client reads more slowly than is written: watch it."""
        if self not in self.turned_away:
            super().pause_writing()
            self._watch()

    def resume_writing(self) -> None:
        """The client reads again."""
        if self not in self.turned_away:
            super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """What was sent is no HTTP: say so in JSON, as everywhere."""
        self._farewell(Refusal("bad_request", "this is no HTTP request that the service understands"))

    def _turn_away(self, transport: asyncio.Transport) -> None:
        """Answer 503; at once and without listening any more where even those who are turned away are many."""
        crowd = len(self.turned_away) >= self.limits.connections
        self.turned_away.add(self)
        self.transport = transport
        message = f"{len(self.open)} connections are open: ask again later"
        self._farewell(Refusal("busy", message, headers={"Retry-After": "1"}), 0.0 if crowd else LINGER_SECONDS)

    def _farewell(self, refusal: Refusal, seconds: float = LINGER_SECONDS) -> None:
        """A last answer. What still comes is thrown away for a moment: closing on unread bytes would take the answer back."""
        if self._timer is not None:
            self._timer.cancel()
        self._deaf = True
        if not self.transport.is_closing():
            self.transport.write(raw_answer(refusal))
            self.transport.write_eof()
        self._timer = self.loop.call_later(seconds, self.transport.abort)

    def _watched(self, app: Any) -> Any:
        """The application, with a note when it begins (the head is complete) and ends."""

        async def watched(scope: Any, receive: Any, send: Any) -> None:
            async def heard(message: Any) -> None:
                if not self._deaf:  # the last word is said
                    await send(message)

            self._answering += 1
            if self._timer is not None and not (self._deaf or self.transport.get_write_buffer_size()):
                self._timer.cancel()
            try:
                await app(scope, receive, heard)
            finally:
                self._answering -= 1
                self._received = 0
                self._watch()

        return watched

    def _watch(self) -> None:
        """Look again when the time is over."""
        if self._deaf or self not in self.open:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._unread = self.transport.get_write_buffer_size()
        self._timer = self.loop.call_later(self.limits.receive_seconds, self._time_is_over)

    def _time_is_over(self) -> None:
        """Close, unless a request is being answered or a long answer is being read."""
        unread = self.transport.get_write_buffer_size()
        if unread and self._unread - unread >= PROGRESS:
            self._watch()
        elif unread:
            self.transport.abort()
        elif not self._answering:
            if self._received:
                message = f"no complete request within {self.limits.receive_seconds:g} seconds: send it at once"
                self._farewell(Refusal("too_slow", message))
            else:
                self.transport.close()
