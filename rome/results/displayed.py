"""How a result shows itself: as text, in a notebook, and as a page for itself."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, overload

from rome.storage.files import open_output

if TYPE_CHECKING:
    from rome.reports.model import Document


class Displayed:
    """A result that is shown as a document: ``print(result)``, the last line of a notebook's cell, ``result.to_html(path)``."""

    __slots__ = ()

    def _document(self) -> Document:
        raise NotImplementedError

    @overload
    def to_html(self, path: None = None) -> str: ...

    @overload
    def to_html(self, path: str | os.PathLike[str]) -> None: ...

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Return a whole page that needs no network and runs no script, or write it to a path, all or nothing.

        Raises InputError when it cannot be written.
        """
        from rome.reports.html import document_page

        page = document_page(self._document())
        if path is None:
            return page
        with open_output(os.fspath(path)) as stream:
            stream.write(page)
        return None

    def __str__(self) -> str:
        """Everything that the page says, as text."""
        from rome.reports.text import document_text

        return document_text(self._document())

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows."""
        from rome.reports.html import notebook

        return notebook(self._document())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return the same for a notebook (HTML) and for a terminal (plain text)."""
        return {"text/html": self._repr_html_(), "text/plain": str(self)}
