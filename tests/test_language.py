"""Words that a reader would have to translate are in no page, docstring or comment."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[1]
FILES = [
    *(path for room in ("rome", "features", "train", "data", "docs", "benchmarks") for path in sorted((TOP / room).rglob("*.py"))),
    *sorted((TOP / "docs" / "pages").rglob("*.md")),
    *(TOP / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
]
AVOIDED = (
    "a text a line", "one text a line", "one segment a line", "one row a", "of before", "have no fellow", "without a word on",
    "and be told", " is told", " are told", "how telling", " stands in", "stand in the", "lies in", "lie in the", "no number of",
    "is no text", "is no list", "is no share", "goes where it goes", "without consequence", "the door:",
)  # fmt: skip


@pytest.mark.parametrize("words", AVOIDED)
def test_plain_words(words: str) -> None:
    """Name every file and line with the words."""
    pattern = re.compile(rf"\b{re.escape(words)}", re.IGNORECASE)
    lines = [
        f"{path.relative_to(TOP)}:{number}: {line.strip()[:100]}"
        for path in FILES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if pattern.search(line)
    ]
    assert lines == []
