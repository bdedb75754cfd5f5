"""Metrics as functions: RoMe, its components, peers, the user's own, files of scores."""
