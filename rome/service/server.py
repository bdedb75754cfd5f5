"""uvicorn on a socket of this machine, and the scoring service on it."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from rome.exceptions import InputError
from rome.inputs import EmptyReference
from rome.service.app import application
from rome.service.batching import Batcher, Metric
from rome.service.limits import Limits
from rome.service.middleware import HostNames, is_loopback

__all__ = ["LOOPBACK", "LocalServer", "Server"]

LOOPBACK = "127.0.0.1"


class LocalServer:
    """An ASGI application on a host and a port. It listens from the beginning; `run` answers until `stop`, SIGTERM or SIGINT.

    port : 0 takes `preferred` when that is free, else any free one. settings : of uvicorn.
    Raises InputError when the host or the port cannot be had, or the host is not loopback and nobody allowed that.
    """

    def __init__(
        self, app: ASGIApp, host: str, port: int, *, allow_remote: bool = False, preferred: int = 0, **settings: Any
    ) -> None:
        self.loopback = is_loopback(host)
        if not self.loopback and not allow_remote:
            raise InputError(
                f"{host} lets other machines in, and the service asks nobody for a password: name a loopback host such as {LOOPBACK}, "
                "or say --allow-remote as well"
            )
        self._socket = _listening(host, [port] if port else [preferred, 0])
        self.host, self.port = self._socket.getsockname()[:2]
        config = uvicorn.Config(
            app,
            http="h11",
            ws="none",
            log_config=None,
            log_level="critical",
            proxy_headers=False,
            server_header=False,
            **settings,
        )
        self._uvicorn = uvicorn.Server(config)

    @property
    def url(self) -> str:
        """The address, with the port that was taken."""
        named = socket.gethostname() if self.host in ("0.0.0.0", "::") else self.host
        return f"http://{f'[{named}]' if ':' in named else named}:{self.port}"

    def run(self) -> None:
        """Answer until told to stop. Raises KeyboardInterrupt after SIGINT."""
        self._uvicorn.run(sockets=[self._socket])

    def stop(self) -> None:
        """End `run`, from any thread."""
        self._uvicorn.should_exit = True


class Server(LocalServer):
    """A metric behind HTTP.

    make : makes the metric, in the thread that then owns it. allow_remote : without it only a loopback host is taken.
    names : further Host names that lead here. together : False for a metric whose scores depend on the other pairs of a call.
    say : takes lines about errors. log : takes a line a request; None: no log. Neither ever gets a text. ready : called when the models
    are loaded.
    """

    def __init__(
        self,
        make: Callable[[], Metric],
        *,
        host: str = LOOPBACK,
        port: int = 0,
        allow_remote: bool = False,
        names: Sequence[str] = (),
        limits: Limits = Limits(),
        together: bool = True,
        empty_reference: EmptyReference = "error",
        say: Callable[[str], None] = lambda _: None,
        log: Callable[[str], None] | None = None,
        ready: Callable[[], None] = lambda: None,
    ) -> None:
        self._ready = ready
        self.batcher = Batcher(make, limits, together=together, say=say, settled=self._settled)
        super().__init__(
            application(self.batcher, limits, HostNames(host, names), empty_reference=empty_reference, say=say, log=log),
            host,
            port,
            allow_remote=allow_remote,
            limit_concurrency=limits.max_connections + 1,  # uvicorn counts the one that asks
            timeout_keep_alive=max(1, round(limits.receive_timeout)),
            timeout_graceful_shutdown=max(1, round(limits.grace)),
        )

    def run(self) -> None:
        """Load the models and answer until told to stop; what is in hand is finished, in at most the grace.

        Where `batcher.busy` then, the process had better end at once. Raises KeyboardInterrupt after SIGINT, and whatever prevented the
        models from loading.
        """
        super().run()
        if self.batcher.failure is not None:
            raise self.batcher.failure

    def _settled(self) -> None:
        """The models are loaded, or never will be."""
        if self.batcher.failure is not None:
            self.stop()
        else:
            self._ready()


def _listening(host: str, ports: Sequence[int]) -> socket.socket:
    """A socket on the first port that can be had."""
    for port in ports:
        try:
            return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        except (OSError, OverflowError) as error:
            failed = error
    reason = getattr(failed, "strerror", None) or failed
    raise InputError(f"cannot listen on {host}, port {ports[-1]} ({reason}): name another --host or --port") from failed
