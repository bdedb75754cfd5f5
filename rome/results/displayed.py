"""Any result as plain values for JSON, as text, in a notebook and as an HTML page."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

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
        """Return the content of the page as text."""
        from rome.reports.text import document_text

        return document_text(self._document())

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows."""
        from rome.reports.html import notebook

        return notebook(self._document())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return the result for a notebook (HTML) and for a terminal (plain text)."""
        return {"text/html": self._repr_html_(), "text/plain": Displayed.__str__(self)}


def plain(value: Any) -> Any:
    """Convert a value to dictionaries, lists, str, int, float, bool and None.

    Dataclasses become dictionaries of their public fields, and of ``operations`` where a class computes them on demand; arrays and
    tuples become lists; a number that is not finite becomes None, because JSON cannot represent it.
    """
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, (int, float)):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        public = {item.name: plain(getattr(value, item.name)) for item in fields(value) if not item.name.startswith("_")}
        return public | ({"operations": plain(value.operations)} if hasattr(value, "operations") else {})
    return [plain(inner) for inner in value]
