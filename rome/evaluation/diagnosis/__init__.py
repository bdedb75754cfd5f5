"""Diagnosis: what is a metric blind to."""
