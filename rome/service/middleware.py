"""What stands before every route of both servers: Host and Origin, security headers, unexpected errors, a line a request."""

from __future__ import annotations

import ipaddress
import re
import socket
import time
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rome.service.errors import RequestError, Say, described

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


def is_loopback(host: str) -> bool:
    """True when only this machine reaches the host."""
    return host.lower() == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


class HostNames:
    """The names that a server on a host goes by: any other name that leads here (DNS rebinding) is refused.

    Parameters
    ----------
    further
        Names that lead to it, such as that of a proxy. On a loopback host only loopback names count; on another one also addresses (a browser
        that was lured by a name sends the name) and this machine's own names.
    """

    def __init__(self, host: str, further: Iterable[str] = ()) -> None:
        self._remote = not is_loopback(host)
        own = (socket.gethostname(), socket.getfqdn()) if self._remote else ()
        self._names = {name.lower() for name in (*further, *own)}

    def __contains__(self, header: str) -> bool:
        """True for a Host header of this server. The port is not compared: it changes where a tunnel leads here."""
        found = _HOST.fullmatch(header.lower())
        name = (found[1] or found[2]) if found else ""
        return is_loopback(name) or name in self._names or (self._remote and _is_address(name))


class Guard:
    """Middleware: who may ask, what a browser may do with the answer, and no word of a text in an error or a log.

    Parameters
    ----------
    policy
        What a page may load, as Content-Security-Policy has it, where the answer does not say it.
    say
        Takes one line about an unexpected error.
    log
        Takes one line a request, or None.
    """

    def __init__(self, app: ASGIApp, names: HostNames, policy: str, say: Say, log: Say | None) -> None:
        self.app, self.names, self.policy, self.say, self.log = app, names, POLICY.format(policy), say, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begun, status = time.monotonic(), 0

        async def guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers.setdefault("Content-Security-Policy", self.policy)
            await send(message)

        refused = self._refused(Headers(scope=scope))
        try:
            await (refused.response() if refused else self.app)(scope, receive, guarded)
        except ClientDisconnect:
            pass
        except Exception as error:  # nothing of it goes to the client
            self.say(f"unexpected error: {described(error)}")
            if not status:
                await RequestError("internal", "the service failed: its log says where").response()(scope, receive, guarded)
        if self.log is not None:
            path = scope["path"] if "endpoint" in scope else "-"  # an unknown path may hold a text
            self.log(f"{scope['method']} {path} {status} {1000 * (time.monotonic() - begun):.0f} ms")

    def _refused(self, headers: Headers) -> RequestError | None:
        """The request must be meant for this server, and come from no other site's page."""
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or hosts[0] not in self.names:
            return RequestError(
                "foreign_host", "the server does not go by this name: use the address that it printed", "header Host"
            )
        if origins not in ([], [f"http://{hosts[0]}"], [f"https://{hosts[0]}"]):
            return RequestError(
                "foreign_origin", "another page may not ask: open the address that was printed", "header Origin"
            )
        return None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
