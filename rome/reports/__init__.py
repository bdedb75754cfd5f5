"""Show results: one model of a report, built from results, rendered as text, as HTML and as files."""
