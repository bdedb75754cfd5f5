"""Sources of texts: readers, perturbations, the embedded examples and models."""
