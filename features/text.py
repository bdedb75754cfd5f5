"""Turn a text as people write it into the text that is compared, and keep the place of each of its characters in the user's text.

Invisible characters are dropped, marks of Markdown too, and what has several forms in Unicode gets one of them (NFKC, with plain quotes and
hyphens). Fractions and exponents stay, because 2½ is not 21/2 and 10⁶ is not 106. Inside code every visible character stays.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

Edit = tuple[int, int, str]
"""The start and the end of some characters, and what takes their place."""
NOT_PLAIN = re.compile(r"[^\t-\r\x1c-)+-;=-Z\\\]a-z{}]"), re.compile(r"(?m)^[ \t]*[-+>#=]")
"""What every text contains that may be changed: a character, or the beginning of a line."""
UNSEEN = (
    "(?:[\0-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]|(?<![\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])\u200d)+"
)
INVISIBLE = re.compile(f"(?<=[ \t\xa0]){UNSEEN}[ \t\xa0]+|{UNSEEN}")
"""Controls, and what Unicode calls ignorable, with one of the blanks on both sides; a joiner stays between emoji."""
ACCENTS = "[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u1161-\u11ff\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\uff9e\uff9f]"
CHARACTER = re.compile(rf"(?s)[^\x00-\x7f]{ACCENTS}*|.{ACCENTS}+|(?<=[\w)\]])\^[-+]?\d+(?!\w)")
"""A character that is not ASCII, with what Unicode may compose with it, or an exponent."""
SIGNS = str.maketrans("‘’‚‛‹›ʼ´“”„‟«»‐‑−", "''''''''\"\"\"\"\"\"---")
RAISED = str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")
CODE = re.compile(
    r"(?ms)^[ \t]*(?P<fence>`{3,}|~{3,})[^\n`]*\n(?P<block>.*?)(?:^[ \t]*(?P=fence)[`~]*[ \t\r]*(?:\n|\Z)|\Z)"
    r"|(?<![\w`\\])(?P<mark>`+)(?=[^\s`])(?P<inline>[^\n]{1,500}?)(?<=[^\s`])(?P=mark)(?!`)"
)
TABLE = re.compile(
    r"(?m)^[^\n|]*\|[^\n]*\n(?P<rule>(?=[^\n|]*\|)[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t\r]*(?:\n|\Z))"
    r"(?:[^\n|]*\|[^\n]*(?:\n|\Z))*"
)
CELLS = re.compile(r"[ \t]*(?:\|[ \t]*)+")
LINK = r"(?<!\w)(!?\[)[^\[\]\n]{1,300}(\]\((?=[^()\s]*[./#:])[^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:[ \t]+\"[^\"\n]*\")?\))"
MARKS = (
    LINK,
    r"^( {0,3}#{1,6}[ \t]+)(?=\S)(?![^\n]* #)",
    r"^([ \t]*(?:(?:[*•]|[-+>](?![ \t]+\d))[ \t]+)+)(?=\S)",
    r"^([ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|={3,}[ \t]*))\r?$",
    r"(<)(?:https?://|mailto:)[^<>\s]+(>)",
    *(
        rf"(?<![\w{one}])({one}{{{count}}})(?![\s{one},;)]|\w+__)(?=[^\n]{{1,500}}?(?<![\s{one}(])(\1)(?![\w{one}]))"
        for one, count in ((r"\*", "1,3"), ("_", "1,2"), ("~", "2"))
    ),
)
"""Links, headings, bullets and quotations, rules, addresses, emphasis; their groups are the marks."""


class EditedText(NamedTuple):
    """Hold a text after some edits, such as the form in which it is compared.

    Attributes
    ----------
    starts, ends
        For each of its characters, the place in the original text of the characters that it stands for.
    code
        The places of its pieces of code, a line each.
    """

    original: str
    text: str
    starts: Sequence[int]
    ends: Sequence[int]
    code: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, text: str) -> EditedText:
        """Return a text without edits."""
        return cls(text, text, range(len(text)), range(1, len(text) + 1))

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return the place of the characters [start, end) in the original text."""
        first = self.starts[start] if start < len(self.text) else len(self.original)
        return first, self.ends[end - 1] if start < end else first

    def edited(self, edits: Iterable[Edit]) -> EditedText:
        """Return the text after some edits of it, in order."""
        pieces, starts, ends, last = list[str](), list[int](), list[int](), 0
        for start, end, new in edits:
            place = self.place(start, end)
            pieces += [self.text[last:start], new]
            starts += [*self.starts[last:start], *[place[0]] * len(new)]
            ends += [*self.ends[last:start], *[place[1]] * len(new)]
            last = end
        if not pieces:
            return self
        text = "".join([*pieces, self.text[last:]])
        return self._replace(text=text, starts=(*starts, *self.starts[last:]), ends=(*ends, *self.ends[last:]))

    def without(self, spans: Iterable[re.Match[str]]) -> EditedText:
        """Return the text without what some matches found in it, in order."""
        return self.edited((*found.span(), "") for found in spans)


def visible(text: str) -> bool:
    """Return whether a text has a character that can be seen."""
    return bool(INVISIBLE.sub("", text).strip())


def compared(text: str, *, addresses: bool = False) -> EditedText:
    """Return a text as it is compared, with the addresses of its links or without."""
    if not any(pattern.search(text) for pattern in NOT_PLAIN):
        return EditedText.of(text)
    seen, code = EditedText.of(text).without(INVISIBLE.finditer(text)), set[int]()
    found = _in_one_form(seen.edited(_hidden_code(seen, code)))
    found = found.edited(_marks(found.text, addresses=addresses))
    if not found.text.strip():  # marks alone
        return _in_one_form(seen)
    characters = (text[place] if place in code else own for place, own in zip(found.starts, found.text, strict=True))
    lines = re.finditer("1+", "".join("01"[place in code] for place in found.starts))
    return found._replace(text="".join(characters), code=tuple(line.span() for line in lines))


def compared_pair(reference: str, hypothesis: str) -> tuple[EditedText, EditedText]:
    """Return two texts as they are compared: addresses of links, and code as such, count where both have some."""
    addresses = all("](" in text and re.search(LINK, text) for text in (reference, hypothesis))
    one, other = (compared(text, addresses=addresses) for text in (reference, hypothesis))
    return (one, other) if one.code and other.code else (one._replace(code=()), other._replace(code=()))


def _hidden_code(seen: EditedText, code: set[int]) -> Iterator[Edit]:
    """Yield the edits that drop the marks of code and hide its characters from later patterns; ``code`` gets their places."""
    for found in CODE.finditer(seen.text):
        inside = range(*found.span("block" if found["fence"] else "inline"))
        for place in range(*found.span()):
            character = seen.text[place]
            yield place, place + 1, "" if place not in inside else character if character.isspace() else "\ue000"
            if place in inside and character not in "\r\n":
                code.add(seen.starts[place])


def _in_one_form(text: EditedText) -> EditedText:
    """Return a text with one form for what Unicode writes in several; what would be a blank with an accent stays."""

    def form(found: re.Match[str]) -> str:
        written, kind = found[0], unicodedata.decomposition(found[0][0])
        before = unicodedata.normalize("NFC", found.string[max(0, found.start() - 4) : found.start()])[-1:]
        new = unicodedata.normalize("NFKC", written.translate(SIGNS)).translate(SIGNS)
        new = written[1:].translate(RAISED) if written[0] == "^" else new
        raised = kind.startswith("<super>") and re.match(r"[\w)\].!?⁺⁻]", before)
        kept = raised or kind.startswith("<fraction>") or (new[0] == " " and not written.isspace())
        return unicodedata.normalize("NFC", written) if kept else new

    return text.edited((*found.span(), form(found)) for found in CHARACTER.finditer(text.text))


def _marks(text: str, *, addresses: bool) -> list[Edit]:
    """Return the edits that drop the marks of Markdown; cells of a table keep a blank between them, and two numbers their line."""
    marks = dict[int, str]()
    for found in (found for pattern in MARKS for found in re.finditer(pattern, text, re.MULTILINE)):
        for group in range(1, found.re.groups + 1):
            marks |= dict.fromkeys(range(*found.span(group)), "")
    for link in re.finditer(LINK, text) if addresses else ():
        marks |= {place: text[place] for place in range(link.start(2) + 2, link.end() - 1)} | {link.start(2): " "}
    for table in TABLE.finditer(text):
        for cells in CELLS.finditer(text, *table.span()):
            before, after = text[: cells.start()][-1:].strip(), text[cells.end() :][:1].strip()
            between = " | " if before.isdigit() and after.isdigit() else " " if before and after else ""
            marks |= dict.fromkeys(range(*cells.span()), "") | {cells.start(): between}
        marks |= dict.fromkeys(range(*table.span("rule")), "")
    return [(place, place + 1, new) for place, new in sorted(marks.items())]
