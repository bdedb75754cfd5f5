"""Path tricks: a link or a name inside what RoMe is given leads nowhere but into the folder that was named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rome.exceptions import InputError
from rome.reports.folder import write_report
from rome.reports.model import Report, Table

BOARD = Table("board", "Board", ("a",), (("x",),))


def tree(folder: Path) -> dict[str, bytes | str]:
    """Every file of a folder with its content, every link with where it leads."""
    return {
        str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


@pytest.mark.parametrize("name", ["tables", "figures", "index.html", "report.json", "manifest.json", "tables/board.tsv"])
@pytest.mark.parametrize("inside", [False, True])
def test_a_link_in_a_report_is_not_followed(tmp_path: Path, name: str, inside: bool) -> None:
    """A folder or a file of an earlier report that became a link, to a place outside or inside: refused, and nothing is changed."""
    folder, place = tmp_path / "report", tmp_path / "report" / name
    write_report(Report("Old", (BOARD, Table("more", "More", ("a",), ()))), folder)
    (folder / "figures").mkdir(exist_ok=True)
    aside = (folder if inside else tmp_path) / "aside"
    place.rename(aside)
    place.symlink_to(aside)
    before = tree(tmp_path)
    if name == "figures":  # nothing is written there
        write_report(Report("New", (BOARD,)), folder)
        assert (folder / "figures").is_symlink()
        return
    with pytest.raises(InputError, match=f"{name} is a link, which may lead out of the report"):
        write_report(Report("New", (BOARD,)), folder)
    assert tree(tmp_path) == before


def test_the_report_itself_may_be_a_link(tmp_path: Path) -> None:
    """The folder is the user's own choice."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_report(Report("New", (BOARD,)), tmp_path / "link")
    assert (tmp_path / "real" / "tables" / "board.tsv").read_text() == "a\nx\n"


@pytest.mark.parametrize("name", ["../board", "/tmp/board", "a/b", "a\\b", "..", ".hidden", "", "a\nb", "b" * 200, "nul\0"])
def test_a_part_of_a_report_names_no_path(tmp_path: Path, name: str) -> None:
    """The names of tables become file names, so they are plain ones."""
    with pytest.raises(InputError, match="cannot name a file"):
        write_report(Report("New", (Table(name, "T", ("a",), ()),)), tmp_path / "report")
    assert not (tmp_path / "report").exists()
