"""Shared parts of the recipes: options, cards, the training loop, and TextAttack in a process of its own."""
