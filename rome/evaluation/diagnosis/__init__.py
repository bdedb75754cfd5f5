"""Diagnose metrics: blind spots, DEMETR, meaning before surface, component ablation, quality drift."""
