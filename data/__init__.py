"""Where texts come from: readers, perturbations, the embedded examples and models."""
