"""Agreement with people: correlations, pairwise accuracy, uncertainty, error spans."""
