"""The folder of a report: page, tables, figures, everything as JSON, and the manifest that marks the folder as ours."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from rome.exceptions import InputError
from rome.reports.figures import is_empty, plots_available, render
from rome.reports.html import asset, page, page_style
from rome.reports.model import Report, Table
from rome.reports.tables import as_table, check_report, table_tsv
from rome.results.serialisation import plain
from rome.storage.files import atomic_path

MANIFEST, MARK, FORMAT = "manifest.json", "rome report", 1
MOST_ROWS = 1000
"""Rows of one table that the page shows; its file has them all."""
_OWN = re.compile(r"(index\.html|report\.json|tables/[A-Za-z0-9._-]+\.tsv|figures/[A-Za-z0-9._-]+\.(png|svg))")


def write_report(report: Report, folder: str | os.PathLike[str]) -> Path:
    """Write index.html, report.json, manifest.json, tables/NAME.tsv and figures/NAME.png and .svg; return the page's path.

    The folder is made where it is missing. An earlier report in it is replaced, files of that report which this one does not
    have are removed, and other files stay. Each file appears whole or not at all; the same report gives the same bytes. A table
    file has a header and a line a row, every digit, an empty cell for what is missing, and ``\\t``, ``\\n``, ``\\r`` and ``\\\\``
    for tabs, line ends and backslashes in texts. Figures have a table file too. Without matplotlib there are no figures, and the
    page says so.

    Raises InputError when the parts do not fit together, when the folder holds something that is no report, when one of its files or
    folders is a link (the folder itself may be one), or when it cannot be written.
    """
    check_report(report)
    target = Path(folder)
    earlier = _files_of_earlier_report(target)
    contents = dict(_contents(report))
    _check_links(target, {*contents, *earlier, MANIFEST})
    mark = {"kind": MARK, "format": FORMAT, "title": report.title, "manifest": plain(report.manifest)}
    for place in (target, *(target / name for name in sorted({str(Path(name).parent) for name in contents} - {"."}))):
        _make(place)
    _write(target / MANIFEST, _json({**mark, "files": sorted({*contents, *earlier})}))
    for name, content in contents.items():
        _write(target / name, content)
    for name in sorted(earlier - set(contents)):
        (target / name).unlink(missing_ok=True)
    _write(target / MANIFEST, _json({**mark, "files": sorted(contents)}))
    return target / "index.html"


def read_manifest(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """What made the report in a folder, as its `Report.manifest` said. Raises InputError when the folder holds no report."""
    manifest: dict[str, Any] = _marked(folder)["manifest"]
    return manifest


def _marked(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """The content of the file that marks a folder as ours."""
    path = Path(folder) / MANIFEST
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            f"{folder} holds no report: {MANIFEST} cannot be read ({error}); name a folder that has one"
        ) from error
    kinds = {"kind": str, "files": list, "manifest": dict}
    fits = isinstance(content, dict) and all(isinstance(content.get(key), kind) for key, kind in kinds.items())
    if not fits or content["kind"] != MARK:
        raise InputError(f"{folder} holds no report of RoMe: something else wrote its {MANIFEST}; name a folder that has one")
    return dict(content)


def _files_of_earlier_report(target: Path) -> set[str]:
    """The files of the report that is replaced, only such as a report has. Raises InputError for any other folder with files."""
    try:
        if not target.exists() or not any(target.iterdir()):
            return set()
    except NotADirectoryError as error:
        raise InputError(f"{target} is a file: name a folder for the report") from error
    except OSError as error:
        raise InputError(f"{target} cannot be read ({error.strerror}): check its permissions") from error
    try:
        names = _marked(target)["files"]
    except InputError as error:
        raise InputError(f"{target} is not empty and holds no report of RoMe: name a new folder, or empty this one") from error
    return {name for name in names if isinstance(name, str) and _OWN.fullmatch(name)}


def _check_links(target: Path, names: Collection[str]) -> None:
    """Refuse a link in the place of what is written or removed: it may lead out of the folder that was named."""
    for name in sorted({*names, *(str(Path(name).parent) for name in names)} - {"."}):
        if (target / name).is_symlink():
            raise InputError(f"{target / name} is a link, which may lead out of the report: remove it, or name another folder")


def _contents(report: Report) -> Iterator[tuple[str, bytes]]:
    """Every file but the manifest by its name, the page last."""
    drawn = [part for part in report.parts if not isinstance(part, Table) and not is_empty(part)] if plots_available() else []
    pictures = {}
    for part in report.parts:
        yield f"tables/{part.name}.tsv", _bytes(table_tsv(as_table(part)))
    for part in drawn:
        png, svg = render(part)
        yield f"figures/{part.name}.png", png
        yield f"figures/{part.name}.svg", _bytes(svg)
        pictures[part.name] = f"data:image/svg+xml;base64,{base64.b64encode(_bytes(svg)).decode('ascii')}"
    parts = [{"kind": type(part).__name__.lower(), **plain(part)} for part in report.parts]
    manifest = plain(report.manifest)
    told = {"title": report.title, "introduction": report.introduction, "parts": parts, "manifest": manifest}
    yield "report.json", _json(told)
    values = {"report": report, "manifest": manifest, "most": MOST_ROWS, "pictures": pictures if plots_available() else None}
    style, script = page_style("folder.css"), asset("folder.js")
    yield "index.html", _bytes(page("folder.html", title=report.title, style=style, script=script, **values))


def _json(value: Mapping[str, Any]) -> bytes:
    return _bytes(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1) + "\n")


def _bytes(text: str) -> bytes:
    """UTF-8; a lone surrogate, which has no bytes, becomes a question mark."""
    return text.encode("utf-8", "replace")


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} cannot be made ({error.strerror}): choose a folder that is writable") from error


def _write(path: Path, content: bytes) -> None:
    """The whole file or nothing."""
    try:
        with atomic_path(path) as temporary:
            temporary.write_bytes(content)
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}): free some space or choose another folder") from error
