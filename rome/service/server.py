"""Serve routes behind one guard with uvicorn on a socket of this machine; `rome serve` and `rome annotate` share it."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable, Sequence
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rome.exceptions import InputError
from rome.service.errors import HANDLERS, RequestError, Say, described

LOOPBACK = "127.0.0.1"
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
POLICY = "default-src 'none'; {}base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([\w.-]+))(?::\d+)?", re.ASCII)


class LocalServer:
    """A server that listens from its creation; `run` answers until `stop`, SIGTERM or SIGINT.

    Raises InputError when the host or the port is not available, or the host is not loopback and allow_remote is not set.

    Parameters
    ----------
    port
        0 uses `preferred` if that is free, else any free one.
    names
        Further Host names of this server.
    policy, say
        Of Guard.
    lifespan
        Of Starlette.
    settings
        Of uvicorn.
    """

    def __init__(
        self,
        routes: Sequence[BaseRoute],
        *,
        policy: str,
        say: Say,
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
            remedy = "To let other machines in, which need no password, add --allow-remote"
            raise InputError(f"host must be a loopback address such as {LOOPBACK}, got {host}. {remedy}")
        guard = Middleware(Guard, names=HostNames(host, names), policy=POLICY.format(policy), say=say)
        app = Starlette(routes=routes, middleware=[guard], exception_handlers=HANDLERS, lifespan=lifespan)
        app.router.redirect_slashes = False
        settings |= {"log_config": None, "log_level": "critical", "proxy_headers": False, "server_header": False}
        self._uvicorn = uvicorn.Server(uvicorn.Config(app, http="h11", ws="none", **settings))
        self._socket = _listening(host, [port] if port else [preferred, 0])
        self.host, self.port = self._socket.getsockname()[:2]

    @property
    def url(self) -> str:
        """Return the address, with the port in use."""
        name = socket.gethostname() if self.host in ("0.0.0.0", "::") else self.host
        return f"http://{f'[{name}]' if ':' in name else name}:{self.port}"

    def run(self) -> None:
        """Answer until stopped. Raises KeyboardInterrupt after SIGINT."""
        self._uvicorn.run(sockets=[self._socket])

    def stop(self) -> None:
        """End `run`, from any thread."""
        self._uvicorn.should_exit = True


def _listening(host: str, ports: Sequence[int]) -> socket.socket:
    """Return a socket on the first available port."""
    for port in ports:
        try:
            return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        except (OSError, OverflowError) as error:
            failure = error
    reason = getattr(failure, "strerror", None) or failure
    raise InputError(f"cannot listen on {host}, port {ports[-1]} ({reason}): name another --host or --port") from failure


class HostNames:
    """The names of a server on a host; any other name in a request (DNS rebinding) is refused.

    Parameters
    ----------
    further
        More names, such as that of a proxy. On a loopback host only loopback names count; on another one also addresses (a browser
        that follows a foreign name sends the name) and this machine's own names.
    """

    def __init__(self, host: str, further: Iterable[str] = ()) -> None:
        self._remote = not is_loopback(host)
        own = (socket.gethostname(), socket.getfqdn()) if self._remote else ()
        self._names = {name.lower() for name in (*further, *own)}

    def __contains__(self, header: str) -> bool:
        """Return True for a Host header of this server; the port is not compared, because a tunnel may change it."""
        match = _HOST.fullmatch(header.lower())
        name = (match[1] or match[2]) if match else ""
        return is_loopback(name) or name in self._names or (self._remote and _address(name) is not None)


def is_loopback(host: str) -> bool:
    """Return True when only this machine can reach the host."""
    address = _address(host)
    return host.lower() == "localhost" or (address is not None and address.is_loopback)


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


class Guard:
    """Middleware that refuses foreign hosts and origins, adds security headers, and keeps texts out of errors.

    Parameters
    ----------
    policy
        The Content-Security-Policy of answers without one.
    say
        Called with one line about an unexpected error.
    """

    def __init__(self, app: ASGIApp, names: HostNames, policy: str, say: Say) -> None:
        self.app, self.names, self.policy, self.say = app, names, policy, say

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers.setdefault("Content-Security-Policy", self.policy)
            await send(message)

        refusal = self._refusal(Headers(scope=scope))
        try:
            await (refusal.response() if refusal else self.app)(scope, receive, guarded)
        except ClientDisconnect:
            pass
        except Exception as error:  # the client must not see it
            self.say(f"unexpected error: {described(error)}")
            if not started:
                internal = RequestError("internal", "the service failed: its log names the place")
                await internal.response()(scope, receive, guarded)

    def _refusal(self, headers: Headers) -> RequestError | None:
        """Return the error of a request for another server or from another site's page."""
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or hosts[0] not in self.names:
            message = "the server does not have this name: use the printed address"
            return RequestError("foreign_host", message, "header Host")
        if origins not in ([], [f"http://{hosts[0]}"], [f"https://{hosts[0]}"]):
            message = "the request is from another page: open the printed address"
            return RequestError("foreign_origin", message, "header Origin")
        return None
