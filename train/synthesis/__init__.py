"""Synthetic pairs with known mistakes: SEScore, SEScore2, BLEURT and RoMe's own recipe, one shape of record for all."""
