"""How each embedded model is fitted; loaded by `rome train` alone."""
