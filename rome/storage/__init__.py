"""What lies on disk: analyses, feature tables, pairs and other text files, each written whole or not at all."""
