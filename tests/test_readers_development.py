"""The development data where it is present: as many items as published, the same texts and ratings every time."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from hashlib import blake2b

import pytest

from rome.data.readers.demetr import read_demetr
from rome.data.readers.mqm import FREITAG_2021, read_wmt23
from rome.data.readers.registry import DEVELOPMENT_SETS, read_rated
from rome.data.sources import data_folder
from rome.exceptions import InputError

SETS = {
    "bagel": (404, 404, "c3e2ec4f150b968b"),
    "bagel-mr": (404, 202, "6c9f0113977a0fd1"),
    "sfhotel": (875, 477, "886b92c0bd68c42a"),
    "sfrest": (1181, 601, "a6e49f9c8e2ef202"),
    "webnlg17": (666, 74, "3d144289d972a451"),
    "wmt15": (2000, 2000, "11caf872a38bb5ec"),
    "wmt23": (1869, 188, "646b95e5fe0262f2"),
}
"""Name -> outputs, items, digest."""


def present() -> bool:
    try:
        return (data_folder() / "human").is_dir() and (data_folder() / "demetr").is_dir()
    except InputError:
        return False


pytestmark = pytest.mark.skipif(not present(), reason="needs the public development data: set ROME_DATA to its folder")


@pytest.mark.parametrize("name", sorted(SETS))
def test_development_sets(name: str) -> None:
    """Every output is there once, its item shared by its competitors, and nothing changed since the figures were made."""
    found = read_rated(name)
    assert found.name == name
    assert (len(found.segments), len({segment.group for segment in found.segments}), found.digest) == SETS[name]
    assert set(SETS) == set(DEVELOPMENT_SETS) and len(found.published) == (6 if name == "wmt15" else 0)


def test_error_spans_cover_what_was_marked() -> None:
    """WMT23: 10,934 marks of three raters an output, 712 of them without a place; the published weights cost less in sum."""
    found = read_rated("wmt23")
    marks = [mark for segment in found.segments for given in segment.marks.values() for mark in given]
    assert (len(marks), sum(mark.start is None for mark in marks)) == (10934, 712)
    assert {len(segment.marks) for segment in found.segments} == {3}
    published = read_wmt23(weights=FREITAG_2021)
    means = [sum(segment.ratings["mqm"] for segment in one.segments) / len(one.segments) for one in (found, published)]
    assert means == pytest.approx([-4.62993, -4.52864], abs=1e-5)


def test_demetr() -> None:
    """15,375 checked items of 35 kinds in ten languages; eight are published without a change."""
    pairs = read_demetr()
    assert Counter(pair.severity for pair in pairs) == {"critical": 3559, "major": 3337, "minor": 6479, "base": 2000}
    assert Counter(pair.released_severity for pair in pairs) == {"critical": 5018, "major": 2378, "minor": 6479, "base": 1500}
    assert len({pair.kind for pair in pairs}) == 35
    assert len({(pair.language, pair.item) for pair in pairs}) == 500
    assert len({pair.language for pair in pairs}) == 10
    assert sum(pair.perturbed == pair.translation for pair in pairs) == 8
    digest = blake2b(digest_size=8)
    for pair in pairs:
        row = {name: value for name, value in asdict(pair).items() if name != "place"}
        digest.update(json.dumps(row, sort_keys=True, ensure_ascii=False).encode("utf-8"))
    assert digest.hexdigest() == "c4632feecc49a713"
