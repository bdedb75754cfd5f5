"""How much one client may ask of the service; the options of `rome serve` are made of these fields."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from rome.exceptions import InputError


def _limit(default: float, unit: str, text: str) -> Any:
    """A field with what the command line says of it."""
    return field(default=default, metadata={"unit": unit, "help": f"{text} (default: {default})"})


@dataclass(frozen=True)
class Limits:
    """Sizes, counts and seconds. Raises InputError for a number that is not above 0."""

    max_body: int = _limit(1 << 20, "BYTES", "a request's body")
    max_pairs: int = _limit(256, "N", "pairs a request")
    max_references: int = _limit(32, "N", "references a pair")
    max_characters: int = _limit(4000, "N", "characters a text")
    max_explain_characters: int = _limit(
        1000, "N", "characters a text to explain as JSON, whose matrices grow with their square"
    )
    max_queue: int = _limit(100, "N", "requests that wait or are being scored; more get 503")
    max_connections: int = _limit(200, "N", "open connections; more get 503")
    timeout: float = _limit(60.0, "SECONDS", "a request; then 504, and what is not begun is dropped")
    receive_timeout: float = _limit(10.0, "SECONDS", "to send a body, and of idleness")
    grace: float = _limit(30.0, "SECONDS", "to finish what is in hand at the end")
    batch_pairs: int = _limit(32, "N", "pairs of a request scored in one call, after which other requests have their turn")
    batch_characters: int = _limit(20_000, "N", "characters in one call")

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if not 0 < value < float("inf"):
                raise InputError(f"the limit {item.name} must be a number above 0, got {value}")
