"""What is measured: the values, the analyser, and one file a feature."""
