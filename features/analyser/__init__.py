"""The analyser: the only place that touches the heavy models."""
