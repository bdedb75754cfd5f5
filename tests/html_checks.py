"""HTML as a browser's parser sees it, and what every fragment of a report must be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from rome.reports.page import write_page
from rome.results import CorpusScore
from rome.results.systems import RESAMPLES, Systems
from rome.storage.files import open_output

VOID = frozenset(("br", "hr", "img", "input", "link", "meta", "wbr"))


class Markup(HTMLParser):
    """The elements with their attributes, and the texts; fails on an attribute twice, and on a tag closed out of turn or never."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def tags(self) -> list[str]:
        return [tag for tag, _ in self.found]

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.found.append((tag, dict(attrs)))
        assert len(attrs) == len(dict(attrs)), f"an attribute stands twice in {tag}"

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def checked(fragment: str) -> Markup:
    """No heading, script, style or address, no id and no handler; only classes with the house's prefix."""
    markup = Markup(fragment)
    assert not {"script", "style", "link", "iframe", "img", "h1", "h2", "h3", "h4"} & set(markup.tags)
    for _, attributes in markup.found:
        assert not {"id", "style", "href", "src"} & set(attributes)
        assert not [name for name, value in attributes.items() if name.startswith("on") or "javascript:" in (value or "")]
        assert all(name.startswith("rome-") for name in (attributes.get("class") or "").split())
    return markup


def write_report(results: Mapping[str, CorpusScore], path: Path, ids: Sequence[str] | None = None, **options: Any) -> None:
    """Write the page of these systems, as `rome report` does."""
    rows = enumerate(zip(*results.values(), strict=True))
    with open_output(str(path)) as stream:
        write_page(
            stream,
            Systems(list(results)),
            ((ids[n] if ids else str(n), row) for n, row in rows),
            **{"resamples": RESAMPLES, **options},
        )
