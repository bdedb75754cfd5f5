"""By which names the service goes: another name that leads here (DNS rebinding) and another page's requests are refused."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable
from urllib.parse import urlsplit

__all__ = ["Names", "is_loopback"]


def is_loopback(host: str) -> bool:
    """True when only this machine reaches the host."""
    try:
        return host.lower() == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Names:
    """The names of a service that listens at an address.

    address : what it is bound to, as a number. further : names that lead to it, such as that of a proxy.
    On a loopback address only loopback names count; on another one also numbers and this machine's own names.
    """

    def __init__(self, address: str, further: Iterable[str] = ()) -> None:
        self._local = is_loopback(address)
        self._own = {name.lower() for name in further}
        if not self._local:
            self._own |= {socket.gethostname().lower(), socket.getfqdn().lower()}

    def answers_to(self, host: str) -> bool:
        """True for a Host header that names this service. The port is not compared: it changes where a tunnel leads here."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if not name or any(mark in host for mark in "/?#@\\ "):
            return False
        return is_loopback(name) or name in self._own or (not self._local and _is_number(name))

    def own_origin(self, origin: str, host: str) -> bool:
        """True for the Origin header of this service's own page."""
        return origin in (f"http://{host}", f"https://{host}")


def _is_number(name: str) -> bool:
    """True for an address: a browser that was lured by a name sends the name."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
