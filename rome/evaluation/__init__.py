"""Judging metrics: agreement with people, blind spots, annotation, and the reports of all that."""
