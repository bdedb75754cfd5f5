"""Define the settings of the errors feature."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SurfaceConfig:
    """Set the probability that a difference on the surface is an error; all such errors are minor.

    Attributes
    ----------
    sure
        Words typed twice, and the wrong one of `a` and `an`.
    likely
        A missing final mark, a stray mark, a sentence with a small first letter, a wrong blank.
    possible
        Other marks and capitals.
    slip
        The weight of an error in casing, spacing or punctuation relative to another minor error (.1 in MQM, Freitag et al. 2021). A missing
        final mark has the full weight.
    again
        The weight of each further word typed twice, where such words are at most a third of the text.
    """

    sure: float = 0.9
    likely: float = 0.6
    possible: float = 0.35
    slip: float = 0.2
    again: float = 0.4


@dataclass(frozen=True, slots=True)
class ErrorsConfig:
    """Set when words are errors.

    Attributes
    ----------
    threshold
        The probability of an error that at least one word of an error span has.
    join
        The probability from which a neighbour of such a word belongs to the same span.
    nearness
        The share of the least weight of a severity's band from which an error has that severity.
    head
        A digest of the reader's file.
    below
        After how many layers of the trunk the reader begins.
    """

    threshold: float = 0.2
    join: float = 0.1
    nearness: float = 0.6
    surface: SurfaceConfig = field(default_factory=SurfaceConfig)
    head: str = ""
    below: int = 0
