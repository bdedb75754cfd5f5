"""Training of each embedded model, and synthesis of training pairs; loaded by `rome train` and `rome synthesize` alone."""
