"""How much one client may ask of the service; every number has a safe default."""

from __future__ import annotations

from dataclasses import dataclass, fields

from rome.exceptions import InputError

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes, counts and seconds. Raises InputError for a number that is not above 0 (``wait_seconds`` may be 0).

    body_bytes : a request's body. pairs : pairs a request. references : references a pair. characters : characters a text.
    explain_characters : the same where all the evidence is asked for as JSON: its matrices grow with the square of a text.
    queue : requests that wait or are being scored; one more is refused with 503. seconds : a request, from its last byte to the score.
    connections : open connections. receive_seconds : a request's head, and again its body; also an idle connection.
    batch_pairs, batch_characters : references scored in one call of the metric, and the characters of all its texts.
    wait_seconds : how long a call waits for more requests to join it. grace_seconds : what a shutdown leaves for what is in hand.
    """

    body_bytes: int = 1 << 20
    pairs: int = 256
    references: int = 32
    characters: int = 4_000
    explain_characters: int = 1_000
    queue: int = 100
    seconds: float = 60.0
    connections: int = 200
    receive_seconds: float = 10.0
    batch_pairs: int = 32
    batch_characters: int = 20_000
    wait_seconds: float = 0.005
    grace_seconds: float = 30.0

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if not (0 < value < float("inf") or (value == 0 and item.name == "wait_seconds")):
                raise InputError(f"the limit {item.name} is {value}: give a number above 0")
