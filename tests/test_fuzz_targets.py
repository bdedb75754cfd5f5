"""The readers that `benchmarks/fuzz.py` throws changed bytes at for minutes: here without its guide, for moments, and what it found."""

from __future__ import annotations

import importlib
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

NAMES = (
    *("pairs", "texts", "stored scores", "request", "table of features", "net", "weights", "own ratings"),
    *("own ratings as a table", "annotations", "pairs to rate", "CoNLL-U", "JSON list"),
)
TOKENS = (b"\0", b"\xff", b"\n", b"\t", b'"', b"[", b"{", b"null", b"-1", b"1e999", b"NaN", b"\\ud800", b"\x1f\x8b", b"9" * 400)
DEEP = {"lists": b"[" * 100_000, "objects": b'{"a":' * 100_000, "a row": b'{"item": ' + b"[" * 100_000 + b"\n"}
CHANGES = 60


@pytest.fixture(scope="module")
def fuzzed() -> Iterator[ModuleType]:
    """The targets of the benchmark."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[1] / "benchmarks"))
        module = importlib.import_module("fuzz_targets")
        yield module
        shutil.rmtree(module.scratch(), ignore_errors=True)


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


def test_every_target_is_tried(fuzzed: ModuleType) -> None:
    """A target that is added to the benchmark is tried here as well."""
    assert set(NAMES) == set(fuzzed.TARGETS)


@pytest.mark.parametrize("name", NAMES)
def test_a_reader_accepts_its_files_and_refuses_in_one_line(fuzzed: ModuleType, name: str) -> None:
    """What the fuzzer sets out from is read; what it becomes is read or refused, never another error."""
    target, chance = fuzzed.TARGETS[name], random.Random(name)
    for seed in target.seeds():
        assert fuzzed.outcome(target, seed) == ("refused" if seed == b"\xed\xa0\x80" else "read")
        for _ in range(CHANGES):
            content = changed(seed, chance)
            assert fuzzed.outcome(target, content) in ("read", "refused"), content


@pytest.mark.parametrize("kind", DEEP)
@pytest.mark.parametrize("name", NAMES)
def test_deep_nesting_ends_nothing(fuzzed: ModuleType, name: str, kind: str) -> None:
    """A hundred thousand brackets, for every reader."""
    assert fuzzed.outcome(fuzzed.TARGETS[name], DEEP[kind]) in ("read", "refused")
