"""Find the argument, column or option that was meant by another name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Returned = TypeVar("Returned")
SYNONYMS = (
    "hypothesis hypotheses hyp hyps prediction predictions pred preds candidate candidates cand cands output outputs actual_output"
    " response responses answer answers generated generation generations translation translations mt sys system text texts".split(),
    "reference references ref refs target targets tgt gold golds label labels expected expected_output ground_truth truth".split(),
)
"""Names that other tools give to the same thing."""


def meant(name: str, names: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the one of the names that means the same or is spelt nearly so, None without one; case, hyphens and underscores do not count."""
    known = {each.lower().strip("-").replace("-", "_"): each for each in names}
    word = name.lower().strip("-").replace("-", "_")
    same = next((group for group in SYNONYMS if word in group), ())
    near = next((each for each in same if each in known), None) or next(iter(get_close_matches(word, known, 1, cutoff)), None)
    return None if near is None else known[near]


def hints(function: Callable[Given, Returned]) -> Callable[Given, Returned]:
    """Let a call with a wrong argument raise a TypeError that names the right one."""
    parameters = signature(function).parameters
    named = [name for name in parameters if name != "self"]
    places = sum(one.kind is not one.KEYWORD_ONLY for one in parameters.values())
    title = function.__qualname__.removesuffix(".__init__")

    @wraps(function)
    def call(*args: Given.args, **given: Given.kwargs) -> Returned:
        if len(args) > places:
            raise TypeError(f"{title}() takes its arguments by name: write {', '.join(f'{name}=' for name in named)}")
        if wrong := [name for name in given if name not in named]:
            near = [right for name in wrong if (right := meant(name, named))]
            remedy = f"did you mean {', '.join(near)}?" if near else f"it takes {', '.join(named)}"
            raise TypeError(f"{title}() has no argument {', '.join(wrong)}: {remedy}")
        return function(*args, **given)

    return call
