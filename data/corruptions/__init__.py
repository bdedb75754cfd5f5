"""Corruptions: rules that turn a good English sentence into one that is wrong in a known place.

They make the synthetic training data of the grammar model. ``tokens`` holds the values, ``lexicon`` the inflected forms and a
small tagger learned from a treebank, one file a family of operations, and ``corruptor`` the choice among them.
"""
