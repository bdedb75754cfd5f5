"""What a gate found, as lines for a terminal, as JUnit's XML and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

from rome.results.gate import GateResult, Offence
from rome.text_table import shorten, visible

LISTED = 50
"""Segments that a Markdown summary lists at most."""


def gate_text(result: GateResult) -> str:
    """The segments that are to blame with both texts, then the summary."""
    return "\n".join([*(line for offence in result.offences for line in _lines(offence)), result.summary])


def _lines(offence: Offence) -> Iterator[str]:
    yield _clean(f"segment {offence.name}  {offence.message}")
    yield _clean(f"  reference   {' '.join(offence.segment.reference.split())}")
    yield _clean(f"  hypothesis  {' '.join(offence.segment.hypothesis.split())}")


def gate_junit(result: GateResult) -> str:
    """JUnit's XML: one test case a segment, with a failure where it is to blame."""
    blamed = {id(offence.segment): offence for offence in result.offences}
    suites = ElementTree.Element("testsuites")
    numbers = {"tests": str(len(result.segments)), "failures": str(len(blamed)), "errors": "0"}
    suite = ElementTree.SubElement(suites, "testsuite", {"name": "rome check", **numbers})
    for name, segment in zip(result.names, result.segments, strict=True):
        title = _clean(f"segment {name}: {shorten(' '.join(segment.hypothesis.split()), 60)}")
        case = ElementTree.SubElement(suite, "testcase", {"classname": "rome.check", "name": title})
        offence = blamed.get(id(segment))
        if offence is not None:
            failure = ElementTree.SubElement(case, "failure", {"message": _clean(offence.message), "type": "rome"})
            failure.text = "\n".join(_lines(offence))
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suites, encoding="unicode") + "\n"


def gate_markdown(result: GateResult) -> str:
    """A heading, the counts beside their limits, and a table of the segments that are to blame."""
    lines = [f"### RoMe: {'passed' if result.passed else 'failed'}", "", f"{result.summary}.", ""]
    if result.offences:
        lines += ["| segment | score | what | reference | hypothesis |", "|---|---|---|---|---|"]
        for offence in result.offences[:LISTED]:
            cells = (offence.message, offence.segment.reference, offence.segment.hypothesis)
            lines.append("| " + " | ".join([_cell(offence.name), f"{offence.segment.score:.3f}", *map(_cell, cells)]) + " |")
        more = len(result.offences) - LISTED
        lines += ["", f"{more} segments more."] if more > 0 else []
    return "\n".join(lines) + "\n"


def _clean(text: str) -> str:
    """The text as XML, Markdown and a terminal can hold it."""
    return visible(text).encode("utf-8", "replace").decode("utf-8").translate({0xFFFE: "?", 0xFFFF: "?"})


def _cell(text: str) -> str:
    """A text as Markdown's tables hold it, none of its characters read as markup."""
    words = _clean(shorten(" ".join(text.split()), 160)).replace("&", "&amp;").replace("<", "&lt;")
    return "".join(f"\\{character}" if character in "\\`*_[]|#" else character for character in words)
