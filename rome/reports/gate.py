"""The result of a gate as lines for a terminal, as JUnit XML and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from rome.features.errors.evidence import SHARES
from rome.reports.tables import shown
from rome.text_table import shorten, visible

if TYPE_CHECKING:
    from rome.results.gate import GateResult, Offence


NUMBERS = ("score", *SHARES)


def gate_text(result: GateResult) -> str:
    """Return the offending segments with both texts, then the summary."""
    return "\n".join([*(line for offence in result.offences for line in _lines(offence)), result.summary])


def _lines(offence: Offence) -> Iterator[str]:
    yield _clean(f"segment {offence.name}  {offence.message}")
    yield _clean(f"  reference   {' '.join(offence.segment.reference.split())}")
    yield _clean(f"  hypothesis  {' '.join(offence.segment.hypothesis.split())}")


def gate_junit(result: GateResult) -> str:
    """Return JUnit XML: one test case per segment, with a failure for an offending one."""
    offences = {id(offence.segment): offence for offence in result.offences}
    suites = ElementTree.Element("testsuites")
    numbers = {"tests": str(len(result.segments)), "failures": str(len(offences)), "errors": "0"}
    suite = ElementTree.SubElement(suites, "testsuite", {"name": "rome check", **numbers})
    for name, segment in zip(result.names, result.segments, strict=True):
        title = _clean(f"segment {name}: {shorten(' '.join(segment.hypothesis.split()), 60)}")
        case = ElementTree.SubElement(suite, "testcase", {"classname": "rome.check", "name": title})
        offence = offences.get(id(segment))
        if offence is not None:
            failure = ElementTree.SubElement(case, "failure", {"message": _clean(offence.message), "type": "rome"})
            failure.text = "\n".join(_lines(offence))
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suites, encoding="unicode") + "\n"


def gate_markdown(result: GateResult) -> str:
    """Return a heading, the counts beside their limits, and a table of the offending segments."""
    lines = [f"### RoMe: {'passed' if result.passed else 'failed'}", "", f"{result.summary}.", ""]
    if result.offences:
        header = ("segment", *NUMBERS, "what", "reference", "hypothesis")
        lines += [f"| {' | '.join(header)} |", "|---" * len(header) + "|"]
        for offence in result.offences:
            cells = (offence.message, offence.segment.reference, offence.segment.hypothesis)
            numbers = (shown(getattr(offence.segment, name)) for name in NUMBERS)
            lines.append("| " + " | ".join([_cell(offence.name), *numbers, *map(_cell, cells)]) + " |")
    return "\n".join(lines) + "\n"


def _clean(text: str) -> str:
    """Return the text as XML, Markdown and a terminal can hold it."""
    return visible(text).encode("utf-8", "replace").decode("utf-8").translate({0xFFFE: "?", 0xFFFF: "?"})


def _cell(text: str) -> str:
    """Escape a text for a Markdown table."""
    words = _clean(shorten(" ".join(text.split()), 160)).replace("&", "&amp;").replace("<", "&lt;")
    return "".join(f"\\{character}" if character in "\\`*_[]|#" else character for character in words)
