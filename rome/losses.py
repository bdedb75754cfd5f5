"""Where the points went: what a segment lost against a perfect text, mistake by mistake."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rome.features.errors.values import ErrorSpan
from rome.features.values import FEATURES
from rome.text_table import fixed, shorten

__all__ = ["Loss", "losses_of", "told"]

WIDTH = 30
"""Columns of a text that is named."""
SHOWN = 0.005
"""What costs less rounds to no point: such losses are told together."""


@dataclass(frozen=True, slots=True)
class Loss:
    """What one mistake, or one feature, cost.

    feature : one of FEATURES. loss : at most 0, a share of the whole score. error : the mistake; None where the feature itself is meant.
    """

    feature: str
    loss: float
    error: ErrorSpan | None = None


def losses_of(contributions: Iterable[float], errors: Sequence[ErrorSpan]) -> tuple[Loss, ...]:
    """The contributions, in the order of FEATURES, as losses, the largest first; the one of ``errors`` is shared out by weight.

    They add up to what the contributions do. Without errors of any weight ``errors`` stands as a whole.
    """
    total = sum(error.weight for error in errors)
    found: list[Loss] = []
    for name, share in zip(FEATURES, contributions, strict=True):
        if name == "errors" and total > 0.0:
            found += [Loss(name, share * error.weight / total, error) for error in errors]
        else:
            found.append(Loss(name, share))
    return tuple(sorted(found, key=lambda loss: loss.loss))


def told(losses: Sequence[Loss], arrow: str = "->") -> Iterator[tuple[str, str, str]]:
    """One row a loss: ``-.31``, what it was (``nine -> ten``, or a feature), what kind of mistake (``number, major``).

    Those that round to nothing come last, as one. No row where nothing was lost.
    """
    large = [loss for loss in losses if loss.loss <= -SHOWN]
    for loss in large:
        yield _points(loss.loss), *_named(loss, arrow)
    small = [loss.loss for loss in losses if -SHOWN < loss.loss < 0.0]
    if small and (not large or sum(small) <= -SHOWN):
        yield _points(sum(small)), f"{len(small)} smaller losses" if len(small) > 1 else "1 smaller loss", ""


def _points(loss: float) -> str:
    return fixed(loss, 2).replace("-0.", "-.")


def _named(loss: Loss, arrow: str) -> tuple[str, str]:
    """The texts concerned, and type and severity; the feature and nothing where no mistake is meant."""
    error = loss.error
    if error is None:
        return loss.feature, ""
    before, after = (shorten(span.text, WIDTH) if span else "" for span in (error.reference, error.hypothesis))
    texts = f"{before} {arrow} {after}" if before and after and before != after else before or after
    kind = f"{error.kind} {error.type}".strip() if error.kind in ("missing", "unnecessary") else error.type or error.kind
    return texts or error.kind, f"{kind}, {'slight' if error.severity == 'none' else error.severity}"
