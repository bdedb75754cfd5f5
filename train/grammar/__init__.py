"""The recipe of the grammar model."""
