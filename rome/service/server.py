"""The server: where it listens, how it begins, and how it ends."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

import uvicorn

from rome.checks import EmptyReference
from rome.exceptions import InputError
from rome.service.app import Service, application
from rome.service.batching import Batcher, Metric
from rome.service.connection import connection_class
from rome.service.guard import Guard
from rome.service.limits import Limits
from rome.service.names import Names, is_loopback

__all__ = ["Server"]


class Server:
    """A metric behind HTTP. It listens from the beginning; `run` answers until `stop`, SIGTERM or SIGINT.

    make : makes the metric, in the thread that then owns it. port : 0 takes any free one. allow_remote : without it only a loopback host
    is taken. names : further Host names that lead here. together : False for a metric whose scores depend on the other pairs of a call.
    say : takes lines about errors. log : takes a line a request; None: no log. Neither ever gets a text. ready : called when the models
    are loaded.

    Raises InputError when the host or the port cannot be had, or the host is not loopback and nobody allowed that.
    """

    def __init__(
        self,
        make: Callable[[], Metric],
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        allow_remote: bool = False,
        names: Sequence[str] = (),
        limits: Limits | None = None,
        together: bool = True,
        empty_reference: EmptyReference = "error",
        say: Callable[[str], None] = lambda _: None,
        log: Callable[[str], None] | None = None,
        ready: Callable[[], None] = lambda: None,
    ) -> None:
        self.limits, self._say, self._ready = limits or Limits(), say, ready
        self._socket = _listening(host, port, allow_remote)
        self.host, self.port = self._socket.getsockname()[:2]
        self.batcher = Batcher(make, self.limits, together=together, say=say, settled=self._settled)
        self._service = Service(self.batcher, self.limits, empty_reference)
        app = application(self._service, Names(self.host, names), say=say, log=log)
        self._uvicorn = _Uvicorn(_config(app, self.limits))

    @property
    def url(self) -> str:
        """The address, with the port that was taken."""
        named = socket.gethostname() if self.host in ("0.0.0.0", "::") else self.host
        return f"http://{f'[{named}]' if ':' in named else named}:{self.port}"

    @property
    def loopback(self) -> bool:
        """True when only this machine reaches the service."""
        return is_loopback(self.host)

    def run(self) -> bool:
        """Load the models and answer until told to stop; what is in hand is finished, in at most ``grace_seconds``.

        True when all was finished: on False the scoring thread still runs, and the process had better end at once. Raises KeyboardInterrupt
        after SIGINT, and whatever prevented the models from loading.
        """
        self.batcher.start()
        try:
            with _ended_by_sigterm(self.stop):
                asyncio.run(self._uvicorn.serve(sockets=[self._socket]))
        finally:
            self._socket.close()
            clean = self.batcher.stop(self.limits.grace_seconds)
        if self.batcher.failure is not None:
            raise self.batcher.failure
        if clean and self.interrupted:
            raise KeyboardInterrupt
        return clean

    @property
    def interrupted(self) -> bool:
        """True when SIGINT ended it."""
        return signal.SIGINT in self._uvicorn.signals

    def stop(self) -> None:
        """End `run`, from any thread."""
        self._uvicorn.should_exit = True

    def _settled(self) -> None:
        """The models are loaded, or never will be."""
        if self.batcher.failure is not None:
            self.stop()
        else:
            self._ready()


class _Uvicorn(uvicorn.Server):
    """Keeps the signals that ended it for the caller, who gives the exit code; uvicorn would raise them again."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.signals: list[int] = []

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end; a second SIGINT does not wait."""
        self.signals.append(sig)
        super().handle_exit(sig, frame)
        getattr(self, "_captured_signals", []).clear()


@contextmanager
def _ended_by_sigterm(stop: Callable[[], None]) -> Iterator[None]:
    """Take the signal also in the moments in which uvicorn does not; only the main thread can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: stop())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _config(app: Guard, limits: Limits) -> uvicorn.Config:
    """Everything that is not asked for is off: files, proxies' headers, logs, WebSockets."""
    return uvicorn.Config(
        app,
        loop="asyncio",
        http=connection_class(limits),
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=max(1, round(limits.receive_seconds)),
        timeout_graceful_shutdown=max(1, round(limits.grace_seconds)),
        backlog=128,
    )


def _listening(host: str, port: int, allow_remote: bool) -> socket.socket:
    """A socket that is bound; whether its address is loopback is known only then, for a host may be a name."""
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        address = listener.getsockname()[0]
        if not is_loopback(address) and not allow_remote:
            raise InputError(
                f"{host} lets other machines in, and the service asks nobody for a password: name a loopback host such as 127.0.0.1, "
                "or say --allow-remote as well"
            )
        listener.listen(128)
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot listen on {host}, port {port} ({reason}): name another --host or --port") from error
    except InputError:
        listener.close()
        raise
    return listener
