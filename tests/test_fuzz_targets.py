"""The readers that `benchmarks/fuzz.py` throws changed bytes at for minutes: here without its guide, for moments, and what it found."""

from __future__ import annotations

import importlib
import random
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
targets: Any = importlib.import_module("fuzz_targets")
TOKENS = (b"\0", b"\xff", b"\n", b"\t", b'"', b"[", b"{", b"null", b"-1", b"1e999", b"NaN", b"\\ud800", b"\x1f\x8b", b"9" * 400)
DEEP = {"lists": b"[" * 100_000, "objects": b'{"a":' * 100_000, "a row": b'{"item": ' + b"[" * 100_000 + b"\n"}
CHANGES = 60


@pytest.fixture(scope="module", autouse=True)
def _scratch() -> Iterator[None]:
    """Remove the folder of the targets at the end."""
    yield
    shutil.rmtree(targets.scratch(), ignore_errors=True)


def changed(content: bytes, chance: random.Random) -> bytes:
    """One to three changes of a kind that no guide needs to find."""
    for _ in range(chance.randint(1, 3)):
        at, token = chance.randint(0, len(content)), chance.choice(TOKENS)
        other = chance.randint(0, len(content))
        content = chance.choice(
            (
                content[:at] + token + content[at:],
                content[:at] + token + content[at + len(token) :],
                content[:at] + content[at + chance.randint(1, 9) :],
                content[:at],
                content + content[min(at, other) : max(at, other)],
                content[:at] + bytes([chance.randrange(256)]) + content[at + 1 :],
            )
        )
    return content


@pytest.mark.parametrize("name", targets.TARGETS)
def test_a_reader_accepts_its_files_and_refuses_in_one_line(name: str) -> None:
    """What the fuzzer sets out from is read; what it becomes is read or refused, never another error."""
    target, chance = targets.TARGETS[name], random.Random(name)
    for seed in target.seeds():
        assert targets.outcome(target, seed) == ("refused" if seed == b"\xed\xa0\x80" else "read")
        for _ in range(CHANGES):
            content = changed(seed, chance)
            assert targets.outcome(target, content) in ("read", "refused"), content


@pytest.mark.parametrize("kind", DEEP)
@pytest.mark.parametrize("name", targets.TARGETS)
def test_deep_nesting_ends_nothing(name: str, kind: str) -> None:
    """A hundred thousand brackets, for every reader."""
    assert targets.outcome(targets.TARGETS[name], DEEP[kind]) in ("read", "refused")
