"""Routes behind one guard, answered by uvicorn on a socket of this machine: what `rome serve` and `rome annotate` share."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from rome.exceptions import InputError
from rome.service.errors import HANDLERS, Say
from rome.service.middleware import Guard, HostNames, is_loopback

LOOPBACK = "127.0.0.1"


class LocalServer:
    """It listens from the beginning; `run` answers until `stop`, SIGTERM or SIGINT.

    Raises InputError when the host or the port cannot be had, or the host is not loopback and nobody allowed that.

    Parameters
    ----------
    port
        0 takes `preferred` when that is free, else any free one.
    names
        Further Host names that lead here.
    policy, say, log
        Of Guard.
    lifespan
        Of Starlette.

    Attributes
    ----------
    settings
        Of uvicorn.
    """

    def __init__(
        self,
        routes: Sequence[BaseRoute],
        *,
        policy: str,
        say: Say,
        log: Say | None = None,
        host: str = LOOPBACK,
        port: int = 0,
        names: Sequence[str] = (),
        allow_remote: bool = False,
        preferred: int = 0,
        lifespan: Any = None,
        **settings: Any,
    ) -> None:
        self.loopback = is_loopback(host)
        if not self.loopback and not allow_remote:
            raise InputError(
                f"{host} lets other machines in, and the service asks nobody for a password: name a loopback host such as {LOOPBACK}, "
                "or say --allow-remote as well"
            )
        guard = Middleware(Guard, names=HostNames(host, names), policy=policy, say=say, log=log)
        app = Starlette(routes=routes, middleware=[guard], exception_handlers=HANDLERS, lifespan=lifespan)
        app.router.redirect_slashes = False
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
        self._socket = _listening(host, [port] if port else [preferred, 0])
        self.host, self.port = self._socket.getsockname()[:2]

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


def _listening(host: str, ports: Sequence[int]) -> socket.socket:
    """A socket on the first port that can be had."""
    for port in ports:
        try:
            return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        except (OSError, OverflowError) as error:
            failed = error
    reason = getattr(failed, "strerror", None) or failed
    raise InputError(f"cannot listen on {host}, port {ports[-1]} ({reason}): name another --host or --port") from failed
