"""Limit what one client may ask of the service; the options of `rome serve` are made from these fields."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from rome.exceptions import InputError


def _limit(default: float, unit: str, text: str) -> Any:
    """Return a field with its unit and help for the command line."""
    return field(default=default, metadata={"unit": unit, "help": f"{text} (default: {default})"})


@dataclass(frozen=True)
class Limits:
    """Sizes, counts and seconds. Raises InputError for a number that is not above 0."""

    max_body: int = _limit(1 << 20, "BYTES", "per body")
    max_pairs: int = _limit(256, "N", "pairs per request")
    max_references: int = _limit(32, "N", "references per pair")
    max_characters: int = _limit(4000, "N", "characters per text")
    max_queue: int = _limit(100, "N", "waiting and running requests; more get 503")
    max_connections: int = _limit(200, "N", "open connections; more get 503")
    timeout: float = _limit(60.0, "SECONDS", "per request; then 504, and the rest is dropped")
    receive_timeout: float = _limit(10.0, "SECONDS", "to send a body, and of idle connections")
    grace: float = _limit(30.0, "SECONDS", "to finish running requests at the end")

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if not 0 < value < float("inf"):
                raise InputError(f"{item.name} must be a number above 0, got {value}")
