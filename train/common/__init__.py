"""What the recipes share: options, cards, and TextAttack in a process of its own."""
