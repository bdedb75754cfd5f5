"""Readers of public corpora: one file a corpus, each a plain function from a path to values."""
