"""Scoring files in parts: what is read (`inputs`), how it is shared out (`plan`), how it is written whole (`parts`)."""
