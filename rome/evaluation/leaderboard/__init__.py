"""Leaderboards of metrics on rated sets: agreement with people, tests between metrics, systems, error spans."""
