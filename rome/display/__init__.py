"""How results look: fragments of HTML with drawings of our own, for notebooks and pages, and colours for a terminal."""
