"""Held-out rows: the same choice everywhere, about the promised share, and sentences of the same words stay together."""

from __future__ import annotations

from rome.data.readers.groups import HELD_DOMAIN, is_held_out_group, is_held_out_paws, is_held_out_summary


def test_a_tenth_of_the_groups_is_held_out():
    """Hashes choose, so the share is near a tenth and never changes."""
    held = [n for n in range(2000) if is_held_out_group(f"w{n:03}")]
    assert 150 < len(held) < 250
    assert held[:3] == [n for n in range(2000) if is_held_out_group(f"w{n:03}")][:3]


def test_half_of_the_pairs_is_held_out():
    """Half of the pairs, whatever the sentence around the longest word."""
    words = [f"longestword{n:04}" for n in range(2000)]
    held = [is_held_out_paws({"a": f"The {word} is near."}) for word in words]
    assert 900 < sum(held) < 1100
    assert held == [is_held_out_paws({"a": f"Near is the {word.title()}!"}) for word in words]
    assert isinstance(is_held_out_paws({"a": ""}), bool)


def test_one_domain_is_held_out():
    """The domain alone decides."""
    assert is_held_out_summary({"domain": HELD_DOMAIN})
    assert not is_held_out_summary({"domain": "scitldr"})
