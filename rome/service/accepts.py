"""Which form of an explanation a client wants, from its Accept header."""

from __future__ import annotations

from collections.abc import Sequence

from rome.service.refusal import Refusal

__all__ = ["preferred"]


def preferred(accept: str, offered: Sequence[str]) -> str:
    """The offered media type that the header likes best, the first of equals. Raises Refusal when it wants none of them."""
    ranges = [_range(part) for part in accept.split(",")] if accept.strip() else [("*/*", 1.0)]
    quality = {kind: max((_match(kind, *wanted) for wanted in ranges), default=(0, 0.0))[1] for kind in offered}
    best = max(offered, key=lambda kind: quality[kind])
    if quality[best] <= 0:
        raise Refusal("not_acceptable", f"this can be had as {' or '.join(offered)}", "header Accept")
    return best


def _range(part: str) -> tuple[str, float]:
    """A media range and its quality; a quality that is no number counts as 0."""
    kind, *parameters = (piece.strip().lower() for piece in part.split(";"))
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                return kind, min(max(0.0, float(parameter[2:])), 1.0)
            except ValueError:
                return kind, 0.0
    return kind, 1.0


def _match(kind: str, wanted: str, quality: float) -> tuple[int, float]:
    """How closely the range names the type (0: not at all), and the quality: the closest range decides."""
    if wanted == kind:
        return 3, quality
    if wanted == f"{kind.partition('/')[0]}/*":
        return 2, quality
    return (1, quality) if wanted == "*/*" else (0, 0.0)
