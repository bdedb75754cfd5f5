"""Does the built site ask the network for anything? Every address that a browser would load by itself must lie in the site."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

__all__ = ["foreign_resources"]

LOADED = {
    "script": ("src",), "link": ("href",), "img": ("src", "srcset"), "source": ("src", "srcset"), "iframe": ("src",),
    "video": ("src", "poster"), "audio": ("src",), "embed": ("src",), "object": ("data",), "input": ("src",), "use": ("href",),
    "image": ("href", "xlink:href"), "track": ("src",), "base": ("href",), "form": ("action",),
}  # fmt: skip
NOT_LOADED = ("canonical", "alternate", "author", "license")
FOREIGN = re.compile(r"(?:[a-z][a-z+.-]*:)?//", re.I)
IN_STYLES = re.compile(r"""(?:@import\s*|url\()\s*["']?((?:https?:)?//[^"')\s]+)""", re.I)
IN_SCRIPTS = re.compile(
    r"""(?:fetch|importScripts|import|EventSource|WebSocket|Worker|\.open|\.src\s*=)\s*\(?\s*["'`]([a-z]*:?//[^"'`\s]+)""", re.I
)


class _Loads(HTMLParser):
    """Collects the addresses that a page loads, and the text of its scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.styles: list[str] = []
        self.scripts: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """One element."""
        given = {name: value or "" for name, value in attrs}
        self._inside = tag if tag in ("script", "style") else ""
        if tag == "link" and given.get("rel", "") in NOT_LOADED:
            return
        self.addresses += [given[name] for name in LOADED.get(tag, ()) if name in given]
        self.styles.append(given.get("style", ""))

    def handle_endtag(self, tag: str) -> None:
        """The end of one element."""
        self._inside = ""

    def handle_data(self, data: str) -> None:
        """The text of an element."""
        if self._inside:
            (self.styles if self._inside == "style" else self.scripts).append(data)


def foreign_resources(site: Path) -> list[str]:
    """One line ``FILE: ADDRESS`` for everything in a built site that a browser would load from elsewhere; empty when all is well.

    Links that a reader may follow are no resources. Raises FileNotFoundError where there is no page at all.
    """
    pages = sorted(path for path in site.rglob("*") if path.suffix in (".html", ".css", ".js", ".svg"))
    if not any(path.suffix == ".html" for path in pages):
        raise FileNotFoundError(f"{site} holds no page: build the site first")
    return [f"{path.relative_to(site)}: {address}" for path in pages for address in _addresses(path)]


def _addresses(path: Path) -> Iterator[str]:
    """The foreign addresses of one file."""
    text = path.read_text(encoding="utf-8", errors="replace")
    styles, scripts = (text, "") if path.suffix == ".css" else ("", text)
    if path.suffix in (".html", ".svg"):
        page = _Loads()
        page.feed(text)
        yield from (address for address in page.addresses if FOREIGN.match(address.strip()))
        styles, scripts = "\n".join(page.styles), "\n".join(page.scripts)
    yield from IN_STYLES.findall(styles)
    yield from IN_SCRIPTS.findall(scripts)
