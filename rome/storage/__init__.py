"""Read and write files: analyses, pairs and other texts, each written whole or not at all."""
