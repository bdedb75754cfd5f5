"""The recipes of the parser: Stanza's own stages, and the tags-and-trees head."""
