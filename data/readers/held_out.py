"""Rows of the training data that are kept out of training, so that settings are chosen and models judged on rows they never saw."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

HELD_DOMAIN = "podcast"
"""The domain of SummEdits that trains nothing: of average size, with nearly the same mix of edits as the whole set."""
GROUPS = 10
"""One training group in this many is held out."""


def is_held_out_summary(row: Mapping[str, Any]) -> bool:
    """Return whether a row of SummEdits belongs to the held-out domain."""
    return bool(row["domain"] == HELD_DOMAIN)


def is_held_out_paws(row: Mapping[str, Any]) -> bool:
    """Return whether a pair of PAWS belongs to the held-out half.

    Notes
    -----
    PAWS repeats its sentences: most texts occur in several pairs, in another order of words or as the other side. The half is therefore chosen
    by the longest word of ``a`` (of equally long words the first in the alphabet), which nearly all pairs made of one sentence share. By the
    whole text, 80 % of the rows would have a sentence with the same words in the other half; this way 8 % have.
    """
    words = sorted(set(re.findall(r"\w+", row["a"].lower())))
    return _share("paws", max(words, key=len, default=""), 2)


def is_held_out_group(group_id: str) -> bool:
    """Return whether an annotated training group belongs to the held-out tenth."""
    return _share("group", group_id, GROUPS)


def _share(kind: str, key: str, parts: int) -> bool:
    """Return whether a key falls into the first of some equal parts; the same on every machine and in every run."""
    digest = hashlib.blake2b(f"{kind}\0{key}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % parts == 0
