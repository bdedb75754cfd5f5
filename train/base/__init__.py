"""The recipe of the model set `base`: its trunk, acceptability and trees, fitted together."""
