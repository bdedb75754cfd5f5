"""Perturbations: small functions from an analysed text to a changed one with its exact edits (DEMETR, RoMe 4.7)."""
