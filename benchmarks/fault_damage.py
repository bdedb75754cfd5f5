"""Ways to damage the content of a file; each takes the content and a source of chance."""

from __future__ import annotations

import random

PAGE = 4096


def bits(content: bytes, chance: random.Random) -> bytes:
    """A few bits flipped, half of the time where the structure of the file stands."""
    damaged = bytearray(content)
    for _ in range(chance.choice([1, 1, 1, 4, 16])):
        place = chance.randrange(len(content))
        if chance.random() < 0.5:
            place = min(len(content) - 1, place // PAGE * PAGE + chance.randrange(100))
        damaged[place] ^= 1 << chance.randrange(8)
    return bytes(damaged)


def header(content: bytes, chance: random.Random) -> bytes:
    """One byte of the first hundred, which say what the file is."""
    place = chance.randrange(100)
    return content[:place] + bytes([chance.randrange(256)]) + content[place + 1 :]


def cut(content: bytes, chance: random.Random) -> bytes:
    """A shorter file."""
    return content[: chance.randrange(len(content))]


def cut_by_pages(content: bytes, chance: random.Random) -> bytes:
    """Shorter by one page at least, which is noticed as soon as the file is opened."""
    return content[: chance.randrange(1, len(content) - PAGE)]


def pages(content: bytes, chance: random.Random) -> bytes:
    """A page of zeros or of another place, as after a torn write."""
    one, other = (chance.randrange(len(content) // PAGE) * PAGE for _ in range(2))
    page = bytes(PAGE) if chance.random() < 0.5 else content[other : other + PAGE]
    return content[:one] + page + content[one + PAGE :]


def any_bits(content: bytes, chance: random.Random) -> bytes:
    """One to four bits flipped anywhere, half of the time in the last quarter, which says where everything stands."""
    whole = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        whole[chance.randrange(chance.choice([0, len(content) * 3 // 4]), len(content))] ^= 1 << chance.randrange(8)
    return bytes(whole)
