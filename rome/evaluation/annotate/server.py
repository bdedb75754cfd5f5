"""The local web server of the annotation page: where it listens, which names it goes by, and the fixed table of its pages."""

from __future__ import annotations

import errno
import ipaddress
import secrets
import socket
import sys
import zlib
from http.server import ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit

from rome.evaluation.annotate.handler import Handler
from rome.evaluation.annotate.session import Study
from rome.exceptions import InputError
from rome.service.middleware import is_loopback

__all__ = ["LOOPBACK", "AnnotationServer", "usual_port"]

LOOPBACK = "127.0.0.1"
_PAGES = {
    "/": ("page.html", "text/html"),
    **{f"/{name}.js": (f"{name}.js", "text/javascript") for name in ("api", "drafts", "marks", "page", "ratings", "texts")},
    "/page.css": ("page.css", "text/css"),
}


def usual_port(path: str) -> int:
    """A port that is the same whenever the same file is written, so that a page still open finds the server again."""
    return 49152 + zlib.crc32(str(Path(path).resolve()).encode("utf-8", "surrogateescape")) % 16000


class AnnotationServer(ThreadingHTTPServer):
    """Serves one study until it is shut down.

    port : 0 takes `preferred` when that is free, else any free one. url : where the page is, with this run's token.
    Raises InputError when the host or the port cannot be had.
    """

    daemon_threads = True

    def __init__(self, study: Study, *, host: str = LOOPBACK, port: int = 0, preferred: int = 0) -> None:
        self.study, self.token = study, secrets.token_urlsafe(24)
        self.pages = {path: (_page(name), kind) for path, (name, kind) in _PAGES.items()}
        if ":" in host:
            self.address_family = socket.AF_INET6
        self._bind(host, port, preferred)
        self.host, self.port = host, int(self.server_address[1])

    @property
    def url(self) -> str:
        """The address of the page. The token stands behind ``#``, which browsers send to nobody."""
        named = socket.gethostname() if self.host in ("0.0.0.0", "::") else self.host
        return f"http://{f'[{named}]' if ':' in named else named}:{self.port}/#token={self.token}"

    def answers_to(self, host: str) -> bool:
        """True for a Host header that this server goes by: another name that leads here (DNS rebinding) is refused."""
        try:
            parts = urlsplit(f"//{host}")
            name, port = parts.hostname or "", parts.port or 80
        except ValueError:
            return False
        if port != self.port:
            return False
        if is_loopback(self.host):
            return is_loopback(name)
        own = {self.host.lower(), "localhost", socket.gethostname().lower(), self.server_name.lower()}
        return name in own or _is_address(name)

    def handle_error(self, request: object, client_address: object) -> None:
        """A page that goes away in mid-request is no error; anything else is shown."""
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)  # type: ignore[arg-type]

    def _bind(self, host: str, port: int, preferred: int) -> None:
        """Listen on the first port that can be had."""
        for wanted in dict.fromkeys([port] if port else [preferred, 0]):
            try:
                super().__init__((host, wanted), Handler)
                return
            except (OSError, OverflowError) as error:
                if not port and wanted and getattr(error, "errno", None) in (errno.EADDRINUSE, errno.EACCES):
                    continue
                reason = getattr(error, "strerror", None) or str(error)
                raise InputError(f"cannot listen on {host}, port {wanted} ({reason}): name another --host or --port") from error


def _page(name: str) -> bytes:
    """A file of the page, as it comes with the package."""
    return (files("rome.evaluation.annotate") / "page" / name).read_bytes()


def _is_address(name: str) -> bool:
    """True for a number: a browser that was lured by a name sends the name."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
