"""Judging metrics on rated sets: plan, leaderboards, tests between metrics, systems, error spans."""
