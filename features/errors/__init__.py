"""Errors: how many mistakes, how bad? A severity-weighted error count with its spans."""
