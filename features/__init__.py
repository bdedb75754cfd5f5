"""Features: their values, the analyser, and one file per feature."""
