"""Judge metrics: agreement with people, diagnosis, annotation. This module names sets and experiments without loading anything."""

from __future__ import annotations

from rome.data.sources import SETS

ON_TEXTS = ("texts", "robustness")
ON_SETS = ("ablation", "drift")
EXPERIMENTS = {
    "texts": (
        "Blind spots",
        "Minimal pairs made of your texts: which mistakes does a metric miss or underrate?",
    ),
    "robustness": ("Robustness", "RoMe's five robustness cases (§4.7), made of your texts."),
    "demetr": (
        "DEMETR",
        "Accuracy and sensitivity on the minimal pairs of Karpinska et al. (2022), beside the published rows.",
    ),
    "meaning": (
        "Meaning before surface",
        "Does every acceptable rewrite score above every text with one critical mistake, whatever their distance in words?",
    ),
    "ablation": (
        "Component ablation",
        "The contribution of every component, with the net fitted anew each time (RoMe, table 5).",
    ),
    "drift": ("Quality drift", "A net fitted on bad outputs and tested on good ones (BLEURT, §5.2)."),
}
"""Experiment -> title and introduction of its report."""


def sets_text(*names: str) -> str:
    """Return a few lines on each named set: its content, its source, and the place of its file."""
    lines = [
        "sets with a name are public data that does not come with the package; each is read from its file, in our own layout,",
        "in the folder that the environment variable ROME_DATA names (or ../shared/data); files as released are read so too:",
    ]
    for name in names:
        known = SETS[name]
        lines += [f"  {name:13} {known.what}", f"{'':16}from {known.source}", f"{'':16}file $ROME_DATA/{known.file}"]
        lines += [f"{'':16}as released: {known.released}"] if known.released else []
    return "\n".join(lines)
