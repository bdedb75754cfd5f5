"""What a synthetic mistake is about, in the words of MQM (SEScore, table 1)."""

from __future__ import annotations

import unicodedata

from rome.train.synthesis.values import Operation

__all__ = ["TYPES", "error_type"]

TYPES = ("addition", "omission", "mistranslation", "punctuation", "spelling", "grammar")


def error_type(operation: Operation) -> str:
    """One of TYPES: punctuation where only marks change, spelling where only casing or one word's accents do, else by its kind."""
    marks = [_is_marks(text) for text in (operation.original, operation.new) if text.strip()]
    if operation.kind == "swap":
        return "punctuation" if all(_is_marks(word) for word in operation.original.split()) else "grammar"
    if all(marks):
        return "punctuation"
    if operation.kind == "insertion":
        return "addition"
    if operation.kind == "deletion":
        return "omission"
    return "spelling" if _bare(operation.original) == _bare(operation.new) else "mistranslation"


def _is_marks(text: str) -> bool:
    return not any(character.isalnum() for character in text)


def _bare(text: str) -> str:
    """Letters and digits alone, without casing and accents."""
    return "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if c.isalnum())
