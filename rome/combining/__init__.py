"""Combine four features into one score: the net, exact contributions, signatures, tables of features."""
